/** All contracts of an answer are on one synchronizer, and none is in reassignment. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { onTransfer, settlementFactory, transferFactory } from "../fixtures/calls/operations.js";
import { element, type Options, payload, requirement } from "../fixtures/elements.js";
import type { Call } from "../fixtures/protocols.js";
import { instructions, registryOf } from "../fixtures/registries.js";
import { account, leg, settlement, transferV1 } from "../fixtures/requests.js";
import { ask, refused, REWARDS, type Rules, rulesOn } from "../fixtures/rules.js";
import { withTarget } from "./inputs.js";
import { complete, groupElements, partyElements, rowsOf, table, without } from "./table.js";

const onB: Options = { synchronizerId: "sync-B" };
const newerOnB: Options = { ...onB, createdAt: "2026-02-05T09:00:00.000000Z" };
const places: readonly (readonly [string, Options])[] = [
  ["unassigned", { moving: "unassigned" }],
  ["arriving", { moving: "arriving" }],
  ["on another synchronizer", onB],
];
const usdNeeds = { holderRequirements: [requirement(["holds=USD"])] };

/** The synchronizers of the disclosed contracts, each once. */
async function synchronizersOf(rules: Rules, call: Call): Promise<readonly string[]> {
  const response = await rules.body(call);
  const { disclosedContracts } = (response["choiceContext"] ?? response) as unknown as {
    readonly disclosedContracts: readonly { readonly synchronizerId: string }[];
  };
  return [...new Set(disclosedContracts.map(({ synchronizerId }) => synchronizerId))];
}

/** Required contracts, in `complete`: its group, and the credentials of alice. */
const required = ["usd", "rule", "alice-holds", "alice-issues"] as const;
const movedTo = (id: string, options: Options): JsonObject[] => {
  const credential = (claim: string) => element("Credential", id, payload.credential("alice", [claim]), options);
  const moved =
    id === "alice-holds"
      ? [credential("holds=USD")]
      : id === "alice-issues"
        ? [credential("issues=USD")]
        : groupElements("", {}, {}, options).filter((one) => JSON.stringify(one).includes(`"contractId":"${id}"`));
  return [...without(id, complete()), ...moved];
};

describe.each(required)("%s", (id) => {
  // Direct transfers and those to oneself do without: transfers.test.ts, and below.
  const rows = table.filter(({ name, disclosed }) => !/direct|self/.test(name) && disclosed.includes(id));

  describe.each(places)("%s is a conflict", (_place, options) => {
    const rules = rulesOn(movedTo(id, options));
    test.each(rows)("for $name", async ({ call }) => {
      expect(await rules.ask(call)).toEqual(refused(409));
    });
  });
});

describe.each(places)("a locked holding %s", (_place, options) => {
  const rules = rulesOn([
    ...without("locked", complete()),
    element("Holding", "locked", payload.lockedHolding("alice", "USD"), options),
  ]);

  test.each(
    table.filter(({ name, disclosed }) => disclosed.includes("locked") && !/reject|withdraw|cancel/.test(name)),
  )("for $name", async ({ name, call, disclosed }) => {
    const isSeen = name.endsWith("transfer accept") && options.moving === undefined;
    const expected = isSeen ? disclosed.filter((id) => id !== "locked") : undefined;
    // The receiver of an offer sees it.
    if (expected === undefined) expect(await rules.ask(call)).toEqual(refused(409, "locked"));
    else expect((await rules.context(call)).disclosed).toEqual(expected);
  });
});

describe.each(places)("reward contracts %s", (_place, options) => {
  const accept = onTransfer("v1", "accept", "offer");

  test.each([
    ["reward", { reward: element("AppRewardConfiguration", "reward", payload.reward(), options) }, ["right"]],
    ["right", { right: element("FeaturedAppRight", "right", payload.right(), options) }, ["reward"]],
  ] as const)(
    "are left out elsewhere, and a conflict in reassignment, where they are on: %s",
    async (_id, changes, others) => {
      const elements = registryOf(changes, ...instructions());
      const usual = ["alice-holds", "bob-holds", "locked", "rule", "usd"];
      const disclosed = [...usual, ...others].toSorted();
      const expected = options.moving === undefined ? expect.objectContaining({ disclosed }) : refused(409);
      expect(await ask(elements, accept, REWARDS)).toEqual(expected);
      expect(await ask(elements, accept)).toMatchObject({ disclosed: usual });
    },
  );
});

test("a contract in reassignment is no conflict if the choice does not need it", async () => {
  const moving: Options = { moving: "unassigned" };
  const changes = {
    rule: element("TransferRule", "rule", payload.service(), moving),
    bob: element("Credential", "bob-holds", payload.credential("bob", ["holds=USD"]), moving),
  };
  const answer = await ask(registryOf(changes), transferFactory("v1", transferV1("alice", "bob")));
  expect(answer).toMatchObject({ disclosed: ["alice-holds", "factory", "usd"] });
});

