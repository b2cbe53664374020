/** Commands, unknown arguments, and settings that depend on each other. */
import { describe, expect, test } from "vitest";
import { helpText } from "../../src/cli/help.js";
import { readConfig } from "../../src/config/config.js";
import { readErrors } from "./read.js";

const databaseUrl = "postgres://database.example/registry";
const names = "serve mirror api migrate check contexts registry explain health help version conformance".split(" ");

/** `URL=a PARTIES=b`: variables without their common prefix, and what is wrong with them. */
const combinations = `
LEDGER_URL=http://a | LEDGER_URL requires LEDGER_PARTIES, which is not set
LEDGER_PARTIES=p::1 | LEDGER_PARTIES requires LEDGER_URL, which is not set
LEDGER_URL=http://a LEDGER_PARTIES=user | LEDGER_PARTIES=user requires LEDGER_TOKEN_FILE or OFFLEDGER_OIDC_ISSUER: without a token the participant knows no user; name the parties
LEDGER_TOKEN_FILE=t | LEDGER_TOKEN_FILE requires LEDGER_URL, which is not set
LEDGER_URL=http://a LEDGER_PARTIES=p::1 OIDC_ISSUER=http://b OIDC_CLIENT_ID=c | OIDC_ISSUER requires OIDC_CLIENT_SECRET_FILE, which is not set
LEDGER_URL=http://a LEDGER_PARTIES=p::1 OIDC_AUDIENCE=a | OIDC_AUDIENCE requires OIDC_ISSUER, which is not set
PREPARE_USER_ID=console | PREPARE_USER_ID requires LEDGER_URL, which is not set
LEDGER_URL=http://a LEDGER_PARTIES=p::1 PREPARE_TOKEN_FILE=t | PREPARE_TOKEN_FILE requires PREPARE_USER_ID, which is not set
LEDGER_URL=http://a LEDGER_PARTIES=p::1 SNAPSHOT=file | SNAPSHOT and LEDGER_URL cannot both be set
LEDGER_URL=http://a LEDGER_PARTIES=p::1 OIDC_ISSUER=http://b OIDC_CLIENT_ID=c OIDC_CLIENT_SECRET_FILE=s LEDGER_TOKEN_FILE=t | LEDGER_TOKEN_FILE and OIDC_ISSUER cannot both be set
AUTH_JWKS_URL=http://a AUTH_AUDIENCE=a | AUTH_JWKS_URL requires AUTH_ISSUER, which is not set
AUTH_JWKS_URL=http://a AUTH_ISSUER=i | AUTH_JWKS_URL requires AUTH_AUDIENCE, which is not set
AUTH_OPERATIONS=a | AUTH_OPERATIONS requires AUTH_JWKS_URL, which is not set
TLS_CERT_FILE=c | TLS_CERT_FILE requires TLS_KEY_FILE, which is not set
TLS_KEY_FILE=k | TLS_KEY_FILE requires TLS_CERT_FILE, which is not set`;

describe("combinations of settings", () => {
  test.each(
    combinations
      .trim()
      .split("\n")
      .map((row) => row.split(" | ")),
  )("%s is rejected", (variables = "", error = "") => {
    const env = Object.fromEntries(variables.split(" ").map((pair) => `OFFLEDGER_${pair}`.split("=")));
    const expected = `OFFLEDGER_${error.replace(/(requires|and) /, "$1 OFFLEDGER_")}`;
    expect(readErrors([], env as Record<string, string>)).toEqual([expected]);
  });

  test.each(["mirror", "api", "migrate"])("%s requires a database", (command) => {
    expect(readErrors([command])).toEqual([`offledger ${command} requires OFFLEDGER_DATABASE_URL, which is not set`]);
    expect(readConfig([command], { OFFLEDGER_DATABASE_URL: databaseUrl })).toMatchObject({ ok: true, command });
  });

  test("a registry module requires a source of contracts, except for commands that read none", () => {
    const env = { OFFLEDGER_DATABASE_URL: databaseUrl, OFFLEDGER_REGISTRY: "./own.js" };
    for (const command of ["serve", "mirror"]) {
      expect(readErrors([command], env)).toEqual([
        "OFFLEDGER_REGISTRY names a registry without a demo, which requires OFFLEDGER_SNAPSHOT or OFFLEDGER_LEDGER_URL: " +
          "utility and minimal have one",
      ]);
    }
    for (const argv of [["api"], ["contexts"], ["registry", "test", "own.yaml"], ["explain", "id"], ["health"]])
      expect(readConfig(argv, env)).toMatchObject({ ok: true, command: argv[0] });
  });
});

describe("commands", () => {
  test.each([
    ["", "serve"],
    ["serve", "serve"],
    ["mirror --database-url postgres://a/b", "mirror"],
    ["api --database-url postgres://a/b", "api"],
    ["migrate --database-url postgres://a/b", "migrate"],
    ["check --snapshot file", "check"],
    ["contexts --contexts file", "contexts"],
    ["registry test own.yaml", "registry"],
    ["explain 3f9c2b7a41d05e68-2", "explain"],
    ["explain -", "explain"],
    ["health", "health"],
    ["help", "help"],
    ["version", "version"],
    ["--help", "help"],
    ["--version", "version"],
    ["check --help", "help"],
    ["--port 1 serve", "serve"],
  ])("%j is %s", (argv, command) => {
    expect(readConfig(argv.split(" ").filter(Boolean), {})).toMatchObject({ ok: true, command });
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
    [["--snapshto", "a"], "--snapshto", "--snapshot"],
    [["--snapshto=a"], "--snapshto", "--snapshot"],
    [["--Port=1"], "--Port", "--port"],
    [["--max-leg", "30"], "--max-leg", "--max-legs"],
    [["-p", "1"], "-p", "--port"],
    [["check", "--ledger-party", "x"], "--ledger-party", "--ledger-parties"],
    [["--helpp"], "--helpp", "--help"],
  ])("an unknown flag is named, with the nearest that there is: %j", (argv, flag, nearest) => {
    expect(readErrors(argv)).toEqual([`'${flag}' is not a flag: did you mean ${nearest}?`]);
  });

  test("all unknown flags are named, without their values", () => {
    const errors = readErrors(["--prot=secret", "--hots", "secret"]);
    expect(errors).toEqual([
      "'--prot' is not a flag: did you mean --port?",
      "'--hots' is not a flag: did you mean --host?",
    ]);
  });

  test.each([[["-h"]], [["check", "-h"]], [["-h", "--port", "1"]]])("-h is help: %j", (argv) => {
    expect(readConfig(argv, { OFFLEDGER_PORT: "x" })).toMatchObject({ ok: true, command: "help" });
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
