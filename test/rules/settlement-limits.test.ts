import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { settlementFactory } from "../fixtures/calls/operations.js";
import { disclosedBy, failure, short } from "../fixtures/context.js";
import { element, payload, requirement } from "../fixtures/elements.js";
import { refused, restAndGrpc, shortOutcome } from "../fixtures/outcomes.js";
import { registryOf, serving, useRegistry } from "../fixtures/registries.js";
import {
  account,
  leg,
  legSide,
  replaced,
  settlement,
  settlementFactory as settlementFactoryPath,
} from "../fixtures/requests.js";

const upTo = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

/** Instruments T0, T1, … without requirements, and as many allocations of T0. */
const elements = registryOf(
  {},
  ...upTo(26, (i) => element("InstrumentConfiguration", `t${i}`, payload.configuration(`T${i}`))),
  ...upTo(102, (i) => element("DvpLegAllocation", `a${i}`, payload.allocation("alice", "bob", "T0", `locked${i}`))),
  ...upTo(102, (i) => element("Holding", `locked${i}`, payload.lockedHolding("alice", "T0"))),
);
const allocations = (count: number): string[] => upTo(count, (i) => `a${i}`);
const alice = account("alice");
const bob = account("bob");
const legs = (count: number): JsonObject[] => upTo(count, () => leg(alice, bob, "T0"));

/** One leg per instrument. */
const instruments = (count: number): JsonObject[] => upTo(count, (i) => leg(alice, bob, `T${i}`));
/** Legs between pairs of accounts that differ only in their ids. */
const pairs = (count: number): JsonObject[] =>
  upTo(count, (i) => leg(account("alice", null, `${i}`), account("bob", null, `${i}`), "T0"));
/** An account with its own owner and provider. */
const apart = (i: number): JsonObject => account(`owner-${i}`, `bank-${i}`, `${i}`);

test("the worst case that every registry has to support works", async () => {
  const owners = upTo(50, (i) => `owner-${i}`);
  const configured = upTo(25, (i) => {
    const holderRequirements = [requirement([`holds=T${i}`])];
    return element("InstrumentConfiguration", `t${i}`, payload.configuration(`T${i}`, { holderRequirements }));
  });
  const held = owners.flatMap((owner, i) => {
    const instrument = `T${i % 25}`;
    return [
      element("Credential", `credential${i}`, payload.credential(owner, [`holds=${instrument}`])),
      element("DvpLegAllocation", `a${i}`, payload.allocation(owner, "other", instrument, `locked${i}`)),
      element("Holding", `locked${i}`, payload.lockedHolding(owner, instrument)),
    ];
  });
  const worst = await serving(registryOf({}, ...configured, ...held));
  const body = settlement(
    upTo(25, (i) => leg(apart(i), apart(i + 25), `T${i}`)),
    allocations(50),
  );
  const answer = await worst.post(settlementFactoryPath(), body);
  // 25 configurations, 50 each of credentials, allocations and holdings; factory and rule.
  expect(disclosedBy(answer)).toHaveLength(25 + 3 * 50 + 2);
});

const tooMany = (count: number, limit: number, what: string): JsonObject =>
  refused(400, `has ${count} ${what}`, `at most ${limit}`);
const side = (otherside: JsonObject, instrumentId = "T0"): JsonObject => ({
  ...legSide("ReceiverSide", instrumentId),
  otherside,
});
/** A settlement whose allocation has extra sides, and funds instruments. */
const settling = (of: readonly JsonObject[], sides: readonly JsonObject[], funded: readonly string[]): JsonObject =>
  replaced(settlement(of, []), "choiceArguments.allocations", [
    {
      allocationCid: "a0",
      extraTransferLegSides: [...sides],
      nextIterationFunding: Object.fromEntries(funded.map((id) => [id, "1.0"])),
    },
  ]);

const sides = (count: number) => upTo(count, () => side(bob));

const over = (count: number, what: string, maximum: number): string =>
  `the settlement has ${count} ${what}, but this registry supports at most ${maximum}`;

