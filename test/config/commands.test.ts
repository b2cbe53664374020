/** Commands, unknown arguments, and settings that depend on each other. */
import { describe, expect, test } from "vitest";
import { helpText } from "../../src/cli/help.js";
import { readConfig } from "../../src/config/config.js";
import { readErrors } from "./read.js";

const databaseUrl = "postgres://database.example/registry";
const url = { OFFLEDGER_LEDGER_URL: "https://participant.example/api" };
const parties = { OFFLEDGER_LEDGER_PARTIES: "operator::1220" };
const participant = { ...url, ...parties };
const issuer = { OFFLEDGER_OIDC_ISSUER: "https://issuer.example/realm" };
const client = { OFFLEDGER_OIDC_CLIENT_ID: "offledger", OFFLEDGER_OIDC_CLIENT_SECRET_FILE: "secret" };
const keys = { OFFLEDGER_AUTH_JWKS_URL: "https://issuer.example/keys" };
const names = [
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
];

describe("combinations of settings", () => {
  test.each<[Record<string, string>, string]>([
    [url, "OFFLEDGER_LEDGER_URL requires OFFLEDGER_LEDGER_PARTIES, which is not set"],
    [parties, "OFFLEDGER_LEDGER_PARTIES requires OFFLEDGER_LEDGER_URL, which is not set"],
    [
      { OFFLEDGER_LEDGER_TOKEN_FILE: "t" },
      "OFFLEDGER_LEDGER_TOKEN_FILE requires OFFLEDGER_LEDGER_URL, which is not set",
    ],
    [
      { ...participant, ...issuer, OFFLEDGER_OIDC_CLIENT_ID: "c" },
      "OFFLEDGER_OIDC_ISSUER requires OFFLEDGER_OIDC_CLIENT_SECRET_FILE, which is not set",
    ],
    [
      { ...participant, OFFLEDGER_OIDC_AUDIENCE: "a" },
      "OFFLEDGER_OIDC_AUDIENCE requires OFFLEDGER_OIDC_ISSUER, which is not set",
    ],
    [
      { OFFLEDGER_PREPARE_USER_ID: "console" },
      "OFFLEDGER_PREPARE_USER_ID requires OFFLEDGER_LEDGER_URL, which is not set",
    ],
    [
      { ...participant, OFFLEDGER_PREPARE_TOKEN_FILE: "t" },
      "OFFLEDGER_PREPARE_TOKEN_FILE requires OFFLEDGER_PREPARE_USER_ID, which is not set",
    ],
    [{ ...participant, OFFLEDGER_SNAPSHOT: "file" }, "OFFLEDGER_SNAPSHOT and OFFLEDGER_LEDGER_URL cannot both be set"],
    [
      { ...participant, ...issuer, ...client, OFFLEDGER_LEDGER_TOKEN_FILE: "t" },
      "OFFLEDGER_LEDGER_TOKEN_FILE and OFFLEDGER_OIDC_ISSUER cannot both be set",
    ],
    [
      { ...keys, OFFLEDGER_AUTH_AUDIENCE: "a" },
      "OFFLEDGER_AUTH_JWKS_URL requires OFFLEDGER_AUTH_ISSUER, which is not set",
    ],
    [
      { ...keys, OFFLEDGER_AUTH_ISSUER: "i" },
      "OFFLEDGER_AUTH_JWKS_URL requires OFFLEDGER_AUTH_AUDIENCE, which is not set",
    ],
    [
      { OFFLEDGER_AUTH_OPERATIONS: "a" },
      "OFFLEDGER_AUTH_OPERATIONS requires OFFLEDGER_AUTH_JWKS_URL, which is not set",
    ],
    [{ OFFLEDGER_TLS_CERT_FILE: "c" }, "OFFLEDGER_TLS_CERT_FILE requires OFFLEDGER_TLS_KEY_FILE, which is not set"],
    [{ OFFLEDGER_TLS_KEY_FILE: "k" }, "OFFLEDGER_TLS_KEY_FILE requires OFFLEDGER_TLS_CERT_FILE, which is not set"],
    [
      { OFFLEDGER_STALE_SECONDS: "10" },
      "OFFLEDGER_STALE_SECONDS must be at least OFFLEDGER_UNREADY_SECONDS (30), got 10",
    ],
  ])("%j is rejected", (env, error) => {
    expect(readErrors([], env)).toEqual([error]);
  });

  test.each(["mirror", "api", "migrate"])("%s requires a database", (command) => {
    expect(readErrors([command])).toEqual([`offledger ${command} requires OFFLEDGER_DATABASE_URL, which is not set`]);
    expect(readConfig([command], { OFFLEDGER_DATABASE_URL: databaseUrl })).toMatchObject({ ok: true, command });
  });

  test("a registry module requires a source of contracts, except for commands that read none", () => {
    const env = { OFFLEDGER_DATABASE_URL: databaseUrl, OFFLEDGER_REGISTRY: "./own.js" };
    for (const command of ["serve", "mirror"]) {
      expect(readErrors([command], env)).toEqual([
        "OFFLEDGER_REGISTRY names a file, which requires OFFLEDGER_SNAPSHOT or OFFLEDGER_LEDGER_URL: " +
          "only the built-in registries have a demo",
      ]);
    }
    for (const argv of [["api"], ["contexts"], ["registry", "test", "own.yaml"], ["explain", "id"], ["health"]])
      expect(readConfig(argv, env)).toMatchObject({ ok: true, command: argv[0] });
  });
});

