import { describe, expect, test } from "vitest";
import { type Config, type ConfigResult, readConfig } from "../../src/config/config.js";
import { helpText } from "../../src/config/help.js";
import { settings } from "../../src/config/settings.js";

const read = (argv: readonly string[] = [], env: Record<string, string> = {}): ConfigResult => readConfig(argv, env);

function configOf(argv: readonly string[], env?: Record<string, string>): Config {
  const found = read(argv, env);
  if (!found.ok) throw new Error(found.wrong.join("\n"));
  return found.config;
}

function wrongIn(argv: readonly string[], env?: Record<string, string>): readonly string[] {
  const found = read(argv, env);
  if (found.ok) throw new Error("nothing is wrong");
  return found.wrong;
}

const defaults: Config = {
  host: "127.0.0.1",
  port: 8080,
  snapshot: undefined,
  registry: "utility",
  instruments: undefined,
  totalSupply: false,
  logLevel: "info",
  graceSeconds: 5,
  ledgerUrl: undefined,
  ledgerParties: undefined,
  ledgerTokenFile: undefined,
  ledgerCaFile: undefined,
  oidcIssuer: undefined,
  oidcClientId: undefined,
  oidcClientSecretFile: undefined,
  oidcAudience: undefined,
  databaseUrl: undefined,
  databaseConnections: 10,
  cacheMegabytes: 256,
  unreadySeconds: 30,
  staleSeconds: 300,
  readWaitMs: 1000,
  maxLegs: 100,
  maxAllocations: 100,
  maxInstruments: 25,
  maxAccounts: 200,
  maxParties: 200,
  maxBodyBytes: 1_048_576,
  maxHeaderBytes: 16_384,
  maxPathBytes: 12_288,
  maxArgumentDepth: 48,
  maxArgumentKeys: 50_000,
  requestSeconds: 30,
  maxConnections: 10_000,
  maxStreams: 256,
  maxResets: 500,
  maxDelayMs: 250,
  ratePerClient: 0,
  rateInAll: 0,
  trustedProxies: undefined,
  corsOrigins: "any",
  authJwksUrl: undefined,
  authIssuer: undefined,
  authAudience: undefined,
  authAlgorithms: ["RS256", "ES256"],
  authOperations: undefined,
  tlsCertFile: undefined,
  tlsKeyFile: undefined,
  logRequests: "failed",
  metricsPort: undefined,
  metricsHost: "127.0.0.1",
  tracesUrl: undefined,
  tracesPercent: 100,
  reflection: true,
};

