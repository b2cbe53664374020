/** `offledger explain` as a program, against the operator's port of a service. `npm run test:all` builds it first. */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import type { App } from "../../src/app/app.js";
import type { AppConfig } from "../../src/config/limits.js";
import type { JsonObject } from "../../src/util/json.js";
import { createCertificates, hasOpenssl } from "../fixtures/certificates.js";
import { contextsFile, requireCredentials } from "../fixtures/contexts.js";
import { element, parties, payload, requirement } from "../fixtures/elements.js";
import { snapshotFile, temporaryFile } from "../fixtures/files.js";
import { type Ended, start as startProgram } from "../fixtures/program.js";
import { registry } from "../fixtures/run-service.js";
import { start } from "../telemetry/starting.js";

const TOKEN = "0123456789abcdef0123456789abcdef";
const REGISTRAR = parties.registrar;

type Env = Readonly<Record<string, string>>;

/** Explains the request of an id; or what is given on stdin. */
function explain(port: string, id: string | { readonly stdin: JsonObject | string }, env: Env = {}): Promise<Ended> {
  const program = startProgram(["explain", typeof id === "string" ? id : "-"], {
    OFFLEDGER_METRICS_PORT: port,
    ...env,
  });
  if (typeof id !== "string") program.input(typeof id.stdin === "string" ? id.stdin : JSON.stringify(id.stdin));
  return program.ended();
}

const portOf = ({ metricsUrl = "" }: App): string => new URL(metricsUrl).port;

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

const serve = async (config: Partial<AppConfig> = {}, contracts: readonly JsonObject[] = elements): Promise<App> =>
  start({
    metricsPort: { host: "127.0.0.1", port: 0 },
    graceSeconds: 2,
    snapshot: await snapshotFile(...contracts),
    ...config,
  });

/** The id of a request that is refused. */
async function refused({ url }: App, path: string): Promise<string> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url + path, { method: "POST", headers, body: "{}" });
  expect(response.ok).toBe(false);
  return response.headers.get("x-request-id") ?? "";
}

const choice = (offer: string, name: string, registrar: string = REGISTRAR): string =>
  `${registry(registrar)}/transfer-instruction/v1/${offer}/choice-contexts/${name}`;

const createMint = {
  operation: "offledger.mint.v0.MintService/GetMintRequestCreateContext",
  request: { instrumentId: { admin: REGISTRAR, id: "USD" }, holder: "alice" },
};