describe("commands", () => {
  const database = ["--database-url", databaseUrl];

  test.each<[string[], string]>([
    [[], "serve"],
    [["serve"], "serve"],
    [["mirror", ...database], "mirror"],
    [["api", ...database], "api"],
    [["migrate", ...database], "migrate"],
    [["check"], "check"],
    [["contexts"], "contexts"],
    [["contexts", "--contexts", "file"], "contexts"],
    [["registry", "test", "own.yaml"], "registry"],
    [["explain", "3f9c2b7a41d05e68-2"], "explain"],
    [["explain", "-"], "explain"],
    [["health"], "health"],
    [["help"], "help"],
    [["version"], "version"],
    [["--help"], "help"],
    [["--version"], "version"],
    [["check", "--help"], "help"],
    [["--port", "1", "serve"], "serve"],
    [["check", "--snapshot", "file"], "check"],
  ])("%j is %s", (argv, command) => {
    expect(readConfig(argv, {})).toMatchObject({ ok: true, command });
  });

  test("the help names every command", () => {
    const listed = [...helpText().matchAll(/^ {2}offledger (\w+)/gm)].map(([, command]) => command);
    expect(listed).toEqual(names);
  });

  test.each(["start", "SERVE", "", "serve ", "migration"])("%j is unknown", (command) => {
    expect(readErrors([command])).toEqual([`the command must be one of ${names.join(", ")}, got "${command}"`]);
  });

  test("explain has an argument", () => {
    expect(readConfig(["explain", "3f9c2b7a41d05e68-2"], {})).toMatchObject({ argument: "3f9c2b7a41d05e68-2" });
    expect(readConfig(["explain", "-", "--metrics-port", "9464"], {})).toMatchObject({ argument: "-" });
    for (const argv of [["explain"], ["explain", ""]])
      expect(readErrors(argv)).toEqual(["offledger explain requires the id of a request, or - for a request on stdin"]);
    expect(readErrors(["explain", "a", "b"])).toEqual(['unexpected argument "b": only one request is explained']);
  });

  test("registry has an action and a file", () => {
    expect(readConfig(["registry", "test", "own.yaml"], {})).toMatchObject({ argument: "own.yaml" });
    for (const argv of [["registry"], ["registry", "own.yaml"], ["registry", "test"]])
      expect(readErrors(argv)).toEqual(["offledger registry requires test and the path of a registry file"]);
    expect(readErrors(["registry", "test", "a", "b"])).toEqual([
      'unexpected argument "b": only one registry is tested',
    ]);
  });

  test("a second argument is rejected", () => {
    expect(readErrors(["check", "file.ndjson"])).toEqual([
      'unexpected argument "file.ndjson": only one command is accepted',
    ]);
  });

  test.each([
    [["--nothing"], "--nothing"],
    [["--nothing=5"], "--nothing"],
    [["--Port=1"], "--Port"],
    [["--max-leg", "30"], "--max-leg"],
    [["-p", "1"], "-p"],
    [["check", "--file", "x"], "--file"],
  ])("unknown flags are named: %j", (argv, flag) => {
    const errors = readErrors(argv);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain(`'${flag}'`);
  });

  test.each([[["--port"]], [["serve", "--snapshot"]]])("flags without their value are named: %j", (argv) => {
    expect(readErrors(argv)[0]).toContain(argv.at(-1));
  });

  test.each([["--help=yes"], ["--version=1"]])("flags with an unexpected value are named: %s", (flag) => {
    expect(readErrors([flag])[0]).toContain(flag.split("=")[0]);
  });

  test.each(["help", "version"])("%s succeeds whatever the settings are", (command) => {
    expect(readConfig([command], { OFFLEDGER_PORT: "x" })).toMatchObject({ ok: true, command });
  });
});