describe.each(restAndGrpc)("over %s", (_protocol, send) => {
  describe("at each default limit, and one above it", () => {
    const url = useRegistry(elements);
    const ask = async (body: JsonObject) => shortOutcome(await send(url(), settlementFactory(body)));
    const fits = { factoryId: "factory" };

    test("100 legs", async () => {
      expect(await ask(settlement(legs(100), allocations(1)))).toMatchObject(fits);
      expect(await ask(settlement(legs(101), allocations(1)))).toEqual(tooMany(101, 100, "legs"));
    });

    test("100 legs, extra sides included", async () => {
      expect(await ask(settling(legs(40), sides(60), []))).toMatchObject(fits);
      expect(await ask(settling(legs(40), sides(61), []))).toEqual(tooMany(101, 100, "legs"));
    });

    test("100 allocations, each counted once", async () => {
      expect(await ask(settlement(legs(1), allocations(100)))).toMatchObject(fits);
      expect(await ask(settlement(legs(1), [...allocations(100), "a0"]))).toMatchObject(fits);
      expect(await ask(settlement(legs(1), allocations(101)))).toEqual(tooMany(101, 100, "allocations"));
    });

    test("25 instruments", async () => {
      expect(await ask(settlement(instruments(25), allocations(1)))).toMatchObject(fits);
      expect(await ask(settlement(instruments(26), allocations(1)))).toEqual(tooMany(26, 25, "instruments"));
    });

    test("25 instruments, those of extra sides and funding included", async () => {
      expect(await ask(settling(instruments(23), [side(bob, "T23")], ["T24", "T0"]))).toMatchObject(fits);
      expect(await ask(settling(instruments(24), [side(bob, "T24")], ["T25"]))).toEqual(tooMany(26, 25, "instruments"));
    });

    test("200 parties, owners and providers alike", async () => {
      const fifty = upTo(50, (i) => leg(account(`a${i}`, `b${i}`), account(`c${i}`, `d${i}`), "T0"));
      expect(await ask(settlement(fifty, allocations(1)))).toMatchObject(fits);
      const oneMore = leg(account("a0", "b0"), account("a0", "e"), "T0");
      expect(await ask(settlement([...fifty, oneMore], allocations(1)))).toEqual(tooMany(201, 200, "parties"));
      expect(await ask(settling(fifty, [side(account("a0", "e"))], []))).toEqual(tooMany(201, 200, "parties"));
    });
  });

  test("several limits are all named, in the order of the documentation", async () => {
    const service = await serving(elements);
    const apartLegs = upTo(101, (i) => leg(apart(i), apart(i + 101), `T${i % 26}`));
    const outcome = await send(service.url, settlementFactory(settlement(apartLegs, allocations(101))));
    expect(shortOutcome(outcome)).toEqual({
      code: "InvalidArgument",
      message: [
        over(101, "legs", 100),
        over(101, "allocations", 100),
        over(26, "instruments", 25),
        over(202, "accounts", 200),
        over(404, "parties", 200),
      ].join("; "),
    });
  });

  // 100 legs have at most 200 accounts: this limit needs a registry that allows more legs.
  describe("200 accounts", () => {
    const url = useRegistry(elements, { config: { maxLegs: 101 } });
    const ask = async (body: JsonObject) => shortOutcome(await send(url(), settlementFactory(body)));

    test("distinguished by their ids too", async () => {
      expect(await ask(settlement(pairs(100), allocations(1)))).toMatchObject({ factoryId: "factory" });
      expect(await ask(settlement(pairs(101), allocations(1)))).toEqual(tooMany(202, 200, "accounts"));
    });

    test("those of extra sides included", async () => {
      const other = side(account("alice", null, "another"));
      expect(await ask(settling(pairs(100), [side(account("alice", null, "0"))], []))).toMatchObject({
        factoryId: "factory",
      });
      expect(await ask(settling(pairs(100), [other], []))).toEqual(tooMany(201, 200, "accounts"));
    });
  });
});

describe("raised limits", () => {
  test("allow as much, and no more", async () => {
    const wider = await serving(elements, { config: { maxLegs: 150, maxAllocations: 101, maxInstruments: 26 } });
    const ask = async (legsThen: JsonObject[], count: number) =>
      short(await wider.post(settlementFactoryPath(), settlement(legsThen, allocations(count))));
    expect(await ask(legs(150), 101)).toMatchObject({ factoryId: "factory" });
    expect(await ask(instruments(26), 1)).toMatchObject({ factoryId: "factory" });
    expect(await ask(legs(151), 1)).toEqual(failure(400, "has 151 legs", "at most 150"));
    expect(await ask(legs(1), 102)).toEqual(failure(400, "has 102 allocations", "at most 101"));
  });
});
