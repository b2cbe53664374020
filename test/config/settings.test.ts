/** Every setting of docs/configuration.md: its names, its default, the values that it accepts and rejects. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { helpText } from "../../src/cli/help.js";
import { type Config, readConfig } from "../../src/config/config.js";
import { settlementLimits } from "../../src/config/limits.js";
import { settings } from "../../src/config/settings.js";
import { readErrors, readValid } from "./read.js";

const words = (text: string) => text.trim().split(/\s+/);
/** As browsers, extensions and packaged apps send them. */
const pageOrigins = words(`
  https://xn--wllt-loa.example https://a_b.example http://127.0.0.1:8100 http://[::1]:3000
  chrome-extension://abcdefghijklmnopabcdefghijklmnop moz-extension://2f5a7b1c-0000-4000-8000-000000000000
  safari-web-extension://ABCD-1234 capacitor://localhost ionic://localhost tauri://localhost app://wallet
  capacitor://localhost:8100`);
/** What no browser sends: a pattern, more or less than scheme, host and port, or another spelling. */
const notOrigins = words(`
  * null https://*.example https://* chrome-extension://* *://wallet.example
  wallet.example https:// chrome-extension:// https://:443 capacitor:localhost
  https://wallet.example/ https://wallet.example/a chrome-extension://abc/popup.html
  https://a.example?b https://ops@wallet.example capacitor://ops:secret@localhost https://a.example#b
  https://Wallet.example HTTPS://wallet.example Capacitor://localhost https://wällt.example
  https://wallet.example:443 http://wallet.example:80 https://a.example:99999 https://a..example
  file:///a file://a wss://wallet.example ws://wallet.example ftp://wallet.example`);

interface Values {
  /** Accepted texts with their values. */
  readonly good: readonly (readonly [text: string, value: unknown])[];
  readonly bad: readonly string[];
}

const same = (...texts: readonly string[]) => texts.map((text) => [text, text] as const);
const malformedParties = ["registrar", "registrar:1220", "::1220", "registrar::", "::", "the registrar::1220"];
const webUrls = ["http://localhost:7575", "https://issuer.example/a/b?c=d"];
const notWebUrls = [
  ...words("participant ftp://participant //participant http:// localhost:4318 http:a.example https:///a.example"),
  // A typing error in the scheme, the port, or at the end of the host.
  ...words("htps://ops:secret@a.example https://ops:secret@a.example:port"),
  "https://ops:secret@a b",
];
const notIntegers = ["1.5", "1e3", "0x50", "80 80", "٣", "many", "1s", "Infinity", "99999999999999999999"];

/** By what the page says that a setting accepts. Other settings accept any text. */
const valuesOf: Readonly<Record<string, Values>> = {
  "true or false": {
    good: [
      ["true", true],
      ["false", false],
    ],
    bad: ["yes", "1", "TRUE", "False", "tr ue"],
  },
  "an address or host name": {
    good: same("0.0.0.0", "::", "::1", "registry-1.example.org"),
    bad: ["a b", "http://localhost", "localhost/"],
  },
  "an http or https URL": {
    good: [...webUrls, "https://ops:p%40ss%23@a.example/json"].map((text) => [text, new URL(text)]),
    bad: notWebUrls,
  },
  "an http or https URL without user and password": {
    good: webUrls.map((text) => [text, new URL(text)]),
    bad: [...notWebUrls, "https://ops:secret@a.example/keys", "https://ops@a.example/keys"],
  },
  "utility, standard, minimal, test-token-v2, simple-token, or the path of a registry file or a JavaScript module": {
    // Others than these have no demo.
    good: same("minimal", "utility"),
    bad: [],
  },
  "user, or a party id (hint::fingerprint)": {
    good: same("registrar::1220", "user"),
    bad: [...malformedParties, "a::1220,b::1220"],
  },
  "comma-separated party ids (hint::fingerprint)": {
    good: [["a::1220, b::1220,a::1220", ["a::1220", "b::1220"]]],
    bad: [",", "a::1220,", ...malformedParties, ...malformedParties.map((party) => `a::1220,${party}`)],
  },
  "user, or comma-separated party ids (hint::fingerprint)": {
    good: [
      ["a::1220, b::1220,a::1220", ["a::1220", "b::1220"]],
      ["user", "user"],
    ],
    bad: [",", "a::1220,", "user,a::1220", "a::1220,user", "User", ...malformedParties],
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
      ...pageOrigins.map((one) => [one, [one]] as const),
      [pageOrigins.join(), pageOrigins],
    ],
    bad: [...notOrigins, ...notOrigins.map((one) => `https://wallet.example,${one}`), "https://wallet.example,any"],
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
    bad: [","],
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
    return { good: same(...list.split(", ")), bad: ["INFO", "ALL", "verbose", "true", "1", "in fo"] };
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
  "ledger-parties": { ...participant, OFFLEDGER_LEDGER_TOKEN_FILE: "token" },
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

const rows = [...page.matchAll(/^- `(\w+)`: .*: (.*?)(?: \(default (.*)\))?$/gm)]
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
  expect(settlementLimits(203)).toEqual({ legs: 203, allocations: 203, instruments: 50, accounts: 406, parties: 406 });
});

