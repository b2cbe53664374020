/** The explanation of a request agrees with its answer, and names what is missing. */
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { describe, expect, test } from "vitest";
import { contractId, party as partyOf } from "../../demo/element.js";
import { ExplainService } from "../../gen/offledger/explain/v1/explain_service_pb.js";
import type { JsonObject } from "../../src/domain/json.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { completeElements, operationCalls } from "../fixtures/operation-calls.js";
import { verbOf } from "../fixtures/protocols.js";
import * as requests from "../fixtures/requests.js";
import { explainingService, type ExplainingService } from "./explaining-service.js";

const REQUIRED = { changes: [{ credentials: "required" }] };
const accept = `POST ${requests.transferChoice("v1", "accept")("offer")}`;
const meta = { meta: {} };

const codes = (causes: readonly { readonly code: string }[]): string[] => causes.map(({ code }) => code);

/** With ids of usual length. */
const account = (name: string): JsonObject =>
  requests.account(partyOf(name.padEnd(30, "-")), partyOf(`bank of ${name}`.padEnd(30, "-")));

const explainCall = (
  service: ExplainingService,
  operation: string,
  request: JsonObject = meta,
  more: JsonObject = {},
) => service.explain({ call: { operation, request }, ...more });

describe("a request that succeeds", () => {
  test.each([...operationCalls])(
    "%s has the bytes of the public answer",
    async (_, { method, path, body: sent = {} }) => {
      const service = await explainingService(completeElements());
      const [operation, body] = [`${verbOf(method)} ${path}`, sent as JsonObject];
      const { status, text } = await service.send(operation, body);
      expect(status).toBe(200);
      const explained = (await explainCall(service, operation, body)).body;
      expect(explained).toMatchObject({ succeeds: true, causes: [], changes: [] });
      expect(JSON.stringify(explained.answer)).toBe(text);
      // The fixtures' blobs say of which contract they are.
      const blobs = text.matchAll(/"(?:createdEventBlob|created_event_blob)":"([^"]+)"/g);
      const ids = Array.from(blobs, ([, blob = ""]) => Buffer.from(blob, "base64").toString().replace("blob of ", ""));
      expect(explained.disclosures.map(({ contract }) => contract.contractId)).toEqual(ids);
    },
  );

  test("says which candidate was chosen, and why others were passed over", async () => {
    const newer = { createdAt: "2026-02-05T09:00:00.000000Z" };
    const service = await explainingService([
      ...completeElements(),
      element("TransferRule", "newer", payload.service(), newer),
      element("TransferRule", "elsewhere", payload.service(), { ...newer, synchronizerId: "sync-B" }),
      element("TransferRule", "moving", payload.service(), { ...newer, moving: "unassigned" }),
    ]);
    const { body } = await explainCall(service, accept);
    const rule = body.searches.find(({ name }) => name.startsWith("the TransferRule"));
    expect(rule?.entries).toEqual(["utility.digitalasset.com/transfer-rule"]);
    const found = rule?.candidates.map(({ contract, chosen, reason }) => [contract.contractId, chosen, reason]);
    expect(found?.toSorted()).toEqual([
      ["elsewhere", false, "is on synchronizer sync-B"],
      ["moving", false, "is between synchronizers"],
      ["newer", true, ""],
      ["rule", false, "a newer one is chosen"],
    ]);
  });

  test("says which claims are met and which are not", async () => {
    const ended = payload.credential("bob", ["holds=USD"], { validUntil: "2026-05-01T00:00:00Z" });
    const service = await explainingService(
      completeElements({ registry: { bob: element("Credential", "old", ended) } }),
    );
    const { body } = await explainCall(service, accept);
    expect(body.succeeds).toBe(true);
    const claims = body.requirements.map(({ party, claims: all }) => [party, all[0]?.credential, all[0]?.passedOver]);
    expect(claims).toMatchObject([
      ["alice", "alice-holds", []],
      ["bob", "", [{ reason: "has ended" }]],
    ]);
  });

  test("says why a transfer is an offer although there is a preapproval", async () => {
    const service = await explainingService([
      ...completeElements(),
      element("TransferPreapproval", "other", payload.preapproval("bob", ["EUR"])),
    ]);
    const path = `POST ${requests.transferFactory()}`;
    const { body } = await explainCall(service, path, requests.transferV1("alice", "bob"));
    expect(body.answer).toMatchObject({ transferKind: "offer" });
    const search = body.searches.find(({ name }) => name.startsWith("the TransferPreapproval"));
    expect(search?.candidates).toMatchObject([
      { contract: { contractId: "other" }, chosen: false, reason: "does not allow this instrument" },
    ]);
  });

  test("says until when it holds, and what it is at another time", async () => {
    const until = "2026-06-02T09:00:00Z";
    const ending = payload.credential("bob", ["holds=USD"], { validUntil: until });
    const changes = { registry: { bob: element("Credential", "ending", ending) } };
    const service = await explainingService(completeElements(changes), REQUIRED);
    const now = await explainCall(service, accept);
    expect(now.body).toMatchObject({ succeeds: true, validUntil: until });
    const tomorrow = await explainCall(service, accept, meta, { at: "2026-06-02T09:00:00Z" });
    expect(tomorrow.body).toMatchObject({ succeeds: false, status: "not_found" });
    expect(tomorrow.body.changes).toMatchObject([{ cause: { code: "credential-missing", party: "bob" } }]);
    expect(tomorrow.body.changes[0]?.remedy).toContain("holds = USD");
    expect(tomorrow.body.changes[0]?.remedy).toMatch(/, valid at 2026-06-02T09:00:00\.000Z\.$/);
  });
});

