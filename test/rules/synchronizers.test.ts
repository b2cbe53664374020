/** All contracts of an answer are on one synchronizer, and none is in reassignment. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import {
  account,
  burnAccept,
  leg,
  settlement,
  settlementFactory,
  transferChoice,
  transferFactory,
  transferV1,
} from "../fixtures/requests.js";
import { disclosedBy, failure, short, utilityFailure } from "../fixtures/context.js";
import { element, type Options, payload, requirement } from "../fixtures/elements.js";
import { settlementFactory as settlementCall } from "../fixtures/calls/operations.js";
import { restAndGrpc } from "../fixtures/outcomes.js";
import type { Call, Outcome } from "../fixtures/protocols.js";
import { registryOf, serving, useRegistry } from "../fixtures/registries.js";
import { type Answer, type ServeOptions, WITH_REWARDS } from "../fixtures/run-service.js";
import { withTarget } from "./inputs.js";
import { groupElements, partyElements, type Row, rowsOf } from "./table.js";

const onB: Options = { synchronizerId: "sync-B" };
const newerOnB: Options = { ...onB, createdAt: "2026-02-05T09:00:00.000000Z" };

const usdNeeds = { holderRequirements: [requirement(["holds=USD"])] };

/** The contracts of a settlement, on another synchronizer. */
const whole = {
  factory: (options: Options) => element("AllocationFactory", "factory", payload.service(), options),
  configuration: (options: Options) =>
    element("InstrumentConfiguration", "usd", payload.configuration("USD", usdNeeds), options),
  rule: (options: Options) => element("TransferRule", "rule", payload.service(), options),
  reward: (options: Options) => element("AppRewardConfiguration", "reward", payload.reward(), options),
  right: (options: Options) => element("FeaturedAppRight", "right", payload.right(), options),
  alice: (options: Options) =>
    element("Credential", "alice-holds", payload.credential("alice", ["holds=USD"]), options),
};
const idOf = {
  factory: "factory",
  configuration: "usd",
  rule: "rule",
  reward: "reward",
  right: "right",
  alice: "alice-holds",
};
const all: (keyof typeof whole)[] = ["factory", "configuration", "rule", "reward", "right", "alice"];

/** A settlement without allocations, which needs most. With the reward entries, so that every template counts. */
const settling = (elements: JsonObject[]): Promise<Answer> => settlingWith(WITH_REWARDS, elements);

async function settlingWith(options: ServeOptions, elements: JsonObject[], more: JsonObject = {}): Promise<Answer> {
  const running = await serving(elements, options);
  const { choiceArguments } = settlement([leg(account("alice"), account("alice"), "USD")], []);
  return running.post(settlementFactory(), { choiceArguments: { ...(choiceArguments as JsonObject), ...more } });
}

const settled = (ids: string[]): JsonObject => settlement([leg(account("alice"), account("bob"), "USD")], ids);

/** The ids of the disclosed contracts, with their synchronizers. */
const placesOf = (answer: Answer): Record<string, unknown> =>
  Object.fromEntries(disclosedBy(answer).map(({ contractId, synchronizerId }) => [contractId, synchronizerId]));

