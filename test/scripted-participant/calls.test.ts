/** The calls over HTTP, where test/fidelity has no recording of them: look-ups, ledger effects, prepared commands. */
import type { JsonObject } from "../../src/domain/json.js";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  alice,
  ask,
  creation,
  eventFormat,
  operator,
  snapshotRequest,
  template,
  updatesRequest,
} from "./test-client.js";
import { type Exercise, ScriptedLedger } from "./ledger.js";
import type { TransactionEvent as Event } from "./messages.js";
import { Participant } from "./participant.js";

const [bob, carol] = ["bob::1220", "carol::1220"];
let ledger: ScriptedLedger;
let participant: Participant;
beforeEach(async () => {
  ledger = new ScriptedLedger({ offsetsPerTransaction: 1, synchronizerId: "A::1220" });
  participant = await Participant.start({ ledger });
});
afterEach(() => participant.stop());

const post = (path: string, body: object) => ask(participant.url + path, body);
const events = (contractId: string, format = eventFormat()) =>
  post("/v2/events/events-by-contract-id", { contractId, eventFormat: format });

describe("the events of a contract", () => {
  test("have the synchronizer of its creation, not its present one, or of its arrival from afar", async () => {
    ledger.transact([{ create: creation("a") }]);
    ledger.unassign("a", "B::1220");
    ledger.assign("a");
    ledger.enter(creation("b"), "X::1220", "B::1220");
    const created = {
      synchronizerId: "A::1220",
      createdEvent: { contractId: "a", offset: 1, witnessParties: [operator] },
    };
    expect(await events("a")).toMatchObject({ status: 200, body: { created, archived: null } });
    expect((await events("b")).body).toMatchObject({ created: { synchronizerId: "B::1220" }, archived: null });
  });

  test("are found until its archival is pruned, by stakeholders only, and by template", async () => {
    ledger.transact([{ create: creation("a") }]);
    ledger.transact([{ create: creation("b") }, { archive: "a" }]);
    expect((await events("a", eventFormat([alice]))).body).toMatchObject({
      created: { createdEvent: { contractId: "a" } },
      archived: { synchronizerId: "A::1220", archivedEvent: { contractId: "a", offset: 2, nodeId: 1 } },
    });
    const notFound = { status: 404, body: { code: "CONTRACT_EVENTS_NOT_FOUND" } };
    expect(await events("a", eventFormat([bob]))).toMatchObject(notFound);
    expect(await events("a", eventFormat([operator], "#utility-registry-v0:Other:Other"))).toMatchObject(notFound);
    ledger.prune(2);
    expect(await events("a")).toMatchObject(notFound);
    expect((await events("b")).status).toBe(200);
  });
});

test("a list is limited over HTTP, to 200 unless fewer are asked for", async () => {
  ledger.transact(Array.from({ length: 201 }, (_, index) => ({ create: creation(`c${index}`) })));
  const path = "/v2/state/active-contracts";
  expect(await post(path, snapshotRequest(1))).toMatchObject({
    status: 413,
    body: {
      code: "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED",
      cause: "The number of matching elements (201) is greater than the node limit (200).",
    },
  });
  expect((await post(`${path}?limit=2`, snapshotRequest(1))).body).toHaveLength(2);
  ledger.transact([{ archive: "c7" }]);
  expect((await post(path, snapshotRequest(2))).body).toHaveLength(200);
  expect((await post("/v2/updates", updatesRequest(0))).body).toHaveLength(2);
});

interface Found {
  readonly update: { readonly Transaction: { readonly value: { readonly events: readonly Event[] } } };
}

const formatOf = (shape: "ACS_DELTA" | "LEDGER_EFFECTS" | "UNSPECIFIED", parties: readonly string[], of?: string) => ({
  includeTransactions: { eventFormat: eventFormat(parties, of), transactionShape: `TRANSACTION_SHAPE_${shape}` },
});

