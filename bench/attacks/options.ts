/** The command line of the attacks. */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { parseInteger } from "../integer-option.js";
import { type ScenarioName, scenarioNames } from "./scenarios.js";

export interface AttackOptions {
  readonly names: readonly ScenarioName[];
  /** Duration of each attack. */
  readonly seconds: number;
  /** Time between the end of an attack and the last sample of memory. */
  readonly settleSeconds: number;
  readonly memoryMiB: number;
  /** Source address of the attacker; the honest caller uses 127.0.0.1. */
  readonly from: string;
  /** The folder whose dist is started. */
  readonly checkout: string;
}

export const USAGE =
  `attacks [--seconds 20] [--settle 10] [--memory 512 (MiB)] [--from 127.0.0.1] [--checkout DIR] ` +
  `[${scenarioNames.join("|")}…]`;

/** Returns a message where the arguments are wrong. */
export function parseOptions(args: readonly string[]): AttackOptions | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        seconds: { type: "string", default: "20" },
        settle: { type: "string", default: "10" },
        memory: { type: "string", default: "512" },
        from: { type: "string", default: "127.0.0.1" },
        checkout: { type: "string", default: "." },
      },
    });
    return {
      names: positionals.length === 0 ? scenarioNames : positionals.map(parseName),
      seconds: parseInteger("--seconds", values.seconds, 1, 600),
      settleSeconds: parseInteger("--settle", values.settle, 0, 600),
      memoryMiB: parseInteger("--memory", values.memory, 128, 65_536),
      from: parseLoopback(values.from),
      checkout: resolve(values.checkout),
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function parseName(text: string): ScenarioName {
  const name = scenarioNames.find((candidate) => candidate === text);
  if (name === undefined) throw new Error(`a scenario must be one of ${scenarioNames.join(", ")}, but is ${text}`);
  return name;
}

/** Attacks leave no machine. */
function parseLoopback(text: string): string {
  if (/^127(?:\.\d{1,3}){3}$/.test(text)) return text;
  throw new Error(`--from must be an address of 127.0.0.0/8, but is ${text}`);
}