describe.each(["unassigned", "arriving"] as const)("a contract that is %s", (moving) => {
  test.each(all)("is a conflict as the only %s", async (name) => {
    const answer = await settling(registryOf({ [name]: whole[name]({ moving }) }));
    expect(short(answer)).toEqual(failure(409));
  });

  test.each(["reward", "right"] as const)("is no conflict as the %s if the reward entries are off", async (name) => {
    const answer = await settlingWith({}, registryOf({ [name]: whole[name]({ moving }) }));
    expect(Object.keys(placesOf(answer)).toSorted()).toEqual(["alice-holds", "factory", "rule", "usd"]);
  });

  test("is a conflict as the allocation of a settlement, and as the locked holding of one", async () => {
    const allocation = payload.allocation("alice", "bob", "USD", "locked");
    const holding = payload.lockedHolding("alice", "USD");
    for (const [ofAllocation, ofHolding] of [
      [{ moving }, {}],
      [{}, { moving }],
    ]) {
      const added = [
        element("DvpLegAllocation", "allocation", allocation, ofAllocation),
        element("Holding", "locked", holding, ofHolding),
      ];
      const running = await serving(registryOf({}, ...added));
      expect(short(await running.post(settlementFactory(), settled(["allocation"])))).toEqual(failure(409));
    }
  });

  test("is no conflict if the choice does not need it", async () => {
    const bob = element("Credential", "bob-holds", payload.credential("bob", ["holds=USD"]), { moving });
    const running = await serving(registryOf({ rule: whole.rule({ moving }), bob }));
    const answer = await running.post(transferFactory(), transferV1("alice", "bob"));
    expect(placesOf(answer)).toEqual({ factory: "sync-A", usd: "sync-A", "alice-holds": "sync-A" });
  });
});

