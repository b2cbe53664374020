/** `offledger explain` as a program, against the operator's port of a service. `npm test` builds it first. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type App, startApp } from "../../src/app/app.js";
import type { Config } from "../../src/config/config.js";
import type { JsonObject } from "../../src/domain/json.js";
import { createCertificates, hasOpenssl } from "../fixtures/certificates.js";
import { element, parties, payload, requirement } from "../fixtures/elements.js";
import { type Ended, main, Program } from "../fixtures/program.js";
import { quiet } from "../fixtures/run-service.js";

const TOKEN = "0123456789abcdef0123456789abcdef";
const REGISTRAR = parties.registrar;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "offledger-explain-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function write(name: string, content: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

const explain = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Program =>
  new Program(process.execPath, [main, "explain", ...args], { cwd: folder, env });

const portOf = ({ metricsUrl = "" }: App): string => new URL(metricsUrl).port;

const run = (app: App, argument: string, env: Readonly<Record<string, string>> = {}): Promise<Ended> =>
  explain([argument], { OFFLEDGER_METRICS_PORT: portOf(app), ...env }).ended();

function runStdin(app: App, input: JsonObject | string): Promise<Ended> {
  const program = explain(["-"], { OFFLEDGER_METRICS_PORT: portOf(app) });
  program.input(typeof input === "string" ? input : JSON.stringify(input));
  return program.ended();
}

/** An instrument whose holders need a claim, which alice had until March; two rules, and an offer from alice to bob. */
const elements = [
  element("AllocationFactory", "factory", payload.service()),
  element("TransferRule", "old-rule", payload.service(), { createdAt: "2026-01-01T00:00:00Z" }),
  element("TransferRule", "new-rule", payload.service(), { createdAt: "2026-01-02T00:00:00Z" }),
  element(
    "InstrumentConfiguration",
    "usd",
    payload.configuration("USD", { issuerRequirements: [requirement(["mints=USD"])] }),
  ),
  element("Credential", "ended", payload.credential("alice", ["mints=USD"], { validUntil: "2026-03-01T00:00:00Z" })),
  element("TransferOffer", "offer", payload.offer("alice", "bob", "USD", "gone")),
  element("DvpLegAllocation", "allocation", payload.allocation("alice", "bob", "USD", "gone")),
];

async function start(config: Partial<Config> = {}, contracts: readonly JsonObject[] = elements): Promise<App> {
  const snapshot = await write(`${Math.random()}.ndjson`, contracts.map((one) => `${JSON.stringify(one)}\n`).join(""));
  const app = await startApp({ ...quiet(), metricsPort: 0, logRequests: "none", graceSeconds: 2, snapshot, ...config });
  onTestFinished(() => app.close());
  return app;
}

async function refused({ url }: App, path: string, body: JsonObject = {}): Promise<string> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
  expect(response.ok).toBe(false);
  return response.headers.get("x-request-id") ?? "";
}

const acceptPath = (offer: string) =>
  `/api/token-standard/v0/registrars/${encodeURIComponent(REGISTRAR)}/registry/transfer-instruction/v1/${offer}/choice-contexts/accept`;

/** A server in place of the service. */
async function pretend(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise((resolve) => server.once("listening", resolve));
  return String((server.address() as AddressInfo).port);
}

