/** Every setting: its names, its default, the values that it accepts and rejects. */
import { describe, expect, test } from "vitest";
import { helpText } from "../../src/cli/help.js";
import { type Config, readConfig } from "../../src/config/config.js";
import { settings } from "../../src/config/settings.js";
import { readErrors, readValid } from "./read.js";

type Env = Readonly<Record<string, string>>;

interface Row {
  readonly flag: string;
  readonly accepts: string;
  readonly default: string | number | boolean | string[] | undefined;
  /** Accepted texts with their values. */
  readonly good: readonly (readonly [text: string, value: unknown])[];
  readonly bad: readonly string[];
  /** Variables without which this setting is rejected. */
  readonly env?: Env;
}

const notIntegers = ["1.5", "1e3", "0x50", "80 80", " 80", "٣", "many", "1s", "Infinity", "99999999999999999999"];
const notUrls = ["participant", "ftp://participant", "//participant", "http://", "localhost:4318", " "];

function integer(flag: string, min: number, max: number, defaultValue: number | undefined, label = "an integer"): Row {
  const good = [min, min + 1, max].map((value) => [String(value), value] as const);
  const bad = [String(min - 1), String(max + 1), "-100", ...notIntegers];
  return { flag, accepts: `${label} from ${min} to ${max}`, default: defaultValue, good, bad };
}
const limit = (flag: string, min: number, defaultValue: number) => integer(flag, min, 1_000_000, defaultValue);
const seconds = (flag: string, defaultValue: number) => integer(flag, 1, 86_400, defaultValue);
const port = (flag: string, defaultValue?: number) => integer(flag, 0, 65_535, defaultValue, "a number");
const boolean = (flag: string, defaultValue: boolean): Row => ({
  flag,
  accepts: "true or false",
  default: defaultValue,
  good: [true, false].map((value) => [String(value), value]),
  bad: ["yes", "1", "TRUE", "False", " true"],
});
const choice = (flag: string, defaultValue: string, values: readonly string[]): Row => ({
  flag,
  accepts: `one of ${values.join(", ")}`,
  default: defaultValue,
  good: values.map((value) => [value, value]),
  bad: ["INFO", "ALL", "verbose", "true", "1", " info"],
});
const host = (flag: string): Row => ({
  flag,
  accepts: "an address or host name",
  default: "127.0.0.1",
  good: ["0.0.0.0", "::", "::1", "registry-1.example.org"].map((value) => [value, value]),
  bad: [" ", "a b", "http://localhost", "localhost/"],
});
const httpUrl = (flag: string, env?: Env): Row => ({
  flag,
  accepts: "an http or https URL",
  default: undefined,
  good: ["http://localhost:7575", "https://issuer.example/a/b?c=d"].map((text) => [text, new URL(text)]),
  bad: notUrls,
  ...(env && { env }),
});
const anyText = (flag: string, accepts: string, env?: Env, defaultValue?: string): Row => ({
  flag,
  accepts,
  default: defaultValue,
  good: ["registry.ndjson", "/a folder/é.json", "https://other.example"].map((value) => [value, value]),
  bad: [],
  ...(env && { env }),
});

const ledgerUrl = { OFFLEDGER_LEDGER_URL: "https://participant.example/api" };
const ledgerParties = { OFFLEDGER_LEDGER_PARTIES: "operator::1220" };
const participant = { ...ledgerUrl, ...ledgerParties };
const oidc = {
  ...participant,
  OFFLEDGER_OIDC_ISSUER: "https://issuer.example/realm",
  OFFLEDGER_OIDC_CLIENT_ID: "offledger",
  OFFLEDGER_OIDC_CLIENT_SECRET_FILE: "secret",
};
const prepare = { ...participant, OFFLEDGER_PREPARE_USER_ID: "operator-console" };
const auth = {
  OFFLEDGER_AUTH_JWKS_URL: "https://issuer.example/keys",
  OFFLEDGER_AUTH_ISSUER: "i",
  OFFLEDGER_AUTH_AUDIENCE: "a",
};

const malformedParties = ["registrar", "registrar:1220", "::1220", "registrar::", "::", "the registrar::1220"];

