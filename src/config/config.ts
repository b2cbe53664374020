/** Reads the command line and the environment. */
import { parseArgs } from "node:util";
import { errorMessage } from "../util/logger.js";
import type { Setting } from "./setting.js";
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

type ConfigResult =
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
    return { flags: {}, command: "serve", argument: "", errors: [errorMessage(error)] };
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
      `${variable("registry")} names a file, which requires ${variable("snapshot")} or ${variable("ledgerUrl")}: ` +
        "only the built-in registries have a demo",
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
  if (config.staleSeconds < config.unreadySeconds) {
    errors.push(
      `${variable("staleSeconds")} must be at least ${variable("unreadySeconds")} (${config.unreadySeconds}), ` +
        `got ${config.staleSeconds}`,
    );
  }
  return errors;
}

const variable = (name: keyof Config): string => (settings[name] as Setting<unknown>).variable;