describe.each(rows)("$name", ({ name, variable, flag, accepts, label, good, bad, env }) => {
  const [first] = good as [readonly [string, unknown]];
  const last = good.at(-1) ?? first;
  // A URL may hold a password.
  const got = (text: string) => (accepts.startsWith("an http or https URL") ? "got another value" : `got "${text}"`);

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
      expect(readErrors([], { ...env, [variable]: text })).toEqual([`${variable} must be ${accepts}, ${got(text)}`]);
    for (const text of [...bad, "", " "])
      expect(readErrors([`--${flag}=${text}`], env)).toEqual([`--${flag} must be ${accepts}, ${got(text.trim())}`]);
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
    ["postgres://database.example/registry", "postgres://database.example/registry"],
    [
      "postgresql://offledger:secret@database.example:6432/registry?sslmode=verify-full&sslrootcert=/no/such/file",
      "postgres://database.example:6432/registry",
    ],
    ["postgres://[::1]:5432/registry", "postgres://[::1]:5432/registry"],
    ["postgres://offledger:s%40cret%23%2F%3F%25@a.example/registry", "postgres://a.example/registry"],
    ["postgres://offledger:se:cret@a.example/registry", "postgres://a.example/registry"],
    ["postgres://a.example/registry?user=offledger&password=secret", "postgres://a.example/registry"],
    ["postgres://a.example", "postgres://a.example/"],
    // A socket: the directory is in the query, or in the place of the host.
    ["postgresql:///registry?host=/run/pg", "postgres:///registry?host=/run/pg"],
    ["postgresql:///registry?host=/run/pg&user=app&password=secret", "postgres:///registry?host=/run/pg"],
    ["postgresql://app@/registry?host=/run/pg&port=6432", "postgres:///registry?host=/run/pg&port=6432"],
    ["postgresql://app:secret@/registry?host=/cloudsql/a:b:c", "postgres:///registry?host=/cloudsql/a:b:c"],
    ["postgresql://%2Frun%2Fpg/registry", "postgres:///registry?host=/run/pg"],
    ["postgresql://app:secret@%2Frun%2Fpg:6432/registry", "postgres:///registry?host=/run/pg&port=6432"],
    // The driver's own host.
    ["postgres:///registry?password=secret", "postgres:///registry"],
    ["postgres://app:secret@/registry", "postgres:///registry"],
  ])("accepts %s", (secret, name) => {
    const expected = { ...defaults, databaseUrl: { secret, name } };
    expect(readValid([], { [variable]: secret })).toEqual(expected);
    expect(readValid(["--database-url", secret])).toEqual(expected);
    expect(readValid([`--database-url=${secret}`], { [variable]: "postgres://other" })).toEqual(expected);
  });

  test("an empty variable counts as not set", () => {
    for (const text of ["", " \r\n"]) expect(readValid([], { [variable]: text }).databaseUrl).toBeUndefined();
  });

  test.each([
    "http://offledger:secret@database.example/registry",
    "postgres:offledger:secret@database.example",
    "mysql://offledger:secret@database.example",
    "offledger:secret@database.example/registry",
    "host=database.example password=secret",
  ])("rejects %j without showing it", (text) => {
    expect(readErrors([], { [variable]: text })).toEqual([`${variable} ${accepts}`]);
    expect(readErrors([`--database-url=${text}`])).toEqual([`--database-url ${accepts}`]);
  });

  test.each([
    "postgres://offledger:secret@database.example:99999/registry",
    "postgres://offledger:secret word@data base/registry",
    "postgres://offledger:secret@one.example:5432,two.example:5432/registry",
    "postgres://offledger:secret@one.example,two.example/registry",
    "postgres:///registry?host=/run/a,/run/b&password=secret",
    "postgres://offledger:secret@a.example/registry?port=secret",
    "postgres://offledger:secret@a.example?dbname=registry",
    "postgres://offledger:secret@?host=/run/pg",
    "postgres://",
  ])("rejects %j, and says which forms there are, without showing it", (text) => {
    const forms =
      /^\S+ is not understood: it must be postgresql:\/\/USER:PASSWORD@HOST:PORT\/DATABASE with one host, or /;
    for (const [error = ""] of [readErrors([], { [variable]: text }), readErrors([`--database-url=${text}`])]) {
      expect(error).toMatch(forms);
      expect(error).not.toContain("secret");
    }
  });

  test("rejects an empty flag", () => {
    expect(readErrors(["--database-url="])).toEqual([`--database-url ${accepts}`]);
  });

  test("is in the help", () => {
    expect(helpText()).toContain("--database-url VALUE");
    expect(helpText()).toContain(`Variable: ${variable}.`);
  });
});

