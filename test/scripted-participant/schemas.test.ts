/** Validates every type of message against the published documents. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/domain/json.js";
import { ParticipantPreparer } from "../../src/ledger/participant/prepare.js";
import { endpointAt } from "../ledger/participant/servers.js";
import {
  ask,
  creation,
  eventFormat,
  Listener,
  operator,
  snapshotRequest,
  template,
  updateFormat,
  updatesRequest,
} from "./test-client.js";
import { type ErrorCode, refusal } from "./errors.js";
import { Participant } from "./participant.js";
import { Documents, hasDocuments } from "./schemas.js";

/**
 * The names of what is sent as null where there is none. By the documents it
 * would be left out; Canton's encoder writes it as null all the same.
 */
const NULLED = new Set([
  "created",
  "archived",
  "correlationId",
  "retryInfo",
  "definiteAnswer",
  "externalTransactionHash",
  "hashingDetails",
  "interfaceId",
  "tracestate",
]);

function withoutNulls(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([name, inner]) => inner !== null || !NULLED.has(name));
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutNulls(inner)]));
}

describe.skipIf(!hasDocuments)("against the published documents (skipped where ../shared/reference is not)", () => {
  let documents: Documents;
  let participant: Participant;
  beforeAll(async () => {
    documents = new Documents({ closed: true });
    participant = await Participant.start({ checkpointMs: 20 });
    const { ledger } = participant;
    ledger.transact([{ create: creation("a") }, { create: creation("b") }, { create: creation("early") }]);
    ledger.transact([{ archive: "a" }]);
    ledger.unassign("b", "B::1220");
    ledger.assign("b");
    ledger.unassign("b", "C::1220");
    ledger.assignEarly("early", "B::1220");
    ledger.enter(creation("entered"), "X::1220", "B::1220");
    ledger.topology("operator::1220");
    ledger.checkpoint();
    const steps = [{ archive: "c" }, { create: creation("d") }];
    ledger.transact([{ create: creation("c") }, { create: creation("rule") }]);
    ledger.transact([{ exercise: { contractId: "rule", choice: "Do", argument: {}, result: {}, steps } }]);
  });
  afterAll(() => participant.close());

  async function stream(path: "/v2/updates" | "/v2/state/active-contracts", request: JsonObject | object) {
    expect(documents.message(path, "publish", request as JsonObject)).toEqual([]);
    const listener = new Listener(participant.url, path, request);
    await listener.ended;
    for (const message of listener.messages) {
      expect(documents.message(path, "subscribe", withoutNulls(message))).toEqual([]);
    }
    return listener.messages;
  }

  test("the elements of a snapshot, in each form", async () => {
    const elements = await stream("/v2/state/active-contracts", snapshotRequest(participant.ledger.end));
    const forms = elements.map((element) => Object.keys(element.contractEntry as JsonObject)[0]);
    expect(new Set(forms)).toEqual(new Set(["JsActiveContract", "JsIncompleteUnassigned", "JsIncompleteAssigned"]));
  });

  test("the updates, in each form", async () => {
    const format = { ...updateFormat(), includeTopologyEvents: { includeParticipantAuthorizationEvents: {} } };
    const updates = await stream("/v2/updates", { ...updatesRequest(0, participant.ledger.end), updateFormat: format });
    const text = JSON.stringify(updates);
    const forms = ["Transaction", "CreatedEvent", "ArchivedEvent", "Reassignment", "JsUnassignedEvent"];
    for (const form of [...forms, "JsAssignmentEvent", "TopologyTransaction", "OffsetCheckpoint"]) {
      expect(text).toContain(`{"${form}":`);
    }
    expect(documents.answer("post", "/v2/updates", 200, withoutNulls(updates as JsonValue))).toEqual([]);
  });

  test.each([
    "/v2/version",
    "/v2/state/ledger-end",
    "/v2/state/latest-pruned-offsets",
    "/v2/state/connected-synchronizers",
  ])("get %s", async (path) => {
    const { status, body } = await ask(participant.url + path);
    expect(status).toBe(200);
    expect(documents.answer("get", path, status, body)).toEqual([]);
  });

  test.each<[string, object]>([
    ["/v2/state/active-contracts", snapshotRequest(9)],
    ["/v2/updates", updatesRequest(0, 9)],
    ["/v2/events/events-by-contract-id", { contractId: "a", eventFormat: eventFormat() }],
    ["/v2/events/events-by-contract-id", { contractId: "early", eventFormat: eventFormat() }],
  ])("post %s", async (path, request) => {
    expect(documents.body(path, request as JsonObject)).toEqual([]);
    const { status, body } = await ask(participant.url + path, request);
    expect(status).toBe(200);
    expect(documents.answer("post", path, status, withoutNulls(body))).toEqual([]);
  });

  test("a command that is prepared, and one that is rejected", async () => {
    const path = "/v2/interactive-submission/prepare";
    const preparer = new ParticipantPreparer(endpointAt(new URL(participant.url)), "user");
    const from = participant.requests.length;
    for (const contractId of ["rule", "unknown"]) {
      const disclosed = { templateId: "p:M:E", contractId: "a", createdEventBlob: "AA==", synchronizerId: "s::1" };
      const command = { templateId: template, contractId, choice: "Do", choiceArgument: { note: [1] } };
      await preparer.prepare({ ...command, actAs: [operator], disclosedContracts: [disclosed] });
    }
    const sent = participant.requests.slice(from).map(({ body }) => body ?? null);
    expect(sent).toHaveLength(2);
    for (const request of sent) {
      expect(documents.body(path, request)).toEqual([]);
      const { status, body } = await ask(participant.url + path, request as JsonObject);
      expect(documents.answer("post", path, status, withoutNulls(body))).toEqual([]);
    }
    expect(participant.requests.slice(from).map(({ status }) => status)).toEqual([200, 404, 200, 404]);
  });

  test("an update by its id", async () => {
    const [entry] = participant.ledger.log.between(2);
    const body = { updateId: entry?.updateId ?? "", updateFormat: updateFormat() };
    const path = "/v2/updates/update-by-id";
    expect(documents.body(path, body as JsonObject)).toEqual([]);
    const { status, body: answer } = await ask(participant.url + path, body);
    expect(documents.answer("post", path, status, withoutNulls(answer))).toEqual([]);
  });

  test("an update with its ledger effects, by its id and its offset", async () => {
    const format = { eventFormat: eventFormat(), transactionShape: "TRANSACTION_SHAPE_LEDGER_EFFECTS" };
    const effects = { includeTransactions: format };
    const [entry] = participant.ledger.log.between(participant.ledger.lastUpdate - 1);
    for (const [name, which] of Object.entries({
      id: { updateId: entry?.updateId },
      offset: { offset: entry?.offset },
    })) {
      const path = `/v2/updates/update-by-${name}`;
      const body = { ...which, updateFormat: effects };
      expect(documents.body(path, body as JsonObject)).toEqual([]);
      const { status, body: answer } = await ask(participant.url + path, body);
      expect(status).toBe(200);
      expect(documents.answer("post", path, status, withoutNulls(answer))).toEqual([]);
      const text = JSON.stringify(answer);
      for (const part of ['{"ExercisedEvent":', '"choice":"Do"', '"choice":"Archive"', '{"CreatedEvent":']) {
        expect(text).toContain(part);
      }
    }
  });

  test.each<ErrorCode>([
    "PARTICIPANT_PRUNED_DATA_ACCESSED",
    "OFFSET_AFTER_LEDGER_END",
    "CONTRACT_EVENTS_NOT_FOUND",
    "UNAUTHENTICATED",
    "PERMISSION_DENIED",
    "SERVER_IS_SHUTTING_DOWN",
    "LEDGER_API_INTERNAL_ERROR",
  ])("the error %s, over HTTP and as a message", async (code) => {
    participant.faults.refuse(code, { over: "http" });
    const { status, body } = await ask(`${participant.url}/v2/state/ledger-end`);
    expect(status).toBe(refusal(code, "").status);
    expect(documents.answer("get", "/v2/state/ledger-end", status, withoutNulls(body))).toEqual([]);
    participant.faults.error(code);
    expect(await stream("/v2/updates", updatesRequest(0))).toHaveLength(1);
  });

  test("the elements of the demo registry", () => {
    const lines = readFileSync("demo/registry.ndjson", "utf8").trimEnd().split("\n");
    for (const line of lines) {
      expect(documents.value("JsGetActiveContractsResponse", JSON.parse(line) as JsonObject)).toEqual([]);
    }
  });

  test("the checks find what is wrong", () => {
    const good = { update: { OffsetCheckpoint: { value: { offset: 1 } } } };
    const path = "/v2/updates";
    expect(documents.message(path, "subscribe", good)).toEqual([]);
    for (const wrong of [
      { update: { OffsetCheckpoint: { offset: 1 } } },
      { update: { OffsetCheckpoint: { value: { offset: "1" } } } },
      { update: { OffsetCheckpoint: { value: { offset: 1, synchronizerTime: [] } } } },
      { updates: good.update },
    ]) {
      expect(documents.message(path, "subscribe", wrong)).not.toEqual([]);
    }
  });

  test("the unmodified documents accept an error as an element: check the status first", () => {
    const open = new Documents({ closed: false });
    const { error } = refusal("PARTICIPANT_PRUNED_DATA_ACCESSED", "");
    expect(open.value("JsGetUpdatesResponse", { ...error })).toEqual([]);
    expect(open.message("/v2/updates", "subscribe", { ...error })).toContain(" must match exactly one schema in oneOf");
  });
});
