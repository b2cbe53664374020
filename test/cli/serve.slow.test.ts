/** `offledger serve` as a program: what it prints and serves, and how it stops. `npm run test:all` builds it first. */
import http from "node:http";
import { writeFile } from "node:fs/promises";
import { once } from "node:events";
import net from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Code } from "@connectrpc/connect";
import { contextsFile } from "../fixtures/contexts.js";
import { element, payload } from "../fixtures/elements.js";
import { snapshotFile, temporaryFile, temporaryFolder } from "../fixtures/files.js";
import { requestHttp1 } from "../fixtures/http-requests.js";
import { formatModule, moduleFields } from "../fixtures/own-registry.js";
import { type Program, start, startAtTerminal } from "../fixtures/program.js";
import { until, within } from "../fixtures/wait.js";
import { watchStreams } from "../fixtures/watch-streams.js";

const anyPort = { OFFLEDGER_PORT: "0" };

/** The URL of a printed curl command, parsed as a shell would. */
async function parseCurl(program: Program): Promise<string> {
  await program.printed("curl '");
  await until("the line is complete", () => program.out.endsWith("'\n"));
  const line = program.out.slice(program.out.indexOf("curl ")).replaceAll("\\\n", " ");
  const args = [...line.matchAll(/\s*((?:'[^']*'|\\.|[^\s'\\])+)/gy)].map(([, word = ""]) =>
    word.replaceAll(/'([^']*)'|\\(.)/g, (_, quoted?: string, escaped?: string) => quoted ?? escaped ?? ""),
  );
  expect(args).toEqual(["curl", expect.any(String)]);
  return args[1] ?? "";
}

const get = async (url: string): Promise<unknown> => (await fetch(url)).json();

describe("prints at a terminal, and serves", () => {
  test("the demo registry, and a request that succeeds", async () => {
    const program = startAtTerminal(["serve", "--port", "0"]);
    const url = await parseCurl(program);
    const [first] = program.out.split("\n");
    expect(first).toMatch(/^offledger serves .*registry\.ndjson at http:\/\/127\.0\.0\.1:[1-9]\d*$/);
    expect(first?.endsWith(` at ${new URL(url).origin}`)).toBe(true);
    expect(program.out).toContain("registrar acme-registrar::1220");
    expect(program.out).toContain("  instrument ACME-BOND (RegistrarInternalScheme)");
    expect(program.out).toMatch(/^ +2 Utility\.Registry\.App\.V0\.Service\.AllocationFactory:AllocationFactory$/m);
    expect(program.out).toContain("\nwarning: instruction-moving (1)\n");
    expect(program.out).toContain("\nwarning: credential-missing (1)\n");
    expect(await get(url)).toMatchObject({ instruments: [{ id: "ACME-BOND" }, { id: "ACME-EUR" }] });
  });

  test("by default, with variables: names that a shell must not read, an instruments and a contexts file", async () => {
    const registrar = "o'dd $(none) #1?::1220";
    const snapshot = await snapshotFile(
      element("AllocationFactory", "factory", payload.service({ registrar })),
      element("TransferRule", "rule", payload.service({ registrar })),
      element("InstrumentConfiguration", "usd", {
        ...payload.configuration("it's", { registrar }),
        defaultIdentifier: { source: "$(none) \"'\\", id: "it's", scheme: "a b" },
      }),
    );
    const program = startAtTerminal([], {
      ...anyPort,
      OFFLEDGER_SNAPSHOT: snapshot,
      OFFLEDGER_HOST: "localhost",
      OFFLEDGER_INSTRUMENTS: await temporaryFile("a.yaml", `"${registrar}": { "it's": { name: Dollar, decimals: 2 } }`),
      OFFLEDGER_CONTEXTS: await contextsFile("changes: [{ rewards: true }]"),
    });
    const url = await parseCurl(program);
    expect(program.out.startsWith(`offledger serves ${snapshot} at http://`)).toBe(true);
    expect(program.out).toContain(`registrar ${registrar}\n  instrument it's (a b)\n`);
    expect(await get(url)).toMatchObject({ instruments: [{ id: "it's", name: "Dollar", decimals: 2 }] });
  });

  test("no request without a registrar, but what is missing", async () => {
    const snapshot = await snapshotFile(element("InstrumentConfiguration", "usd", payload.configuration("USD")));
    const program = startAtTerminal(["--snapshot", snapshot], anyPort);
    await program.printed(/warning: registrar-not-served \(1\)\n {2}registrar registrar::1220 is not served here/);
    expect(program.out).toContain("no registrar is served");
    expect(program.out).not.toContain("curl");
  });

  test("a module and a file relative to its folder, with special characters in the name", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "my reg#1 ü%20.mjs"), formatModule(moduleFields));
    await writeFile(join(folder, "own.ndjson"), "[]");
    const program = startAtTerminal(["--registry", "./my reg#1 ü%20.mjs", "--snapshot", "own.ndjson"], anyPort, folder);
    const [line] = await program.printed(/^offledger serves own\.ndjson at http.*$/m);
    expect(line).toContain("http://127.0.0.1:");
  });

  test("a ledger, without a file", async () => {
    const module = await temporaryFile("registry.mjs", formatModule(moduleFields));
    const flags = ["--ledger-url", "http://127.0.0.1:9", "--ledger-parties", "p::1220"];
    const program = startAtTerminal(["--registry", module, ...flags], anyPort);
    const [line] = await program.printed(/^offledger follows .* and listens at http/m);
    expect(line).toContain("follows http://127.0.0.1:9/ and");
  });
});

