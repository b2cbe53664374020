/** The built program as a process: its output and exit codes. `npm test` builds it first. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import net, { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/domain/json.js";
import { element, payload } from "../fixtures/elements.js";
import { type Ended, main, Program as BaseProgram } from "../fixtures/program.js";
import { until } from "../fixtures/wait.js";

const demo = fileURLToPath(new URL("../../demo/registry.ndjson", import.meta.url));
const TIMEOUT_MS = 20_000;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "offledger-main-"));
});
afterAll(() => rm(folder, { recursive: true }));

class Program extends BaseProgram {
  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}, cwd = folder) {
    super(process.execPath, [main, ...args], { cwd, env });
  }
}

const run = (args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended> =>
  new Program(args, env).ended();

async function writeLines(name: string, ...lines: readonly (JsonObject | string)[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""));
  return path;
}

/** The URL of a printed curl command, parsed as a shell would. */
function parseCurl(out: string): string {
  const line = out.slice(out.indexOf("curl ")).replaceAll("\\\n", " ");
  const args = [...line.matchAll(/\s*((?:'[^']*'|\\.|[^\s'\\])+)/gy)].map(([, word = ""]) =>
    word.replaceAll(/'([^']*)'|\\(.)/g, (_, quoted?: string, escaped?: string) => quoted ?? escaped ?? ""),
  );
  const [command, url = ""] = args;
  expect(command).toBe("curl");
  expect(args).toHaveLength(2);
  return url;
}

async function get(url: string): Promise<{ status: number; answer: JsonValue }> {
  const response = await fetch(url);
  return { status: response.status, answer: (await response.json()) as JsonValue };
}

describe("serve", () => {
  test("serves the demo registry, and the printed request succeeds", async () => {
    const program = new Program(["serve", "--port", "0"], { OFFLEDGER_LOG_LEVEL: "warn" });
    await program.printed("curl '");
    await until("the line is complete", () => program.out.endsWith("'\n"), TIMEOUT_MS);
    const [first] = program.out.split("\n");
    expect(first).toMatch(/^offledger serves .*registry\.ndjson at http:\/\/127\.0\.0\.1:[1-9]\d*$/);
    expect(program.out).toContain("registrar acme-registrar::1220");
    expect(program.out).toContain("  instrument ACME-BOND (RegistrarInternalScheme)");
    expect(program.out).toMatch(/^ +2 Utility\.Registry\.App\.V0\.Service\.AllocationFactory:AllocationFactory$/m);
    expect(program.out).toContain("\nwarning: instruction-in-reassignment (1)\n");
    expect(program.out).toContain("\nwarning: credentials-missing (1)\n");

    const url = parseCurl(program.out);
    expect(first?.endsWith(` at ${new URL(url).origin}`)).toBe(true);
    const { status, answer } = await get(url);
    expect(status).toBe(200);
    expect(answer).toMatchObject({ instruments: [{ id: "ACME-BOND" }, { id: "ACME-EUR" }] });

    program.signal("SIGTERM");
    expect(await program.ended()).toMatchObject({ code: 0, err: "" });
  });

  test("is the default command; accepts variables and a file with unusual names", async () => {
    const registrar = "o'dd $(none) #1?::1220";
    const path = await writeLines(
      "own.ndjson",
      element("AllocationFactory", "factory", payload.service({ registrar })),
      element("TransferRule", "rule", payload.service({ registrar })),
      element("InstrumentConfiguration", "usd", {
        ...payload.configuration("it's", { registrar }),
        defaultIdentifier: { source: "$(none) \"'\\", id: "it's", scheme: "a b" },
      }),
    );
    const program = new Program([], {
      OFFLEDGER_SNAPSHOT: path,
      OFFLEDGER_PORT: "0",
      OFFLEDGER_HOST: "localhost",
      OFFLEDGER_LOG_LEVEL: "silent",
    });
    await program.printed("curl '");
    await until("the line is complete", () => program.out.endsWith("'\n"), TIMEOUT_MS);
    expect(program.out.startsWith(`offledger serves ${path} at http://`)).toBe(true);
    expect(program.out).toContain(`registrar ${registrar}\n  instrument it's (a b)\n`);
    const url = parseCurl(program.out);
    expect(await get(url)).toMatchObject({ status: 200, answer: { instruments: [{ id: "it's" }] } });
    program.signal("SIGINT");
    expect(await program.ended()).toMatchObject({ code: 0, err: "" });
  });

  test("warns of missing contracts, and prints no request without a registrar", async () => {
    const path = await writeLines(
      "lonely.ndjson",
      element("InstrumentConfiguration", "usd", payload.configuration("USD")),
    );
    const program = new Program(["--snapshot", path, "--port", "0", "--log-level", "silent"]);
    await program.printed(/warning: no-factory \(1\)\n {2}registrar registrar::1220 is not served here/);
    expect(program.out).toContain("no registrar is served");
    expect(program.out).not.toContain("curl");
  });

  test.each(["SIGTERM", "SIGINT"] as const)(
    "exits with 0 on %s, also directly after its first output",
    async (name) => {
      const program = new Program(["serve", "--port", "0", "--log-level", "silent"]);
      program.signalAtFirstOutput(name);
      const { code, out, err } = await program.ended();
      expect(out).toMatch(/^offledger serves /);
      expect({ code, err }).toEqual({ code: 0, err: "" });
    },
  );

  test("stops although connections are open", async () => {
    const program = new Program(["serve", "--port", "0", "--log-level", "silent"]);
    await program.printed("Try:");
    const { port } = new URL(/http:\/\/\S+/.exec(program.out)?.[0] ?? "");
    const [silent, idle] = await Promise.all([connectTo(Number(port)), connectTo(Number(port))]);
    idle.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await once(idle, "data");
    const startedAt = performance.now();
    program.signal("SIGTERM");
    expect((await program.ended()).code).toBe(0);
    // Below the grace period of 5 s.
    expect(performance.now() - startedAt).toBeLessThan(4_000);
    silent.destroy();
    idle.destroy();
  });
});

