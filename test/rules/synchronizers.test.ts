/** All contracts of an answer are on one synchronizer: which one, if several have what is needed. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/util/json.js";
import { onTransfer, settlementFactory, transferFactory } from "../fixtures/calls/operations.js";
import { element, type Options, payload, requirement } from "../fixtures/elements.js";
import type { Call } from "../fixtures/protocols.js";
import { instructions, registryOf } from "../fixtures/registries.js";
import { account, leg, settlement, transferV1 } from "../fixtures/requests.js";
import { ask, refused, REWARDS, rulesOn } from "../fixtures/rules.js";
import { explaining } from "../explain/explaining.js";
import { withTarget } from "./inputs.js";
import { complete, factories, groupElements, partyElements, without } from "./table.js";

const onB: Options = { synchronizerId: "sync-B" };
const newerOnB: Options = { ...onB, createdAt: "2026-02-05T09:00:00.000000Z" };
const usdNeeds = { holderRequirements: [requirement(["holds=USD"])] };
const settled = (...ids: readonly string[]): Call =>
  settlementFactory(settlement([leg(account("alice"), account("bob"), "USD")], ids));
const accept = onTransfer("v1", "accept", "offer");

const missing = (one: JsonObject, id: string) => [...without(id, complete()), one];

describe.each<[string, Options]>([
  ["unassigned", { moving: "unassigned" }],
  ["arriving", { moving: "arriving" }],
  ["on another synchronizer", onB],
])("a contract that is %s", (_place, options) => {
  test.each<[string, JsonObject]>([
    ["usd", element("InstrumentConfiguration", "usd", payload.configuration("USD", usdNeeds), options)],
    ["rule", element("TransferRule", "rule", payload.service(), options)],
    ["bob-holds", element("Credential", "bob-holds", payload.credential("bob", ["holds=USD"]), options)],
  ])("is a conflict where it is required: %s", async (id, moved) => {
    expect(await ask(missing(moved, id), accept)).toEqual(refused(409));
  });

  test("is a conflict as a locked holding, but elsewhere not for the receiver of an offer, who sees it", async () => {
    const rules = rulesOn(
      missing(element("Holding", "locked", payload.lockedHolding("alice", "USD"), options), "locked"),
    );
    expect(await rules.ask(settled("allocation"))).toEqual(refused(409, "locked"));
    const seen = { disclosed: ["alice-holds", "bob-holds", "rule", "usd"] };
    expect(await rules.ask(accept)).toMatchObject(options.moving === undefined ? seen : refused(409, "locked"));
  });

  // docs/decisions/synchronizers.md: an optional contract elsewhere is left out; one in reassignment is a conflict.
  test("is left out elsewhere, and a conflict in reassignment, where it is optional", async () => {
    const reward = element("AppRewardConfiguration", "reward", payload.reward(), options);
    const usual = ["alice-holds", "bob-holds", "locked", "rule", "usd"];
    const disclosed = ["alice-holds", "bob-holds", "locked", "right", "rule", "usd"];
    const elements = registryOf({ reward }, ...instructions());
    const expected = options.moving === undefined ? { disclosed } : refused(409);
    expect(await ask(elements, accept, REWARDS)).toMatchObject(expected);
    expect(await ask(elements, accept)).toMatchObject({ disclosed: usual });
  });
});

describe("with two synchronizers", () => {
  const added = {
    factory: element("AllocationFactory", "factory-b", payload.service(), newerOnB),
    usd: element("InstrumentConfiguration", "usd-b", payload.configuration("USD", usdNeeds), newerOnB),
    rule: element("TransferRule", "rule-b", payload.service(), newerOnB),
  };
  const credentials = ["alice", "bob"].map((party) =>
    element("Credential", `${party}-b`, payload.credential(party, ["holds=USD"]), onB),
  );
  const allocations = (["sync-A", "sync-B"] as const).flatMap((synchronizerId) => [
    element("DvpLegAllocation", synchronizerId, payload.allocation("alice", "bob", "USD", `at-${synchronizerId}`), {
      synchronizerId,
    }),
    element("Holding", `at-${synchronizerId}`, payload.lockedHolding("alice", "USD"), { synchronizerId }),
  ]);
  const all = [...Object.values(added), ...credentials, ...allocations];

  test.each<[string, readonly JsonObject[], Call, JsonObject]>([
    [
      "the newest factory is skipped if its synchronizer lacks contracts",
      [added.factory],
      settled(),
      { factoryId: "factory" },
    ],
    ["or only credentials", Object.values(added), settled(), { factoryId: "factory" }],
    ["it wins with the contracts there", all, settled(), { factoryId: "factory-b" }],
    ["a settlement is on that of its allocations", all, settled("sync-A"), { factoryId: "factory" }],
    ["or on the other", all, settled("sync-B"), { factoryId: "factory-b" }],
    ["allocations on two are a conflict", all, settled("sync-A", "sync-B"), refused(409)],
    [
      "an instruction decides",
      [...all, ...instructions()],
      accept,
      { disclosed: ["alice-holds", "bob-holds", "locked", "rule", "usd"] },
    ],
  ])("%s", async (_what, elements, call, expected) => {
    expect(await ask(registryOf({}, ...elements), call)).toMatchObject(expected);
  });
});

/** The synchronizers of the disclosed contracts, each once. */
const chosen = async (elements: readonly JsonObject[], call: Call): Promise<readonly string[]> => {
  const { choiceContext } = await rulesOn(elements).body(call);
  const { disclosedContracts } = choiceContext as unknown as { disclosedContracts: { synchronizerId: string }[] };
  return [...new Set(disclosedContracts.map(({ synchronizerId }) => synchronizerId))];
};