async function startDraining(): Promise<readonly [program: Program, url: string]> {
  const program = start(["serve"], { OFFLEDGER_PORT: "0", OFFLEDGER_DRAIN_SECONDS: "3" });
  return [program, await program.listens()];
}

describe("stops", () => {
  const DRAINS = "the service drains: it serves, but is not ready";
  const STEPS = [
    "the service stops",
    "clients are told to go away, and idle connections are closed",
    "streams have ended",
    "the listener and all connections are closed",
  ];

  /** The steps that the log has, in their order. */
  const stepsIn = (log: string): unknown[] =>
    log
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { readonly msg?: unknown }).msg)
      .filter((message) => [DRAINS, ...STEPS].includes(String(message)));

  test("at SIGTERM: first it is not ready and serves on, then it closes step by step", async () => {
    const [program, url] = await startDraining();
    const kept = new http.Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => kept.destroy());
    expect(await requestHttp1(url, "/readyz", {}, undefined, kept)).toMatchObject({ status: 200 });
    const end = new AbortController();
    onTestFinished(() => end.abort());
    const streams = [watchStreams["gRPC"], watchStreams["Connect"]].map((watch) => watch?.(url, {}, end.signal));
    for (const stream of streams) expect((await stream?.next())?.value).toMatchObject({ reset: {} });

    program.signal("SIGTERM");
    await until("it is not ready", async () => (await requestHttp1(url, "/readyz")).status === 503);
    const served = await requestHttp1(url, "/livez", {}, undefined, kept);
    expect(served).toMatchObject({ status: 200, headers: { connection: "close" } });
    expect(stepsIn(program.err)).toEqual([DRAINS]);

    // Until then the streams go on; a heartbeat may come.
    const ended = async (stream: (typeof streams)[number]) => {
      try {
        while ((await stream?.next())?.done === false);
        return "ended";
      } catch (error) {
        return (error as { readonly code?: number }).code;
      }
    };
    const ends = await within(20_000, "the streams end", Promise.all(streams.map(ended)));
    expect(ends).toEqual([Code.Unavailable, Code.Unavailable]);
    expect((await program.ended()).code).toBe(0);
    expect(stepsIn(program.err)).toEqual([DRAINS, ...STEPS]);
  });

  test("at SIGINT, which a terminal sends, without a drain", async () => {
    const [program] = await startDraining();
    program.signal("SIGINT");
    expect((await program.ended()).code).toBe(0);
    expect(stepsIn(program.err)).toEqual(STEPS);
  });

  test("elsewhere it prints nothing, and its log begins with what starts", async () => {
    const program = start(["serve"], anyPort);
    await program.listens();
    program.stop();
    const { code, out, err } = await program.ended();
    expect({ code, out }).toEqual({ code: 0, out: "" });
    const first = JSON.parse(err.split("\n")[0] ?? "") as unknown;
    expect(first).toMatchObject({
      version: "0.1.0",
      registry: "utility",
      host: "127.0.0.1",
      port: 0,
      msg: "offledger starts",
    });
  });

  test("although connections are open, of which one never asked", async () => {
    const program = start(["serve"], anyPort);
    const { port } = new URL(await program.listens());
    const [silent, idle] = [0, 1].map(() => net.connect(Number(port), "127.0.0.1").on("error", () => {}));
    onTestFinished(() => void [silent, idle].map((socket) => socket?.destroy()));
    idle?.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await Promise.all([once(silent as net.Socket, "connect"), once(idle as net.Socket, "data")]);
    program.signal("SIGTERM");
    expect((await program.ended()).code).toBe(0);
  });
});
