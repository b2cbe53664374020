/** The command line of the streams of changes. */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { parseInteger } from "../integer-option.js";
import { type WatchScenarioName, watchScenarioNames } from "./scenarios.js";

export interface WatchOptions {
  readonly names: readonly WatchScenarioName[];
  /** Duration of the measured part; undefined for that of the scenario. So are the others. */
  readonly seconds: number | undefined;
  readonly streams: number | undefined;
  /** Updates a second. */
  readonly rate: number | undefined;
  readonly memoryMiB: number;
  /** The folder whose dist is started. */
  readonly checkout: string;
}

export const USAGE =
  `watch [--seconds N] [--streams N] [--rate N (updates/s)] [--memory 4096 (MiB)] [--checkout DIR] ` +
  `[${watchScenarioNames.join("|")}…]`;

/** Returns a message where the arguments are wrong. */
export function parseOptions(args: readonly string[]): WatchOptions | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        seconds: { type: "string" },
        streams: { type: "string" },
        rate: { type: "string" },
        memory: { type: "string", default: "4096" },
        checkout: { type: "string", default: "." },
      },
    });
    const optional = (name: "seconds" | "streams" | "rate", min: number, max: number) =>
      values[name] === undefined ? undefined : parseInteger(`--${name}`, values[name], min, max);
    return {
      names: positionals.length === 0 ? watchScenarioNames : positionals.map(parseName),
      seconds: optional("seconds", 1, 600),
      streams: optional("streams", 2, 50_000),
      rate: optional("rate", 0, 10_000),
      memoryMiB: parseInteger("--memory", values.memory, 128, 65_536),
      checkout: resolve(values.checkout),
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function parseName(text: string): WatchScenarioName {
  const name = watchScenarioNames.find((candidate) => candidate === text);
  if (name === undefined) throw new Error(`a scenario must be one of ${watchScenarioNames.join(", ")}, but is ${text}`);
  return name;
}