async function connectTo(port: number): Promise<net.Socket> {
  const socket = net.connect(port, "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

describe("a wrong configuration exits with 2 before serving", () => {
  test.each<[string, string[], Record<string, string>, string[]]>([
    ["a variable", [], { OFFLEDGER_PORT: "http" }, ['OFFLEDGER_PORT must be a number from 0 to 65535, got "http"']],
    ["a flag", ["--port", "http"], {}, ['--port must be a number from 0 to 65535, got "http"']],
    [
      "a limit below the worst case",
      ["check"],
      { OFFLEDGER_MAX_LEGS: "24" },
      ['OFFLEDGER_MAX_LEGS must be an integer from 25 to 1000000, got "24"'],
    ],
    [
      "several",
      ["--log-level=loud"],
      { OFFLEDGER_MAX_PARTIES: "1", OFFLEDGER_HOST: "a b" },
      ["OFFLEDGER_HOST must be", "--log-level must be", "OFFLEDGER_MAX_PARTIES must be"],
    ],
    ["an unknown flag", ["--nothing"], {}, ["'--nothing'"]],
    [
      "an unknown command",
      ["begin"],
      {},
      [
        'the command must be one of serve, mirror, api, migrate, check, contexts, registry, explain, health, help, version, got "begin"',
      ],
    ],
    ...["mirror", "api", "migrate"].map((command): [string, string[], Record<string, string>, string[]] => [
      `offledger ${command} without a database`,
      [command],
      {},
      [`offledger ${command} requires OFFLEDGER_DATABASE_URL, which is not set`],
    ]),
  ])("%s", async (_name, args, env, messages) => {
    const { code, out, err } = await run(args, env);
    expect(code).toBe(2);
    expect(out).toBe("");
    expect(err.startsWith("offledger: ")).toBe(true);
    for (const text of messages) expect(err).toContain(text);
    expect(err).not.toMatch(/^ +at /m);
  });

  test("a wrong database URL, without showing it", async () => {
    const { code, out, err } = await run(["api"], { OFFLEDGER_DATABASE_URL: "mysql://offledger:secret@database" });
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("OFFLEDGER_DATABASE_URL must be a URL that starts with postgres:// or postgresql://");
    expect(err).not.toContain("secret");
  });

  test("a port in use; names its settings", async () => {
    const other = net.createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void other.close());
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const { code, out, err } = await run(["serve", "--port", String(port)], { OFFLEDGER_LOG_LEVEL: "silent" });
    expect(code).toBe(2);
    expect(out).toBe("");
    expect(err).toContain("OFFLEDGER_HOST and OFFLEDGER_PORT");
    expect(err).toContain(`cannot listen on 127.0.0.1:${port}: `);
    expect(err).toContain("EADDRINUSE");
  });

  test("an address of another machine", async () => {
    // RFC 5737: reserved for documentation.
    const { code, err } = await run(["serve", "--host", "192.0.2.1", "--port", "0"], { OFFLEDGER_LOG_LEVEL: "silent" });
    expect(code).toBe(2);
    expect(err).toContain("OFFLEDGER_HOST and OFFLEDGER_PORT");
  });

  test.each(["serve", "check"])("a missing snapshot: %s", async (command) => {
    const path = join(folder, "nothing.ndjson");
    const { code, out, err } = await run([command, "--port", "0", "--snapshot", path], {
      OFFLEDGER_LOG_LEVEL: "silent",
    });
    expect(code).toBe(2);
    expect(out).toBe("");
    expect(err).toContain("OFFLEDGER_SNAPSHOT");
    expect(err).toContain(path);
    expect(err).toContain("ENOENT");
  });

  test("a folder as snapshot", async () => {
    const { code, err } = await run(["serve", "--port", "0", "--snapshot", folder], { OFFLEDGER_LOG_LEVEL: "silent" });
    expect(code).toBe(2);
    expect(err).toContain("OFFLEDGER_SNAPSHOT");
    expect(err).toContain("EISDIR");
  });

  test("an invalid snapshot, with lines and reasons", async () => {
    const factory = element("AllocationFactory", "factory", payload.service());
    const path = await writeLines("broken.ndjson", factory, "{", { contractEntry: {} });
    const { code, out, err } = await run(["serve", "--port", "0", "--snapshot", path], {
      OFFLEDGER_LOG_LEVEL: "silent",
    });
    expect(code).toBe(2);
    expect(out).toBe("");
    expect(err).toContain("OFFLEDGER_SNAPSHOT");
    expect(err).toContain(`${path}:2: not JSON: `);
    expect(err).toContain(`${path}:3: contractEntry must be one of`);
    expect(err).not.toMatch(/^ +at /m);
  });
});

describe("check", () => {
  test("accepts the demo registry, and warns of its two troubled offers", async () => {
    const { code, out, err } = await run(["check"]);
    expect({ code, err }).toEqual({ code: 1, err: "" });
    const lines = readFileSync(demo, "utf8").trim().split("\n").length;
    const counts = /can be served: (\d+) contracts, (\d+) unused elements skipped/.exec(out);
    expect(Number(counts?.[1]) + Number(counts?.[2])).toBe(lines);
    expect(out).toContain("registrar acme-registrar::1220");
    expect(out).toContain("  instrument NOK-CASH (RegistrarInternalScheme)");
    expect(out.match(/^warning: .*$/gm)).toEqual([
      "warning: instruction-in-reassignment (1)",
      "warning: credentials-missing (1)",
    ]);
  });

  test("finds the demo registry from any folder", async () => {
    const byPath = await run(["check", "--snapshot", demo]);
    expect(byPath.code).toBe(1);
    expect(byPath.out.startsWith(`${demo} can be served: `)).toBe(true);
    const elsewhere = await new Program(["check"], {}, tmpdir()).ended();
    expect(elsewhere.out.replace(/^\S+/, "")).toBe(byPath.out.replace(/^\S+/, ""));
  });

  test("lists every problem of a file with its line, and exits with 1", async () => {
    const factory = element("AllocationFactory", "factory", payload.service());
    const path = await writeLines(
      "problems.ndjson",
      factory,
      "{",
      element("Holding", "locked", {}),
      element("TransferRule", "rule", { provider: "p" }),
      factory,
      element("TransferRule", "late", payload.service(), { createdAt: "yesterday" }),
      "",
      "5",
    );
    const { code, out, err } = await run(["check", "--snapshot", path]);
    expect({ code, err }).toEqual({ code: 1, err: "" });
    const [head, ...listed] = out.trimEnd().split("\n");
    expect(head).toBe(`${path} cannot be served:`);
    expect(listed).toEqual([
      expect.stringMatching(/problems\.ndjson:2: not JSON: /),
      `${path}:3: owner must be a string, but is missing`,
      `${path}:4: operator must not be empty or missing`,
      `${path}:5: contract factory is already on line 1`,
      `${path}:6: invalid time, expected a format like 2026-01-31T12:00:00.123456Z: yesterday`,
      `${path}:8: the element must be an object, but is not one`,
    ]);
  });

  test("says when it lists only the first problems", async () => {
    const path = await writeLines("many.ndjson", ...Array.from({ length: 30 }, () => "wrong"));
    const { code, out } = await run(["check", "--snapshot", path]);
    expect(code).toBe(1);
    expect(out.match(/not JSON/g)).toHaveLength(20);
    expect(out).toContain("only the first 20 problems are listed");
  });
});

describe("help and version", () => {
  test.each([["help"], ["--help"], ["serve", "--help"]])("%s prints the settings", async (...args) => {
    const { code, out, err } = await run(args);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain("offledger check");
    expect(out).toContain("--snapshot VALUE");
    expect(out).toContain("OFFLEDGER_MAX_LEGS");
  });

  test.each(["version", "--version"])("%s prints the version of the package", async (argument) => {
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
      version: string;
    };
    expect(await run([argument])).toEqual({ code: 0, out: `${version}\n`, err: "" });
  });
});
