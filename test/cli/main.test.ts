/** The built program as a process of its own: what it prints, and how it ends. `npm test` builds it first. */
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
import { type Ended, main, Program as AnyProgram } from "../fixtures/program.js";
import { until } from "../fixtures/wait.js";

const demo = fileURLToPath(new URL("../../demo/registry.ndjson", import.meta.url));
const BOUND_MS = 20_000;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "offledger-main-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** The built program, in the folder of this test. */
class Program extends AnyProgram {
  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}, cwd = folder) {
    super(process.execPath, [main, ...args], { cwd, env });
  }
}

const run = (args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended> =>
  new Program(args, env).ended();

async function fileOf(name: string, ...lines: readonly (JsonObject | string)[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""));
  return path;
}

interface Printed {
  readonly url: string;
}

/** The request in a printed curl line, read as a shell would read it. */
function curlIn(out: string): Printed {
  const line = out.slice(out.indexOf("curl ")).replaceAll("\\\n", " ");
  const words = [...line.matchAll(/\s*((?:'[^']*'|\\.|[^\s'\\])+)/gy)].map(([, word = ""]) =>
    word.replaceAll(/'([^']*)'|\\(.)/g, (_, quoted?: string, escaped?: string) => quoted ?? escaped ?? ""),
  );
  const [command, url = ""] = words;
  expect(command).toBe("curl");
  expect(words).toHaveLength(2);
  return { url };
}

async function send({ url }: Printed): Promise<{ status: number; answer: JsonValue }> {
  const response = await fetch(url);
  return { status: response.status, answer: (await response.json()) as JsonValue };
}

