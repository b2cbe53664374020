/** Entries that the contexts file defines: how they are found, their values, and what is missing. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/util/json.js";
import {
  burnMintFactory,
  executeTransfer,
  onAllocation,
  settlementFactory,
  transferFactory,
} from "../fixtures/calls/operations.js";
import { contractId, contractIds, map } from "../fixtures/context.js";
import { elementOf, lines } from "../fixtures/contexts.js";
import { element, type Options, parties, payload } from "../fixtures/elements.js";
import type { Call } from "../fixtures/protocols.js";
import { account, leg, settlement, transferV1 } from "../fixtures/requests.js";
import { type Answer, contexts, type Contexts, isExit, ofEach, ownValues } from "./every-context.js";

const SELF = "transfer-factory/self";
const DOCUMENT = "own-app#Own.App:Document";
const { provider, registrar } = parties;

/** A contract of the operator's template. Fields that it lacks are absent. */
const document = (id: string, fields: JsonObject, options: Options = {}): JsonObject =>
  elementOf(DOCUMENT, id, fields, options);

const TEMPLATES = lines("templates:", '  document: { package: own-app, name: "Own.App:Document" }');

/** An entry of the template that is found by `field is value` of each pair. Lists and maps are written if they are empty. */
const entry = (name: string, value: string, ...find: readonly string[]): string =>
  lines(
    `  ${name}:`,
    "    template: document",
    "    find:",
    ...find.map((match) => `      ${match.replace(" is ", ": ")}`),
    `    value: ${value}`,
    `    empty: true`,
  );

/** A change that adds the entries to all operations, each under its name. */
const addAll = (entries: string, options = ", missing: omit"): string => {
  const names = [...entries.matchAll(/^ {2}([\w-]+):$/gm)].map(([, name]) => name);
  return (
    TEMPLATES +
    lines("entries:") +
    entries +
    lines("changes:", "  - add:", ...names.map((name) => `      - { entry: ${name}, key: ${name}${options} }`))
  );
};

/** The registry with documents, and a contexts file. */
const on = (file: string, ...added: readonly JsonObject[]): Contexts => contexts(file, {}, ...added);
const settle = (legs: readonly JsonObject[]): Call => settlementFactory(settlement(legs, []));

test("an entry is found by the provider of the instruction, else of the configuration", async () => {
  const ofOther = { provider: "provider-2::1220" };
  const entryOfProvider = addAll(entry("provider", "contract-id", "provider is provider"));
  const more = [
    document("of-provider", { provider }),
    document("of-other", ofOther),
    element("InstrumentConfiguration", "usd-2", payload.configuration("USD", ofOther), {
      createdAt: "2026-01-01T00:00:00.000000Z",
    }),
    element("TransferRule", "rule-2", payload.service(ofOther)),
    element("DvpLegAllocation", "named", payload.allocation("alice", "bob", "USD", "locked", ofOther)),
    element("DvpLegAllocation", "unnamed", payload.allocation("alice", "bob", "USD", "locked")),
    element("DvpLegAllocation", "unknown", payload.allocation("alice", "bob", "GBP", "locked")),
  ];
  const rules = on(entryOfProvider, ...more);
  expect(ownValues(await rules.ask(executeTransfer("named")))).toEqual({ provider: contractId("of-other") });
  expect(ownValues(await rules.ask(executeTransfer("unnamed")))).toEqual({ provider: contractId("of-provider") });
  expect(ownValues(await rules.ask(onAllocation("v1", "withdraw", "unknown")))).toEqual({});
});

describe("an entry is found by the parties of the request", () => {
  const owners = ["alice", "bob", registrar];
  const names = { senders: "sender", receivers: "receiver", holders: "holder", parties: "party" };
  const entries = Object.entries(names).map(([name, role]) => entry(name, "list", `owner is ${role}`));
  const rules = on(addAll(entries.join("")), ...owners.map((owner) => document(`of-${owner}`, { owner })));
  const found = (senders: string[], receivers: string[], holders: string[], all: string[]) => {
    const idsOf = (list: string[]) => contractIds(...list.map((owner) => `of-${owner}`));
    return { senders: idsOf(senders), receivers: idsOf(receivers), holders: idsOf(holders), parties: idsOf(all) };
  };

  test("in every operation", async () => {
    const [ofTransfer, both] = [found(["alice"], ["bob"], [], ["alice", "bob"]), ["alice", "bob"]];
    const others: Record<string, JsonObject> = {
      [SELF]: found(["alice"], ["alice"], [], ["alice"]),
      // carol, who receives, has no document.
      "transfer-factory/direct": found(["alice"], [], [], ["alice"]),
      "allocation-factory": found(["alice"], [], [], ["alice"]),
      "settlement-factory": found([], [], both, both),
    };
    const ofIssuance = found([], [], ["alice"], ["alice"]);
    const expected = (name: string) => others[name] ?? (/^(?:mint|burn)-/.test(name) ? ofIssuance : ofTransfer);
    expect(await rules.askAll(ownValues)).toEqual(ofEach(expected));
  });

  test("who own outputs of a burn-mint factory: not the registrar", async () => {
    const values = ownValues(await rules.ask(burnMintFactory(["bob", "alice", "bob"])));
    expect(values).toEqual(found([], [], ["bob", "alice"], ["bob", "alice"]));
  });
});

