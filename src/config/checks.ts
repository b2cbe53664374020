import { type Config, type Setting, settings } from "./settings.js";

/** What is wrong with settings that are right each by itself, a sentence each. */
export function checkTogether(config: Config, command: string): string[] {
  const isSet = (name: keyof Config) => config[name] !== undefined;
  const all = Object.keys(settings) as (keyof Config)[];
  const oidc = all.filter((name) => name.startsWith("oidc"));
  const ofLedger = [...all.filter((name) => name.startsWith("ledger") && name !== "ledgerUrl"), ...oidc];
  const wrong: string[] = [];
  const needs = (name: keyof Config, needed: keyof Config) => {
    if (isSet(name) && !isSet(needed)) wrong.push(`${variable(name)} needs ${variable(needed)}, which is not set`);
  };
  const excludes = (name: keyof Config, other: keyof Config) => {
    if (isSet(name) && isSet(other)) wrong.push(`${variable(name)} and ${variable(other)} exclude each other`);
  };
  needs("ledgerUrl", "ledgerParties");
  for (const name of ofLedger) needs(name, "ledgerUrl");
  needs("oidcIssuer", "oidcClientId");
  needs("oidcIssuer", "oidcClientSecretFile");
  for (const name of oidc) needs(name, "oidcIssuer");
  const hasDemo = ["utility", "minimal"].includes(config.registry);
  if (!hasDemo && !isSet("snapshot") && !isSet("ledgerUrl") && command !== "api") {
    wrong.push(
      `${variable("registry")} names a module, which needs ${variable("snapshot")} or ${variable("ledgerUrl")}: ` +
        "only the registries that come with the service have a demo",
    );
  }
  excludes("snapshot", "ledgerUrl");
  if (["mirror", "api", "migrate"].includes(command) && !isSet("databaseUrl")) {
    wrong.push(`offledger ${command} needs ${variable("databaseUrl")}, which is not set`);
  }
  excludes("ledgerTokenFile", "oidcIssuer");
  needs("tlsCertFile", "tlsKeyFile");
  needs("tlsKeyFile", "tlsCertFile");
  // A token that anybody's issuer gave, or that was given for another service, would be none.
  needs("authJwksUrl", "authIssuer");
  needs("authJwksUrl", "authAudience");
  for (const name of ["authIssuer", "authAudience", "authOperations"] as const) needs(name, "authJwksUrl");
  if (config.staleSeconds < config.unreadySeconds) {
    wrong.push(
      `${variable("staleSeconds")} has to be at least ${variable("unreadySeconds")}, ${config.unreadySeconds}`,
    );
  }
  return wrong;
}

const variable = (name: keyof Config): string => (settings[name] as Setting<unknown>).variable;
