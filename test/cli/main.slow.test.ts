/** The built program: what its commands print, and how they end. `npm run test:all` builds it first. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import net, { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { elements as minimalElements } from "../../demo/minimal.js";
import { contextsFile, lines } from "../fixtures/contexts.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { snapshotFile, temporaryFile, temporaryFolder } from "../fixtures/files.js";
import { completeElements } from "../fixtures/operation-calls.js";
import { formatModule, moduleFields, withoutFields } from "../fixtures/own-registry.js";
import { type Ended, offledger } from "../fixtures/program.js";
import { linksWarning, serviceLinks } from "../fixtures/service-links.js";
import { play } from "../scripted-participant/elements.js";
import { ScriptedLedger } from "../scripted-participant/ledger.js";
import { Participant } from "../scripted-participant/participant.js";

const demo = fileURLToPath(new URL("../../demo/registry.ndjson", import.meta.url));

/** Ends with 2, and with one message on stderr, which has all parts and no stack. */
function expectRejected({ code, out, err }: Ended, ...parts: readonly string[]): void {
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err.startsWith("offledger: ")).toBe(true);
  for (const part of parts) expect(err).toContain(part);
  expect(err).not.toMatch(/^ +at /m);
}

describe("exit code 2, before serving, for", () => {
  const commands =
    "serve, mirror, api, migrate, check, contexts, registry, explain, health, help, version, conformance";

  test.each<[string, string, Record<string, string>, string[]]>([
    ["a flag", "--port http", {}, ['--port must be a number from 0 to 65535, got "http"', "See: offledger help"]],
    [
      "several",
      "--log-level=loud",
      { MAX_LEGS: "1", HOST: "a b" },
      ["OFFLEDGER_HOST must be", "--log-level must be", "OFFLEDGER_MAX_LEGS must be"],
    ],
    ["an unknown command", "begin", {}, [`the command must be one of ${commands}, got "begin"`]],
    ["no database", "api", {}, ["offledger api requires OFFLEDGER_DATABASE_URL, which is not set"]],
    // RFC 5737: an address that is reserved for documentation.
    ["an address of another machine", "--host 192.0.2.1", {}, ["OFFLEDGER_HOST and OFFLEDGER_PORT"]],
    [
      "a misspelt registry",
      "--registry minimum --snapshot a",
      {},
      ["OFFLEDGER_REGISTRY", "utility, standard, minimal, test-token-v2, simple-token", "minimum"],
    ],
    ["a folder as a registry", "--registry /tmp --snapshot a", {}, ["OFFLEDGER_REGISTRY", "/tmp cannot be loaded"]],
    [
      "contexts of a registry without a table of them",
      "--contexts a --registry minimal",
      {},
      ["OFFLEDGER_CONTEXTS must be unset: the registry minimal has no table of contexts\n"],
    ],
    ["a file that does not exist", "", { SNAPSHOT: "/nowhere" }, ["OFFLEDGER_SNAPSHOT", "ENOENT", "/nowhere"]],
    ["a folder as a snapshot", "", { SNAPSHOT: "/tmp" }, ["OFFLEDGER_SNAPSHOT", "EISDIR"]],
    ["contexts", "", { CONTEXTS: "/nowhere" }, ["OFFLEDGER_CONTEXTS", "ENOENT", "/nowhere"]],
    ["instruments", "", { INSTRUMENTS: "/nowhere" }, ["OFFLEDGER_INSTRUMENTS", "ENOENT", "/nowhere"]],
    [
      "a certificate authority",
      "check",
      { LEDGER_URL: "https://127.0.0.1:1", LEDGER_PARTIES: "p::1", LEDGER_CA_FILE: "/nowhere" },
      ["OFFLEDGER_LEDGER_CA_FILE must be the path of a readable PEM file: ENOENT"],
    ],
  ])("%s: %s", async (_what, args, env, messages) => {
    const settings = Object.fromEntries(Object.entries(env).map(([name, value]) => [`OFFLEDGER_${name}`, value]));
    const free = { OFFLEDGER_LOG_LEVEL: "silent", OFFLEDGER_PORT: "0" };
    expectRejected(await offledger(args.split(" ").filter(Boolean), { ...free, ...settings }), ...messages);
  });

  test("a port in use", async () => {
    const other = net.createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void other.close());
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const ended = await offledger(["--port", String(port)], { OFFLEDGER_LOG_LEVEL: "silent" });
    expectRejected(ended, "OFFLEDGER_HOST and OFFLEDGER_PORT", `cannot listen on 127.0.0.1:${port}: `, "EADDRINUSE");
  });

  test.each(["serve", "check", "contexts"])("mistakes of a contexts file: %s", async (command) => {
    const path = await contextsFile(lines("changes:", "  - on: [settlement]", "    set: { missing: 1 }"));
    expectRejected(
      await offledger([command, "--contexts", path, "--port", "0"]),
      "offledger: OFFLEDGER_CONTEXTS must be the path of a YAML file of choice contexts: \n",
      `\n${path}:2:10: changes[0].on[0]: must be an operation, but is "settlement"; operations: `,
      `\n${path}:3:12: changes[0].set.missing: must be one of refuse, omit, allow, but is 1\n`,
    );
  });

  test.each(["serve", "check"])(
    "mistakes of an instruments file, a module and its missing source: %s",
    async (command) => {
      const path = await temporaryFile("wrong.yaml", lines("acme::1220:", "  USD:", "    decimals: 11"));
      const place = `\n${path}:3:5: acme::1220.USD.decimals: must be an integer from 0 to 10, but is 11\n`;
      expectRejected(await offledger([command, "--port", "0", "--instruments", path]), "OFFLEDGER_INSTRUMENTS", place);

      const wrong = await temporaryFile("registry.mjs", withoutFields("templates"));
      const whole = await temporaryFile("registry.mjs", formatModule(moduleFields));
      const given = [command, "--port", "0", "--registry"];
      expectRejected(await offledger([...given, wrong, "--snapshot", demo]), `${wrong} has no list of templates`);
      expectRejected(
        await offledger([...given, whole]),
        "OFFLEDGER_REGISTRY",
        "OFFLEDGER_SNAPSHOT",
        "OFFLEDGER_LEDGER_URL",
      );
    },
  );

  test("a module that cannot be loaded", async () => {
    const texts = ['throw "no licence";', "export default {", 'import "not-installed";'];
    const messages = ["no licence", "Unexpected end of input", "not-installed"];
    for (const [index, text] of texts.entries()) {
      const path = await temporaryFile("registry.mjs", text);
      const ended = await offledger(["check", "--registry", path, "--snapshot", demo]);
      expectRejected(ended, `OFFLEDGER_REGISTRY must be`, `${path} cannot be loaded: `, messages[index] ?? "");
    }
  });

  test("a snapshot, with lines and reasons", async () => {
    const path = await snapshotFile(element("AllocationFactory", "factory", payload.service()), "{", {
      contractEntry: {},
    });
    const ended = await offledger(["--port", "0", "--snapshot", path], { OFFLEDGER_LOG_LEVEL: "silent" });
    expectRejected(ended, "OFFLEDGER_SNAPSHOT", `${path}:2: not JSON: `, `${path}:3: contractEntry must be one of`);
  });
});