describe("a refused request", () => {
  test("by its id: causes, changes, what was looked for and passed over", async () => {
    const app = await start();
    const execute = `/api/token-standard/v0/registrars/${encodeURIComponent(REGISTRAR)}/registry/allocations/v1/allocation/choice-contexts/execute-transfer`;
    const { code, out, err } = await run(app, await refused(app, execute));
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain("AllocationService/GetAllocationTransferContext\n");
    expect(out).toContain("\nthe request is refused: not_found\n  holding-missing: ");
    expect(out).toContain("\nwhat would have to change\n  - Reject, withdraw or cancel the instruction");
    expect(out).toMatch(
      /\n {4}chosen new-rule\n {6}created 2026-01-02T00:00:00\.000Z, utility-registry-v0 \(package .*\n/,
    );
    expect(out).toContain("\n    passed over old-rule: a newer one is chosen\n");
    expect(out).not.toContain("\ndisclosed\n");
  });

  test("that would succeed now, with what it discloses", async () => {
    const app = await start();
    const call = { operation: `POST ${acceptPath("offer").replace("accept", "reject")}` };
    const { code, out } = await runStdin(app, call);
    expect(code).toBe(0);
    expect(out).toContain("\nthe request succeeds\n");
    expect(out).not.toContain("what would have to change");
  });

  test("an id that is not kept ends with 1", async () => {
    const app = await start();
    const { code, out, err } = await run(app, "order-17");
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(
      /^offledger: the service at http:\S+ cannot explain the request: status 404, no refused request order-17 is kept: .*\n$/,
    );
  });

  test("what a caller sent does not control the terminal", async () => {
    const app = await start();
    const { url } = app;
    const path = acceptPath("00ab").replace(encodeURIComponent(REGISTRAR), encodeURIComponent("a\u001b[31m\n\u202eb"));
    const { code, out } = await run(app, await refused({ ...app, url }, path));
    expect(code).toBe(0);
    expect(out).toContain(String.raw`registrar a\u{1b}[31m\u{a}\u{202e}b is not served here`);
    expect(out).not.toContain("\u001b");
    expect(out).not.toContain("\u202e");
  });
});

describe("a request on stdin", () => {
  const call = {
    operation: "offledger.mint.v0.MintService/GetMintRequestCreateContext",
    request: { instrumentId: { admin: REGISTRAR, id: "USD" }, holder: "alice" },
  };

  test("now, and at another time: claims that are missing, and met until when", async () => {
    const app = await start({ contexts: await write("required.yaml", "changes: [{ credentials: required }]") });
    const now = await runStdin(app, call);
    expect(now.err).toBe("");
    expect(now.out).toContain("\n  credential-missing: ");
    expect(now.out).toContain("\n    missing mints = USD\n      passed over ended: ");
    const before = await runStdin(app, { ...call, at: "2026-02-01T00:00:00Z" });
    expect(before.out).toContain("\nanswered as at 2026-02-01T00:00:00.000Z, with the contracts of offset ");
    expect(before.out).toContain("\nthe request succeeds\n");
    expect(before.out).toContain("\n    met     mints = USD by ended, until 2026-03-01T00:00:00.000Z\n");
    expect(before.out).toMatch(/\ndisclosed\n(.*\n)* {2}ended\n/);
    expect(before.out).toContain("\nmay change without a new contract at 2026-03-01T00:00:00.000Z\n");
  });

  test("claims that only the ledger checks are optional", async () => {
    const { out } = await runStdin(await start(), call);
    expect(out).toContain("\nthe request succeeds\n");
    expect(out).toContain(
      "(optional: without them the wallet has to add credentials, or the choice fails on the ledger)\n",
    );
    expect(out).toContain("\n    missing mints = USD\n");
  });

  test.each([
    [
      "an unknown operation",
      '{"operation":"nothing"}',
      'status 400, call.operation is "nothing", which is no operation',
    ],
    ["no JSON", "{", "the request on stdin cannot be read: "],
    ["a list", "[]", 'the request on stdin cannot be read: it must be an object with "operation" and "request"'],
    ["more than 16 MiB", `"${"x".repeat(17 * 1024 * 1024)}"`, "cannot be read: it exceeds 16 MiB"],
  ])("%s ends with 2", async (_name, input, message) => {
    const { code, out, err } = await runStdin(await start(), input);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(message);
  });
});

describe("several factories", () => {
  const onB = { synchronizerId: "sync-B", createdAt: "2026-02-01T00:00:00Z" };
  const factories = [
    element("AllocationFactory", "old-factory", payload.service(), { createdAt: "2026-01-01T00:00:00Z" }),
    element("AllocationFactory", "new-factory", payload.service(), onB),
  ];

  test("one that was given up is passed over, and a paused instrument is noted", async () => {
    const paused = element("InstrumentConfiguration", "usd", payload.configuration("USD", { isPaused: true }));
    const { out } = await runStdin(await start({}, [...factories, paused]), {
      operation: "offledger.mint.v0.MintService/GetMintRequestCreateContext",
      request: { instrumentId: { admin: REGISTRAR, id: "USD" }, holder: "alice" },
    });
    expect(out).toContain("\nthe request succeeds\n");
    expect(out).toContain(
      `\nnotes\n  - Instrument "USD" of registrar ${REGISTRAR} is paused: the choice may fail on the ledger.\n`,
    );
    expect(out).toMatch(/\n {4}passed over new-factory: was tried first, but the InstrumentConfiguration /);
    expect(out).toContain("\n    chosen old-factory\n");
    expect(out).not.toContain("chosen new-factory");
  });

  test("each cause has its remedy, and candidates beyond those listed are counted", async () => {
    const rest = [
      element("TransferOffer", "offer", payload.offer("alice", "bob", "USD", "holding"), onB),
      element("Holding", "holding", payload.lockedHolding("alice", "USD")),
      element("InstrumentConfiguration", "usd", payload.configuration("USD")),
    ];
    const rules = Array.from({ length: 52 }, (_, index) => element("TransferRule", `rule-${index}`, payload.service()));
    const app = await start({}, [...factories, ...rest, ...rules]);
    const { out } = await run(app, await refused(app, acceptPath("offer")));
    expect(out).toMatch(
      /\nwhat would have to change\n {2}- Reassign contract usd to synchronizer sync-B\.\n {2}- Reassign contract rule-\d+ to synchronizer sync-B\.\n/,
    );
    expect(out).toContain("\n    and 2 more\n");
  });
});

describe("the operator's port", () => {
  test.each([
    [{}, "it is not set"],
    [{ OFFLEDGER_METRICS_PORT: "0" }, "it is 0, which selects a free port"],
  ])("%j ends with 2", async (env, reason) => {
    const { code, err } = await explain(["id"], env).ended();
    expect(code).toBe(2);
    expect(err).toBe(
      `offledger: OFFLEDGER_METRICS_PORT must be the port on which the service has its operator's port: ${reason}\n`,
    );
  });

  test("nothing listens: 1", async () => {
    const app = await start();
    const port = portOf(app);
    await app.close();
    const { code, err } = await explain(["id"], { OFFLEDGER_METRICS_PORT: port }).ended();
    expect(code).toBe(1);
    expect(err).toBe(
      `offledger: the service at http://127.0.0.1:${port} cannot explain the request: connect ECONNREFUSED 127.0.0.1:${port}\n`,
    );
  });

  test("with a token: the right one, a wrong one, none, and no file", async () => {
    const right = await write("token", `${TOKEN}\n`);
    const wrong = await write("wrong", "another-token-of-an-operator");
    const app = await start({ operatorTokenFile: right });
    const id = await refused(app, acceptPath("00ab"));
    const withFile = (path: string) => run(app, id, { OFFLEDGER_OPERATOR_TOKEN_FILE: path });
    expect(await withFile(right)).toMatchObject({ code: 0, err: "" });
    const rejected = await withFile(wrong);
    expect(rejected.code).toBe(2);
    expect(rejected.err).toMatch(/status 401, .*: check the file of OFFLEDGER_OPERATOR_TOKEN_FILE\n$/);
    expect(rejected.err).not.toContain("another-token");
    const without = await run(app, id);
    expect(without.code).toBe(2);
    expect(without.err).toMatch(/status 401, .*: set OFFLEDGER_OPERATOR_TOKEN_FILE\n$/);
    const missing = await withFile(join(folder, "nothing"));
    expect(missing.code).toBe(2);
    expect(missing.err).toContain(
      "OFFLEDGER_OPERATOR_TOKEN_FILE must be the path of a readable file with the operator's token: ENOENT",
    );
  });

  test("on all addresses without a token: 2, and says what to set", async () => {
    const app = await start({ metricsHost: "0.0.0.0" });
    const { code, err } = await run(app, "id", { OFFLEDGER_METRICS_HOST: "0.0.0.0" });
    expect(code).toBe(2);
    expect(err).toContain("status 403, this is served to operators only: set OFFLEDGER_OPERATOR_TOKEN_FILE");
  });

  test("an answer that is no explanation, and one that is too large: 1", async () => {
    const small = await pretend((_request, response) => response.end("<html>"));
    const large = await pretend((_request, response) => response.end("x".repeat(17 * 1024 * 1024)));
    const ended = await Promise.all(
      [small, large].map((port) => explain(["id"], { OFFLEDGER_METRICS_PORT: port }).ended()),
    );
    expect(ended.map(({ code }) => code)).toEqual([1, 1]);
    expect(ended[0]?.err).toContain("the answer is no explanation");
    expect(ended[1]?.err).toContain("the response exceeds 16 MiB");
  });

  test("no answer within 10 s, and one that stalls in the middle: 1", async () => {
    const silent = await pretend(() => {});
    const stalled = await pretend((_request, response) => response.write("{"));
    const ended = await Promise.all(
      [silent, stalled].map((port) => explain(["id"], { OFFLEDGER_METRICS_PORT: port }).ended()),
    );
    for (const { code, err } of ended) {
      expect(code).toBe(1);
      expect(err).toContain("no response within 10 seconds");
    }
  });
});

describe.skipIf(!hasOpenssl)("TLS", () => {
  test("the service's certificate is accepted, another gets no token", async () => {
    const { key, cert } = createCertificates();
    const paths = { key: await write("key.pem", key), cert: await write("cert.pem", cert) };
    const token = await write("tls-token", TOKEN);
    const env = {
      OFFLEDGER_TLS_KEY_FILE: paths.key,
      OFFLEDGER_TLS_CERT_FILE: paths.cert,
      OFFLEDGER_OPERATOR_TOKEN_FILE: token,
    };
    const app = await start({ tlsCertFile: paths.cert, tlsKeyFile: paths.key, operatorTokenFile: token });
    expect((await run(app, "id", env)).err).toContain("status 404, no refused request id is kept");

    const other = createCertificates();
    let requests = 0;
    const impostor = createTlsServer({ key: other.key, cert: other.cert }, (_request, response) => {
      requests++;
      response.end();
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void impostor.close());
    await new Promise((resolve) => impostor.once("listening", resolve));
    const { port } = impostor.address() as AddressInfo;
    const { code, err } = await explain(["id"], { OFFLEDGER_METRICS_PORT: String(port), ...env }).ended();
    expect(code).toBe(1);
    expect(err).toContain("the port serves another certificate than the one of OFFLEDGER_TLS_CERT_FILE");
    expect(requests).toBe(0);
  });
});
