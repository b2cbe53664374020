/** Every setting of docs/configuration.md: its names, its default, the values that it accepts and rejects. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { helpText } from "../../src/cli/help.js";
import { type Config, readConfig } from "../../src/config/config.js";
import { settlementLimits } from "../../src/config/limits.js";
import { settings } from "../../src/config/settings.js";
import { readErrors, readValid } from "./read.js";

interface Values {
  /** Accepted texts with their values. */
  readonly good: readonly (readonly [text: string, value: unknown])[];
  readonly bad: readonly string[];
}

const same = (...texts: readonly string[]) => texts.map((text) => [text, text] as const);
const malformedParties = ["registrar", "registrar:1220", "::1220", "registrar::", "::", "the registrar::1220"];
const notIntegers = ["1.5", "1e3", "0x50", "80 80", " 80", "٣", "many", "1s", "Infinity", "99999999999999999999"];

/** By what the page says that a setting accepts. Other settings accept any text. */
const valuesOf: Readonly<Record<string, Values>> = {
  "true or false": {
    good: [
      ["true", true],
      ["false", false],
    ],
    bad: ["yes", "1", "TRUE", "False", " true"],
  },
  "an address or host name": {
    good: same("0.0.0.0", "::", "::1", "registry-1.example.org"),
    bad: [" ", "a b", "http://localhost", "localhost/"],
  },
  "an http or https URL": {
    good: ["http://localhost:7575", "https://issuer.example/a/b?c=d"].map((text) => [text, new URL(text)]),
    bad: ["participant", "ftp://participant", "//participant", "http://", "localhost:4318", " "],
  },
  "utility, minimal, or the path of a registry file or a JavaScript module": {
    good: same("minimal", "utility"),
    bad: [],
  },
  "a party id (hint::fingerprint)": {
    good: same("registrar::1220"),
    bad: [...malformedParties, "a::1220,b::1220"],
  },
  "comma-separated party ids (hint::fingerprint)": {
    good: [["a::1220, b::1220,a::1220", ["a::1220", "b::1220"]]],
    bad: [",", "a::1220,", " ", ...malformedParties, ...malformedParties.map((party) => `a::1220,${party}`)],
  },
  "comma-separated addresses and networks": {
    good: [
      ["10.0.0.1", ["10.0.0.1"]],
      ["10.0.0.0/8, ::1,fd00::/8", ["10.0.0.0/8", "::1", "fd00::/8"]],
    ],
    bad: ["true", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8/8", "::1/129", "proxy.example", ",", "10.0.0", "*"],
  },
  "any, none, or comma-separated origins": {
    good: [
      ["none", "none"],
      ["any", "any"],
      ["https://wallet.example, http://localhost:3000", ["https://wallet.example", "http://localhost:3000"]],
    ],
    bad: ["*", "wallet.example", "https://wallet.example/", "https://wallet.example,any", "null", "file:///a", " "],
  },
  "a number from 0 to 65535, or an address with one such as 0.0.0.0:9464": {
    good: [
      ["0", { host: "127.0.0.1", port: 0 }],
      ["0.0.0.0:9464", { host: "0.0.0.0", port: 9464 }],
      ["[::1]:9464", { host: "::1", port: 9464 }],
    ],
    bad: ["65536", "-1", ":9464", "localhost:", "::1:9464", "a b:1", "localhost:65536", "http://localhost:9464"],
  },
  "comma-separated names of operations or services": {
    good: [["a.B/C, d.E", ["a.B/C", "d.E"]]],
    bad: [",", " "],
  },
};

function examples(accepts: string): Values {
  const [, min, max] = /^an? (?:integer|number) from (\d+) to (\d+)$/.exec(accepts) ?? [];
  if (min !== undefined) {
    const good = [Number(min), Number(min) + 1, Number(max)].map((value) => [String(value), value] as const);
    return { good, bad: [String(Number(min) - 1), String(Number(max) + 1), "-100", ...notIntegers] };
  }
  const [, list] = /^one of (.*)$/.exec(accepts) ?? [];
  if (list !== undefined)
    return { good: same(...list.split(", ")), bad: ["INFO", "ALL", "verbose", "true", "1", " info"] };
  return valuesOf[accepts] ?? { good: same("registry.ndjson", "/a folder/é.json", "https://other.example"), bad: [] };
}

/** The default of a setting as the page, and the help, write it. */
function defaultOf(text: string, accepts: string): unknown {
  // Words for what holds without a value.
  if (["", "the demo registry", "none", "all"].includes(text)) return undefined;
  if (accepts.startsWith("comma-separated")) return text.split(",");
  return examples(accepts).good.some(([, value]) => typeof value !== "string") && /^(?:\d+|true|false)$/.test(text)
    ? (JSON.parse(text) as unknown)
    : text;
}

/** Variables without which a setting is rejected, by the beginning of its flag. */
const participant = { OFFLEDGER_LEDGER_URL: "https://a.example", OFFLEDGER_LEDGER_PARTIES: "operator::1220" };
const required: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ledger: participant,
  oidc: {
    ...participant,
    OFFLEDGER_OIDC_ISSUER: "https://issuer.example/realm",
    OFFLEDGER_OIDC_CLIENT_ID: "offledger",
    OFFLEDGER_OIDC_CLIENT_SECRET_FILE: "secret",
  },
  prepare: { ...participant, OFFLEDGER_PREPARE_USER_ID: "operator-console" },
  auth: { OFFLEDGER_AUTH_JWKS_URL: "https://a.example", OFFLEDGER_AUTH_ISSUER: "i", OFFLEDGER_AUTH_AUDIENCE: "a" },
  "database-password-file": { OFFLEDGER_DATABASE_URL: "postgres://offledger@a.example/registry" },
  tls: { OFFLEDGER_TLS_CERT_FILE: "cert.pem", OFFLEDGER_TLS_KEY_FILE: "key.pem" },
};