describe("with two synchronizers", () => {
  test.each(["factory", "configuration", "rule", "alice"] as const)(
    "the %s on another synchronizer than the rest is a conflict",
    async (name) => {
      const answer = await settling(registryOf({ [name]: whole[name](onB) }));
      expect(short(answer)).toEqual(failure(409));
    },
  );

  test("the newest factory is skipped if only an older one's synchronizer has all required contracts", async () => {
    const newest = element("AllocationFactory", "newest", payload.service(), newerOnB);
    const answer = await settling(registryOf({}, newest));
    expect(short(answer)).toMatchObject({ factoryId: "factory" });
    expect(placesOf(answer)).toEqual(Object.fromEntries(all.map((name) => [idOf[name], "sync-A"])));
  });

  test("the newest factory is skipped if its synchronizer lacks only a credential", async () => {
    const newest = [
      element("AllocationFactory", "newest", payload.service(), newerOnB),
      element("InstrumentConfiguration", "usd-b", payload.configuration("USD", usdNeeds), newerOnB),
      element("TransferRule", "rule-b", payload.service(), newerOnB),
    ];
    expect(short(await settling(registryOf({}, ...newest)))).toMatchObject({ factoryId: "factory" });
  });

  test("the newest factory wins with the contracts on its synchronizer, even if others are newer", async () => {
    const elements = [
      ...all.map((name) => whole[name](onB)),
      element("TransferRule", "rule-a", payload.service(), { createdAt: "2026-03-05T09:00:00.000000Z" }),
      element("InstrumentConfiguration", "usd-a", payload.configuration("USD"), {
        createdAt: "2026-03-05T09:00:00.000000Z",
      }),
      element("AllocationFactory", "factory-a", payload.service(), { createdAt: "2026-01-01T00:00:00.000000Z" }),
    ];
    const answer = await settling(elements);
    expect(short(answer)).toMatchObject({ factoryId: "factory" });
    expect(placesOf(answer)).toEqual(Object.fromEntries(all.map((name) => [idOf[name], "sync-B"])));
  });

  test("a reward configuration and a right on another synchronizer are left out", async () => {
    const answer = await settling(registryOf({ reward: whole.reward(onB), right: whole.right(onB) }));
    expect(Object.keys(placesOf(answer)).toSorted()).toEqual(["alice-holds", "factory", "rule", "usd"]);
    expect(short(answer)).not.toHaveProperty(["values", "utility.digitalasset.com/app-reward-configuration"]);
    expect(short(answer)).not.toHaveProperty(["values", "utility.digitalasset.com/featured-app-right"]);
  });

  test("two credentials on the synchronizer are chosen before a single one elsewhere", async () => {
    const argument = payload.configuration("USD", {
      holderRequirements: [requirement(["holds=USD"]), requirement(["resides=CH"])],
    });
    const configuration = element("InstrumentConfiguration", "usd", argument);
    const resides = element("Credential", "alice-resides", payload.credential("alice", ["resides=CH"]));
    const single = element("Credential", "single", payload.credential("alice", ["holds=USD", "resides=CH"]), onB);
    const running = await serving(registryOf({ configuration }, resides, single));
    const answer = await running.post(transferFactory(), transferV1("alice", "bob"));
    expect(Object.keys(placesOf(answer)).toSorted()).toEqual(["alice-holds", "alice-resides", "factory", "usd"]);
  });

  test("a settlement is on the synchronizer of its allocations", async () => {
    const added = [
      element("AllocationFactory", "newest", payload.service(), newerOnB),
      element("TransferRule", "rule-b", payload.service(), newerOnB),
      element("DvpLegAllocation", "allocation", payload.allocation("alice", "bob", "USD", "locked")),
      element("Holding", "locked", payload.lockedHolding("alice", "USD")),
    ];
    const running = await serving(registryOf({}, ...added));
    const answer = await running.post(settlementFactory(), settled(["allocation"]));
    expect(short(answer)).toMatchObject({ factoryId: "factory" });
    expect(new Set(Object.values(placesOf(answer)))).toEqual(new Set(["sync-A"]));
  });

  test("allocations on two synchronizers are a conflict", async () => {
    const elsewhere = [
      element("AllocationFactory", "factory-b", payload.service(), newerOnB),
      element("InstrumentConfiguration", "usd-b", payload.configuration("USD"), newerOnB),
      element("TransferRule", "rule-b", payload.service(), newerOnB),
    ];
    const allocations = (["sync-A", "sync-B"] as const).flatMap((synchronizerId) => [
      element("DvpLegAllocation", synchronizerId, payload.allocation("alice", "bob", "USD", `at-${synchronizerId}`), {
        synchronizerId,
      }),
      element("Holding", `at-${synchronizerId}`, payload.lockedHolding("alice", "USD"), { synchronizerId }),
    ]);
    const running = await serving(registryOf({}, ...elsewhere, ...allocations));
    expect(short(await running.post(settlementFactory(), settled(["sync-A"])))).toMatchObject({ factoryId: "factory" });
    expect(short(await running.post(settlementFactory(), settled(["sync-B"])))).toMatchObject({
      factoryId: "factory-b",
    });
    expect(short(await running.post(settlementFactory(), settled(["sync-A", "sync-B"])))).toEqual(failure(409));
  });

  test("the instruction's synchronizer decides, not the newest contract", async () => {
    const added = [
      element("InstrumentConfiguration", "usd-b", payload.configuration("USD"), newerOnB),
      element("TransferRule", "rule-b", payload.service(), newerOnB),
      element("TransferOffer", "offer", payload.offer("alice", "bob", "USD", "locked")),
      element("Holding", "locked", payload.lockedHolding("alice", "USD")),
    ];
    const running = await serving(registryOf({}, ...added));
    const places = placesOf(await running.post(transferChoice("v1", "accept")("offer")));
    expect(new Set(Object.values(places))).toEqual(new Set(["sync-A"]));
    expect(Object.keys(places).toSorted()).toEqual(["alice-holds", "bob-holds", "locked", "rule", "usd"]);
  });

  test.each([
    ["a configuration", { configuration: whole.configuration(onB) }, {}],
    ["a locked holding", {}, onB],
  ])("%s on another synchronizer than a burn request is a conflict", async (_, changes, ofHolding) => {
    const added = [
      element("BurnRequest", "request", payload.burn("alice", "USD", { lockedHoldingCid: "locked" })),
      element("Holding", "locked", payload.lockedHolding("alice", "USD"), ofHolding),
    ];
    const running = await serving(registryOf(changes, ...added));
    expect(short(await running.post(burnAccept("request")))).toEqual(utilityFailure(409));
  });
});

