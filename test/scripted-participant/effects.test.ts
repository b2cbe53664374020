/** The ledger effects of transactions: exercised choices and their consequences. */
import { beforeEach, afterEach, describe, expect, test } from "vitest";
import type { JsonValue } from "../../src/domain/json.js";
import { alice, ask, creation, eventFormat, operator } from "./test-client.js";
import { type Exercise, ScriptedLedger } from "./ledger.js";
import type { TransactionEvent as Event } from "./messages.js";
import { Participant } from "./participant.js";

let ledger: ScriptedLedger;
let participant: Participant;
beforeEach(async () => {
  ledger = new ScriptedLedger({ offsetsPerTransaction: 1, synchronizerId: "A::1220" });
  participant = await Participant.start({ ledger });
});
afterEach(() => participant.close());

const post = (path: string, body: object) => ask(participant.url + path, body);
const updateFormat = (transactionShape: string, parties: readonly string[], template?: string) => ({
  includeTransactions: { eventFormat: eventFormat(parties, template), transactionShape },
});

interface Found {
  readonly update: { readonly Transaction: { readonly value: { readonly events: readonly Event[] } } };
}

/** The events of the update at an offset. */
async function eventsAt(
  offset: number,
  shape: "ACS_DELTA" | "LEDGER_EFFECTS",
  parties = [operator],
  template?: string,
) {
  const format = updateFormat(`TRANSACTION_SHAPE_${shape}`, parties, template);
  const { body } = await post("/v2/updates/update-by-offset", { offset, updateFormat: format });
  return (body as unknown as Found).update.Transaction.value.events;
}

/** An event in a few words: its node, what it is, and of which contract. */
function short(event: Event): string {
  if ("CreatedEvent" in event) return `${event.CreatedEvent.nodeId} created ${event.CreatedEvent.contractId}`;
  if ("ArchivedEvent" in event) return `${event.ArchivedEvent.nodeId} archived ${event.ArchivedEvent.contractId}`;
  const { nodeId, choice, contractId, consuming, lastDescendantNodeId } = event.ExercisedEvent;
  return `${nodeId}-${lastDescendantNodeId} ${choice} ${consuming ? "consumes" : "on"} ${contractId}`;
}

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

describe("a transaction with choices", () => {
  beforeEach(() => {
    ledger.transact([{ create: creation("rule") }, { create: creation("a") }]);
    ledger.transact([{ exercise: split }, { create: creation("last") }]);
  });

  test("has every choice with its consequences in the shape ledger effects", async () => {
    expect((await eventsAt(2, "LEDGER_EFFECTS")).map(short)).toEqual([
      "0-5 Split on rule",
      "1-2 Take consumes a",
      "2 created b",
      "3 created brief",
      "4-4 Archive consumes brief",
      "6 created last",
    ]);
  });

  test("has its changes of active contracts in the shape ACS delta", async () => {
    expect((await eventsAt(2, "ACS_DELTA")).map(short)).toEqual(["1 archived a", "2 created b", "6 created last"]);
  });

  test("has the field acsDelta on each event", async () => {
    const events = await eventsAt(2, "LEDGER_EFFECTS");
    const deltas = events.map((event) => ("CreatedEvent" in event ? event.CreatedEvent.acsDelta : undefined));
    expect(deltas).toEqual([undefined, undefined, true, false, undefined, true]);
    const choices = events.map((event) => ("ExercisedEvent" in event ? event.ExercisedEvent.acsDelta : undefined));
    expect(choices).toEqual([false, true, undefined, undefined, false, undefined]);
  });

  test("is filtered by template, choices too", async () => {
    const template = "#utility-registry-v0:Utility.Registry.V0.Other:Other";
    expect((await eventsAt(2, "LEDGER_EFFECTS", [operator], template)).map(short)).toEqual(["5 created hidden"]);
  });

  test("changes the expected contracts like archivals and creations", () => {
    expect([...ledger.contracts.keys()]).toEqual(["rule", "b", "hidden", "last"]);
  });

  test("a transient contract is found by its id", async () => {
    const request = { contractId: "brief", eventFormat: eventFormat() };
    expect((await post("/v2/events/events-by-contract-id", request)).body).toMatchObject({
      created: { createdEvent: { offset: 2, nodeId: 3 } },
      archived: { archivedEvent: { offset: 2, nodeId: 4 } },
    });
  });
});

test("a choice has its argument, its result and its actors", async () => {
  ledger.transact([{ create: creation("rule") }]);
  const argument: JsonValue = { amount: "1.0" };
  const result: JsonValue = { output: { tag: "Done", value: {} } };
  ledger.transact([{ exercise: { contractId: "rule", choice: "Do", argument, result, actors: [alice] } }]);
  expect(await eventsAt(2, "LEDGER_EFFECTS")).toEqual([
    {
      ExercisedEvent: {
        offset: 2,
        nodeId: 0,
        contractId: "rule",
        templateId: "pkg-1:Utility.Registry.V0.Rule.Transfer:TransferRule",
        interfaceId: null,
        choice: "Do",
        choiceArgument: argument,
        exerciseResult: result,
        consuming: false,
        actingParties: [alice],
        witnessParties: [operator],
        lastDescendantNodeId: 0,
        packageName: "utility-registry-v0",
        implementedInterfaces: [],
        acsDelta: false,
      },
    },
  ]);
});