/** The update at an offset, with its events in a few words: node, what it is, of which contract, and its ACS delta. */
async function effectsAt(offset: number, parties = [operator], of?: string) {
  const updateFormat = formatOf("LEDGER_EFFECTS", parties, of);
  const { status, body } = await post("/v2/updates/update-by-offset", { offset, updateFormat });
  if (status !== 200) return status;
  return (body as unknown as Found).update.Transaction.value.events.map((event) => {
    if (!("ExercisedEvent" in event)) {
      const { nodeId, contractId, acsDelta } =
        "CreatedEvent" in event ? event.CreatedEvent : { ...event.ArchivedEvent, acsDelta: true };
      return `${nodeId} created ${contractId}${acsDelta ? " in delta" : ""}`;
    }
    const { nodeId, choice, contractId, consuming, lastDescendantNodeId, acsDelta } = event.ExercisedEvent;
    return `${nodeId}-${lastDescendantNodeId} ${choice} ${consuming ? "consumes" : "on"} ${contractId}${acsDelta ? " in delta" : ""}`;
  });
}

describe("ledger effects", () => {
  const other = { templateId: "pkg-1:Utility.Registry.V0.Other:Other" };
  const split: Exercise = {
    contractId: "rule",
    choice: "Split",
    steps: [
      { exercise: { contractId: "a", choice: "Take", consuming: true, steps: [{ create: creation("b") }] } },
      { create: creation("brief") },
      { archive: "brief" },
      { create: creation("hidden", { ...other }) },
    ],
  };
  beforeEach(() => {
    const bobs = creation("bobs", { signatories: [bob], observers: [] });
    ledger.transact([{ create: creation("rule") }, { create: creation("a") }, { create: bobs }]);
  });

  test("have every choice with its consequences; the ACS delta has neither choices nor transient contracts", async () => {
    ledger.transact([{ exercise: split }, { create: creation("last") }]);
    expect(await effectsAt(2)).toEqual([
      "0-5 Split on rule",
      "1-2 Take consumes a in delta",
      "2 created b in delta",
      "3 created brief",
      "4-4 Archive consumes brief",
      "6 created last in delta",
    ]);
    expect(await effectsAt(2, [operator], "#utility-registry-v0:Utility.Registry.V0.Other:Other")).toEqual([
      "5 created hidden in delta",
    ]);
    const updateFormat = formatOf("ACS_DELTA", [operator]);
    const { body } = await post("/v2/updates/update-by-offset", { offset: 2, updateFormat });
    const delta = (body as unknown as Found).update.Transaction.value.events;
    expect(delta.flatMap((event) => Object.keys(event))).toEqual(["ArchivedEvent", "CreatedEvent", "CreatedEvent"]);
    expect([...ledger.contracts.keys()]).toEqual(["rule", "bobs", "b", "hidden", "last"]);
    expect((await events("brief")).body).toMatchObject({ archived: { archivedEvent: { offset: 2, nodeId: 4 } } });
  });

  test.each<[string, Partial<Exercise>, string, boolean]>([
    ["an observer, of one that leaves the contract as it is", {}, alice, false],
    ["an observer, of one that archives the contract", { consuming: true }, alice, true],
    ["an actor", { actors: [carol] }, carol, true],
    ["a signatory", {}, operator, true],
    ["a stranger", { consuming: true }, carol, false],
  ])("a choice is seen, or not, by %s", async (_, more, party, sees) => {
    ledger.transact([{ exercise: { contractId: "rule", choice: "Do", ...more } }]);
    expect(Array.isArray(await effectsAt(2, [party]))).toBe(sees);
  });

  test("a witness of a choice sees its consequences without an ACS delta", async () => {
    const inner = { contractId: "bobs", choice: "Archive", consuming: true };
    ledger.transact([{ exercise: { contractId: "rule", choice: "Do", steps: [{ exercise: inner }] } }]);
    expect(await effectsAt(2)).toEqual(["0-1 Do on rule", "1-1 Archive consumes bobs"]);
    expect(await effectsAt(2, [bob])).toEqual(["1-1 Archive consumes bobs in delta"]);
  });

  test("a shape must be named, and an offset is above 0", async () => {
    const format = { updateFormat: formatOf("UNSPECIFIED", [operator]) };
    expect((await post("/v2/updates", { beginExclusive: 0, ...format })).body).toMatchObject({ code: "MISSING_FIELD" });
    const path = "/v2/updates/update-by-offset";
    expect((await post(path, { offset: 0, ...format })).body).toMatchObject({ code: "NON_POSITIVE_OFFSET" });
  });
});