/** Every setting: its variable, its flag, two texts that it takes with what they come to, and texts that it does not take. */
const table: readonly {
  readonly name: keyof Config;
  readonly variable: string;
  readonly flag: string;
  readonly takes: string;
  readonly good: readonly (readonly [string, Config[keyof Config]])[];
  readonly bad: readonly string[];
}[] = [
  {
    name: "host",
    variable: "OFFLEDGER_HOST",
    flag: "--host",
    takes: "an address or host name",
    good: [
      ["0.0.0.0", "0.0.0.0"],
      ["::1", "::1"],
      ["registry-1.example.org", "registry-1.example.org"],
    ],
    bad: [" ", "a b", "http://localhost", "localhost/"],
  },
  {
    name: "port",
    variable: "OFFLEDGER_PORT",
    flag: "--port",
    takes: "a number from 0 to 65535",
    good: [
      ["0", 0],
      ["1", 1],
      ["65535", 65_535],
    ],
    bad: ["-1", "65536", "8080.5", "1e3", "0x50", "http", "80 80", " 80", "٣", "99999999999999999999"],
  },
  {
    name: "snapshot",
    variable: "OFFLEDGER_SNAPSHOT",
    flag: "--snapshot",
    takes: "the path of a file of active contracts",
    good: [
      ["registry.ndjson", "registry.ndjson"],
      ["/a folder/é.json", "/a folder/é.json"],
    ],
    bad: [],
  },
  {
    name: "registry",
    variable: "OFFLEDGER_REGISTRY",
    flag: "--registry",
    takes: "utility, minimal, or the path of a JavaScript module",
    good: [
      ["utility", "utility"],
      ["minimal", "minimal"],
    ],
    bad: [],
  },
  {
    name: "instruments",
    variable: "OFFLEDGER_INSTRUMENTS",
    flag: "--instruments",
    takes: "the path of a YAML file",
    good: [["instruments.yaml", "instruments.yaml"]],
    bad: [],
  },
  {
    name: "totalSupply",
    variable: "OFFLEDGER_TOTAL_SUPPLY",
    flag: "--total-supply",
    takes: "true or false",
    good: [
      ["true", true],
      ["false", false],
    ],
    bad: ["yes", "1", "TRUE", " true"],
  },
  {
    name: "logLevel",
    variable: "OFFLEDGER_LOG_LEVEL",
    flag: "--log-level",
    takes: "one of fatal, error, warn, info, debug, trace, silent",
    good: (["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const).map((level) => [level, level]),
    bad: ["INFO", "verbose", "1", " info"],
  },
  {
    name: "graceSeconds",
    variable: "OFFLEDGER_GRACE_SECONDS",
    flag: "--grace-seconds",
    takes: "a whole number from 1 to 86400",
    good: [
      ["1", 1],
      ["86400", 86_400],
    ],
    bad: ["0", "86401", "5s", "1.5"],
  },
  {
    name: "databaseConnections",
    variable: "OFFLEDGER_DATABASE_CONNECTIONS",
    flag: "--database-connections",
    takes: "a whole number from 2 to 500",
    good: [
      ["2", 2],
      ["500", 500],
    ],
    bad: ["0", "1", "501", "-2", "2.5", "many"],
  },
  {
    name: "cacheMegabytes",
    variable: "OFFLEDGER_CACHE_MEGABYTES",
    flag: "--cache-megabytes",
    takes: "a whole number from 1 to 100000",
    good: [
      ["1", 1],
      ["100000", 100_000],
    ],
    bad: ["0", "100001", "-1", "0.5", "1GB"],
  },
  {
    name: "unreadySeconds",
    variable: "OFFLEDGER_UNREADY_SECONDS",
    flag: "--unready-seconds",
    takes: "a whole number from 1 to 86400",
    good: [
      ["1", 1],
      ["300", 300],
    ],
    bad: ["0", "86401", "-1", "soon"],
  },
  {
    name: "staleSeconds",
    variable: "OFFLEDGER_STALE_SECONDS",
    flag: "--stale-seconds",
    takes: "a whole number from 1 to 86400",
    good: [
      ["30", 30],
      ["86400", 86_400],
    ],
    bad: ["0", "86401", "-1", "soon"],
  },
  {
    name: "readWaitMs",
    variable: "OFFLEDGER_READ_WAIT_MS",
    flag: "--read-wait-ms",
    takes: "a whole number from 0 to 60000",
    good: [
      ["0", 0],
      ["60000", 60_000],
    ],
    bad: ["-1", "60001", "1s"],
  },
  ...(
    [
      ["maxLegs", "LEGS", "legs", 25],
      ["maxAllocations", "ALLOCATIONS", "allocations", 50],
      ["maxInstruments", "INSTRUMENTS", "instruments", 25],
      ["maxAccounts", "ACCOUNTS", "accounts", 50],
      ["maxParties", "PARTIES", "parties", 100],
    ] as const
  ).map(([name, variable, flag, least]) => ({
    name,
    variable: `OFFLEDGER_MAX_${variable}`,
    flag: `--max-${flag}`,
    takes: `a whole number from ${least} to 1000000`,
    // The least is the worst case that service.md says every registry has to support.
    good: [
      [String(least), least],
      [String(least + 1), least + 1],
      ["1000000", 1_000_000],
    ] as const,
    bad: [String(least - 1), "1000001", "0", "-100", "many", "100.5", "1e6", "Infinity", " 100"],
  })),
  ...(
    [
      ["maxBodyBytes", "max-body-bytes", 1_024, 16_777_216],
      ["maxHeaderBytes", "max-header-bytes", 1_024, 1_048_576],
      ["maxPathBytes", "max-path-bytes", 256, 65_536],
      ["maxArgumentDepth", "max-argument-depth", 10, 50],
      ["maxArgumentKeys", "max-argument-keys", 1_000, 1_000_000],
      ["requestSeconds", "request-seconds", 1, 86_400],
      ["maxConnections", "max-connections", 10, 1_000_000],
      ["maxStreams", "max-streams", 1, 10_000],
      ["maxResets", "max-resets", 10, 100_000],
      ["maxDelayMs", "max-delay-ms", 0, 60_000],
      ["ratePerClient", "rate-per-client", 0, 1_000_000],
      ["rateInAll", "rate-in-all", 0, 1_000_000],
      ["tracesPercent", "traces-percent", 0, 100],
    ] as const
  ).map(([name, flag, least, most]) => ({
    name,
    variable: `OFFLEDGER_${flag.toUpperCase().replaceAll("-", "_")}`,
    flag: `--${flag}`,
    takes: `a whole number from ${least} to ${most}`,
    good: [
      [String(least), least],
      [String(most), most],
    ] as const,
    bad: [String(least - 1), String(most + 1), "many", "1.5", "1e3", " 5"],
  })),
  {
    name: "trustedProxies",
    variable: "OFFLEDGER_TRUSTED_PROXIES",
    flag: "--trusted-proxies",
    takes: "addresses and networks with commas between them",
    good: [
      ["10.0.0.1", ["10.0.0.1"]],
      ["10.0.0.0/8, ::1,fd00::/8", ["10.0.0.0/8", "::1", "fd00::/8"]],
    ],
    bad: ["true", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8/8", "::1/129", "proxy.example", ",", "10.0.0", "*"],
  },
  {
    name: "corsOrigins",
    variable: "OFFLEDGER_CORS_ORIGINS",
    flag: "--cors-origins",
    takes: "any, none, or origins with commas between them",
    good: [
      ["none", "none"],
      ["https://wallet.example, http://localhost:3000", ["https://wallet.example", "http://localhost:3000"]],
    ],
    bad: ["*", "wallet.example", "https://wallet.example/", "https://wallet.example,any", "null", "file:///a", " "],
  },
  {
    name: "authAlgorithms",
    variable: "OFFLEDGER_AUTH_ALGORITHMS",
    flag: "--auth-algorithms",
    takes: "names of asymmetric algorithms with commas between them",
    good: [
      ["ES256", ["ES256"]],
      ["RS256,PS512,EdDSA", ["RS256", "PS512", "EdDSA"]],
    ],
    // With a shared secret, or with none, whoever can check a token can make one.
    bad: ["none", "HS256", "RS256,HS256", "rs256", "RSA", ","],
  },
  {
    name: "logRequests",
    variable: "OFFLEDGER_LOG_REQUESTS",
    flag: "--log-requests",
    takes: "one of all, failed, none",
    good: [
      ["all", "all"],
      ["none", "none"],
    ],
    bad: ["true", "ALL", "errors"],
  },
  {
    name: "metricsPort",
    variable: "OFFLEDGER_METRICS_PORT",
    flag: "--metrics-port",
    takes: "a number from 0 to 65535",
    good: [
      ["0", 0],
      ["9464", 9_464],
    ],
    bad: ["-1", "65536", "off"],
  },
  {
    name: "metricsHost",
    variable: "OFFLEDGER_METRICS_HOST",
    flag: "--metrics-host",
    takes: "an address or host name",
    good: [
      ["0.0.0.0", "0.0.0.0"],
      ["::", "::"],
    ],
    bad: [" ", "a b", "http://localhost"],
  },
  {
    name: "tracesUrl",
    variable: "OFFLEDGER_TRACES_URL",
    flag: "--traces-url",
    takes: "an http or https URL",
    good: [["http://localhost:4318/v1/traces", new URL("http://localhost:4318/v1/traces")]],
    bad: ["localhost:4318", "grpc://localhost", " "],
  },
  {
    name: "reflection",
    variable: "OFFLEDGER_REFLECTION",
    flag: "--reflection",
    takes: "true or false",
    good: [
      ["false", false],
      ["true", true],
    ],
    bad: ["yes", "1", "False"],
  },
];

const url = { OFFLEDGER_LEDGER_URL: "https://participant.example/api" };
const parties = { OFFLEDGER_LEDGER_PARTIES: "operator::1220" };
const participant = { ...url, ...parties };
const issuer = { OFFLEDGER_OIDC_ISSUER: "https://issuer.example/realm" };
const client = { OFFLEDGER_OIDC_CLIENT_ID: "offledger", OFFLEDGER_OIDC_CLIENT_SECRET_FILE: "secret" };
const keys = { OFFLEDGER_AUTH_JWKS_URL: "https://issuer.example/keys" };
const aUrl = "an http or https URL";
const badUrls = ["participant", "ftp://participant", "//participant", "http://", " "];

/** Every setting that only has a meaning beside others, which are set here. */
const dependent: readonly {
  readonly name: keyof Config;
  readonly flag: string;
  readonly takes: string;
  readonly beside: Record<string, string>;
  readonly text: string;
  readonly value: unknown;
  readonly bad: readonly string[];
}[] = [
  {
    name: "ledgerUrl",
    flag: "--ledger-url",
    takes: aUrl,
    beside: parties,
    text: "http://localhost:7575",
    value: new URL("http://localhost:7575"),
    bad: badUrls,
  },
  {
    name: "ledgerParties",
    flag: "--ledger-parties",
    takes: "party ids with commas between them",
    beside: url,
    text: "a::1220, b::1220,a::1220",
    value: ["a::1220", "b::1220"],
    bad: [",", "a::1220,", " "],
  },
  {
    name: "ledgerTokenFile",
    flag: "--ledger-token-file",
    takes: "the path of a file",
    beside: participant,
    text: "/run/token",
    value: "/run/token",
    bad: [],
  },
  {
    name: "ledgerCaFile",
    flag: "--ledger-ca-file",
    takes: "the path of a PEM file",
    beside: participant,
    text: "ca.pem",
    value: "ca.pem",
    bad: [],
  },
  {
    name: "oidcIssuer",
    flag: "--oidc-issuer",
    takes: aUrl,
    beside: { ...participant, ...client },
    text: "https://other.example",
    value: new URL("https://other.example"),
    bad: badUrls,
  },
  {
    name: "oidcClientId",
    flag: "--oidc-client-id",
    takes: "a client id",
    beside: { ...participant, ...issuer, ...client },
    text: "other",
    value: "other",
    bad: [],
  },
  {
    name: "oidcClientSecretFile",
    flag: "--oidc-client-secret-file",
    takes: "the path of a file",
    beside: { ...participant, ...issuer, ...client },
    text: "other",
    value: "other",
    bad: [],
  },
  {
    name: "oidcAudience",
    flag: "--oidc-audience",
    takes: "an audience",
    beside: { ...participant, ...issuer, ...client },
    text: "https://participant",
    value: "https://participant",
    bad: [],
  },
  {
    name: "authJwksUrl",
    flag: "--auth-jwks-url",
    takes: aUrl,
    beside: { OFFLEDGER_AUTH_ISSUER: "i", OFFLEDGER_AUTH_AUDIENCE: "a" },
    text: "https://issuer.example/keys",
    value: new URL("https://issuer.example/keys"),
    bad: badUrls,
  },
  {
    name: "authIssuer",
    flag: "--auth-issuer",
    takes: "an issuer",
    beside: { ...keys, OFFLEDGER_AUTH_AUDIENCE: "a" },
    text: "https://issuer.example",
    value: "https://issuer.example",
    bad: [],
  },
  {
    name: "authAudience",
    flag: "--auth-audience",
    takes: "an audience",
    beside: { ...keys, OFFLEDGER_AUTH_ISSUER: "i" },
    text: "registry",
    value: "registry",
    bad: [],
  },
  {
    name: "authOperations",
    flag: "--auth-operations",
    takes: "names of operations or services with commas between them",
    beside: { ...keys, OFFLEDGER_AUTH_ISSUER: "i", OFFLEDGER_AUTH_AUDIENCE: "a" },
    text: "a.B/C, d.E",
    value: ["a.B/C", "d.E"],
    bad: [",", " "],
  },
  {
    name: "tlsCertFile",
    flag: "--tls-cert-file",
    takes: "the path of a PEM file",
    beside: { OFFLEDGER_TLS_KEY_FILE: "key.pem" },
    text: "cert.pem",
    value: "cert.pem",
    bad: [],
  },
  {
    name: "tlsKeyFile",
    flag: "--tls-key-file",
    takes: "the path of a PEM file",
    beside: { OFFLEDGER_TLS_CERT_FILE: "cert.pem" },
    text: "key.pem",
    value: "key.pem",
    bad: [],
  },
];

describe.each(dependent)("$name", ({ name, flag, takes, beside, text, value, bad }) => {
  const variable = `OFFLEDGER_${flag.slice(2).toUpperCase().replaceAll("-", "_")}`;

  test("is taken from its variable and its flag", () => {
    expect(configOf([], { ...beside, [variable]: text })[name]).toEqual(value);
    expect(configOf([flag, text], beside)[name]).toEqual(value);
  });

  test("is refused empty as a flag", () => {
    expect(wrongIn([`${flag}=`], beside)).toEqual([`${flag} takes ${takes}, and is ""`]);
  });

  for (const wrong of bad) {
    test(`does not take ${JSON.stringify(wrong)}, and says what it takes`, () => {
      expect(wrongIn([], { ...beside, [variable]: wrong })).toEqual([`${variable} takes ${takes}, and is "${wrong}"`]);
    });
  }
});

describe("databaseUrl", () => {
  const variable = "OFFLEDGER_DATABASE_URL";
  const takes = "takes a URL that begins with postgres:// or postgresql://";

  test.each([
    "postgres://database.example/registry",
    "postgresql://offledger:secret@database.example:6432/registry?sslmode=verify-full",
    "postgres://[::1]:5432/registry",
  ])("takes %s", (text) => {
    const expected = { ...defaults, databaseUrl: new URL(text) };
    expect(configOf([], { [variable]: text })).toEqual(expected);
    expect(configOf(["--database-url", text])).toEqual(expected);
    expect(configOf([`--database-url=${text}`], { [variable]: "postgres://other" })).toEqual(expected);
  });

  test("is not set by an empty variable", () => {
    expect(configOf([], { [variable]: "" })).toEqual(defaults);
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
  ])("does not take %j, says what it takes, and does not show what it was given", (text) => {
    expect(wrongIn([], { [variable]: text })).toEqual([`${variable} ${takes}, and is something else`]);
    expect(wrongIn([`--database-url=${text}`])).toEqual([`--database-url ${takes}, and is something else`]);
  });

  test("is refused empty as a flag", () => {
    expect(wrongIn(["--database-url="])).toEqual([`--database-url ${takes}, and is something else`]);
  });

  test.each(["mirror", "api", "migrate"] as const)("is what offledger %s cannot do without", (command) => {
    expect(wrongIn([command])).toEqual([`offledger ${command} needs ${variable}, which is not set`]);
    expect(read([command], { [variable]: "postgres://database.example/registry" })).toMatchObject({
      ok: true,
      command,
    });
  });

  test("is no source: where contracts come from is said besides, but not to offledger api", () => {
    const env = { [variable]: "postgres://database.example/registry", OFFLEDGER_REGISTRY: "./own.js" };
    for (const command of ["serve", "mirror"]) {
      expect(wrongIn([command], env)).toEqual([
        "OFFLEDGER_REGISTRY names a module, which needs OFFLEDGER_SNAPSHOT or OFFLEDGER_LEDGER_URL: " +
          "only the registries that come with the service have a demo",
      ]);
    }
    expect(read(["api"], env)).toMatchObject({ ok: true, command: "api" });
  });
});

describe("settings that do not go together", () => {
  test.each<[Record<string, string>, string]>([
    [url, "OFFLEDGER_LEDGER_URL needs OFFLEDGER_LEDGER_PARTIES, which is not set"],
    [parties, "OFFLEDGER_LEDGER_PARTIES needs OFFLEDGER_LEDGER_URL, which is not set"],
    [{ OFFLEDGER_LEDGER_TOKEN_FILE: "t" }, "OFFLEDGER_LEDGER_TOKEN_FILE needs OFFLEDGER_LEDGER_URL, which is not set"],
    [
      { ...participant, ...issuer, OFFLEDGER_OIDC_CLIENT_ID: "c" },
      "OFFLEDGER_OIDC_ISSUER needs OFFLEDGER_OIDC_CLIENT_SECRET_FILE, which is not set",
    ],
    [
      { ...participant, OFFLEDGER_OIDC_AUDIENCE: "a" },
      "OFFLEDGER_OIDC_AUDIENCE needs OFFLEDGER_OIDC_ISSUER, which is not set",
    ],
    [{ ...participant, OFFLEDGER_SNAPSHOT: "file" }, "OFFLEDGER_SNAPSHOT and OFFLEDGER_LEDGER_URL exclude each other"],
    [
      { ...participant, ...issuer, ...client, OFFLEDGER_LEDGER_TOKEN_FILE: "t" },
      "OFFLEDGER_LEDGER_TOKEN_FILE and OFFLEDGER_OIDC_ISSUER exclude each other",
    ],
    [
      { ...keys, OFFLEDGER_AUTH_AUDIENCE: "a" },
      "OFFLEDGER_AUTH_JWKS_URL needs OFFLEDGER_AUTH_ISSUER, which is not set",
    ],
    [
      { ...keys, OFFLEDGER_AUTH_ISSUER: "i" },
      "OFFLEDGER_AUTH_JWKS_URL needs OFFLEDGER_AUTH_AUDIENCE, which is not set",
    ],
    [{ OFFLEDGER_AUTH_OPERATIONS: "a" }, "OFFLEDGER_AUTH_OPERATIONS needs OFFLEDGER_AUTH_JWKS_URL, which is not set"],
    [{ OFFLEDGER_TLS_CERT_FILE: "c" }, "OFFLEDGER_TLS_CERT_FILE needs OFFLEDGER_TLS_KEY_FILE, which is not set"],
    [{ OFFLEDGER_TLS_KEY_FILE: "k" }, "OFFLEDGER_TLS_KEY_FILE needs OFFLEDGER_TLS_CERT_FILE, which is not set"],
    [{ OFFLEDGER_STALE_SECONDS: "10" }, "OFFLEDGER_STALE_SECONDS has to be at least OFFLEDGER_UNREADY_SECONDS, 30"],
  ])("%j", (env, wrong) => {
    expect(wrongIn([], env)).toEqual([wrong]);
  });
});

describe("without arguments and variables", () => {
  test("the defaults are served", () => {
    expect(read()).toEqual({ ok: true, command: "serve", config: defaults });
  });

  test("every setting is in the table of this test", () => {
    const named = [...[...table, ...dependent].map(({ name }) => name), "databaseUrl"];
    expect(named.toSorted()).toEqual(Object.keys(settings).toSorted());
    expect(Object.keys(defaults)).toEqual(Object.keys(settings));
  });

  test("variables of others do not matter", () => {
    expect(configOf([], { PORT: "1", OFFLEDGER_PORTS: "x", offledger_port: "x", OFFLEDGER_SETTING: "x" })).toEqual(
      defaults,
    );
  });
});

describe.each(table)("$name", ({ name, variable, flag, takes, good, bad }) => {
  test.each(good)("takes %j as %j", (text, value) => {
    const expected = { ...defaults, [name]: value };
    expect(configOf([], { [variable]: text })).toEqual(expected);
    expect(configOf([flag, text])).toEqual(expected);
    expect(configOf([`${flag}=${text}`])).toEqual(expected);
    expect(configOf(["check", flag, text])).toEqual(expected);
  });

  test("is taken from the flag where both say it", () => {
    // Of a setting that takes every text one value does.
    const [[first] = [""], [second, value] = good[0] ?? [""]] = good;
    expect(configOf([flag, second], { [variable]: first })[name]).toEqual(value);
    expect(configOf([flag, second], { [variable]: bad[0] ?? first })[name]).toEqual(value);
  });

  test("is not set by an empty variable", () => {
    expect(configOf([], { [variable]: "" })).toEqual(defaults);
    const [[text, value] = [""]] = good;
    expect(configOf([flag, text], { [variable]: "" })[name]).toEqual(value);
  });

  for (const text of bad) {
    test(`does not take ${JSON.stringify(text)}, and says what it takes`, () => {
      expect(wrongIn([], { [variable]: text })).toEqual([`${variable} takes ${takes}, and is "${text}"`]);
      expect(wrongIn([`${flag}=${text}`])).toEqual([`${flag} takes ${takes}, and is "${text}"`]);
    });
  }
});

describe("limits", () => {
  test("of settlements have names of their own, and their defaults support the worst case", () => {
    const { maxLegs, maxAllocations, maxInstruments, maxAccounts, maxParties } = configOf([]);
    expect(maxLegs).toBeGreaterThanOrEqual(25);
    expect(maxAllocations).toBeGreaterThanOrEqual(50);
    expect(maxInstruments).toBeGreaterThanOrEqual(25);
    expect(maxAccounts).toBeGreaterThanOrEqual(50);
    expect(maxParties).toBeGreaterThanOrEqual(100);
  });
});

describe("several wrong values", () => {
  test("are told all at once, each with its own name", () => {
    expect(
      wrongIn(["--port", "x", "--max-legs", "24"], { OFFLEDGER_HOST: "a b", OFFLEDGER_LOG_LEVEL: "loud" }),
    ).toEqual([
      'OFFLEDGER_HOST takes an address or host name, and is "a b"',
      '--port takes a number from 0 to 65535, and is "x"',
      'OFFLEDGER_LOG_LEVEL takes one of fatal, error, warn, info, debug, trace, silent, and is "loud"',
      '--max-legs takes a whole number from 25 to 1000000, and is "24"',
    ]);
  });
});

describe("commands", () => {
  const database = ["--database-url", "postgres://database.example/registry"];

  test.each<[string[], string]>([
    [[], "serve"],
    [["serve"], "serve"],
    [["mirror", ...database], "mirror"],
    [["api", ...database], "api"],
    [["migrate", ...database], "migrate"],
    [["check"], "check"],
    [["help"], "help"],
    [["version"], "version"],
    [["--help"], "help"],
    [["--version"], "version"],
    [["check", "--help"], "help"],
    [["--port", "1", "serve"], "serve"],
    [["check", "--snapshot", "file"], "check"],
  ])("%j is %s", (argv, command) => {
    expect(read(argv)).toMatchObject({ ok: true, command });
  });

  test.each(["start", "SERVE", "", "serve ", "migration"])("%j is none", (command) => {
    expect(wrongIn([command])).toEqual([
      `the command has to be serve, mirror, api, migrate, check, health, help or version, and is "${command}"`,
    ]);
  });

  test("of two the second is told", () => {
    expect(wrongIn(["check", "file.ndjson"])).toEqual([
      'there is one command only, and "file.ndjson" stands behind it',
    ]);
  });

  test.each([
    [["--nothing"], "--nothing"],
    [["--nothing=5"], "--nothing"],
    [["--Port=1"], "--Port"],
    [["--max-leg", "30"], "--max-leg"],
    [["-p", "1"], "-p"],
    [["check", "--file", "x"], "--file"],
  ])("flags that are not known are told: %j", (argv, named) => {
    const wrong = wrongIn(argv);
    expect(wrong).toHaveLength(1);
    expect(wrong[0]).toContain(`'${named}'`);
  });

  test.each([[["--port"]], [["serve", "--snapshot"]]])("flags that want a value are told without one: %j", (argv) => {
    expect(wrongIn(argv)[0]).toContain(argv.at(-1));
  });

  test.each([["--help=yes"], ["--version=1"]])("flags that want no value are told with one: %s", (flag) => {
    expect(wrongIn([flag])[0]).toContain(flag.split("=")[0]);
  });
});

test("the help names every command and every setting with variable, flag, what it takes and its default", () => {
  const text = helpText();
  for (const command of ["serve", "mirror", "api", "migrate", "check", "health", "help", "version"]) {
    expect(text).toContain(`offledger ${command} `);
  }
  expect(text).toContain("--database-url VALUE");
  expect(text).toContain("Variable: OFFLEDGER_DATABASE_URL.");
  for (const { name, variable, flag, takes } of table) {
    const from = text.indexOf(`${flag} VALUE`);
    expect(from).toBeGreaterThan(0);
    const about = text.slice(from, text.indexOf("Variable:", from) + 80);
    expect(about).toContain(takes);
    expect(about).toContain(`Variable: ${variable}.`);
    const named: Partial<Record<keyof Config, string>> = { snapshot: "the demo registry", metricsPort: "none" };
    const fallback = named[name] ?? defaults[name];
    const told = /\(default (.*)\)\. Variable/.exec(about)?.[1];
    expect(told).toBe(fallback === undefined ? undefined : String(fallback));
  }
});

test.each(["help", "version"] as const)("%s is given whatever the settings are", (command) => {
  expect(readConfig([command], { OFFLEDGER_PORT: "x" })).toMatchObject({ ok: true, command });
});

test("an empty flag is not a path", () => {
  expect(readConfig(["--snapshot="], {})).toEqual({
    ok: false,
    wrong: ['--snapshot takes the path of a file of active contracts, and is ""'],
  });
});