describe("a refused request, by its id", () => {
  test("causes, changes, what was looked for and passed over", async () => {
    const app = await serve();
    const id = await refused(app, `${registry()}/allocations/v1/allocation/choice-contexts/execute-transfer`);
    const { code, out, err } = await explain(portOf(app), id);
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

  test("what a caller sent does not control the terminal", async () => {
    const app = await serve();
    const id = await refused(app, choice("00ab", "accept", "a\u001b[31m\n\u202eb"));
    const { code, out } = await explain(portOf(app), id);
    expect(code).toBe(0);
    expect(out).toContain(String.raw`registrar a\u{1b}[31m\u{a}\u{202e}b is not served here`);
    for (const character of ["\u001b", "\u202e"]) expect(out).not.toContain(character);
  });

  test("each cause has what helps, and candidates beyond those listed are counted", async () => {
    const onB = { synchronizerId: "sync-B", createdAt: "2026-02-01T00:00:00Z" };
    const app = await serve({}, [
      element("AllocationFactory", "new-factory", payload.service(), onB),
      element("TransferOffer", "offer", payload.offer("alice", "bob", "USD", "holding"), onB),
      element("Holding", "holding", payload.lockedHolding("alice", "USD")),
      element("InstrumentConfiguration", "usd", payload.configuration("USD")),
      ...Array.from({ length: 52 }, (_, index) => element("TransferRule", `rule-${index}`, payload.service())),
    ]);
    const { out } = await explain(portOf(app), await refused(app, choice("offer", "accept")));
    expect(out).toMatch(
      /\nwhat would have to change\n {2}- Reassign contract usd to synchronizer sync-B\.\n {2}- Reassign contract rule-\d+ to synchronizer sync-B\.\n/,
    );
    expect(out).toContain("\n    and 2 more\n");
  });
});

describe("a request on stdin", () => {
  test("that succeeds: what it discloses, and claims that only the ledger checks", async () => {
    const app = await serve();
    const rejecting = await explain(portOf(app), { stdin: { operation: `POST ${choice("offer", "reject")}` } });
    expect(rejecting).toMatchObject({ code: 0, out: expect.stringContaining("\nthe request succeeds\n") });
    expect(rejecting.out).not.toContain("what would have to change");
    const { out } = await explain(portOf(app), { stdin: createMint });
    expect(out).toContain("\nthe request succeeds\n");
    expect(out).toContain(
      "(optional: without them the wallet has to add credentials, or the choice fails on the ledger)\n",
    );
    expect(out).toContain("\n    missing mints = USD\n");
  });

  test("now, and at another time: claims that are missing, and met until when", async () => {
    const app = await serve({ contexts: await contextsFile(JSON.stringify({ changes: [requireCredentials] })) });
    const now = await explain(portOf(app), { stdin: createMint });
    expect(now.err).toBe("");
    expect(now.out).toContain("\n  credential-missing: ");
    expect(now.out).toContain("\n    missing mints = USD\n      passed over ended: ");
    const before = await explain(portOf(app), { stdin: { ...createMint, at: "2026-02-01T00:00:00Z" } });
    expect(before.out).toContain("\nanswered as at 2026-02-01T00:00:00.000Z, with the contracts of offset ");
    expect(before.out).toContain("\nthe request succeeds\n");
    expect(before.out).toContain("\n    met     mints = USD by ended, until 2026-03-01T00:00:00.000Z\n");
    expect(before.out).toMatch(/\ndisclosed\n(.*\n)* {2}ended\n/);
    expect(before.out).toContain("\nmay change without a new contract at 2026-03-01T00:00:00.000Z\n");
  });

  test("a factory that was given up is passed over, and a paused instrument is noted", async () => {
    const app = await serve({}, [
      element("AllocationFactory", "old-factory", payload.service(), { createdAt: "2026-01-01T00:00:00Z" }),
      element("AllocationFactory", "new-factory", payload.service(), { synchronizerId: "sync-B" }),
      element("InstrumentConfiguration", "usd", payload.configuration("USD", { isPaused: true })),
    ]);
    const { out } = await explain(portOf(app), { stdin: createMint });
    expect(out).toContain("\nthe request succeeds\n");
    expect(out).toContain(
      `\nnotes\n  - Instrument "USD" of registrar ${REGISTRAR} is paused: the choice may fail on the ledger.\n`,
    );
    expect(out).toMatch(/\n {4}passed over new-factory: was tried first, but the InstrumentConfiguration /);
    expect(out).toContain("\n    chosen old-factory\n");
    expect(out).not.toContain("chosen new-factory");
  });

  test("with mistakes ends with 2", async () => {
    const port = portOf(await serve());
    const mistakes = [
      ['{"operation":"nothing"}', 'status 400, call.operation is "nothing", which is no operation'],
      ["{", "the request on stdin cannot be read: "],
      ["[]", 'the request on stdin cannot be read: it must be an object with "operation" and "request"'],
      [`"${"x".repeat(17 * 1024 * 1024)}"`, "cannot be read: it exceeds 16 MiB"],
    ] as const;
    for (const [stdin, message] of mistakes) {
      const { code, out, err } = await explain(port, { stdin });
      expect({ code, out }).toEqual({ code: 2, out: "" });
      expect(err).toContain(message);
    }
  });
});

/** A server in place of the service. */
async function portOfServer(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return String((server.address() as AddressInfo).port);
}

const pretend = (listener: RequestListener): Promise<string> => {
  const server = createServer(listener);
  onTestFinished(() => server.closeAllConnections());
  return portOfServer(server);
};

describe("the operator's port", () => {
  test.each([
    ["", "it is not set"],
    ["0", "it is 0, which selects a free port"],
  ])("%j ends with 2", async (port, reason) => {
    const message = `offledger: OFFLEDGER_METRICS_PORT must be the port on which the service has its operator's port: ${reason}\n`;
    expect(await explain(port, "id")).toEqual({ code: 2, out: "", err: message });
  });

  test("an id that is not kept, and a port on which nothing listens: 1", async () => {
    const app = await serve();
    const port = portOf(app);
    const unknown = await explain(port, "order-17");
    expect(unknown).toMatchObject({ code: 1, out: "" });
    expect(unknown.err).toMatch(
      /^offledger: the service at http:\S+ cannot explain the request: status 404, no refused request order-17 is kept: .*\n$/,
    );
    await app.close();
    const message = `offledger: the service at http://127.0.0.1:${port} cannot explain the request: connect ECONNREFUSED 127.0.0.1:${port}\n`;
    expect(await explain(port, "id")).toEqual({ code: 1, out: "", err: message });
  });

  test("with a token: the right one, a wrong one, none, and no file", async () => {
    const right = await temporaryFile("token", `${TOKEN}\n`);
    const app = await serve({ operatorTokenFile: right });
    const id = await refused(app, choice("00ab", "accept"));
    const withFile = (path: string) => explain(portOf(app), id, { OFFLEDGER_OPERATOR_TOKEN_FILE: path });
    expect(await withFile(right)).toMatchObject({ code: 0, err: "" });
    const rejected = await withFile(await temporaryFile("wrong", "another-token-of-an-operator"));
    expect(rejected.code).toBe(2);
    expect(rejected.err).toMatch(/status 401, .*: check the file of OFFLEDGER_OPERATOR_TOKEN_FILE\n$/);
    expect(rejected.err).not.toContain("another-token");
    const without = await explain(portOf(app), id);
    expect(without.code).toBe(2);
    expect(without.err).toMatch(/status 401, .*: set OFFLEDGER_OPERATOR_TOKEN_FILE\n$/);
    const missing = await withFile("/nowhere");
    expect(missing.code).toBe(2);
    expect(missing.err).toContain(
      "OFFLEDGER_OPERATOR_TOKEN_FILE must be the path of a readable file with the operator's token: ENOENT",
    );
  });

  test("on all addresses without a token: 2, and says what to set", async () => {
    const app = await serve({ metricsPort: { host: "0.0.0.0", port: 0 } });
    const { code, err } = await explain(`0.0.0.0:${portOf(app)}`, "id");
    expect(code).toBe(2);
    expect(err).toContain("status 403, this is served to operators only: set OFFLEDGER_OPERATOR_TOKEN_FILE");
  });

  test("no explanation, a large answer, none within 10 s, and one that stalls in the middle: 1", async () => {
    const answers: readonly (readonly [RequestListener, string])[] = [
      [(_request, response) => response.end("<html>"), "the answer is no explanation"],
      [(_request, response) => response.end("x".repeat(17 * 1024 * 1024)), "the response exceeds 16777216 bytes"],
      [() => {}, "no response within 10 seconds"],
      [(_request, response) => response.write("{"), "no response within 10 seconds"],
    ];
    const ended = await Promise.all(answers.map(async ([listener]) => explain(await pretend(listener), "id")));
    for (const [index, [, message]] of answers.entries())
      expect(ended[index]).toMatchObject({ code: 1, err: expect.stringContaining(message) });
  });

  test.skipIf(!hasOpenssl)("with TLS: the service's certificate is accepted, another gets no token", async () => {
    const { key, cert } = createCertificates();
    const tlsKeyFile = await temporaryFile("key.pem", key);
    const tlsCertFile = await temporaryFile("cert.pem", cert);
    const operatorTokenFile = await temporaryFile("token", TOKEN);
    const env = {
      OFFLEDGER_TLS_KEY_FILE: tlsKeyFile,
      OFFLEDGER_TLS_CERT_FILE: tlsCertFile,
      OFFLEDGER_OPERATOR_TOKEN_FILE: operatorTokenFile,
    };
    const app = await serve({ tlsCertFile, tlsKeyFile, operatorTokenFile });
    expect((await explain(portOf(app), "id", env)).err).toContain("status 404, no refused request id is kept");

    let requests = 0;
    const impostor = createTlsServer(createCertificates(), (_request, response) => {
      requests++;
      response.end();
    });
    const { code, err } = await explain(await portOfServer(impostor), "id", env);
    expect(code).toBe(1);
    expect(err).toContain("the port serves another certificate than the one of OFFLEDGER_TLS_CERT_FILE");
    expect(requests).toBe(0);
  });
});