describe("with two synchronizers", () => {
  const settled = (...ids: readonly string[]): Call =>
    settlementFactory(settlement([leg(account("alice"), account("alice"), "USD")], ids));
  const factoryB = element("AllocationFactory", "factory-b", payload.service(), newerOnB);
  const usdB = element("InstrumentConfiguration", "usd-b", payload.configuration("USD", usdNeeds), newerOnB);
  const ruleB = element("TransferRule", "rule-b", payload.service(), newerOnB);
  const ofAlice = element("Credential", "alice-b", payload.credential("alice", ["holds=USD"]), onB);

  test.each<[string, readonly JsonObject[], string]>([
    ["the newest factory is skipped if its synchronizer lacks contracts", [factoryB], "factory"],
    ["or only a credential", [factoryB, usdB, ruleB], "factory"],
    ["it wins with the contracts there, even if others are newer", [factoryB, usdB, ruleB, ofAlice], "factory-b"],
  ])("%s", async (_what, added, factoryId) => {
    const newest = element("TransferRule", "newest", payload.service(), { createdAt: "2026-03-05T09:00:00.000000Z" });
    const rules = rulesOn(registryOf({}, ...added, newest));
    expect(await rules.ask(settled())).toMatchObject({ factoryId });
    expect(await synchronizersOf(rules, settled())).toEqual([factoryId === "factory" ? "sync-A" : "sync-B"]);
  });

  test("two credentials on the synchronizer are chosen before a single one elsewhere", async () => {
    const requirements = [requirement(["holds=USD"]), requirement(["resides=CH"])];
    const argument = payload.configuration("USD", { holderRequirements: requirements });
    const configuration = element("InstrumentConfiguration", "usd", argument);
    const resides = element("Credential", "alice-resides", payload.credential("alice", ["resides=CH"]));
    const single = element("Credential", "single", payload.credential("alice", ["holds=USD", "resides=CH"]), onB);
    const answer = await ask(
      registryOf({ configuration }, resides, single),
      transferFactory("v1", transferV1("alice", "bob")),
    );
    expect(answer).toMatchObject({ disclosed: ["alice-holds", "alice-resides", "factory", "usd"] });
  });

  test("a settlement is on the synchronizer of its allocations; those on two are a conflict", async () => {
    const allocations = (["sync-A", "sync-B"] as const).flatMap((synchronizerId) => [
      element("DvpLegAllocation", synchronizerId, payload.allocation("alice", "bob", "USD", `at-${synchronizerId}`), {
        synchronizerId,
      }),
      element("Holding", `at-${synchronizerId}`, payload.lockedHolding("alice", "USD"), { synchronizerId }),
    ]);
    const rules = rulesOn(registryOf({}, factoryB, usdB, ruleB, ofAlice, ...allocations));
    expect(await rules.ask(settled("sync-A"))).toMatchObject({ factoryId: "factory" });
    expect(await rules.ask(settled("sync-B"))).toMatchObject({ factoryId: "factory-b" });
    expect(await rules.ask(settled("sync-A", "sync-B"))).toEqual(refused(409));
  });

  test("an allocation in reassignment is a conflict", async () => {
    for (const moving of ["unassigned", "arriving"] as const)
      expect(await ask(registryOf({}, ...instructions({ moving })), settled("allocation"))).toEqual(refused(409));
  });

  test("the instruction's synchronizer decides, not the newest contract", async () => {
    const rules = rulesOn(registryOf({}, usdB, ruleB, ...instructions()));
    expect(await synchronizersOf(rules, onTransfer("v1", "accept", "offer"))).toEqual(["sync-A"]);
  });
});

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
  const settled = (...ids: readonly string[]): Call =>
    settlementFactory(settlement([leg(account("alice"), account("bob"), "USD")], ids));
  const isNamed = ({ name }: { readonly name: string }) => /transfer-factory|allocation-factory/.test(name);
  const rows: readonly (readonly [string, Call])[] = [
    ...rowsOf("")
      .factories.filter(isNamed)
      .map(({ name, call }) => [name, call] as const),
    ["a settlement without allocations", settled()],
  ];

  describe.each(both)("beside a newest factory on %s", (newest) => {
    const rules = rulesOn(onBoth(newest));

    test.each(rows)("decides for %s", async (_name, call) => {
      for (const target of both) expect(await synchronizersOf(rules, withTarget(call, target))).toEqual([target]);
      for (const other of [withTarget(call, "sync-C"), withTarget(call, ""), call])
        expect(await synchronizersOf(rules, other)).toEqual([newest]);
    });
  });

  test("does not decide if the group there is not complete", async () => {
    const rules = rulesOn(without("usd-sync-B", onBoth("sync-A")));
    const call = transferFactory("v1", transferV1("alice", "bob"));
    expect(await synchronizersOf(rules, withTarget(call, "sync-B"))).toEqual(["sync-A"]);
  });

  test("does not decide for an instruction: its own does", async () => {
    const call = withTarget(settled("allocation-sync-A"), "sync-B");
    expect(await synchronizersOf(rulesOn(onBoth("sync-B")), call)).toEqual(["sync-A"]);
  });
});
