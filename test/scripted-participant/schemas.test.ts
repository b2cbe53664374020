/** What the participant sends, and what we send it, is as the published documents have it. */
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
import { Participant } from "./participant.js";
import { Documents, hasDocuments } from "./schemas.js";

/** What is sent as null where there is none. By the documents it is left out; Canton's encoder writes it all the same. */
const NULLED = new Set(
  "created archived correlationId retryInfo definiteAnswer externalTransactionHash hashingDetails interfaceId tracestate".split(
    " ",
  ),
);

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
    documents = new Documents();
    participant = await Participant.start();
    const { ledger } = participant;
    ledger.transact([{ create: creation("a") }, { create: creation("b") }, { create: creation("early") }]);
    ledger.transact([{ archive: "a" }]);
    ledger.unassign("b", "B::1220");
    ledger.assign("b");
    ledger.unassign("b", "C::1220");
    ledger.assignEarly("early", "B::1220");
    ledger.checkpoint();
    const steps = [{ archive: "c" }, { create: creation("d") }];
    ledger.transact([{ create: creation("c") }, { create: creation("rule") }]);
    ledger.transact([{ exercise: { contractId: "rule", choice: "Do", argument: {}, result: {}, steps } }]);
  });
  afterAll(() => participant.stop());

  test.each<[string, "/v2/updates" | "/v2/state/active-contracts", () => object, string]>([
    [
      "elements of a snapshot",
      "/v2/state/active-contracts",
      () => snapshotRequest(participant.ledger.end),
      "JsActiveContract JsIncompleteUnassigned JsIncompleteAssigned",
    ],
    [
      "updates",
      "/v2/updates",
      () => updatesRequest(0, participant.ledger.end),
      "Transaction CreatedEvent ArchivedEvent Reassignment JsUnassignedEvent JsAssignmentEvent OffsetCheckpoint",
    ],
    ["errors", "/v2/updates", () => updatesRequest(participant.ledger.end + 1), ""],
  ])("%s, in each form", async (_, path, requested, forms) => {
    const request = requested() as JsonObject;
    expect(documents.message(path, "publish", request)).toEqual([]);
    const listener = new Listener(participant.url, path, request);
    await listener.ended;
    expect(listener.messages).not.toEqual([]);
    for (const message of listener.messages) {
      expect(documents.message(path, "subscribe", withoutNulls(message))).toEqual([]);
    }
    for (const form of forms.split(" ")) expect(listener.texts.join()).toContain(form === "" ? "code" : `{"${form}":`);
  });

  test.each<[string, () => object, number]>([
    ["/v2/state/active-contracts", () => snapshotRequest(9), 200],
    ["/v2/updates", () => updatesRequest(0, 9), 200],
    ["/v2/updates", () => updatesRequest(100, 109), 400],
    ["/v2/events/events-by-contract-id", () => ({ contractId: "a", eventFormat: eventFormat() }), 200],
    ["/v2/events/events-by-contract-id", () => ({ contractId: "unknown", eventFormat: eventFormat() }), 404],
    ["/v2/updates/update-by-id", () => ({ updateId: idAt(1), updateFormat: updateFormat() }), 200],
    ["/v2/updates/update-by-offset", () => ({ offset: participant.ledger.lastUpdate, updateFormat: effects }), 200],
  ])("post %s", async (path, requested, expected) => {
    const request = requested() as JsonObject;
    expect(documents.body(path, request)).toEqual([]);
    const { status, body } = await ask(participant.url + path, request);
    expect(status).toBe(expected);
    expect(documents.answer("post", path, status, withoutNulls(body))).toEqual([]);
  });

  const idAt = (offset: number) => participant.ledger.log.at(offset)?.updateId ?? "";
  const effects = {
    includeTransactions: { eventFormat: eventFormat(), transactionShape: "TRANSACTION_SHAPE_LEDGER_EFFECTS" },
  };

  test("a command that our preparer sends, prepared or rejected", async () => {
    const path = "/v2/interactive-submission/prepare";
    const preparer = new ParticipantPreparer(endpointAt(new URL(participant.url)), "user");
    const from = participant.requests.length;
    for (const contractId of ["rule", "unknown"]) {
      const disclosed = { templateId: "p:M:E", contractId: "a", createdEventBlob: "AA==", synchronizerId: "s::1" };
      const command = { templateId: template, contractId, choice: "Do", choiceArgument: { note: [1] } };
      await preparer.prepare({ ...command, actAs: [operator], disclosedContracts: [disclosed] });
    }
    const sent = participant.requests.slice(from).map(({ body }) => body ?? null);
    const statuses = [];
    for (const request of sent) {
      expect(documents.body(path, request)).toEqual([]);
      const { status, body } = await ask(participant.url + path, request as JsonObject);
      expect(documents.answer("post", path, status, withoutNulls(body))).toEqual([]);
      statuses.push(status);
    }
    expect(statuses).toEqual([200, 404]);
  });

  test("the elements of the demo registry", () => {
    const lines = readFileSync("demo/registry.ndjson", "utf8").trimEnd().split("\n");
    for (const line of lines) {
      expect(documents.value("JsGetActiveContractsResponse", JSON.parse(line) as JsonObject)).toEqual([]);
    }
  });
});