const isFactory = ({ name }: Row): boolean => /transfer-factory|allocation-factory/.test(name);
const rows = rowsOf("").factories.filter((row) => isFactory(row) && !row.name.includes("direct"));
/** The group on sync-A, and the same on sync-B with its credentials. `newest` is the newer one. */
const onBoth = (newest: "sync-A" | "sync-B"): JsonObject[] =>
  (["sync-A", "sync-B"] as const).flatMap((synchronizerId) => {
    const createdAt = newest === synchronizerId ? "2026-02-05T09:00:00.000000Z" : "2026-01-05T09:00:00.000000Z";
    return JSON.parse(
      JSON.stringify([...groupElements("", {}, {}, { createdAt }), ...partyElements])
        .replaceAll(/"contractId":"([^"]*)"/g, `"contractId":"$1-${synchronizerId}"`)
        .replaceAll('"synchronizerId":"sync-A"', `"synchronizerId":"${synchronizerId}"`),
    ) as JsonObject[];
  });

/** Of the disclosed contracts, each once. */
const synchronizersOf = (answer: Outcome): unknown => {
  const { choiceContext } = (answer.ok ? answer.answer : {}) as { choiceContext?: JsonObject };
  const disclosed = (choiceContext?.["disclosedContracts"] ?? []) as { synchronizerId: string }[];
  return [...new Set(disclosed.map(({ synchronizerId }) => synchronizerId))];
};

/** A wallet names the synchronizer on which it will submit, in `choiceArguments._targetSynchronizerId`. */
describe.each(restAndGrpc)("over %s, the synchronizer that a wallet names", (_protocol, send) => {
  describe.each(["sync-A", "sync-B"] as const)("beside a newest factory on %s", (newest) => {
    const url = useRegistry(onBoth(newest));

    test.each(rows)("decides for $name", async ({ call }) => {
      for (const target of ["sync-A", "sync-B"])
        expect(synchronizersOf(await send(url(), withTarget(call, target)))).toEqual([target]);
      for (const other of [withTarget(call, "sync-C"), withTarget(call, ""), call])
        expect(synchronizersOf(await send(url(), other))).toEqual([newest]);
    });

    test("decides for a direct transfer, among the preapprovals", async () => {
      const call = callOf("v1 transfer-factory, direct");
      for (const target of ["sync-A", "sync-B"]) {
        const answer = await send(url(), withTarget(call, target));
        expect(answer).toMatchObject({ answer: { factoryId: `carol-approves-${target}`, transferKind: "direct" } });
        expect(synchronizersOf(answer)).toEqual([target]);
      }
    });

    test("decides for a settlement without allocations", async () => {
      const call = settlementCall(settlement([leg(account("alice"), account("bob"), "USD")], []));
      for (const target of ["sync-A", "sync-B"])
        expect(synchronizersOf(await send(url(), withTarget(call, target)))).toEqual([target]);
    });
  });

  test("does not decide if the group there is not complete", async () => {
    const elements = onBoth("sync-A").filter((one) => !JSON.stringify(one).includes('"contractId":"usd-sync-B"'));
    const answer = await send(
      (await serving(elements)).url,
      withTarget(callOf("v1 transfer-factory, offer"), "sync-B"),
    );
    expect(synchronizersOf(answer)).toEqual(["sync-A"]);
  });

  test("does not decide for an instruction: its own does", async () => {
    const elements = onBoth("sync-B").filter(
      (one) => !JSON.stringify(one).includes('"contractId":"allocation-sync-B"'),
    );
    const body = settlement([leg(account("alice"), account("bob"), "USD")], ["allocation-sync-A"]);
    const call = withTarget(settlementCall(body), "sync-B");
    // Its locked holding is named without the suffix: see above.
    const named = elements.map(
      (one) => JSON.parse(JSON.stringify(one).replace('"locked"', '"locked-sync-A"')) as JsonObject,
    );
    expect(synchronizersOf(await send((await serving(named)).url, call))).toEqual(["sync-A"]);
  });
});

function callOf(name: string): Call {
  const found = rowsOf("").factories.find((row) => row.name === name);
  if (found === undefined) throw new Error(`no row ${name}`);
  return found.call;
}