describe("the witnesses of a choice", () => {
  const [bob, carol] = ["bob::1220", "carol::1220"];
  const owned = creation("bobs", { signatories: [bob], observers: [] });
  beforeEach(() => {
    ledger.transact([{ create: creation("rule") }, { create: owned }]);
  });

  test.each<[string, Partial<Exercise>, string, boolean]>([
    ["an observer, of one that leaves the contract as it is", {}, alice, false],
    ["an observer, of one that archives the contract", { consuming: true }, alice, true],
    ["an actor", { actors: [carol] }, carol, true],
    ["a signatory", {}, operator, true],
    ["a stranger", { consuming: true }, carol, false],
  ])("%s", async (_, more, party, sees) => {
    ledger.transact([{ exercise: { contractId: "rule", choice: "Do", ...more } }]);
    const format = updateFormat("TRANSACTION_SHAPE_LEDGER_EFFECTS", [party]);
    const { status } = await post("/v2/updates/update-by-offset", { offset: 2, updateFormat: format });
    expect(status).toBe(sees ? 200 : 404);
  });

  test("a witness of a choice sees its consequences without an ACS delta", async () => {
    const inner = { contractId: "bobs", choice: "Archive", consuming: true };
    ledger.transact([{ exercise: { contractId: "rule", choice: "Do", steps: [{ exercise: inner }] } }]);
    expect((await eventsAt(2, "LEDGER_EFFECTS")).map(short)).toEqual(["0-1 Do on rule", "1-1 Archive consumes bobs"]);
    expect((await eventsAt(2, "LEDGER_EFFECTS", [bob])).map(short)).toEqual(["1-1 Archive consumes bobs"]);
    const format = updateFormat("TRANSACTION_SHAPE_ACS_DELTA", [operator]);
    const { status } = await post("/v2/updates/update-by-offset", { offset: 2, updateFormat: format });
    expect(status).toBe(404);
  });
});

const at = (offset: JsonValue) =>
  post("/v2/updates/update-by-offset", {
    offset,
    updateFormat: updateFormat("TRANSACTION_SHAPE_ACS_DELTA", [operator]),
  });

describe("an update by its offset", () => {
  test("is the one by its id, until it is pruned", async () => {
    ledger.transact([{ create: creation("a") }]);
    ledger.checkpoint();
    const { body } = await at(1);
    const [entry] = ledger.log.between(0);
    const format = updateFormat("TRANSACTION_SHAPE_ACS_DELTA", [operator]);
    const byId = { updateId: entry?.updateId ?? "", updateFormat: format };
    expect((await post("/v2/updates/update-by-id", byId)).body).toEqual(body);
    const notFound = { status: 404, body: { code: "UPDATE_NOT_FOUND" } };
    expect(await at(2)).toMatchObject(notFound);
    expect(await at(9)).toMatchObject(notFound);
    ledger.prune(1);
    expect(await at(1)).toMatchObject(notFound);
  });

  test("must be a number above 0", async () => {
    expect(await at(0)).toMatchObject({ status: 400, body: { code: "NON_POSITIVE_OFFSET" } });
    expect(await at(-1)).toMatchObject({ status: 400, body: { code: "NON_POSITIVE_OFFSET" } });
    expect(await at("x")).toMatchObject({ status: 400, type: "text/plain; charset=UTF-8" });
  });
});

test.each([
  ["INVALID_FIELD", "ümlaut"],
  ["INVALID_FIELD", "x".repeat(256)],
  ["INVALID_ARGUMENT", "update-1"],
  ["INVALID_ARGUMENT", "1220"],
])("%s: an id that is no hash, %s", async (code, updateId) => {
  const format = updateFormat("TRANSACTION_SHAPE_LEDGER_EFFECTS", [operator]);
  const answer = await post("/v2/updates/update-by-id", { updateId, updateFormat: format });
  expect(answer).toMatchObject({ status: 400, body: { code } });
});

test("a shape must be named", async () => {
  const format = updateFormat("TRANSACTION_SHAPE_UNSPECIFIED", [operator]);
  expect(await post("/v2/updates", { beginExclusive: 0, updateFormat: format })).toMatchObject({
    status: 400,
    body: { code: "MISSING_FIELD" },
  });
});

describe("an invalid operation changes nothing", () => {
  test.each<[string, string, readonly string[]]>([
    ["use what is not there", "is not active", ["nowhere"]],
    ["use what is archived", "is used when it is archived", ["!a", "a"]],
    ["consume twice", "is archived twice", ["!a", "!a"]],
  ])("%s", (_, why, uses) => {
    ledger.transact([{ create: creation("a") }]);
    const steps = uses.map((use) => ({
      exercise: { contractId: use.replace("!", ""), choice: "Do", consuming: use.startsWith("!") },
    }));
    expect(() => ledger.transact(steps)).toThrow(why);
    expect([ledger.end, ...ledger.contracts.keys()]).toEqual([1, "a"]);
  });
});