/** In the order of the help. databaseUrl has tests of its own: its value is secret. */
const table: Readonly<Record<Exclude<keyof Config, "databaseUrl">, Row>> = {
  host: host("host"),
  port: port("port", 8080),
  snapshot: anyText("snapshot", "the path of a file of active contracts"),
  registry: {
    ...anyText("registry", "utility, minimal, or the path of a registry file or a JavaScript module", {}, "utility"),
    good: [
      ["minimal", "minimal"],
      ["utility", "utility"],
    ],
  },
  rootRegistrar: {
    flag: "root-registrar",
    accepts: "a party id (hint::fingerprint)",
    default: undefined,
    good: [["registrar::1220", "registrar::1220"]],
    bad: [...malformedParties, "a::1220,b::1220"],
  },
  instruments: anyText("instruments", "the path of a YAML file"),
  contexts: anyText("contexts", "the path of a YAML file"),
  totalSupply: boolean("total-supply", false),
  keepHoldings: boolean("keep-holdings", false),
  credentialDays: integer("credential-days", 0, 3_650, 30),
  compression: choice("compression", "gzip", ["gzip", "off"]),
  logLevel: choice("log-level", "info", ["fatal", "error", "warn", "info", "debug", "trace", "silent"]),
  drainSeconds: integer("drain-seconds", 0, 3_600, 5),
  graceSeconds: seconds("grace-seconds", 5),
  ledgerUrl: httpUrl("ledger-url", ledgerParties),
  ledgerParties: {
    flag: "ledger-parties",
    accepts: "comma-separated party ids (hint::fingerprint)",
    default: undefined,
    good: [["a::1220, b::1220,a::1220", ["a::1220", "b::1220"]]],
    bad: [",", "a::1220,", " ", ...malformedParties, ...malformedParties.map((party) => `a::1220,${party}`)],
    env: ledgerUrl,
  },
  ledgerTokenFile: anyText("ledger-token-file", "the path of a file", participant),
  ledgerCaFile: anyText("ledger-ca-file", "the path of a PEM file", participant),
  oidcIssuer: httpUrl("oidc-issuer", oidc),
  oidcClientId: anyText("oidc-client-id", "a client id", oidc),
  oidcClientSecretFile: anyText("oidc-client-secret-file", "the path of a file", oidc),
  oidcAudience: anyText("oidc-audience", "an audience", oidc),
  oidcScope: anyText("oidc-scope", "space-separated scopes", oidc),
  prepareUserId: anyText("prepare-user-id", "a user id", participant),
  prepareTokenFile: anyText("prepare-token-file", "the path of a file", prepare),
  databaseConnections: integer("database-connections", 2, 500, 10),
  cacheMegabytes: integer("cache-megabytes", 1, 100_000, 256),
  // Above 300 only with a larger staleSeconds, below 30 only with a smaller unreadySeconds.
  unreadySeconds: { ...seconds("unready-seconds", 30), env: { OFFLEDGER_STALE_SECONDS: "86400" } },
  staleSeconds: { ...seconds("stale-seconds", 300), env: { OFFLEDGER_UNREADY_SECONDS: "1" } },
  readWaitMs: integer("read-wait-ms", 0, 60_000, 1_000),
  // The minimum of each limit is the worst case that service.md requires of every registry.
  maxLegs: limit("max-legs", 25, 100),
  maxAllocations: limit("max-allocations", 50, 100),
  maxInstruments: limit("max-instruments", 25, 25),
  maxAccounts: limit("max-accounts", 50, 200),
  maxParties: limit("max-parties", 100, 200),
  unknownAllocations: choice("unknown-allocations", "leave-out", ["leave-out", "reject"]),
  maxBodyBytes: integer("max-body-bytes", 1_024, 16_777_216, 1_048_576),
  maxHeaderBytes: integer("max-header-bytes", 1_024, 1_048_576, 16_384),
  maxPathBytes: integer("max-path-bytes", 256, 65_536, 12_288),
  maxArgumentDepth: integer("max-argument-depth", 10, 50, 48),
  maxArgumentKeys: limit("max-argument-keys", 1_000, 50_000),
  requestSeconds: seconds("request-seconds", 30),
  maxConnections: limit("max-connections", 10, 10_000),
  maxBodyMegabytes: integer("max-body-megabytes", 1, 1_000_000, undefined),
  maxResponseMegabytes: integer("max-response-megabytes", 1, 1_000_000, undefined),
  maxRequests: integer("max-requests", 16, 1_000_000, undefined),
  maxWatches: integer("max-watches", 0, 1_000_000, 10_000),
  maxStreams: integer("max-streams", 1, 10_000, 100),
  maxDelayMs: integer("max-delay-ms", 0, 60_000, 250),
  ratePerClient: limit("rate-per-client", 0, 0),
  rateInAll: limit("rate-in-all", 0, 0),
  trustedProxies: {
    flag: "trusted-proxies",
    accepts: "comma-separated addresses and networks",
    default: undefined,
    good: [
      ["10.0.0.1", ["10.0.0.1"]],
      ["10.0.0.0/8, ::1,fd00::/8", ["10.0.0.0/8", "::1", "fd00::/8"]],
    ],
    bad: ["true", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8/8", "::1/129", "proxy.example", ",", "10.0.0", "*"],
  },
  corsOrigins: {
    flag: "cors-origins",
    accepts: "any, none, or comma-separated origins",
    default: "any",
    good: [
      ["none", "none"],
      ["any", "any"],
      ["https://wallet.example, http://localhost:3000", ["https://wallet.example", "http://localhost:3000"]],
    ],
    bad: ["*", "wallet.example", "https://wallet.example/", "https://wallet.example,any", "null", "file:///a", " "],
  },
  authJwksUrl: httpUrl("auth-jwks-url", auth),
  authIssuer: anyText("auth-issuer", "an issuer", auth),
  authAudience: anyText("auth-audience", "an audience", auth),
  authAlgorithms: {
    flag: "auth-algorithms",
    accepts: "comma-separated names of asymmetric algorithms",
    default: ["RS256", "ES256"],
    good: [
      ["ES256", ["ES256"]],
      ["RS256,PS512,EdDSA", ["RS256", "PS512", "EdDSA"]],
    ],
    bad: ["none", "HS256", "RS256,HS256", "rs256", "RSA", ","],
  },
  authOperations: {
    flag: "auth-operations",
    accepts: "comma-separated names of operations or services",
    default: undefined,
    good: [["a.B/C, d.E", ["a.B/C", "d.E"]]],
    bad: [",", " "],
    env: auth,
  },
  tlsCertFile: anyText("tls-cert-file", "the path of a PEM file", { OFFLEDGER_TLS_KEY_FILE: "key.pem" }),
  tlsKeyFile: anyText("tls-key-file", "the path of a PEM file", { OFFLEDGER_TLS_CERT_FILE: "cert.pem" }),
  logRequests: choice("log-requests", "failed", ["all", "failed", "none"]),
  metricsPort: port("metrics-port"),
  metricsHost: host("metrics-host"),
  operatorTokenFile: anyText("operator-token-file", "the path of a file"),
  tracesUrl: httpUrl("traces-url"),
  tracesPercent: integer("traces-percent", 0, 100, 100),
  reflection: boolean("reflection", true),
};

const rows = Object.entries(table).map(([name, row]) => Object.assign({ name: name as keyof Config }, row));
const defaults = Object.fromEntries(rows.map(({ name, default: value }) => [name, value]));
const variableOf = (flag: string): string => `OFFLEDGER_${flag.toUpperCase().replaceAll("-", "_")}`;

test("every setting is in the table of this test", () => {
  expect(Object.keys(settings).filter((name) => name !== "databaseUrl")).toEqual(Object.keys(table));
});

test("without arguments and variables the defaults hold", () => {
  const config = { ...defaults, databaseUrl: undefined };
  expect(readConfig([], {})).toEqual({ ok: true, command: "serve", argument: "", config });
});

describe.each(rows)("$name", ({ name, flag, accepts, good, bad, env = {} }) => {
  const variable = variableOf(flag);
  const [first] = good as [readonly [string, unknown]];
  const last = good.at(-1) ?? first;

  test.each(good)("accepts %j as %j, and changes no other setting", (text, value) => {
    const others = Object.keys(env).length === 0 ? defaults : readValid([], { ...env, [variable]: first[0] });
    const expected = { ...others, [name]: value };
    expect(readValid([], { ...env, [variable]: text })).toEqual(expected);
    expect(readValid([`--${flag}`, text], env)).toEqual(expected);
    expect(readValid([`--${flag}=${text}`], env)).toEqual(expected);
    expect(readValid(["check", `--${flag}`, text], env)).toEqual(expected);
  });

  test("the flag overrides the variable, even an invalid or empty one", () => {
    for (const overridden of [first[0], bad[0] ?? "other", ""]) {
      expect(readValid([`--${flag}`, last[0]], { ...env, [variable]: overridden })[name]).toEqual(last[1]);
    }
  });

  test.each(bad)("rejects the variable %j, and names what it accepts", (text) => {
    expect(readErrors([], { ...env, [variable]: text })).toEqual([`${variable} must be ${accepts}, got "${text}"`]);
  });

  test.each([...bad, ""])("rejects the flag %j, and names what it accepts", (text) => {
    expect(readErrors([`--${flag}=${text}`], env)).toEqual([`--${flag} must be ${accepts}, got "${text}"`]);
  });

  test("the help has its variable, its flag, what it accepts and its default", () => {
    const entry = helpText()
      .split("\n  --")
      .find((text) => text.startsWith(`${flag} VALUE`));
    const labels: Partial<Record<keyof Config, string>> = {
      snapshot: "the demo registry",
      metricsPort: "none",
      authOperations: "all",
    };
    const label = labels[name] ?? defaults[name];
    const suffix = label === undefined ? "" : ` (default ${Array.isArray(label) ? label.join(",") : label})`;
    expect(entry?.trimEnd()).toMatch(/^[\w-]+ VALUE\n {6}\S/);
    expect(entry?.trimEnd().endsWith(`: ${accepts}${suffix}. Variable: ${variable}.`)).toBe(true);
  });
});

test.each(rows.filter(({ env }) => env === undefined || Object.keys(env).length === 0))(
  "an empty variable of $name counts as not set",
  ({ flag }) => {
    expect(readValid([], { [variableOf(flag)]: "" })).toEqual(readValid([]));
  },
);

describe("databaseUrl", () => {
  const variable = "OFFLEDGER_DATABASE_URL";
  const accepts = "must be a URL that starts with postgres:// or postgresql://, got another value";

  test.each([
    "postgres://database.example/registry",
    "postgresql://offledger:secret@database.example:6432/registry?sslmode=verify-full",
    "postgres://[::1]:5432/registry",
  ])("accepts %s", (text) => {
    const expected = { ...defaults, databaseUrl: new URL(text) };
    expect(readValid([], { [variable]: text })).toEqual(expected);
    expect(readValid(["--database-url", text])).toEqual(expected);
    expect(readValid([`--database-url=${text}`], { [variable]: "postgres://other" })).toEqual(expected);
  });

  test("an empty variable counts as not set", () => {
    expect(readValid([], { [variable]: "" }).databaseUrl).toBeUndefined();
  });

  test.each([
    "http://offledger:secret@database.example/registry",
    "postgres:offledger:secret@database.example",
    "postgres:///registry?password=secret",
    "mysql://offledger:secret@database.example",
    "offledger:secret@database.example/registry",
    "host=database.example password=secret",
    "postgres://offledger:secret@database.example:99999/registry",
    "postgres://offledger:secret word@data base/registry",
    " ",
  ])("rejects %j without showing it", (text) => {
    expect(readErrors([], { [variable]: text })).toEqual([`${variable} ${accepts}`]);
    expect(readErrors([`--database-url=${text}`])).toEqual([`--database-url ${accepts}`]);
  });

  test("rejects an empty flag", () => {
    expect(readErrors(["--database-url="])).toEqual([`--database-url ${accepts}`]);
  });

  test("is in the help", () => {
    expect(helpText()).toContain("--database-url VALUE");
    expect(helpText()).toContain(`Variable: ${variable}.`);
  });
});

test("several wrong values are reported together, each by its own name", () => {
  const env = { OFFLEDGER_HOST: "a b", OFFLEDGER_LOG_LEVEL: "loud" };
  expect(readErrors(["--port", "x", "--max-legs", "24"], env)).toEqual([
    'OFFLEDGER_HOST must be an address or host name, got "a b"',
    '--port must be a number from 0 to 65535, got "x"',
    'OFFLEDGER_LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent, got "loud"',
    '--max-legs must be an integer from 25 to 1000000, got "24"',
  ]);
});

test("variables with other names are ignored", () => {
  const env = { PORT: "1", OFFLEDGER_PORTS: "x", offledger_port: "x", OFFLEDGER_SETTING: "x" };
  expect(readValid([], env)).toEqual(readValid([]));
});
