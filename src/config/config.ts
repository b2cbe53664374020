import { parseArgs } from "node:util";
import { checkCombinations } from "./check-combinations.js";
import { type Config, type Setting, settings } from "./settings.js";

export type { Config } from "./settings.js";

const commands = [
  "serve",
  "mirror",
  "api",
  "migrate",
  "check",
  "contexts",
  "registry",
  "explain",
  "health",
  "help",
  "version",
] as const;
export type Command = (typeof commands)[number];

export type ConfigResult =
  | {
      readonly ok: true;
      readonly command: Command;
      /** What the command is about; empty for commands without an argument. */
      readonly argument: string;
      readonly config: Config;
    }
  /** One message for each error; at least one. */
  | { readonly ok: false; readonly errors: readonly string[] };

/** `argv` excludes the program. Flags override variables; an empty one is not set. `help`, `version` never fail. */
export function readConfig(argv: readonly string[], env: NodeJS.ProcessEnv = process.env): ConfigResult {
  const { flags, command, argument, errors } = parseArguments(argv);
  const entries = Object.entries<Setting<unknown>>(settings).map(([name, setting]) => [
    name,
    readValue(setting, flags[setting.flag], env[setting.variable], errors),
  ]);
  // Each value comes from the parser of its own setting.
  const config = Object.fromEntries(entries) as Config;
  if (errors.length === 0) errors.push(...checkCombinations(config, command));
  const needsConfig = command !== "help" && command !== "version";
  return errors.length > 0 && needsConfig ? { ok: false, errors } : { ok: true, command, argument, config };
}

function readValue(
  { variable, flag, accepts, default: defaultValue, parse, isSecret }: Setting<unknown>,
  fromFlag: string | undefined,
  fromVariable: string | undefined,
  errors: string[],
): unknown {
  const text = fromFlag ?? fromVariable;
  if (text === undefined || (fromFlag === undefined && text === "")) return defaultValue;
  const value = parse(text);
  if (value !== undefined) return value;
  const got = isSecret === true ? "got another value" : `got "${text}"`;
  errors.push(`${fromFlag === undefined ? variable : `--${flag}`} must be ${accepts}, ${got}`);
  return defaultValue;
}

interface Arguments {
  readonly flags: Readonly<Record<string, string>>;
  readonly command: Command;
  readonly argument: string;
  readonly errors: string[];
}

function parseArguments(argv: readonly string[]): Arguments {
  const options = Object.fromEntries(Object.values(settings).map(({ flag }) => [flag, { type: "string" as const }]));
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      options: { ...options, help: { type: "boolean" }, version: { type: "boolean" } },
      allowPositionals: true,
    });
    const flags: Record<string, string> = {};
    for (const [name, value] of Object.entries(values)) if (typeof value === "string") flags[name] = value;
    const name = values.help === true ? "help" : values.version === true ? "version" : (positionals[0] ?? "serve");
    const command = commands.find((known) => known === name);
    const errors: string[] = [];
    if (command === undefined) errors.push(`the command must be one of ${commands.join(", ")}, got "${name}"`);
    const [, argument = "", ...others] = positionals;
    if (command === "registry") return { flags, command, argument: others[0] ?? "", errors: checkTested(positionals) };
    if (command === "explain") errors.push(...checkExplained(argument, others));
    else if (positionals.length > 1) errors.push(`unexpected argument "${argument}": only one command is accepted`);
    return { flags, command: command ?? "serve", argument, errors };
  } catch (error) {
    return {
      flags: {},
      command: "serve",
      argument: "",
      errors: [error instanceof Error ? error.message : String(error)],
    };
  }
}

function checkTested([, action, path, other]: readonly string[]): string[] {
  if (action !== "test" || path === undefined)
    return ["offledger registry requires test and the path of a registry file"];
  return other === undefined ? [] : [`unexpected argument "${other}": only one registry is tested`];
}

function checkExplained(argument: string, [other]: readonly string[]): string[] {
  if (argument === "") return ["offledger explain requires the id of a request, or - for a request on stdin"];
  return other === undefined ? [] : [`unexpected argument "${other}": only one request is explained`];
}
