/** Reads the command line and the environment. */
import { parseArgs } from "node:util";
import { errorMessage } from "../util/logger.js";
import { firstInvisible, printableLine } from "../util/printable.js";
import { Problem, type Setting } from "./setting.js";
import { type Config, settings } from "./settings.js";

export type { Config };

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
/** A command whose options are not those of the service: main.ts leaves them to it. */
export const CONFORMANCE = "conformance";

type ConfigResult =
  | {
      readonly ok: true;
      readonly command: Command;
      /** What the command is about; empty for commands without an argument. */
      readonly argument: string;
      readonly config: Config;
      /** What was ignored, a message for each cause; mostly empty. */
      readonly warnings: readonly string[];
    }
  /** One message for each error; at least one. */
  | { readonly ok: false; readonly errors: readonly string[] };

/** What a cluster adds to the environment of its containers for a Service, here one whose name is offledger. */
const SERVICE_LINK = /^OFFLEDGER_(?:.*_)?(?:SERVICE_HOST|SERVICE_PORT(?:_.*)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_.*)?)$/;
const SERVICE_LINK_VALUE = /^(?:tcp|udp|sctp):\/\//;

/**
 * `argv` excludes the program. Values lose surrounding white space. Flags override variables; an empty variable is not set.
 * `help`, `version` never fail.
 */
export function readConfig(argv: readonly string[], env: NodeJS.ProcessEnv = process.env): ConfigResult {
  const { flags, command, argument, errors } = parseArguments(argv);
  const { variables, links, unknown } = sortVariables(env);
  errors.push(...unknown.map((name) => `${quoted(name)} is not a setting: did you mean ${nearest(name, known)}?`));
  const entries = Object.entries<Setting<unknown>>(settings).map(([name, setting]) => [
    name,
    readValue(setting, flags[setting.flag], variables[setting.variable], errors),
  ]);
  // Each value comes from the parser of its own setting.
  const config = Object.fromEntries(entries) as Config;
  if (errors.length === 0) errors.push(...checkCombinations(config, command));
  const needsConfig = command !== "help" && command !== "version";
  return errors.length > 0 && needsConfig
    ? { ok: false, errors }
    : { ok: true, command, argument, config, warnings: warningsOf(links) };
}

const known: ReadonlySet<string> = new Set(Object.values(settings).map(({ variable }) => variable));

/** The variables of settings, those of service links, and those that are neither. */
function sortVariables(env: NodeJS.ProcessEnv) {
  const own = Object.entries(env).filter(([name]) => name.startsWith("OFFLEDGER_"));
  const isLink = ([name, value = ""]: (typeof own)[number]) =>
    known.has(name) ? SERVICE_LINK_VALUE.test(value) : SERVICE_LINK.test(name) || SERVICE_LINK_VALUE.test(value);
  const links = own.filter(isLink).map(([name]) => name);
  const others = own.filter((entry) => !isLink(entry));
  return {
    variables: Object.fromEntries(others),
    links,
    // An empty variable is not set.
    unknown: others.flatMap(([name, value]) => (known.has(name) || value?.trim() === "" ? [] : [name])),
  };
}

const warningsOf = (links: readonly string[]): string[] =>
  links.length === 0
    ? []
    : [
        `ignored ${links.toSorted().join(", ")}: a cluster sets them for a Service named offledger; ` +
          "enableServiceLinks: false in the pod turns them off",
      ];

/** The name that begins so, else the one with the fewest edits. */
function nearest(name: string, names: Iterable<string>): string {
  const all = [...names];
  const [best = ""] = all.toSorted((a, b) => distance(name, a) - distance(name, b));
  return all.find((one) => one.startsWith(name)) ?? best;
}

/** Levenshtein's. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

function readValue(
  { variable, flag, accepts, default: defaultValue, parse, isSecret }: Setting<unknown>,
  fromFlag: string | undefined,
  fromVariable: string | undefined,
  errors: string[],
): unknown {
  const text = (fromFlag ?? fromVariable)?.trim();
  if (text === undefined || (fromFlag === undefined && text === "")) return defaultValue;
  const name = fromFlag === undefined ? variable : `--${flag}`;
  const got = isSecret === true ? "got another value" : `got "${printableLine(text)}"`;
  const invisible = firstInvisible(text);
  const value = invisible === undefined ? parse(text) : undefined;
  if (value !== undefined && !(value instanceof Problem)) return value;
  if (invisible !== undefined) errors.push(`${name} must not have the character ${printableLine(invisible)}, ${got}`);
  else errors.push(value === undefined ? `${name} must be ${accepts}, ${got}` : `${name} ${value.reason}`);
  return defaultValue;
}

/** An argument for a message. It may be a URL that was meant for a flag. */
const quoted = (argument: string): string => printableLine(argument.replace(/\/\/.*@/s, "//…@"));

interface Arguments {
  readonly flags: Readonly<Record<string, string>>;
  readonly command: Command;
  readonly argument: string;
  readonly errors: string[];
}

const flagOptions = {
  ...Object.fromEntries(Object.values(settings).map(({ flag }) => [flag, { type: "string" as const }])),
  help: { type: "boolean", short: "h" },
  version: { type: "boolean" },
} as const;

