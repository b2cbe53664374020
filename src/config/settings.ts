/**
 * All settings, each declared once, in the order of the help text and of docs/configuration.md. Variables, flags, help and
 * the type `Config` follow.
 */
import {
  boolean,
  count,
  host,
  integer,
  list,
  listenAddress,
  networks,
  nonEmpty,
  oneOf,
  optional,
  parties,
  partiesOrUser,
  partyOrUser,
  seconds,
  type Setting,
  setting,
  text,
} from "./setting.js";
import { anonymousUrl, httpUrl, origins, postgresUrl } from "./urls.js";

/** Its value may contain a password. */
const url = (flag: string, description: string) =>
  optional(flag, httpUrl, { accepts: "an http or https URL", description, isSecret: true });

/** The registries that are files of the package, by their names. */
export const packagedRegistries: readonly string[] = ["standard", "minimal", "test-token-v2", "simple-token"];

export const settings = {
  // What is served.
  registry: setting("registry", {
    accepts: `utility, ${packagedRegistries.join(", ")}, or the path of a registry file or a JavaScript module`,
    description: "registry to serve",
    default: "utility",
    parse: nonEmpty,
  }),
  snapshot: optional("snapshot", nonEmpty, {
    accepts: "the path of a file of active contracts",
    description: "contracts to serve",
    defaultLabel: "the demo registry",
  }),
  rootRegistrar: optional("root-registrar", partyOrUser, {
    accepts: "user, or a party id (hint::fingerprint)",
    description:
      "registrar whose token-standard operations are also served at /registry/…; user stands for the only one that is read",
  }),
  instruments: text(
    "instruments",
    "the path of a YAML file",
    "names, symbols, decimals and descriptions of instruments, and hints for wallets",
  ),
  contexts: text("contexts", "the path of a YAML file", "changes of the choice contexts of the Registry Utility"),
  totalSupply: boolean("total-supply", false, "whether to report the total supply of instruments"),
  keepHoldings: boolean(
    "keep-holdings",
    false,
    "whether to keep all holdings, also those that are otherwise read by id",
  ),
  maxLegs: count(
    "max-legs",
    // The worst case that every registry must support. No settlement that fits in a request comes near the maximum.
    { min: 25, max: 1_000_000, default: 100 },
    "maximum transfer legs in one settlement; the limits of its allocations, instruments, accounts and parties follow",
  ),
  unknownAllocations: oneOf(
    "unknown-allocations",
    ["leave-out", "reject"],
    "leave-out",
    "whether a settlement with an allocation that was never seen is answered without it, or 404",
  ),

  // Where it listens.
  host: host("host", "address to listen on"),
  port: setting("port", {
    accepts: "a number from 0 to 65535",
    description: "port to listen on; 0 selects a free port",
    default: 8080,
    parse: integer({ min: 0, max: 65_535 }),
  }),
  corsOrigins: setting<"any" | "none" | readonly string[]>("cors-origins", {
    accepts: "any, none, or comma-separated origins",
    description: "origins of web pages that may call the service",
    default: "any",
    parse: origins,
  }),
  trustedProxies: optional("trusted-proxies", networks, {
    accepts: "comma-separated addresses and networks",
    description: "proxies whose X-Forwarded-For header is trusted for the client address",
  }),
  tlsCertFile: text("tls-cert-file", "the path of a PEM file", "certificate chain for TLS"),
  tlsKeyFile: text("tls-key-file", "the path of a PEM file", "private key of the certificate"),
  maxDelayMs: count(
    "max-delay-ms",
    { min: 0, max: 60_000, default: 250 },
    "delay of the event loop above which requests are rejected with 503, in milliseconds; 0 disables it",
  ),
  drainSeconds: count(
    "drain-seconds",
    { min: 0, max: 3_600, default: 5 },
    "time in which the service, told to stop, still serves but is not ready, in seconds",
  ),

  // The participant.
  ledgerUrl: url("ledger-url", "base URL of a participant's JSON Ledger API v2, instead of a file"),
  ledgerParties: optional("ledger-parties", partiesOrUser, {
    accepts: "user, or comma-separated party ids (hint::fingerprint)",
    description:
      "parties whose contracts are read from the participant; user stands for those that the token's user may read as",
  }),
  wait: boolean(
    "wait",
    false,
    "whether participant, packages and parties may come later: until then failures are no warnings",
  ),
  registrars: optional("registrars", parties, {
    accepts: "comma-separated party ids (hint::fingerprint)",
    description: "registrars that are not read as, for contracts that a registry file reads by interface",
  }),
  ledgerTokenFile: text(
    "ledger-token-file",
    "the path of a file",
    "token for the participant; read again for each connection",
  ),
  ledgerCaFile: text(
    "ledger-ca-file",
    "the path of a PEM file",
    "certificates of a private certificate authority, for participant and issuer",
  ),
  oidcIssuer: url("oidc-issuer", "issuer of tokens for the participant (OAuth2 client credentials)"),
  oidcClientId: text("oidc-client-id", "a client id", "client id at the issuer"),
  oidcClientSecretFile: text("oidc-client-secret-file", "the path of a file", "client secret"),
  oidcAudience: text("oidc-audience", "an audience", "audience of the tokens"),
  oidcScope: text("oidc-scope", "space-separated scopes", "scope of the tokens"),
  prepareUserId: text(
    "prepare-user-id",
    "a user id",
    "user of the participant as whom operators try commands; nothing is submitted",
  ),
  prepareTokenFile: text("prepare-token-file", "the path of a file", "token of that user; read again for each command"),
  staleSeconds: seconds(
    "stale-seconds",
    300,
    "time since the ledger last confirmed the state after which requests are rejected with 503",
  ),

  // The database.
  databaseUrl: optional("database-url", postgresUrl, {
    accepts: "a URL that starts with postgres:// or postgresql://",
    description: "PostgreSQL database that stores the contracts, instead of the memory of this process",
    isSecret: true,
  }),
  databasePasswordFile: text(
    "database-password-file",
    "the path of a file",
    "password of the database, instead of one in the URL; read again for each connection",
  ),
  databaseConnections: count(
    "database-connections",
    { min: 2, max: 500, default: 10 },
    "maximum connections for queries; each process uses 2 more, and 1 more while it loads contracts",
  ),

  // Tokens of callers.
  authJwksUrl: optional("auth-jwks-url", anonymousUrl, {
    accepts: "an http or https URL without user and password",
    description: "JSON Web Key Set of the issuer of callers' tokens; without it no token is required",
    isSecret: true,
  }),
  authIssuer: text("auth-issuer", "an issuer", "required issuer (`iss`) of callers' tokens"),
  authAudience: text("auth-audience", "an audience", "required audience (`aud`) of callers' tokens"),
  authOperations: optional("auth-operations", list, {
    accepts: "comma-separated names of operations or services",
    description: "operations that require a token, as full names of rpcs or services",
    defaultLabel: "all",
  }),

  // What operators see.
  logLevel: oneOf(
    "log-level",
    ["fatal", "error", "warn", "info", "debug", "trace", "silent"],
    "info",
    "minimum level of log messages",
  ),
  logRequests: oneOf("log-requests", ["all", "failed", "none"], "failed", "requests to log, a line each"),
  metricsPort: optional("metrics-port", listenAddress, {
    accepts: "a number from 0 to 65535, or an address with one such as 0.0.0.0:9464",
    description:
      "operator's port, at 127.0.0.1 unless an address is given: /metrics for Prometheus, /warnings, the console; 0 selects a free one",
    defaultLabel: "none",
  }),
  operatorTokenFile: text(
    "operator-token-file",
    "the path of a file",
    "token that every request to the operator's port needs; read again when it changes",
  ),
};

export type Config = {
  readonly [N in keyof typeof settings]: (typeof settings)[N] extends Setting<infer T> ? T : never;
};