describe("a user or password with a character that ends it", () => {
  const message = (name: string) =>
    `${name} has a user, password or path with a character that must be percent-encoded: ` +
    "%25 for %, %40 for @, %23 for #, %2F for /, %3F for ?";

  // With digits before it, the beginning of the password would be a port, and the rest a path, which are shown.
  test.each(["@", "#", "/", "?"].flatMap((raw) => [`se${raw}cret`, `12${raw}cret`, `12@s${raw}cret`]))(
    "such as %s is told, and never shown",
    (password) => {
      for (const end of ["a.example/registry", "a.example:5432/registry?a=b", "a.example"]) {
        for (const name of ["OFFLEDGER_LEDGER_URL", "OFFLEDGER_OIDC_ISSUER", "OFFLEDGER_AUTH_JWKS_URL"])
          expect(readErrors([], { [name]: `https://ops:${password}@${end}` })).toContain(message(name));
        const text = `postgresql://ops:${password}@${end}`;
        expect(readErrors([], { OFFLEDGER_DATABASE_URL: text })).toEqual([message("OFFLEDGER_DATABASE_URL")]);
        expect(readErrors([`--database-url=${text}`])).toEqual([message("--database-url")]);
      }
    },
  );

  test.each(["postgres://ops:100%E4@a.example/registry", "postgres:///registry?password=se#cret"])("%s", (text) => {
    expect(readErrors([], { OFFLEDGER_DATABASE_URL: text })).toEqual([message("OFFLEDGER_DATABASE_URL")]);
  });

  test("a percent sign that encodes nothing, which no client could send", () => {
    const env = { ...participant, OFFLEDGER_LEDGER_URL: "https://ops:100%@a.example" };
    expect(readErrors([], env)).toEqual([message("OFFLEDGER_LEDGER_URL")]);
  });
});

describe("white space around a value", () => {
  const around = (text: string) => [`${text}\r`, `${text}\r\n`, `\uFEFF${text}`, ` \t${text} `, `\u00A0${text}\u2028`];

  test.each(rows)("of $name is no part of it", ({ name, variable, flag, good, env }) => {
    const [[text, value]] = good as [readonly [string, unknown]];
    for (const padded of around(text)) {
      expect(readValid([], { ...env, [variable]: padded })[name]).toEqual(value);
      expect(readValid([`--${flag}=${padded}`], env)[name]).toEqual(value);
    }
  });

  test("alone is no value of a variable, also of one that is unknown", () => {
    for (const { variable } of rows)
      for (const padded of around("")) expect(readValid([], { [variable]: padded })).toEqual(readValid([]));
    expect(readValid([], { OFFLEDGER_OLD: " \r" })).toEqual(readValid([]));
  });
});

describe("a character that cannot be seen", () => {
  const isUrl = (accepts: string) => accepts.startsWith("an http or https URL");

  test.each(rows)("is refused in $name, and shown by its number", ({ variable, flag, accepts, good, env }) => {
    const [[text]] = good as [readonly [string, unknown]];
    for (const [character, shown] of [
      ["\0", "\\u{0}"],
      ["\r", "\\u{d}"],
      ["\n", "\\u{a}"],
      ["\t", "\\u{9}"],
      ["\u001B", "\\u{1b}"],
      ["\u007F", "\\u{7f}"],
      ["\u0085", "\\u{85}"],
      ["\uFEFF", "\\u{feff}"],
      ["\u200B", "\\u{200b}"],
      ["\u202E", "\\u{202e}"],
    ] as const) {
      const [value, told] = [character, shown].map((one) => `${text.slice(0, 1)}${one}${text.slice(1)}x`);
      const got = isUrl(accepts) ? "got another value" : `got "${told}"`;
      const message = `must not have the character ${shown}, ${got}`;
      expect(readErrors([], { ...env, [variable]: value ?? "" })).toEqual([`${variable} ${message}`]);
      expect(readErrors([`--${flag}=${value}`], env)).toEqual([`--${flag} ${message}`]);
    }
  });

  test("is refused in the URL of the database, which is not shown", () => {
    const message = "OFFLEDGER_DATABASE_URL must not have the character \\u{d}, got another value";
    expect(readErrors([], { OFFLEDGER_DATABASE_URL: "postgres://ops:sec\rret@a.example/registry" })).toEqual([message]);
  });

  test("of a command, an argument or the name of a variable is escaped; a password in one is not shown", () => {
    expect(readErrors(["serv\r"])).toEqual([expect.stringContaining('got "serv\\u{d}"')]);
    expect(readErrors(["serve", "a\u001B"])).toEqual([expect.stringContaining('"a\\u{1b}"')]);
    expect(readErrors([], { "OFFLEDGER_PORT\r": "80" })).toEqual([
      "OFFLEDGER_PORT\\u{d} is not a setting: did you mean OFFLEDGER_PORT?",
    ]);
    expect(readErrors(["serve", "https://ops:secret@a.example"])).toEqual([
      'unexpected argument "https://…@a.example": only one command is accepted',
    ]);
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