/** A message for each flag that does not exist, with the nearest one that does. */
function unknownFlags(argv: readonly string[]): string[] {
  const { tokens } = parseArgs({ args: [...argv], options: flagOptions, strict: false, tokens: true });
  const names = Object.keys(flagOptions);
  return tokens.flatMap((token) =>
    token.kind !== "option" || names.includes(token.name)
      ? []
      : [`'${token.rawName}' is not a flag: did you mean --${nearest(token.name, names)}?`],
  );
}

function parseArguments(argv: readonly string[]): Arguments {
  const unknown = unknownFlags(argv);
  if (unknown.length > 0) return { flags: {}, command: "serve", argument: "", errors: unknown };
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options: flagOptions, allowPositionals: true });
    const flags: Record<string, string> = {};
    for (const [name, value] of Object.entries(values)) if (typeof value === "string") flags[name] = value;
    const name = values.help === true ? "help" : values.version === true ? "version" : (positionals[0] ?? "serve");
    const command = commands.find((one) => one === name);
    const errors: string[] = [];
    if (command === undefined)
      errors.push(`the command must be one of ${[...commands, CONFORMANCE].join(", ")}, got "${quoted(name)}"`);
    const [, argument = "", ...others] = positionals;
    if (command === "registry") return { flags, command, argument: others[0] ?? "", errors: checkTested(positionals) };
    if (command === "explain") errors.push(...checkExplained(argument, others));
    else if (positionals.length > 1)
      errors.push(`unexpected argument "${quoted(argument)}": only one command is accepted`);
    return { flags, command: command ?? "serve", argument, errors };
  } catch (error) {
    return { flags: {}, command: "serve", argument: "", errors: [errorMessage(error)] };
  }
}

function checkTested([, action, path, other]: readonly string[]): string[] {
  if (action !== "test" || path === undefined)
    return ["offledger registry requires test and the path of a registry file"];
  return other === undefined ? [] : [`unexpected argument "${quoted(other)}": only one registry is tested`];
}

function checkExplained(argument: string, [other]: readonly string[]): string[] {
  if (argument === "") return ["offledger explain requires the id of a request, or - for a request on stdin"];
  return other === undefined ? [] : [`unexpected argument "${quoted(other)}": only one request is explained`];
}

/** Checks settings that depend on each other or on the command. Returns one message for each error. */
function checkCombinations(config: Config, command: string): string[] {
  const errors: string[] = [];
  const isSet = (name: keyof Config) => config[name] !== undefined;
  const requires = (name: keyof Config, required: keyof Config) => {
    if (isSet(name) && !isSet(required))
      errors.push(`${variable(name)} requires ${variable(required)}, which is not set`);
  };
  const excludes = (name: keyof Config, other: keyof Config) => {
    if (isSet(name) && isSet(other)) errors.push(`${variable(name)} and ${variable(other)} cannot both be set`);
  };

  const names = Object.keys(settings) as (keyof Config)[];
  const oidc = names.filter((name) => name.startsWith("oidc"));
  const ledger = names.filter((name) => name.startsWith("ledger") && name !== "ledgerUrl");
  requires("ledgerUrl", "ledgerParties");
  if (config.ledgerParties === "user" && !isSet("ledgerTokenFile") && !isSet("oidcIssuer")) {
    errors.push(
      `${variable("ledgerParties")}=user requires ${variable("ledgerTokenFile")} or ${variable("oidcIssuer")}: ` +
        "without a token the participant knows no user; name the parties",
    );
  }
  for (const name of [...ledger, ...oidc]) requires(name, "ledgerUrl");
  requires("prepareUserId", "ledgerUrl");
  requires("prepareTokenFile", "prepareUserId");
  requires("oidcIssuer", "oidcClientId");
  requires("oidcIssuer", "oidcClientSecretFile");
  for (const name of oidc) requires(name, "oidcIssuer");

  const hasDemo = ["utility", "minimal"].includes(config.registry);
  if (
    !hasDemo &&
    !isSet("snapshot") &&
    !isSet("ledgerUrl") &&
    !["api", "contexts", "registry", "explain", "health"].includes(command)
  ) {
    errors.push(
      `${variable("registry")} names a registry without a demo, which requires ${variable("snapshot")} or ${variable("ledgerUrl")}: ` +
        "utility and minimal have one",
    );
  }
  excludes("snapshot", "ledgerUrl");
  if (["mirror", "api", "migrate"].includes(command) && !isSet("databaseUrl")) {
    errors.push(`offledger ${command} requires ${variable("databaseUrl")}, which is not set`);
  }
  requires("databasePasswordFile", "databaseUrl");
  excludes("ledgerTokenFile", "oidcIssuer");
  requires("tlsCertFile", "tlsKeyFile");
  requires("tlsKeyFile", "tlsCertFile");
  // Keys alone prove nothing: a token of another issuer, or for another service, must be rejected.
  requires("authJwksUrl", "authIssuer");
  requires("authJwksUrl", "authAudience");
  for (const name of ["authIssuer", "authAudience", "authOperations"] as const) requires(name, "authJwksUrl");
  return errors;
}

const variable = (name: keyof Config): string => (settings[name] as Setting<unknown>).variable;