describe("serve", () => {
  test("serves the demo registry, and the request that it prints is answered", async () => {
    const serving = new Program(["serve", "--port", "0"], { OFFLEDGER_LOG_LEVEL: "warn" });
    await serving.printed("curl '");
    await until("the line is whole", () => serving.out.endsWith("'\n"), BOUND_MS);
    const [first] = serving.out.split("\n");
    expect(first).toMatch(/^offledger serves .*registry\.ndjson at http:\/\/127\.0\.0\.1:[1-9]\d*$/);
    expect(serving.out).toContain("registrar acme-registrar::1220");
    expect(serving.out).toContain("  instrument ACME-BOND (RegistrarInternalScheme)");
    expect(serving.out).toMatch(/^ +2 Utility\.Registry\.App\.V0\.Service\.AllocationFactory:AllocationFactory$/m);
    expect(serving.out).not.toContain("warning");

    const printed = curlIn(serving.out);
    expect(first?.endsWith(` at ${new URL(printed.url).origin}`)).toBe(true);
    const { status, answer } = await send(printed);
    expect(status).toBe(200);
    expect(answer).toMatchObject({ instruments: [{ id: "ACME-BOND" }, { id: "ACME-EUR" }] });

    serving.signal("SIGTERM");
    expect(await serving.ended()).toMatchObject({ code: 0, err: "" });
  });

  test("is what is done without a command, with variables in place of flags, on a file of one's own", async () => {
    const odd = "o'dd $(none) #1?::1220";
    const path = await fileOf(
      "own.ndjson",
      element("AllocationFactory", "factory", payload.service({ registrar: odd })),
      element("TransferRule", "rule", payload.service({ registrar: odd })),
      element("InstrumentConfiguration", "usd", {
        ...payload.configuration("it's", { registrar: odd }),
        defaultIdentifier: { source: "$(none) \"'\\", id: "it's", scheme: "a b" },
      }),
    );
    const serving = new Program([], {
      OFFLEDGER_SNAPSHOT: path,
      OFFLEDGER_PORT: "0",
      OFFLEDGER_HOST: "localhost",
      OFFLEDGER_LOG_LEVEL: "silent",
    });
    await serving.printed("curl '");
    await until("the line is whole", () => serving.out.endsWith("'\n"), BOUND_MS);
    expect(serving.out.startsWith(`offledger serves ${path} at http://`)).toBe(true);
    expect(serving.out).toContain(`registrar ${odd}\n  instrument it's (a b)\n`);
    const printed = curlIn(serving.out);
    expect(await send(printed)).toMatchObject({ status: 200, answer: { instruments: [{ id: "it's" }] } });
    serving.signal("SIGINT");
    expect(await serving.ended()).toMatchObject({ code: 0, err: "" });
  });

  test("warns of what will make requests fail, and prints no request where there is none to try", async () => {
    const path = await fileOf("lonely.ndjson", element("InstrumentConfiguration", "usd", payload.configuration("USD")));
    const serving = new Program(["--snapshot", path, "--port", "0", "--log-level", "silent"]);
    await serving.printed("warning: registrar registrar::1220 has instruments but no AllocationFactory");
    expect(serving.out).toContain("no registrar is served");
    expect(serving.out).not.toContain("curl");
  });

  test.each(["SIGTERM", "SIGINT"] as const)("ends with 0 by %s, also right behind its first words", async (name) => {
    const serving = new Program(["serve", "--port", "0", "--log-level", "silent"]);
    serving.signalAtFirstWords(name);
    const { code, out, err } = await serving.ended();
    expect(out).toMatch(/^offledger serves /);
    expect({ code, err }).toEqual({ code: 0, err: "" });
  });

  test("ends although connections are open", async () => {
    const serving = new Program(["serve", "--port", "0", "--log-level", "silent"]);
    await serving.printed("Try:");
    const { port } = new URL(/http:\/\/\S+/.exec(serving.out)?.[0] ?? "");
    const [silent, idle] = await Promise.all([connectTo(Number(port)), connectTo(Number(port))]);
    idle.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await once(idle, "data");
    const begun = performance.now();
    serving.signal("SIGTERM");
    expect((await serving.ended()).code).toBe(0);
    // Far less than what requests under way would have.
    expect(performance.now() - begun).toBeLessThan(4_000);
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

describe("what is wrong ends the program with 2 before it serves", () => {
  test.each<[string, string[], Record<string, string>, string[]]>([
    ["a variable", [], { OFFLEDGER_PORT: "http" }, ['OFFLEDGER_PORT takes a number from 0 to 65535, and is "http"']],
    ["a flag", ["--port", "http"], {}, ['--port takes a number from 0 to 65535, and is "http"']],
    [
      "a limit below the worst case",
      ["check"],
      { OFFLEDGER_MAX_LEGS: "24" },
      ['OFFLEDGER_MAX_LEGS takes a whole number from 25 to 1000000, and is "24"'],
    ],
    [
      "several",
      ["--log-level=loud"],
      { OFFLEDGER_MAX_PARTIES: "1", OFFLEDGER_HOST: "a b" },
      ["OFFLEDGER_HOST takes", "--log-level takes", "OFFLEDGER_MAX_PARTIES takes"],
    ],
    ["an unknown flag", ["--nothing"], {}, ["'--nothing'"]],
    [
      "an unknown command",
      ["begin"],
      {},
      ['the command has to be serve, mirror, api, migrate, check, health, help or version, and is "begin"'],
    ],
    ...["mirror", "api", "migrate"].map((command): [string, string[], Record<string, string>, string[]] => [
      `offledger ${command} without a database`,
      [command],
      {},
      [`offledger ${command} needs OFFLEDGER_DATABASE_URL, which is not set`],
    ]),
  ])("%s", async (_what, args, env, told) => {
    const { code, out, err } = await run(args, env);
    expect(code).toBe(2);
    expect(out).toBe("");
    expect(err.startsWith("offledger: ")).toBe(true);
    for (const text of told) expect(err).toContain(text);
    expect(err).not.toMatch(/^ +at /m);
  });

  test("a database that is none, without showing what may hold a password", async () => {
    const { code, out, err } = await run(["api"], { OFFLEDGER_DATABASE_URL: "mysql://offledger:secret@database" });
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("OFFLEDGER_DATABASE_URL takes a URL that begins with postgres:// or postgresql://");
    expect(err).not.toContain("secret");
  });

  test("a port that is in use, by the variables that name it", async () => {
    const other = net.createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void other.close());
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const { code, out, err } = await run(["serve", "--port", String(port)], { OFFLEDGER_LOG_LEVEL: "silent" });
    expect(code).toBe(2);
    expect(out).toBe("");
    expect(err).toContain("OFFLEDGER_HOST and OFFLEDGER_PORT");
    expect(err).toContain(`127.0.0.1:${port}`);
    expect(err).toContain("EADDRINUSE");
  });

  test("a host that is not here", async () => {
    // Of the block that is kept for documentation: nobody has it.
    const { code, err } = await run(["serve", "--host", "192.0.2.1", "--port", "0"], { OFFLEDGER_LOG_LEVEL: "silent" });
    expect(code).toBe(2);
    expect(err).toContain("OFFLEDGER_HOST and OFFLEDGER_PORT");
  });

  test.each(["serve", "check"])("a snapshot that is not there: %s", async (command) => {
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

  test("a snapshot that is a folder", async () => {
    const { code, err } = await run(["serve", "--port", "0", "--snapshot", folder], { OFFLEDGER_LOG_LEVEL: "silent" });
    expect(code).toBe(2);
    expect(err).toContain("OFFLEDGER_SNAPSHOT");
    expect(err).toContain("EISDIR");
  });

  test("a broken snapshot, with line and reason", async () => {
    const factory = element("AllocationFactory", "factory", payload.service());
    const path = await fileOf("broken.ndjson", factory, "{", { contractEntry: {} });
    const { code, out, err } = await run(["serve", "--port", "0", "--snapshot", path], {
      OFFLEDGER_LOG_LEVEL: "silent",
    });
    expect(code).toBe(2);
    expect(out).toBe("");
    expect(err).toContain("OFFLEDGER_SNAPSHOT");
    expect(err).toContain(`${path}:2: not JSON: `);
    expect(err).toContain(`${path}:3: contractEntry has to be one of`);
    expect(err).not.toMatch(/^ +at /m);
  });
});

describe("check", () => {
  test("finds nothing wrong with the demo registry", async () => {
    const { code, out, err } = await run(["check"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const lines = readFileSync(demo, "utf8").trim().split("\n").length;
    const said = /would serve (\d+) contracts; (\d+) elements are of no use to a request and left out/.exec(out);
    expect(Number(said?.[1]) + Number(said?.[2])).toBe(lines);
    expect(out).toContain("registrar acme-registrar::1220");
    expect(out).toContain("  instrument NOK-CASH (RegistrarInternalScheme)");
    expect(out).not.toContain("warning");
  });

  test("finds the demo registry from any folder, and by its path", async () => {
    const named = await run(["check", "--snapshot", demo]);
    expect(named.code).toBe(0);
    expect(named.out.startsWith(`${demo} would serve `)).toBe(true);
    const elsewhere = await new Program(["check"], {}, tmpdir()).ended();
    expect(elsewhere.out.replace(/^\S+/, "")).toBe(named.out.replace(/^\S+/, ""));
  });

  test("tells every problem of a broken file with its line, and ends with 1", async () => {
    const factory = element("AllocationFactory", "factory", payload.service());
    const path = await fileOf(
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
    const [head, ...told] = out.trimEnd().split("\n");
    expect(head).toBe(`${path} cannot be served:`);
    expect(told).toEqual([
      expect.stringMatching(/problems\.ndjson:2: not JSON: /),
      `${path}:4: registrar has to be a string, and is missing`,
      `${path}:5: contract factory is already on line 1`,
      `${path}:6: a time has to be like 2026-01-31T12:00:00.123456Z, and is yesterday`,
      `${path}:8: the element must be an object, but is not one`,
    ]);
  });

  test("says when there are more problems than it lists", async () => {
    const path = await fileOf("many.ndjson", ...Array.from({ length: 30 }, () => "wrong"));
    const { code, out } = await run(["check", "--snapshot", path]);
    expect(code).toBe(1);
    expect(out.match(/not JSON/g)).toHaveLength(20);
    expect(out).toContain("no more than 20 are listed");
  });

  test("ends with 1 where requests will fail, and says which", async () => {
    const path = await fileOf(
      "warnings.ndjson",
      element("AllocationFactory", "factory", payload.service()),
      element("InstrumentConfiguration", "usd", payload.configuration("USD")),
      element("TransferOffer", "offer", payload.offer("alice", "bob", "USD", "gone")),
    );
    const { code, out, err } = await run(["check", "--snapshot", path]);
    expect({ code, err }).toEqual({ code: 1, err: "" });
    expect(out).toContain(`${path} would serve 3 contracts; 0 elements`);
    expect(out).toMatch(/^warning: registrar registrar::1220 has no TransferRule/m);
    expect(out).toMatch(/^warning: .*TransferOffer offer refers to the locked holding gone/m);
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
