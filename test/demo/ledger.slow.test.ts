/** npm run demo:ledger, as a separate process. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { JsonObject } from "../../src/util/json.js";
import { templates } from "../../src/registry/utility/templates.js";
import { main, Program } from "../fixtures/program.js";
import { registry } from "../fixtures/run-service.js";
import { becomesReady, listening } from "../ingest/database/services.js";
import { MAX_WAIT_MS, until, within } from "../fixtures/wait.js";
import { ask, Listener } from "../scripted-participant/test-client.js";
import type { EventFormat } from "../scripted-participant/messages.js";

/** The printed URL of the service, whose port is not known yet. */
const service = "http://service.invalid:8080";

const started: ChildProcess[] = [];
let demo: ChildProcess;
let output: string;
beforeEach(() => {
  output = "";
  demo = start("0", (text) => (output += text));
});
afterEach(() => {
  for (const process of started.splice(0)) process.kill("SIGKILL");
});

function start(port: string, says: (text: string) => void): ChildProcess {
  const flags = ["--port", port, "--ms", "40", "--service", service];
  const child = spawn(process.execPath, ["--import", "tsx", "scripts/demo-ledger.ts", ...flags]);
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data: Buffer) => says(data.toString()));
  started.push(child);
  return child;
}

/** The value of an `export NAME=value` line in the printed usage. */
const exported = (name: string): string => new RegExp(`export ${name}=(\\S+)`).exec(output)?.[1] ?? "";

test("it has the demo registry, changes it, and stops on SIGINT", async () => {
  await until("it says how to use it", () => output.includes("npm start"));
  const url = exported("OFFLEDGER_LEDGER_URL");
  const named = templates.filter(({ packageName }) => packageName !== "");
  const cumulative = named.map(({ packageName, qualifiedName }) => {
    const value = { templateId: `#${packageName}:${qualifiedName}`, includeCreatedEventBlob: true };
    return { identifierFilter: { TemplateFilter: { value } } };
  });
  const parties = exported("OFFLEDGER_LEDGER_PARTIES").split(",");
  const eventFormat: EventFormat = {
    filtersByParty: Object.fromEntries(parties.map((party) => [party, { cumulative }])),
  };
  // Everything that the registry of the file serves, but for the kind that no rule asks for.
  const body = await ask(`${url}/v2/state/active-contracts`, { activeAtOffset: 103, eventFormat });
  expect(body).toHaveLength(33);

  const updateFormat = {
    includeTransactions: { eventFormat, transactionShape: "TRANSACTION_SHAPE_ACS_DELTA" },
    includeReassignments: eventFormat,
  };
  const listener = new Listener(url, "/v2/updates", { beginExclusive: 103, updateFormat });
  // One message may be the checkpoint after opening.
  const messages = await listener.receive(9);
  const updates = messages
    .flatMap(({ update }) => Object.entries(update as Record<string, { value: { offset: number } }>))
    .filter(([form]) => form !== "OffsetCheckpoint")
    .map(([form, { value }]) => `${value.offset} ${form}`);
  expect(updates.slice(0, 8)).toEqual([
    "104 Transaction",
    "107 Transaction",
    "110 Transaction",
    "113 Transaction",
    "116 Transaction",
    "119 Reassignment",
    "120 Reassignment",
    "121 Transaction",
  ]);
  demo.kill("SIGINT");
  const [code] = (await within(MAX_WAIT_MS, "it stops", once(demo, "exit"))) as [number];
  expect(code).toBe(0);
  expect((await listener.ended).code).toBe(1001);
  expect(output).toMatch(/offset 104: offer 1 of ACME-EUR from alice to bob: 00[0-9a-f]{136}\n/);
  expect(output).toMatch(/offset 119: offer 2 leaves its synchronizer[^]+\nstopped\n$/);
});

test("a service with the printed settings answers the printed requests", async ({ skip }) => {
  skip(await isMissing("curl"), "the requests need curl, which is not installed");
  await until("it says how to use it", () => output.includes("\noffset 104: "));
  const env = {
    OFFLEDGER_PORT: "0",
    OFFLEDGER_LEDGER_URL: exported("OFFLEDGER_LEDGER_URL"),
    OFFLEDGER_LEDGER_PARTIES: exported("OFFLEDGER_LEDGER_PARTIES"),
  };
  const program = new Program(process.execPath, [main, "serve"], { cwd: tmpdir(), env });
  const url = await listening(program);
  await becomesReady(url);
  // The demo and the service name the same registrar.
  const [, registrar = ""] = /requests from registrar (\S+):\n/.exec(output) ?? [];
  expect(await (await fetch(`${url}${registry(registrar)}/metadata/v1/instruments`)).text()).toContain("ACME-BOND");

  const commands = output.split("\n").filter((line) => line.includes("curl "));
  expect(commands.every((command) => command.includes(`'${service}/`))).toBe(true);
  const responses = await Promise.all(
    commands.map((command) => run(`${command.replaceAll(service, url)} -sS -w '\n%{http_code}'`)),
  );
  expect(responses.map(({ status }) => status)).toEqual(Array(6).fill("200"));
  const bodies = responses.map(({ body }) => body);
  expect(bodies[0]).toMatchObject({ adminId: registrar });
  expect(bodies[1]).toMatchObject({ instruments: [{ id: "ACME-BOND" }, { id: "ACME-EUR" }] });
  expect(bodies[2]).toMatchObject({ transferKind: "direct" });
  expect(bodies[3]).toMatchObject({ transferKind: "offer" });
  for (const body of bodies.slice(4)) expect(body).toHaveProperty("choiceContextData");
});

/** Runs a command in a shell, which prints a body and a status. */
async function run(command: string): Promise<{ readonly status: string; readonly body: JsonObject }> {
  const { stdout } = await promisify(execFile)("/bin/sh", ["-c", command], { timeout: 20_000 });
  const [, body = "", status = ""] = /^([^]*)\n(\d+)$/.exec(stdout) ?? [];
  return { status, body: JSON.parse(body) as JsonObject };
}

const isMissing = (command: string): Promise<boolean> =>
  promisify(execFile)(command, ["--version"]).then(
    () => false,
    () => true,
  );

test("a port in use ends it with a message", async () => {
  await until("it runs", () => exported("OFFLEDGER_LEDGER_URL") !== "");
  const { port } = new URL(exported("OFFLEDGER_LEDGER_URL"));
  let said = "";
  const second = start(port, (text) => (said += text));
  const [code] = (await within(MAX_WAIT_MS, "it ends", once(second, "exit"))) as [number];
  expect(code).toBe(1);
  expect(said).toMatch(/^cannot listen on port \d+: /);
});
