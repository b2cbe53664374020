/**
 * All settings, each declared once, in the order of the help text and of docs/configuration.md. Variables, flags, help and
 * the type `Config` follow.
 */
import {
  algorithms,
  boolean,
  count,
  host,
  integer,
  list,
  networks,
  nonEmpty,
  oneOf,
  optional,
  optionalCount,
  origins,
  parties,
  party,
  postgresUrl,
  seconds,
  type Setting,
  setting,
  text,
  trueOrFalse,
  url,
} from "./setting.js";

export const settings = {
  host: host("host", "address to listen on"),
  port: setting("port", {
    accepts: "a number from 0 to 65535",
    description: "port to listen on; 0 selects a free port",
    default: 8080,
    parse: integer({ min: 0, max: 65_535 }),
  }),
  snapshot: optional("snapshot", nonEmpty, {
    accepts: "the path of a file of active contracts",
    description: "file of active contracts to serve",
    defaultLabel: "the demo registry",
  }),
  registry: setting("registry", {
    accepts: "utility, minimal, or the path of a registry file or a JavaScript module",
    description: "registry to serve: the Registry Utility, the minimal example, or a file or module of your own",
    default: "utility",
    parse: nonEmpty,
  }),
  rootRegistrar: optional("root-registrar", party, {
    accepts: "a party id (hint::fingerprint)",
    description: "registrar whose token-standard operations are also served at /registry/…",
  }),
  instruments: text(
    "instruments",
    "the path of a YAML file",
    "file with names, symbols, decimals, descriptions and hints for wallets of instruments",
  ),
  contexts: text(
    "contexts",
    "the path of a YAML file",
    "file that changes the choice contexts of the Registry Utility",
  ),
  totalSupply: boolean("total-supply", false, "whether to count holdings and report the total supply of instruments"),
  keepHoldings: boolean(
    "keep-holdings",
    false,
    "whether to keep unlocked holdings too, so that their owners are known without asking the ledger",
  ),
  credentialDays: count(
    "credential-days",
    { min: 0, max: 3_650, default: 30 },
    "days before the end of a credential in which `offledger check` and the metrics warn of it; 0 disables these warnings",
  ),
  compression: oneOf("compression", ["gzip", "off"], "gzip", "compression of responses for clients that accept it"),
  logLevel: oneOf(
    "log-level",
    ["fatal", "error", "warn", "info", "debug", "trace", "silent"],
    "info",
    "minimum level of log messages",
  ),
  drainSeconds: count(
    "drain-seconds",
    { min: 0, max: 3_600, default: 5 },
    "time in which the service, told to stop, still serves requests, so that proxies see that it is not ready, in seconds",
  ),
  graceSeconds: seconds("grace-seconds", 5, "time for pending requests to finish when the service stops"),

  // The participant.
  ledgerUrl: url("ledger-url", "base URL of a participant's JSON Ledger API v2, instead of a file"),
  ledgerParties: optional("ledger-parties", parties, {
    accepts: "comma-separated party ids (hint::fingerprint)",
    description: "parties whose contracts are read from the participant",
  }),
  ledgerTokenFile: text(
    "ledger-token-file",
    "the path of a file",
    "file with the token for the participant; read again for each connection",
  ),
  ledgerCaFile: text(
    "ledger-ca-file",
    "the path of a PEM file",
    "certificates of a private certificate authority, for participant and issuer",
  ),
  oidcIssuer: url("oidc-issuer", "issuer of tokens for the participant (OAuth2 client credentials)"),
  oidcClientId: text("oidc-client-id", "a client id", "client id at the issuer"),
  oidcClientSecretFile: text("oidc-client-secret-file", "the path of a file", "file with the client secret"),
  oidcAudience: text("oidc-audience", "an audience", "audience of the tokens"),
  oidcScope: text("oidc-scope", "space-separated scopes", "scope of the tokens"),
  prepareUserId: text(
    "prepare-user-id",
    "a user id",
    "user of the participant as whom operators try commands; nothing is submitted",
  ),
  prepareTokenFile: text(
    "prepare-token-file",
    "the path of a file",
    "file with the token of that user; read again for each command",
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
    "file with the password of the database, instead of one in the URL; read again for each connection",
  ),
  migrate: optional("migrate", trueOrFalse, {
    accepts: "true or false",
    description: "whether the process migrates the schema of the database when it starts",
    defaultLabel: "true for `serve`, false for `mirror` and `api`",
  }),
  databaseConnections: count(
    "database-connections",
    { min: 2, max: 500, default: 10 },
    "maximum database connections for queries; each process uses 2 more that are long-lived, and 1 more during a snapshot",
  ),
  cacheMegabytes: count(
    "cache-megabytes",
    { min: 1, max: 100_000, default: 256 },
    "memory for cached contracts of the database, in megabytes",
  ),

  // How current the contracts have to be.
  unreadySeconds: seconds(
    "unready-seconds",
    30,
    "time since the ledger last confirmed the state after which the service is not ready",
  ),
  staleSeconds: seconds(
    "stale-seconds",
    300,
    "time since the ledger last confirmed the state after which requests are rejected with 503",
  ),
  readWaitMs: count(
    "read-wait-ms",
    { min: 0, max: 60_000, default: 1_000 },
    "maximum wait for a contract that the ledger may have and the mirror does not have yet, in milliseconds",
  ),

  // Settlements.
  maxLegs: settlementLimit("legs", 25, 100, "transfer legs"),
  maxAllocations: settlementLimit("allocations", 50, 100, "allocations"),
  maxInstruments: settlementLimit("instruments", 25, 25, "distinct instruments"),
  maxAccounts: settlementLimit("accounts", 50, 200, "distinct accounts"),
  maxParties: settlementLimit("parties", 100, 200, "distinct parties of accounts"),
  unknownAllocations: oneOf(
    "unknown-allocations",
    ["leave-out", "reject"],
    "leave-out",
    "what a settlement with an allocation that was never seen gets: an answer without it, since the same transaction may create it, or 404",
  ),

  // Limits on requests and connections. docs/security.md explains each.
  maxBodyBytes: count(
    "max-body-bytes",
    { min: 1_024, max: 16_777_216, default: 1_048_576 },
    "maximum request body size in bytes, after decompression",
  ),
  maxHeaderBytes: count(
    "max-header-bytes",
    { min: 1_024, max: 1_048_576, default: 16_384 },
    "maximum size of the request headers in bytes",
  ),
  maxPathBytes: count(
    "max-path-bytes",
    { min: 256, max: 65_536, default: 12_288 },
    "maximum length of the request path with its query in bytes",
  ),
  maxArgumentDepth: count(
    "max-argument-depth",
    // 50: the protobuf library limits the nesting of messages, and each level takes two.
    { min: 10, max: 50, default: 48 },
    "maximum nesting of objects and lists in the choice arguments",
  ),
  maxArgumentKeys: count(
    "max-argument-keys",
    { min: 1_000, max: 1_000_000, default: 50_000 },
    "maximum number of keys and list elements in the choice arguments",
  ),
  requestSeconds: seconds("request-seconds", 30, "maximum time to receive a request"),
  maxConnections: count(
    "max-connections",
    { min: 10, max: 1_000_000, default: 10_000 },
    "maximum concurrent connections; further ones are closed at once",
  ),
  maxBodyMegabytes: optionalCount(
    "max-body-megabytes",
    { min: 1, max: 1_000_000 },
    "maximum of all request bodies that are being received, in MiB; by default a sixteenth of the memory",
  ),
  maxResponseMegabytes: optionalCount(
    "max-response-megabytes",
    { min: 1, max: 1_000_000 },
    "maximum of all responses that clients have not taken yet, in MiB; by default an eighth of the memory",
  ),
  maxRequests: optionalCount(
    "max-requests",
    { min: 16, max: 1_000_000 },
    "maximum requests under way; by default one for each 64 KiB of the heap, at most 20000",
  ),
  maxWatches: count(
    "max-watches",
    { min: 0, max: 1_000_000, default: 10_000 },
    "maximum concurrent streams of changes",
  ),
  maxStreams: count(
    "max-streams",
    { min: 1, max: 10_000, default: 100 },
    "maximum concurrent requests on an HTTP/2 connection",
  ),
  maxDelayMs: count(
    "max-delay-ms",
    { min: 0, max: 60_000, default: 250 },
    "delay of the event loop above which requests are rejected with 503, in milliseconds; 0 disables it",
  ),
  ratePerClient: count(
    "rate-per-client",
    { min: 0, max: 1_000_000, default: 0 },
    "maximum requests per second of one client to one operation; 0 means no limit",
  ),
  rateInAll: count(
    "rate-in-all",
    { min: 0, max: 1_000_000, default: 0 },
    "maximum requests per second of all clients together; 0 means no limit",
  ),
  trustedProxies: optional("trusted-proxies", networks, {
    accepts: "comma-separated addresses and networks",
    description: "proxies whose X-Forwarded-For header is trusted for the client address",
  }),

  // Callers: origins, tokens, TLS.
  corsOrigins: setting<"any" | "none" | readonly string[]>("cors-origins", {
    accepts: "any, none, or comma-separated origins",
    description: "origins of web pages that may call the service",
    default: "any",
    parse: origins,
  }),
  authJwksUrl: url(
    "auth-jwks-url",
    "JSON Web Key Set of the issuer of callers' tokens; without it no token is required",
  ),
  authIssuer: text("auth-issuer", "an issuer", "required issuer (`iss`) of callers' tokens"),
  authAudience: text("auth-audience", "an audience", "required audience (`aud`) of callers' tokens"),
  authAlgorithms: setting<readonly string[]>("auth-algorithms", {
    accepts: "comma-separated names of asymmetric algorithms",
    description: "accepted signature algorithms of callers' tokens",
    default: ["RS256", "ES256"],
    defaultLabel: "RS256,ES256",
    parse: algorithms,
  }),
  authOperations: optional("auth-operations", list, {
    accepts: "comma-separated names of operations or services",
    description: "operations that require a token, as full names of rpcs or services",
    defaultLabel: "all",
  }),
  tlsCertFile: text("tls-cert-file", "the path of a PEM file", "certificate chain for TLS"),
  tlsKeyFile: text("tls-key-file", "the path of a PEM file", "private key of the certificate"),

  // The operator's port, logs and traces.
  logRequests: oneOf("log-requests", ["all", "failed", "none"], "failed", "requests to log, a line each"),
  metricsPort: optional("metrics-port", integer({ min: 0, max: 65_535 }), {
    accepts: "a number from 0 to 65535",
    description: "operator's port: metrics for Prometheus at /metrics, warnings at /warnings; 0 selects a free port",
    defaultLabel: "none",
  }),
  metricsHost: host("metrics-host", "address to listen on with the operator's port"),
  operatorTokenFile: text(
    "operator-token-file",
    "the path of a file",
    "file with the token that every request to the operator's port needs; read again when it changes",
  ),
  tracesUrl: url("traces-url", "OTLP over HTTP endpoint for traces, such as http://localhost:4318/v1/traces"),
  tracesPercent: count(
    "traces-percent",
    { min: 0, max: 100, default: 100 },
    "percentage of new traces to export; a trace context of the caller keeps its own sampling decision",
  ),
  reflection: boolean("reflection", true, "whether to serve gRPC reflection"),
};

export type Config = {
  readonly [N in keyof typeof settings]: (typeof settings)[N] extends Setting<infer T> ? T : never;
};

/** The minimum is the worst case that every registry must support. No settlement that fits in a request comes near the maximum. */
function settlementLimit(name: string, min: number, value: number, label: string): Setting<number> {
  return count(`max-${name}`, { min, max: 1_000_000, default: value }, `maximum ${label} in one settlement`);
}