describe("check", () => {
  test("finds the demo registry from any folder, and warns of its two troubled offers", async () => {
    const { code, out, err } = await offledger(["check"], {}, await temporaryFolder());
    expect({ code, err }).toEqual({ code: 1, err: "" });
    const counts = /^\/.*\/demo\/registry\.ndjson can be served: (\d+) contracts, (\d+) unused elements skipped\n/.exec(
      out,
    );
    expect(Number(counts?.[1]) + Number(counts?.[2])).toBe(readFileSync(demo, "utf8").trim().split("\n").length);
    expect(out).toContain("registrar acme-registrar::1220");
    expect(out).toContain("  instrument NOK-CASH (RegistrarInternalScheme)");
    expect(out.match(/^warning: .*$/gm)).toEqual([
      "warning: credential-missing (1)",
      "warning: instruction-moving (1)",
    ]);
    expect((await offledger(["check", "--snapshot", demo])).out).toBe(out);
  });

  test("ends with 0 without a warning, and for information only", async () => {
    const old = element("AllocationFactory", "factory", payload.service(), { packageId: "old" });
    const paths = await Promise.all(
      [completeElements(), completeElements({ registry: { factory: old } })].map((all) => snapshotFile(...all)),
    );
    const contexts = await contextsFile('packages: { old: "0.8.9" }');
    const ended = await Promise.all(
      paths.map((path) => offledger(["check", "--snapshot", path, "--contexts", contexts])),
    );
    for (const one of ended) expect(one).toMatchObject({ code: 0, err: "" });
    expect(ended.map(({ out }) => out.match(/^(?:warning|information): .*$/gm))).toEqual([
      null,
      ["information: version-not-supported (1)"],
    ]);
  });

  test("lists problems of a file with their lines, and ends with 1", async () => {
    const factory = element("AllocationFactory", "factory", payload.service());
    const path = await snapshotFile(
      factory,
      "{",
      element("Holding", "locked", {}),
      element("TransferRule", "rule", { provider: "p" }),
      element("AllocationFactory", "factory", payload.service(), { blob: "AAAA" }),
      element("TransferRule", "late", payload.service(), { createdAt: "yesterday" }),
      "",
      "5",
    );
    const { code, out, err } = await offledger(["check", "--snapshot", path]);
    expect({ code, err }).toEqual({ code: 1, err: "" });
    expect(out.trimEnd().split("\n")).toEqual([
      `${path} cannot be served:`,
      expect.stringMatching(/registry\.ndjson:2: not JSON: /),
      `${path}:3: owner must be a string, but is missing`,
      `${path}:4: operator must not be empty or missing`,
      `${path}:5: contract factory is already on line 1, with other content`,
      `${path}:6: invalid time, expected a format like 2026-01-31T12:00:00.123456Z: yesterday`,
      `${path}:8: the element must be an object, but is not one`,
    ]);
    const many = await offledger([
      "check",
      "--snapshot",
      await snapshotFile(...Array.from({ length: 30 }, () => "wrong")),
    ]);
    expect(many.out.match(/not JSON/g)).toHaveLength(20);
    expect(many.out).toContain("only the first 20 problems are listed");
  });

  test("--registry minimal accepts its demo, and skips contracts of the Registry Utility", async () => {
    const { code, out, err } = await offledger(["check", "--registry", "minimal"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain(`minimal.ndjson can be served: ${minimalElements.length} contracts, 0 unused elements`);
    expect(out).toMatch(/^registrar coffee-club::1220[\da-f]{64}\n {2}instrument BEAN \(minimal token\)$/m);
    for (const entity of ["Rules", "TransferInstruction", "Allocation"])
      expect(out).toMatch(new RegExp(`^ +1 Minimal\\.Token:${entity}$`, "m"));
    const other = await offledger(["check", "--registry", "minimal", "--snapshot", demo]);
    expect(other.code).toBe(1);
    expect(other.out).toContain("can be served: 0 contracts");
    expect(other.out).toContain("no registrar is served");
  });

  test("ends with 1 where no registrar is served, and says so", async () => {
    const rule = element("TransferRule", "rule", payload.service());
    for (const path of [await snapshotFile("[]"), await snapshotFile(rule)]) {
      // oxlint-disable-next-line no-await-in-loop -- a process after the other
      const { code, out, err } = await offledger(["check", "--snapshot", path]);
      expect({ code, err }).toEqual({ code: 1, err: "" });
      expect(out).toContain("\nno registrar is served: there is no factory\n");
    }
  });

  test("of a participant: lists what cannot be read, with 1; nothing listens, with 1", async () => {
    const ledger = new ScriptedLedger();
    const wrong = Array.from({ length: 30 }, (_, index) =>
      element("TransferRule", `wrong-${index}`, { provider: "p" }),
    );
    play(ledger, completeElements({ added: wrong }), { stakeholders: [parties.operator] });
    const participant = await Participant.start({ ledger });
    onTestFinished(() => participant.stop());
    const flags = ["--ledger-url", participant.url, "--ledger-parties", parties.operator];
    const { code, out, err } = await offledger(["check", ...flags]);
    expect({ code, err }).toEqual({ code: 1, err: "" });
    const head = `${participant.url}/ can be served: ${completeElements().length} contracts at offset ${ledger.end}\n`;
    expect(out.startsWith(`${head}30 contracts cannot be read, and are left out:\n  wrong-`)).toBe(true);
    const reason = /^ {2}wrong-\d+ of pkg-1:\S+:TransferRule: operator must not be empty or missing$/gm;
    expect(out.match(reason)).toHaveLength(20);
    expect(out).toContain("\n  … and 10 more\n");

    await participant.stop();
    const gone = await offledger(["check", ...flags]);
    expect(gone).toMatchObject({ code: 1, out: "" });
    expect(gone.err).toMatch(
      /^offledger: OFFLEDGER_LEDGER_URL: the participant at \S+ cannot be read: .*ECONNREFUSED.*\n$/,
    );
  });
});

describe("contexts", () => {
  test("prints the table with the changes of the file", async () => {
    const text = "changes: [{ on: [mint-offer/cancel], add: [{ entry: transfer-rule, key: rule }] }]";
    const { code, out, err } = await offledger(["contexts", "--contexts", await contextsFile(text)]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const { operations } = parse(out) as { readonly operations: Readonly<Record<string, unknown>> };
    const unlock = { disclosure: "locked-holding" };
    expect(operations["mint-offer/cancel"]).toEqual([{ entry: "transfer-rule", key: "rule" }, unlock]);
    expect(operations["mint-request/cancel"]).toEqual([unlock]);
  });

  test("prints a registry file, the built-in one too", async () => {
    const { code, out } = await offledger(["contexts", "--registry", "minimal"]);
    expect(code).toBe(0);
    expect(Object.entries((parse(out) as { readonly operations: object }).operations)).toContainEqual([
      "allocation/cancel",
      [],
    ]);
  });
});

test.each(["help", "--help", "serve --help"])("%s prints the settings", async (args) => {
  const { code, out, err } = await offledger(args.split(" "), {}, tmpdir());
  expect({ code, err }).toEqual({ code: 0, err: "" });
  for (const part of ["offledger check", "--snapshot VALUE", "OFFLEDGER_MAX_LEGS"]) expect(out).toContain(part);
});

test.each(["version", "--version"])("%s prints the version of the package", async (argument) => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  expect(await offledger([argument])).toEqual({ code: 0, out: `${version}\n`, err: "" });
});

// test/config/service-links.test.ts has it for each command.
test("variables that a cluster adds for a Service named offledger are ignored, and warned of in the log", async () => {
  const { code, out, err } = await offledger(["contexts"], serviceLinks);
  expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^operations:/) });
  expect(JSON.parse(err)).toMatchObject({ level: 40, msg: linksWarning });
});
