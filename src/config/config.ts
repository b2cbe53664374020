/**
 * Arguments and environment -> configuration. The only reader of the
 * environment. A flag wins over a variable; an empty variable counts as not set.
 */
import { parseArgs } from "node:util";
import { checkTogether } from "./checks.js";
import { type Config, type Setting, settings } from "./settings.js";

export type { Config } from "./settings.js";

const commands = ["serve", "mirror", "api", "migrate", "check", "health", "help", "version"] as const;
export type Command = (typeof commands)[number];

export type ConfigResult =
  | { readonly ok: true; readonly command: Command; readonly config: Config }
  /** What is wrong, a line each: the name, what it takes, and what it was. */
  | { readonly ok: false; readonly wrong: readonly string[] };

/** Reads the configuration. `argv` is without the program itself. */
export function readConfig(argv: readonly string[], env: NodeJS.ProcessEnv = process.env): ConfigResult {
  const { flags, command, wrong } = readArguments(argv);
  const entries = Object.entries<Setting<unknown>>(settings).map(([name, setting]) => [
    name,
    valueOf(setting, flags[setting.flag], env[setting.variable], wrong),
  ]);
  // Each value is what its own setting gave.
  const config = Object.fromEntries(entries) as Config;
  if (wrong.length === 0) wrong.push(...checkTogether(config, command));
  const asksAbout = command === "help" || command === "version";
  return wrong.length > 0 && !asksAbout ? { ok: false, wrong } : { ok: true, command, config };
}

function valueOf(
  { variable, flag, accepts, default: defaultValue, parse, isSecret }: Setting<unknown>,
  fromFlag: string | undefined,
  fromVariable: string | undefined,
  wrong: string[],
): unknown {
  const text = fromFlag ?? fromVariable;
  if (text === undefined || (fromFlag === undefined && text === "")) return defaultValue;
  const value = parse(text);
  if (value !== undefined) return value;
  const found = isSecret === true ? "is something else" : `is "${text}"`;
  wrong.push(`${fromFlag === undefined ? variable : `--${flag}`} takes ${accepts}, and ${found}`);
  return defaultValue;
}

interface Arguments {
  readonly flags: Readonly<Record<string, string>>;
  readonly command: Command;
  readonly wrong: string[];
}

function readArguments(argv: readonly string[]): Arguments {
  const options = Object.fromEntries(Object.values(settings).map(({ flag }) => [flag, { type: "string" as const }]));
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      options: { ...options, help: { type: "boolean" }, version: { type: "boolean" } },
      allowPositionals: true,
    });
    const flags: Record<string, string> = {};
    for (const [name, value] of Object.entries(values)) if (typeof value === "string") flags[name] = value;
    const named = values.help === true ? "help" : values.version === true ? "version" : (positionals[0] ?? "serve");
    const command = commands.find((known) => known === named);
    const wrong: string[] = [];
    if (command === undefined)
      wrong.push(`the command has to be ${commands.slice(0, -1).join(", ")} or ${commands.at(-1)}, and is "${named}"`);
    if (positionals.length > 1) wrong.push(`there is one command only, and "${positionals[1]}" stands behind it`);
    return { flags, command: command ?? "serve", wrong };
  } catch (error) {
    return { flags: {}, command: "serve", wrong: [error instanceof Error ? error.message : String(error)] };
  }
}