const page = readFileSync("docs/configuration.md", "utf8");

function rowOf([, variable = "", accepts = "", label = ""]: RegExpExecArray) {
  const flag = variable.replace("OFFLEDGER_", "").toLowerCase().replaceAll("_", "-");
  const name = flag.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase()) as keyof Config;
  const env = required[flag] ?? required[flag.split("-")[0] ?? ""] ?? {};
  return { name, variable, flag, accepts, label, default: defaultOf(label.trim(), accepts), env, ...examples(accepts) };
}

const rows = [...page.matchAll(/^\| `(\w+)` \| .*: (.*) \| (.*) \| .* \|$/gm)]
  .map(rowOf)
  // It has tests of its own: its value is secret.
  .filter(({ name }) => name !== "databaseUrl");
const defaults = Object.fromEntries(rows.map(({ name, default: value }) => [name, value]));

test("the page has every setting", () => {
  expect(rows.map(({ name }) => name)).toEqual(Object.keys(settings).filter((name) => name !== "databaseUrl"));
});

test("without arguments and variables the defaults hold", () => {
  const config = { ...defaults, databaseUrl: undefined };
  expect(readConfig([], {})).toEqual({ ok: true, command: "serve", argument: "", config, warnings: [] });
});

test("the limits on settlements are at least the worst case that service.md requires of every registry", () => {
  expect(readErrors([], { OFFLEDGER_MAX_LEGS: "24" })).toEqual([
    'OFFLEDGER_MAX_LEGS must be an integer from 25 to 1000000, got "24"',
  ]);
  expect(settlementLimits(25)).toEqual({ legs: 25, allocations: 50, instruments: 25, accounts: 50, parties: 100 });
});

describe.each(rows)("$name", ({ name, variable, flag, accepts, label, good, bad, env }) => {
  const [first] = good as [readonly [string, unknown]];
  const last = good.at(-1) ?? first;

  test("accepts its values, as a variable and as a flag, and changes no other setting", () => {
    const others = Object.keys(env).length === 0 ? defaults : readValid([], { ...env, [variable]: first[0] });
    for (const [text, value] of good) {
      const expected = { ...others, [name]: value };
      expect(readValid([], { ...env, [variable]: text })).toEqual(expected);
      // The flag overrides the variable.
      for (const argv of [[`--${flag}`, text], [`--${flag}=${text}`], ["check", `--${flag}`, text]])
        expect(readValid(argv, env)).toEqual(expected);
    }
  });

  test("the flag overrides the variable, even an invalid or empty one", () => {
    for (const overridden of [first[0], bad[0] ?? "other", ""])
      expect(readValid([`--${flag}`, last[0]], { ...env, [variable]: overridden })[name]).toEqual(last[1]);
  });

  test("rejects other values, and names what it accepts", () => {
    for (const text of bad)
      expect(readErrors([], { ...env, [variable]: text })).toEqual([`${variable} must be ${accepts}, got "${text}"`]);
    for (const text of [...bad, ""])
      expect(readErrors([`--${flag}=${text}`], env)).toEqual([`--${flag} must be ${accepts}, got "${text}"`]);
  });

  test("an empty variable counts as not set", () => {
    const others = Object.fromEntries(Object.entries(env).filter(([other]) => other !== variable));
    expect(readConfig([], { ...others, [variable]: "" })).toEqual(readConfig([], others));
  });

  test("the help has its variable, its flag, what it accepts and its default", () => {
    const entry = helpText()
      .split("\n  --")
      .find((text) => text.startsWith(`${flag} VALUE`));
    const suffix = label.trim() === "" ? "" : ` (default ${label})`;
    expect(entry?.trimEnd()).toMatch(/^[\w-]+ VALUE\n {6}\S/);
    expect(entry?.trimEnd().endsWith(`: ${accepts}${suffix}. Variable: ${variable}.`)).toBe(true);
  });
});

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
    '--max-legs must be an integer from 25 to 1000000, got "24"',
    'OFFLEDGER_HOST must be an address or host name, got "a b"',
    '--port must be a number from 0 to 65535, got "x"',
    'OFFLEDGER_LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent, got "loud"',
  ]);
});

test("unknown variables are rejected with the nearest name, unless they are empty or of another program", () => {
  const ignored = { PORT: "1", offledger_port: "x", OFFLEDGER_OLD: "" };
  expect(readValid([], ignored)).toEqual(readValid([]));
  expect(readErrors([], { ...ignored, OFFLEDGER_PROT: "8080", OFFLEDGER_LEDGER_TOKEN: "x" })).toEqual([
    "OFFLEDGER_PROT is not a setting: did you mean OFFLEDGER_PORT?",
    "OFFLEDGER_LEDGER_TOKEN is not a setting: did you mean OFFLEDGER_LEDGER_TOKEN_FILE?",
  ]);
});
