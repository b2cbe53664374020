/** Explanations of a running service, on the operator's port: they agree with the answers of the public port. */
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { contractId, party } from "../../demo/element.js";
import { ExplainService } from "../../gen/offledger/explain/v1/explain_service_pb.js";
import { TransferInstructionService } from "../../gen/offledger/transfer_instruction/v1/transfer_instruction_service_pb.js";
import { startApp } from "../../src/app/app.js";
import type { AppConfig } from "../../src/config/limits.js";
import type { JsonObject } from "../../src/util/json.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { completeElements, operationCalls } from "../fixtures/operation-calls.js";
import * as requests from "../fixtures/requests.js";
import { quiet } from "../fixtures/run-service.js";
import { until } from "../fixtures/wait.js";
import { play } from "../scripted-participant/elements.js";
import { ScriptedLedger } from "../scripted-participant/ledger.js";
import { Participant } from "../scripted-participant/participant.js";
import { NOW } from "./explaining.js";

/** A service that mirrors a scripted participant. */
async function startService(more: Partial<AppConfig> = {}) {
  const ledger = new ScriptedLedger();
  // EUR has no configuration.
  const offer = element("TransferOffer", "to-dora", payload.offer("alice", "dora", "EUR", "locked"));
  play(ledger, completeElements({ added: [offer] }), { stakeholders: [parties.operator] });
  const participant = await Participant.start({ ledger });
  const source = {
    ledgerUrl: new URL(participant.url),
    ledgerParties: [parties.operator],
    metricsPort: { host: "127.0.0.1", port: 0 },
  };
  const app = await startApp({ ...quiet(), ...source, ...more }, () => NOW);
  await until("the service is ready", async () => (await fetch(`${app.url}/readyz`)).ok);
  const operatorUrl = new URL(app.metricsUrl ?? "").origin;
  const send = async (url: string, operation: string, body: JsonObject, headers = {}) => {
    const [method = "", path = ""] = operation.split(" ");
    const sent = method === "GET" ? {} : { body: JSON.stringify(body) };
    const response = await fetch(url + path, {
      method,
      headers: { "content-type": "application/json", ...headers },
      ...sent,
    });
    const text = await response.text();
    return { status: response.status, text, body: JSON.parse(text) as JsonObject };
  };
  const close = async () => {
    await app.close();
    await participant.stop();
  };
  return {
    app,
    operatorUrl,
    participant,
    close,
    ask: (operation: string, body: JsonObject = {}, id = "") => send(app.url, operation, body, { "x-request-id": id }),
    explain: (request: JsonObject) => send(operatorUrl, "POST /api/offledger/v1/explain", request),
    prepare: (request: JsonObject) => send(operatorUrl, "POST /api/offledger/v1/prepare", request),
  };
}

let service: Awaited<ReturnType<typeof startService>>;
beforeAll(async () => {
  service = await startService({ prepareUserId: "console" });
});
afterAll(() => service.close());

test.each([...operationCalls])("%s has the bytes of the public answer", async (name, { path, body: sent }) => {
  const operation = `${name === "metadata" ? "GET" : "POST"} ${path}`;
  // Every call with a body has a message.
  const body = (sent ?? {}) as JsonObject;
  const { status, text } = await service.ask(operation, body);
  expect(status).toBe(200);
  const explained = (await service.explain({ call: { operation, request: body } })).body;
  expect(explained).toMatchObject({ succeeds: true, causes: [], changes: [] });
  expect(JSON.stringify(explained["answer"])).toBe(text);
  // The fixtures' blobs say of which contract they are.
  const blobs = text.matchAll(/"(?:createdEventBlob|created_event_blob)":"([^"]+)"/g);
  const ids = Array.from(blobs, ([, blob = ""]) => Buffer.from(blob, "base64").toString().replace("blob of ", ""));
  const disclosures = explained["disclosures"] as { contract: { contractId: string } }[];
  expect(disclosures.map(({ contract }) => contract.contractId)).toEqual(ids);
});

const ACCEPT = "offledger.transfer_instruction.v1.TransferInstructionService/GetTransferInstructionAcceptContext";
const FACTORY = "offledger.transfer_instruction.v1.TransferInstructionService/GetTransferFactory";