describe("a refused request", () => {
  test("has the message of the public answer, with all causes", async () => {
    const service = await explainingService(
      completeElements({ registry: { rule: undefined, alice: undefined, bob: undefined } }),
      REQUIRED,
    );
    const { status, text } = await service.send(accept, meta);
    const { body } = await explainCall(service, accept);
    expect([status, JSON.parse(text)]).toEqual([404, { error: body.error }]);
    expect(codes(body.causes).toSorted()).toEqual(["credential-missing", "credential-missing", "rule-missing"]);
    expect(body.error.split("; ")).toHaveLength(3);
    expect(body).not.toHaveProperty("answer");
    expect(body.changes).toHaveLength(3);
  });

  test("is found by its request id", async () => {
    const service = await explainingService(completeElements({ registry: { rule: undefined } }));
    await service.send(accept, meta, { "x-request-id": "ticket-17" });
    const { status, body } = await service.explain({ requestId: "ticket-17" });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      operation: "offledger.transfer_instruction.v1.TransferInstructionService/GetTransferInstructionAcceptContext",
      succeeds: false,
    });
    expect(codes(body.causes)).toEqual(["rule-missing"]);
    expect(await service.explain({ requestId: "ticket-18" })).toMatchObject({ status: 404 });
  });

  test.each([
    ["the largest settlement that every registry has to support", 25, 50],
    ["the largest settlement at the default limits", 100, 100],
  ])("is found by its request id: %s", async (_, legs, allocations) => {
    const service = await explainingService(completeElements({ registry: { rule: undefined } }));
    const body = requests.settlement(
      Array.from({ length: legs }, (__, at) =>
        requests.leg(account(`seller-${at % 25}`), account(`buyer-${at % 25}`), "USD"),
      ),
      Array.from({ length: allocations }, (__, at) => contractId(`allocation ${at}`)),
    );
    expect(JSON.stringify(body).length).toBeGreaterThan(20_000);
    const { status, text } = await service.send(`POST ${requests.settlementFactory()}`, body, {
      "x-request-id": "big",
    });
    expect(status).toBe(404);
    const explained = await service.explain({ requestId: "big" });
    expect(explained).toMatchObject({ status: 200, body: { succeeds: false, status: "not_found" } });
    expect(JSON.parse(text)).toEqual({ error: explained.body.error });
  });

  test("that is itself wrong has no changes", async () => {
    const service = await explainingService(completeElements());
    const path = `POST ${requests.transferFactory()}`;
    const wrong = await explainCall(service, path, { choiceArguments: { transfer: 5 } });
    expect(wrong.body).toMatchObject({ succeeds: false, status: "invalid_argument", changes: [] });
    const { text } = await service.send(path, { choiceArguments: { transfer: 5 } });
    expect(JSON.parse(text)).toEqual({ error: wrong.body.error });
  });

  test.each(["nothing", "GET /nowhere", "offledger.explain.v1.ExplainService/Explain"])(
    "is invalid for the operation %s",
    async (operation) => {
      const service = await explainingService(completeElements());
      expect((await explainCall(service, operation)).status).toBe(400);
    },
  );

  test("needs a call or a request id, not both", async () => {
    const service = await explainingService(completeElements());
    expect((await service.explain({})).status).toBe(400);
    expect((await service.explain({ requestId: "a", call: { operation: "b" } })).status).toBe(400);
  });
});

describe("other protocols", () => {
  test.each(["connect", "grpc"])("by %s", async (protocol) => {
    const service = await explainingService(completeElements({ registry: { configuration: undefined } }));
    const transport =
      protocol === "grpc"
        ? createGrpcTransport({ baseUrl: service.operatorUrl })
        : createConnectTransport({ baseUrl: service.operatorUrl, httpVersion: "1.1" });
    const client = createClient(ExplainService, transport);
    const request = { registrarParty: parties.registrar, transferInstructionId: "offer" };
    const operation =
      "offledger.transfer_instruction.v1.TransferInstructionService/GetTransferInstructionAcceptContext";
    const { succeeds, causes } = await client.explain({ call: { operation, request } });
    expect([succeeds, codes(causes)]).toEqual([false, ["configuration-missing"]]);
  });

  test("the public port has none of it", async () => {
    const service = await explainingService(completeElements());
    const explain = "/api/offledger/v1/explain";
    expect((await service.send(`POST ${explain}`, { requestId: "a" })).status).toBe(404);
    const rpc = "POST /offledger.explain.v1.ExplainService/Explain";
    expect((await service.send(rpc, { requestId: "a" })).status).toBe(404);
  });
});
