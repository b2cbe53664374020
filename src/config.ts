/**
 * Arguments and environment -> configuration. The only reader of the
 * environment: each setting is one line of `settings`, from which its variable,
 * its flag, its default and the help text follow. A flag wins over a variable;
 * an empty variable counts as not set.
 */
import { parseArgs } from "node:util";

export interface Config {
  /** Address to listen on. */
  readonly host: string;
  /** Port to listen on; 0 lets the system choose. */
  readonly port: number;
  /** Path of the file of active contracts; undefined for the demo registry. */
  readonly snapshot: string | undefined;
  readonly logLevel: LogLevel;
  readonly maxLegs: number;
  readonly maxAllocations: number;
  readonly maxInstruments: number;
  readonly maxAccounts: number;
  readonly maxParties: number;
}

const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

export type Command = "serve" | "check" | "help" | "version";

export type Read =
  | { readonly ok: true; readonly command: Command; readonly config: Config }
  /** What is wrong, a line each: the name, what it takes, and what it was. */
  | { readonly ok: false; readonly wrong: readonly string[] };

interface Setting<T> {
  readonly variable: string;
  readonly flag: string;
  /** What it takes, for messages and help. */
  readonly takes: string;
  readonly about: string;
  readonly fallback: T;
  /** Undefined where the text is not what it takes. */
  readonly parse: (text: string) => T | undefined;
}

/** The most that a limit may be; no settlement that fits in a request comes near. */
const MOST = 1_000_000;

/** Every setting, in the order in which help and README list them. */
export const settings: { readonly [N in keyof Config]: Setting<Config[N]> } = {
  host: {
    variable: "OFFLEDGER_HOST",
    flag: "host",
    takes: "an address or host name",
    about: "address to listen on",
    fallback: "127.0.0.1",
    parse: (text) => (/^[\w.:-]+$/.test(text) ? text : undefined),
  },
  port: {
    variable: "OFFLEDGER_PORT",
    flag: "port",
    takes: "a number from 0 to 65535",
    about: "port to listen on; 0 lets the system choose",
    fallback: 8080,
    parse: wholeNumber(0, 65_535),
  },
  snapshot: {
    variable: "OFFLEDGER_SNAPSHOT",
    flag: "snapshot",
    takes: "the path of a file of active contracts",
    about: "file of active contracts to serve; without it the demo registry",
    fallback: undefined,
    parse: (text) => (text === "" ? undefined : text),
  },
  logLevel: {
    variable: "OFFLEDGER_LOG_LEVEL",
    flag: "log-level",
    takes: `one of ${logLevels.join(", ")}`,
    about: "least level of what is logged",
    fallback: "info",
    parse: (text) => logLevels.find((level) => level === text),
  },
  // The least values are the worst case that every registry has to support.
  maxLegs: limit("legs", 25, 100, "transfer legs"),
  maxAllocations: limit("allocations", 50, 100, "allocations"),
  maxInstruments: limit("instruments", 25, 25, "distinct instruments"),
  maxAccounts: limit("accounts", 50, 200, "distinct accounts"),
  maxParties: limit("parties", 100, 200, "distinct parties of accounts"),
};

/** Reads the configuration. `argv` is without the program itself. */
export function readConfig(argv: readonly string[], env: NodeJS.ProcessEnv = process.env): Read {
  const wrong: string[] = [];
  const { flags, command } = readArguments(argv, wrong);
  const valueOf = <T>({ variable, flag, takes, fallback, parse }: Setting<T>): T => {
    const fromFlag = flags[flag];
    const text = fromFlag ?? env[variable];
    if (text === undefined || (fromFlag === undefined && text === "")) return fallback;
    const value = parse(text);
    if (value !== undefined) return value;
    wrong.push(`${fromFlag === undefined ? variable : `--${flag}`} takes ${takes}, and is "${text}"`);
    return fallback;
  };
  const config: Config = {
    host: valueOf(settings.host),
    port: valueOf(settings.port),
    snapshot: valueOf(settings.snapshot),
    logLevel: valueOf(settings.logLevel),
    maxLegs: valueOf(settings.maxLegs),
    maxAllocations: valueOf(settings.maxAllocations),
    maxInstruments: valueOf(settings.maxInstruments),
    maxAccounts: valueOf(settings.maxAccounts),
    maxParties: valueOf(settings.maxParties),
  };
  const asksAbout = command === "help" || command === "version";
  return wrong.length > 0 && !asksAbout ? { ok: false, wrong } : { ok: true, command, config };
}

/** The text of `offledger help`. */
export function helpText(): string {
  const lines = Object.values(settings).map(({ flag, variable, about, takes, fallback }) => {
    const shown = fallback === undefined ? "" : ` (default ${fallback})`;
    return `  --${flag} VALUE\n      ${about}: ${takes}${shown}. Variable: ${variable}.`;
  });
  return [
    "offledger: the off-ledger service of a token registry on the Canton Network",
    "",
    "  offledger serve   serves a registry (what is done without a command)",
    "  offledger check   says what a file would serve, and what in it is wrong",
    "  offledger help    prints this",
    "  offledger version prints the version",
    "",
    ...lines,
    "",
  ].join("\n");
}

function readArguments(argv: readonly string[], wrong: string[]) {
  const options = Object.fromEntries(Object.values(settings).map(({ flag }) => [flag, { type: "string" as const }]));
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      options: { ...options, help: { type: "boolean" }, version: { type: "boolean" } },
      allowPositionals: true,
    });
    const flags: Record<string, string | undefined> = {};
    for (const [name, value] of Object.entries(values)) if (typeof value === "string") flags[name] = value;
    const named = values.help === true ? "help" : values.version === true ? "version" : (positionals[0] ?? "serve");
    const command = (["serve", "check", "help", "version"] as const).find((known) => known === named);
    if (command === undefined) wrong.push(`the command has to be serve, check, help or version, and is "${named}"`);
    if (positionals.length > 1) wrong.push(`there is one command only, and "${positionals[1]}" stands behind it`);
    return { flags, command: command ?? "serve" };
  } catch (error) {
    wrong.push(error instanceof Error ? error.message : String(error));
    return { flags: {} as Record<string, string | undefined>, command: "serve" as const };
  }
}

function limit(what: string, least: number, fallback: number, about: string): Setting<number> {
  return {
    variable: `OFFLEDGER_MAX_${what.toUpperCase()}`,
    flag: `max-${what}`,
    takes: `a whole number from ${least} to ${MOST}`,
    about: `most ${about} of one settlement`,
    fallback,
    parse: wholeNumber(least, MOST),
  };
}

function wholeNumber(least: number, most: number) {
  return (text: string): number | undefined => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return value >= least && value <= most ? value : undefined;
  };
}
