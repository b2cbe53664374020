/** All contracts of an answer are on one synchronizer, and none is in reassignment. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import {
  account,
  burnAccept,
  leg,
  reject,
  settlement,
  settlementFactory,
  transferFactory,
  transferV1,
} from "../fixtures/requests.js";
import { disclosedBy, failure, short, utilityFailure } from "../fixtures/context.js";
import { element, type Options, payload, requirement } from "../fixtures/elements.js";
import { registryOf, serving } from "../fixtures/registries.js";
import { type Answer, type ServeOptions, WITH_REWARDS } from "../fixtures/run-service.js";

const onB: Options = { synchronizerId: "sync-B" };
const newerOnB: Options = { ...onB, createdAt: "2026-02-05T09:00:00.000000Z" };

const usdNeeds = { holderRequirements: [requirement(["holds=USD"])] };

/** The contracts of a transfer to oneself, on another synchronizer. */
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

/** With the reward entries, so that every template counts. */
const toHerself = (elements: JsonObject[]): Promise<Answer> => toHerselfWith(WITH_REWARDS, elements);

async function toHerselfWith(options: ServeOptions, elements: JsonObject[]): Promise<Answer> {
  const running = await serving(elements, options);
  return running.post(transferFactory(), transferV1("alice", "alice"));
}

const settled = (ids: string[]): JsonObject => settlement([leg(account("alice"), account("bob"), "USD")], ids);

/** The ids of the disclosed contracts, with their synchronizers. */
const placesOf = (answer: Answer): Record<string, unknown> =>
  Object.fromEntries(disclosedBy(answer).map(({ contractId, synchronizerId }) => [contractId, synchronizerId]));

describe.each(["unassigned", "arriving"] as const)("a contract that is %s", (moving) => {
  test.each(all)("is a conflict as the only %s", async (name) => {
    const answer = await toHerself(registryOf({ [name]: whole[name]({ moving }) }));
    expect(short(answer)).toEqual(failure(409));
  });

  test.each(["reward", "right"] as const)("is no conflict as the %s if the reward entries are off", async (name) => {
    const answer = await toHerselfWith({}, registryOf({ [name]: whole[name]({ moving }) }));
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
      const answer = await toHerself(registryOf({ [name]: whole[name](onB) }));
      expect(short(answer)).toEqual(failure(409));
    },
  );

  test("the newest factory is skipped if only an older one's synchronizer has all required contracts", async () => {
    const newest = element("AllocationFactory", "newest", payload.service(), newerOnB);
    const answer = await toHerself(registryOf({}, newest));
    expect(short(answer)).toMatchObject({ factoryId: "factory" });
    expect(placesOf(answer)).toEqual(Object.fromEntries(all.map((name) => [idOf[name], "sync-A"])));
  });

  test("the newest factory is skipped if its synchronizer lacks only a credential", async () => {
    const newest = [
      element("AllocationFactory", "newest", payload.service(), newerOnB),
      element("InstrumentConfiguration", "usd-b", payload.configuration("USD", usdNeeds), newerOnB),
      element("TransferRule", "rule-b", payload.service(), newerOnB),
    ];
    expect(short(await toHerself(registryOf({}, ...newest)))).toMatchObject({ factoryId: "factory" });
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
    const answer = await toHerself(elements);
    expect(short(answer)).toMatchObject({ factoryId: "factory" });
    expect(placesOf(answer)).toEqual(Object.fromEntries(all.map((name) => [idOf[name], "sync-B"])));
  });

  test("a reward configuration and a right on another synchronizer are left out", async () => {
    const answer = await toHerself(registryOf({ reward: whole.reward(onB), right: whole.right(onB) }));
    expect(Object.keys(placesOf(answer)).toSorted()).toEqual(["alice-holds", "factory", "rule", "usd"]);
    expect(short(answer)).not.toHaveProperty(["values", "app-reward-configuration"]);
    expect(short(answer)).not.toHaveProperty(["values", "featured-app-right"]);
  });

  test("two credentials on the synchronizer are chosen before a single one elsewhere", async () => {
    const argument = payload.configuration("USD", { holderRequirements: [requirement(["holds=USD", "resides=CH"])] });
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
      element("TransferOffer", "offer", payload.offer("alice", "bob", "USD", "locked")),
      element("Holding", "locked", payload.lockedHolding("alice", "USD")),
    ];
    const running = await serving(registryOf({}, ...added));
    expect(placesOf(await running.post(reject("offer")))).toEqual({ usd: "sync-A", locked: "sync-A" });
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