describe("a refused request is explained by its id", () => {
  /** With ids of usual length. */
  const account = (name: string) =>
    requests.account(party(name.padEnd(30, "-")), party(`bank of ${name}`.padEnd(30, "-")));
  const settlement = (legs: number, allocations: number) =>
    requests.settlement(
      Array.from({ length: legs }, (_, at) =>
        requests.leg(account(`seller-${at % 25}`), account(`buyer-${at % 25}`), "NONE"),
      ),
      Array.from({ length: allocations }, (_, at) => contractId(`allocation ${at}`)),
    );

  test.each<[string, string, JsonObject]>([
    ["by its path", requests.transferChoice("v1", "accept")("never"), {}],
    ["the largest settlement that every registry has to support", requests.settlementFactory(), settlement(25, 50)],
    ["the largest settlement at the default limits", requests.settlementFactory(), settlement(100, 100)],
  ])("%s", async (what, path, body) => {
    const requestId = what.replaceAll(" ", "-");
    const { status, body: refused } = await service.ask(`POST ${path}`, body, requestId);
    expect(status).toBe(404);
    const explained = await service.explain({ requestId });
    expect(explained).toMatchObject({ status: 200, body: { succeeds: false, status: "not_found" } });
    expect(refused).toEqual({ error: explained.body["error"] });
  });

  test("with typed arguments, which only generated clients send", async () => {
    const client = createClient(
      TransferInstructionService,
      createConnectTransport({ baseUrl: service.app.url, httpVersion: "1.1" }),
    );
    const at = { seconds: 1_780_272_000n, nanos: 0 };
    const instrumentId = { admin: parties.registrar, id: "NONE" };
    const transfer = {
      sender: "alice",
      receiver: "bob",
      amount: "1.0",
      instrumentId,
      requestedAt: at,
      executeBefore: at,
    };
    const value = { expectedAdmin: parties.registrar, transfer };
    const request = {
      registrarParty: parties.registrar,
      typedArguments: { case: "transferV1" as const, value },
    };
    await expect(client.getTransferFactory(request, { headers: { "x-request-id": "typed" } })).rejects.toThrow("NONE");
    const { body } = await service.explain({ requestId: "typed" });
    const refused = { transferV1: { transfer: { instrumentId } } };
    expect(body).toMatchObject({ operation: FACTORY, status: "not_found", request: refused });
    const call = { operation: FACTORY, request: body["request"] ?? null };
    expect((await service.explain({ call })).body).toMatchObject({ status: "not_found", error: body["error"] });
  });
});

test.each<[string, JsonObject, number]>([
  ["an id that is not kept", { requestId: "ticket-18" }, 404],
  ["neither call nor id", {}, 400],
  ["call and id", { requestId: "a", call: { operation: "b" } }, 400],
  ["no operation", { call: { operation: "nothing" } }, 400],
  ["a path of no operation", { call: { operation: "GET /nowhere" } }, 400],
  ["an operation of this port", { call: { operation: "offledger.explain.v1.ExplainService/Explain" } }, 400],
])("an explanation of %s is refused", async (_what, request, status) => {
  expect((await service.explain(request)).status).toBe(status);
});

test.each([
  ["Connect", (baseUrl: string) => createConnectTransport({ baseUrl, httpVersion: "1.1" })],
  ["gRPC", (baseUrl: string) => createGrpcTransport({ baseUrl })],
])("%s explains too", async (_protocol, transport) => {
  const client = createClient(ExplainService, transport(service.operatorUrl));
  const request = { registrarParty: parties.registrar, transferInstructionId: "to-dora" };
  const { succeeds, causes } = await client.explain({ call: { operation: ACCEPT, request } });
  expect([succeeds, causes.map(({ code }) => code)]).toEqual([false, ["configuration-missing"]]);
});

test("the public port explains nothing", async () => {
  for (const path of ["/api/offledger/v1/explain", "/offledger.explain.v1.ExplainService/Explain"])
    expect((await service.ask(`POST ${path}`, { requestId: "a" })).status).toBe(404);
});

describe("a command is tried", () => {
  const transfer = requests.transferV1("alice", "bob");
  const command = (operation: string): JsonObject => ({
    call: { operation, request: transfer },
    actAs: ["alice::1220"],
    templateId: "#splice-api-token-transfer-instruction-v1:Splice.Api.Token.TransferInstructionV1:TransferFactory",
    choice: "TransferFactory_Transfer",
    choiceArgument: transfer["choiceArguments"] as JsonObject,
  });
  const known = command(`POST ${requests.transferFactory()}`);

  test("by the participant: its verdict, with the estimated cost", async () => {
    const { status, body } = await service.prepare(known);
    expect({ status, body }).toMatchObject({ status: 200, body: { succeeds: true, error: "", errorCode: "" } });
    expect(Number(body["trafficCost"])).toBeGreaterThan(0);
    const posted = service.participant.requests.map(({ path }) => path).filter((path) => path.includes("submission"));
    expect(posted).toEqual(["/v2/interactive-submission/prepare"]);
  });

  test.each(["nobody", "::1220", "nobody::", ":"])("only as parties: %j is no party id", async (name) => {
    const { status, body } = await service.prepare({ ...known, actAs: ["alice::1220", name] });
    expect(status).toBe(400);
    expect(body["error"]).toBe(`actAs is "${name}": a party id is hint::fingerprint`);
  });

  test("only where a user may prepare: otherwise a sentence says what to set", async () => {
    const without = await startService();
    onTestFinished(() => without.close());
    const { status, body } = await without.prepare(known);
    expect(status).toBe(501);
    expect(body["error"]).toContain("OFFLEDGER_PREPARE_USER_ID");
  });
});