const byOffset = (offset: number) =>
  post("/v2/updates/update-by-offset", { offset, updateFormat: formatOf("ACS_DELTA", [operator]) });

test("an update is found by its id and its offset until it is pruned, by who sees it; a checkpoint is none", async () => {
  ledger.transact([{ create: creation("a") }]);
  ledger.checkpoint();
  const updateId = ledger.log.at(1)?.updateId ?? "";
  const byId = (parties = [operator]) =>
    post("/v2/updates/update-by-id", { updateId, updateFormat: formatOf("ACS_DELTA", parties) });
  expect(await byId()).toMatchObject({
    status: 200,
    body: { update: { Transaction: { value: { updateId, offset: 1 } } } },
  });
  expect((await byOffset(1)).body).toEqual((await byId()).body);
  const notFound = { status: 404, body: { code: "UPDATE_NOT_FOUND" } };
  for (const answer of [await byId([bob]), await byOffset(2), await byOffset(9)])
    expect(answer).toMatchObject(notFound);
  ledger.prune(1);
  expect(await byId()).toMatchObject(notFound);
  expect(await byOffset(1)).toMatchObject(notFound);
});

const prepare = (command: object, more: object = {}) => {
  const exercise = { templateId: template, contractId: "a", choice: "Do", choiceArgument: {}, ...command };
  const request = { userId: "u", commandId: "c", actAs: [operator], commands: [{ ExerciseCommand: exercise }] };
  const required = { synchronizerId: "", packageIdSelectionPreference: [] };
  return post("/v2/interactive-submission/prepare", { ...request, ...required, ...more });
};

describe("a command", () => {
  const value = { tag: "AV_List", value: [{ tag: "AV_ContractId", value: "b" }] };
  const inContext = { choiceArgument: { extraArgs: { context: { values: { rules: value } } } } };
  const disclosed = { disclosedContracts: [{ contractId: "b", createdEventBlob: "AA==" }] };
  beforeEach(() => {
    ledger.transact([{ create: creation("a") }]);
  });

  test.each<[string, object, object, number, string | undefined]>([
    ["succeeds", {}, {}, 200, undefined],
    ["of an unknown contract", { contractId: "b" }, {}, 404, "CONTRACT_NOT_FOUND"],
    ["of one that its party does not see", {}, { actAs: [bob] }, 404, "CONTRACT_NOT_FOUND"],
    ["of one that a reader sees", {}, { actAs: [bob], readAs: [alice] }, 200, undefined],
    ["with an unknown contract in its context", inContext, {}, 404, "CONTRACT_NOT_FOUND"],
    ["with a disclosed one in its context", inContext, disclosed, 200, undefined],
    ["without a user", {}, { userId: undefined }, 400, "INVALID_TOKEN"],
    ["with an empty choice", { choice: "" }, {}, 400, "MISSING_FIELD"],
    ["without its argument", { choiceArgument: undefined }, {}, 400, "text"],
    ["with a disclosed contract without its blob", {}, { disclosedContracts: [{ contractId: "b" }] }, 400, "text"],
  ])("%s", async (_, command, more, status, code) => {
    const answer = await prepare(command, more);
    const body = typeof answer.body === "string" ? "text" : (answer.body as JsonObject).code;
    expect([answer.status, body]).toEqual([status, code]);
  });

  test("has its traffic, unless that is disabled", async () => {
    expect((await prepare({})).body).toHaveProperty("costEstimation.confirmationResponseTrafficCostEstimation", 700);
    const disabled = await prepare({}, { estimateTrafficCost: { disabled: true } });
    expect(disabled.body).not.toHaveProperty("costEstimation");
  });
});
