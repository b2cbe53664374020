import { type Config, type Setting, settings } from "./settings.js";

/** Checks settings that depend on each other or on the command. Returns one message for each error. */
export function checkCombinations(config: Config, command: string): string[] {
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