/** A wallet names the synchronizer on which it will submit, in `choiceArguments._targetSynchronizerId`. */
describe("the synchronizer that a wallet names", () => {
  const both = ["sync-A", "sync-B"] as const;
  /** The group on sync-A, and the same on sync-B with its credentials. `newest` is the newer one. */
  const onBoth = (newest: (typeof both)[number]): JsonObject[] =>
    both.flatMap((synchronizerId) => {
      const createdAt = newest === synchronizerId ? "2026-02-05T09:00:00.000000Z" : "2026-01-05T09:00:00.000000Z";
      const text = JSON.stringify([...groupElements(""), ...partyElements])
        .replaceAll(/"contractId":"([^"]*)"/g, `"contractId":"$1-${synchronizerId}"`)
        .replaceAll(/"createdAt":"[^"]*"/g, `"createdAt":"${createdAt}"`)
        .replaceAll('"locked"', `"locked-${synchronizerId}"`)
        .replaceAll('"synchronizerId":"sync-A"', `"synchronizerId":"${synchronizerId}"`);
      return JSON.parse(text) as JsonObject[];
    });
  const ofInstrument = factories.filter(({ name }) => /transfer-factory|allocation-factory/.test(name));
  const rows: readonly (readonly [string, Call])[] = [
    ...ofInstrument.map(({ name, call }) => [name, call] as const),
    ["a settlement without allocations", settled()],
  ];

  test.each(rows)("decides for %s", async (_name, call) => {
    for (const newest of both) {
      for (const target of both) expect(await chosen(onBoth(newest), withTarget(call, target))).toEqual([target]);
      for (const other of [withTarget(call, "sync-C"), withTarget(call, ""), call])
        expect(await chosen(onBoth(newest), other)).toEqual([newest]);
    }
  });

  test("does not decide if the group there is not complete, nor for an instruction: its own does", async () => {
    const offer = transferFactory("v1", transferV1("alice", "bob"));
    expect(await chosen(without("usd-sync-B", onBoth("sync-A")), withTarget(offer, "sync-B"))).toEqual(["sync-A"]);
    expect(await chosen(onBoth("sync-B"), withTarget(settled("allocation-sync-A"), "sync-B"))).toEqual(["sync-A"]);
  });

  // A transfer to oneself requires nothing: a factory alone is no complete group.
  const incomplete: readonly (readonly string[])[] = [["usd"], ["rule"], ["usd", "rule", "service"]];
  test.each(incomplete.flatMap((lacking) => ofInstrument.map(({ name, call }) => ({ lacking, name, call }))))(
    "does not decide for $name if $lacking of the group are not there",
    async ({ lacking, name, call }) => {
      const elements = lacking.reduce((some, id) => without(`${id}-sync-B`, some), onBoth("sync-A"));
      const needsAll = /self|direct/.test(name) || lacking.includes("usd");
      expect(await chosen(elements, withTarget(call, "sync-B"))).toEqual([needsAll ? "sync-A" : "sync-B"]);
    },
  );

  test("decides for a transfer to oneself of an instrument without configuration", async () => {
    const elements = ["usd-sync-A", "usd-sync-B"].reduce((some, id) => without(id, some), onBoth("sync-A"));
    const self = transferFactory("v1", transferV1("alice", "alice"));
    expect(await chosen(elements, withTarget(self, "sync-B"))).toEqual(["sync-B"]);
  });

  test.each(rows)("is malformed if it is no text, for %s", async (_name, call) => {
    for (const target of [7, false, {}, ["sync-A"]]) {
      const message = "choiceArguments._targetSynchronizerId must be a string";
      expect(await ask(onBoth("sync-A"), withTarget(call, target))).toEqual(refused(400, message));
    }
    expect(await chosen(onBoth("sync-A"), withTarget(call, null))).toEqual(["sync-A"]);
  });

  test.each(rows)("is told by the explanation where it does not decide, for %s", async (_name, call) => {
    const note = (target: string) =>
      `The request names synchronizer ${target}, where not everything is that this answer needs: ` +
      "it is on sync-A, with the newest that is complete.";
    const explained = async (elements: readonly JsonObject[], target: string) => {
      const { notes } = await (
        await explaining(elements)
      )(`POST ${call.path}`, withTarget(call, target).body as JsonObject);
      return notes;
    };
    expect(await explained(onBoth("sync-A"), "sync-C")).toEqual([note("sync-C")]);
    expect(await explained(without("usd-sync-B", onBoth("sync-A")), "sync-B")).toEqual([note("sync-B")]);
    expect(await explained(onBoth("sync-A"), "sync-B")).toEqual([]);
  });
});