describe("fields", () => {
  test("are compared together", async () => {
    const file = addAll(entry("both", "list", "registrar is registrar", "kind is instrument", "owner is party"));
    const rules = on(
      file,
      document("match", { registrar, kind: "USD", owner: "bob" }),
      document("other-registrar", { registrar: "other", kind: "USD", owner: "alice" }),
      document("other-kind", { registrar, kind: "EUR", owner: "alice" }),
      document("other-owner", { registrar, kind: "USD", owner: "dave" }),
      document("no-kind", { registrar, owner: "alice" }),
    );
    expect(ownValues(await rules.askFor("transfer-factory/offer"))).toEqual({ both: contractIds("match") });
  });

  test("may be inside others, and absent or null in contracts of older packages", async () => {
    const file = addAll(entry("inner", "contract-id", "details.terms.admin is registrar"));
    const rules = on(
      file,
      document("newest", { details: { terms: null } }, { createdAt: "2026-03-01T00:00:00.000000Z" }),
      document("newer", { details: null }, { createdAt: "2026-02-01T00:00:00.000000Z" }),
      document("match", { details: { terms: { admin: registrar } } }),
      document("oldest", {}, { createdAt: "2025-01-01T00:00:00.000000Z" }),
    );
    expect(ownValues(await rules.askFor("allocation/cancel"))).toEqual({ inner: contractId("match") });
  });

  test("of another type than text are reported with their path", async () => {
    const file = addAll(entry("inner", "contract-id", "details.admin is registrar"));
    const rules = on(file, document("wrong", { details: { admin: 5 } }));
    await expect(rules.askFor("allocation/cancel")).rejects.toThrow(
      /details\.admin must be a text or an account, but is 5$/,
    );
  });

  test("are compared with a prefix of the value", async () => {
    const file = addAll(
      entry("shards", "list", "prefix is start(party, 2)") + entry("by-party", "map", "prefix is start(party, 2)"),
    );
    const rules = on(
      file,
      document("al", { prefix: "al" }),
      document("bo", { prefix: "bo" }),
      document("a", { prefix: "a" }),
    );
    const valuesFor = async (sender: string, receiver: string) =>
      ownValues(await rules.ask(transferFactory("v1", transferV1(sender, receiver))));
    expect(await valuesFor("alice", "bob")).toEqual({
      shards: contractIds("al", "bo"),
      "by-party": map({ alice: contractId("al"), bob: contractId("bo") }),
    });
    // Two parties of one shard: the list has it once, the map under each.
    expect(await valuesFor("alice", "albert")).toEqual({
      shards: contractIds("al"),
      "by-party": map({ alice: contractId("al"), albert: contractId("al") }),
    });
    // A party that is shorter than the prefix is compared as it is.
    expect(await valuesFor("a", "carl")).toEqual({ shards: contractIds("a"), "by-party": map({ a: contractId("a") }) });
  });

  test("a prefix counts characters that take two code units as one", async () => {
    const file = addAll(entry("by-id", "list", "prefix is start(instrument, 2)"));
    const id = "💶💷💴";
    const rules = on(
      file,
      element("InstrumentConfiguration", "emoji", payload.configuration(id)),
      document("two", { prefix: "💶💷" }),
      document("one", { prefix: "💶" }),
    );
    expect(ownValues(await rules.ask(settle([leg(account("alice"), account("bob"), id)])))).toEqual({
      "by-id": contractIds("two"),
    });
  });
});

describe("of several instruments", () => {
  const file = addAll(
    entry("one", "contract-id", "instrument is instrument") +
      entry("all", "list", "instrument is instrument") +
      entry("held", "list", "instrument is instrument", "owner is holder"),
  );
  const more = [
    element("InstrumentConfiguration", "eur", payload.configuration("EUR")),
    document("usd-doc", { instrument: "USD" }),
    document("eur-doc", { instrument: "EUR" }),
    ...["alice", "bob", "carol"].flatMap((owner) =>
      ["USD", "EUR"].map((instrument) => document(`${owner}-${instrument}`, { instrument, owner })),
    ),
  ];
  const legs = [leg(account("alice"), account("bob"), "USD"), leg(account("bob"), account("carol"), "EUR")];

  test("a contract id is left out, a list has all, and a holder is looked up for those that it sends or receives", async () => {
    const rules = on(file, ...more);
    expect(ownValues(await rules.ask(settle(legs)))).toEqual({
      // The documents of holders have an instrument too, and are as new: the lowest contract id wins.
      all: contractIds("alice-USD", "alice-EUR"),
      held: contractIds("alice-USD", "bob-USD", "bob-EUR", "carol-EUR"),
    });
  });

  test("a disclosure of an entry discloses all", async () => {
    const disclosing = file.replaceAll(/\{ entry: (\w+), key: \w+, /g, "{ disclosure: $1, ");
    const rules = on(disclosing, ...more);
    const { values, disclosed } = await rules.ask(settle(legs));
    expect(ownValues({ values: values ?? {} })).toEqual({});
    for (const id of ["alice-USD", "alice-EUR", "bob-USD", "bob-EUR", "carol-EUR"]) expect(disclosed).toContain(id);
    for (const id of ["carol-USD", "usd-doc", "eur-doc"]) expect(disclosed).not.toContain(id);
  });
});

/** The own values of an answer, or its error. */
const outcomeOf = (answer: Answer): Answer | JsonObject => ("status" in answer ? answer : ownValues(answer));

/** The ledger reads nothing for a transfer to oneself. */
const isLeftOut = (name: string): boolean => isExit(name) || name === SELF;

describe("a contract that is missing", () => {
  const entries = entry("doc", "contract-id", "registrar is registrar", "instrument is instrument");
  const fields = { registrar, instrument: "USD" };
  const label = `the Own.App:Document for ${registrar}, USD (entry doc)`;

  test("is 404 if it is required, naming it; reject, withdraw and cancel go through", async () => {
    const rules = on(addAll(entries, ""));
    const missing = { status: 404, message: `${label} does not exist` };
    expect(await rules.askAll(outcomeOf)).toEqual(ofEach((name) => (isLeftOut(name) ? {} : missing)));
  });

  test("is 409 if it is required and elsewhere; otherwise it is left out", async () => {
    const elsewhere = document("elsewhere", fields, { synchronizerId: "sync-B" });
    const required = on(addAll(entries, ""), elsewhere);
    const message = `${label} (contract elsewhere) is on synchronizer sync-B, but the contracts it is needed with are on sync-A`;
    const conflict = { status: 409, message };
    expect(await required.askAll(outcomeOf)).toEqual(ofEach((name) => (isLeftOut(name) ? {} : conflict)));
    const optional = on(addAll(entries), elsewhere);
    expect(await optional.askAll(outcomeOf)).toEqual(ofEach(() => ({})));
  });

  test.each([
    [", missing: omit", () => false],
    ["", (name: string) => name === SELF],
    [", missing: allow", () => true],
  ])("is 409 if it is in reassignment, unless it is allowed (%s)", async (options, isAllowed) => {
    const moving = document("moving", fields, { moving: "unassigned" });
    const rules = on(addAll(entries, options), moving);
    const message = `${label} (contract moving) is being reassigned between synchronizers: retry when it has arrived`;
    const conflict = { status: 409, message };
    expect(await rules.askAll(outcomeOf)).toEqual(ofEach((name) => (isAllowed(name) ? {} : conflict)));
  });

  test("and said to be required of a transfer to oneself is 404 there too", async () => {
    const rules = on(addAll(entries, ", missing: refuse").replace("- add:", `- on: [${SELF}]\n    add:`));
    expect(await rules.askFor(SELF)).toMatchObject({ status: 404 });
  });

  test("of one party of several: 404 if it is required, and names the party; otherwise the others are there", async () => {
    const ofParties = entry("list", "list", "owner is party");
    const alice = document("of-alice", { owner: "alice" });
    const optional = on(addAll(ofParties), alice);
    expect(ownValues(await optional.askFor("transfer-factory/offer"))).toEqual({ list: contractIds("of-alice") });
    const required = on(addAll(ofParties, ""), alice);
    expect(await required.askFor("transfer-factory/offer")).toEqual({
      status: 404,
      message: "the Own.App:Document for bob (entry list) does not exist",
    });
  });

  test("and required as a disclosure is 404 too", async () => {
    const file = TEMPLATES + lines("entries:") + entries + lines("changes:", "  - add: [{ disclosure: doc }]");
    const rules = on(file);
    expect(await rules.askFor("mint-offer/accept")).toEqual({
      status: 404,
      message: `${label} does not exist`,
    });
  });
});
