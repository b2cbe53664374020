/** The limits of a settlement: each, and one above it. */
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/util/json.js";
import { settlementFactory } from "../fixtures/calls/operations.js";
import { element, payload, requirement } from "../fixtures/elements.js";
import { registryOf } from "../fixtures/registries.js";
import { account, leg, legSide, replaced, settlement } from "../fixtures/requests.js";
import { ask, type Rules, rulesOn } from "../fixtures/rules.js";

const [alice, bob] = [account("alice"), account("bob")];
const side = (otherside: JsonObject, instrumentId: string): JsonObject => ({
  ...legSide("ReceiverSide", instrumentId),
  otherside,
});
const settle = (legs: readonly JsonObject[], ids: readonly string[], of: Rules) =>
  of.ask(settlementFactory(settlement(legs, ids)));

const upTo = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
/** An account with its own owner and provider. */
const apart = (i: number): JsonObject => account(`owner-${i}`, `bank-${i}`, `${i}`);
const over = (count: number, what: string, maximum: number): string =>
  `the settlement has ${count} ${what}, but this registry supports at most ${maximum}`;

/** A settlement whose allocation has extra sides, and funds instruments. */
const extra = (of: readonly JsonObject[], sides: readonly JsonObject[], funded: readonly string[] = []): JsonObject =>
  replaced(settlement(of, []), "choiceArguments.allocations", [
    {
      allocationCid: "a0",
      extraTransferLegSides: [...sides],
      nextIterationFunding: Object.fromEntries(funded.map((id) => [id, "1.0"])),
    },
  ]);

/** Instruments T0 to T25 without requirements, and allocations of T0. */
const many = [
  ...registryOf({}, ...upTo(26, (i) => element("InstrumentConfiguration", `t${i}`, payload.configuration(`T${i}`)))),
  ...upTo(102, (i) => element("DvpLegAllocation", `a${i}`, payload.allocation("alice", "bob", "T0", "locked"))),
  element("Holding", "locked", payload.lockedHolding("alice", "T0")),
];
const limited = rulesOn(many);
const ids = (count: number): string[] => upTo(count, (i) => `a${i}`);
const legs = (count: number) => upTo(count, () => leg(alice, bob, "T0"));
const instruments = (count: number) => upTo(count, (i) => leg(alice, bob, `T${i}`));
const fifty = upTo(50, (i) => leg(account(`a${i}`, `b${i}`), account(`c${i}`, `d${i}`), "T0"));
/** Legs between pairs of accounts that differ only in their ids. */
const pairs = (count: number) =>
  upTo(count, (i) => leg(account("alice", null, `${i}`), account("bob", null, `${i}`), "T0"));
const plain = (of: readonly JsonObject[], count = 1): JsonObject => settlement(of, ids(count));
// 100 legs have at most 200 accounts: this limit needs a registry that allows more legs.
const wide = rulesOn(many, { limits: { legs: 101 } });

test.each<[string, Rules, fits: JsonObject, exceeds: JsonObject, message: string]>([
  ["legs", limited, plain(legs(100)), plain(legs(101)), over(101, "legs", 100)],
  [
    "legs, extra sides included",
    limited,
    extra(
      legs(40),
      upTo(60, () => side(bob, "T0")),
    ),
    extra(
      legs(40),
      upTo(61, () => side(bob, "T0")),
    ),
    over(101, "legs", 100),
  ],
  [
    "allocations",
    limited,
    settlement(legs(1), [...ids(100), "a0"]),
    plain(legs(1), 101),
    over(101, "allocations", 100),
  ],
  ["instruments", limited, plain(instruments(25)), plain(instruments(26)), over(26, "instruments", 25)],
  [
    "instruments, of extra sides and funding too",
    limited,
    extra(instruments(23), [side(bob, "T23")], ["T24", "T0"]),
    extra(instruments(24), [side(bob, "T24")], ["T25"]),
    over(26, "instruments", 25),
  ],
  [
    "parties, owners and providers alike",
    limited,
    plain(fifty),
    plain([...fifty, leg(account("a0", "b0"), account("a0", "e"), "T0")]),
    over(201, "parties", 200),
  ],
  [
    "parties, of extra sides too",
    limited,
    plain(fifty),
    extra(fifty, [side(account("a0", "e"), "T0")]),
    over(201, "parties", 200),
  ],
  ["accounts, by their ids too", wide, plain(pairs(100)), plain(pairs(101)), over(202, "accounts", 200)],
  [
    "accounts, of extra sides too",
    wide,
    extra(pairs(100), [side(account("alice", null, "0"), "T0")]),
    extra(pairs(100), [side(account("alice", null, "another"), "T0")]),
    over(201, "accounts", 200),
  ],
])("%s", async (_what, of, fits, exceeds, text) => {
  expect(await of.ask(settlementFactory(fits))).toMatchObject({ factoryId: "factory" });
  expect(await of.ask(settlementFactory(exceeds))).toEqual({ status: 400, message: text });
});

test("limits that are exceeded are all named, in the order of the documentation", async () => {
  const apartLegs = upTo(101, (i) => leg(apart(i), apart(i + 101), `T${i % 26}`));
  const texts = [
    over(101, "legs", 100),
    over(101, "allocations", 100),
    over(26, "instruments", 25),
    over(202, "accounts", 200),
    over(404, "parties", 200),
  ];
  expect(await settle(apartLegs, ids(101), limited)).toEqual({ status: 400, message: texts.join("; ") });
});

test("limits can be raised", async () => {
  const wider = rulesOn(many, { limits: { legs: 150, allocations: 101, instruments: 26 } });
  expect(await settle(legs(150), ids(101), wider)).toMatchObject({ factoryId: "factory" });
  expect(await settle(instruments(26), ids(1), wider)).toMatchObject({ factoryId: "factory" });
  expect(await settle(legs(151), ids(1), wider)).toEqual({ status: 400, message: over(151, "legs", 150) });
});

test("they allow the worst case that every registry has to support", async () => {
  const configured = upTo(25, (i) => {
    const holderRequirements = [requirement([`holds=T${i}`])];
    return element("InstrumentConfiguration", `t${i}`, payload.configuration(`T${i}`, { holderRequirements }));
  });
  const held = upTo(50, (i) => {
    const [owner, instrument] = [`owner-${i}`, `T${i % 25}`];
    return [
      element("Credential", `credential${i}`, payload.credential(owner, [`holds=${instrument}`])),
      element("DvpLegAllocation", `a${i}`, payload.allocation(owner, "other", instrument, `locked${i}`)),
      element("Holding", `locked${i}`, payload.lockedHolding(owner, instrument)),
    ];
  });
  const call = settlementFactory(
    settlement(
      upTo(25, (i) => leg(apart(i), apart(i + 25), `T${i}`)),
      ids(50),
    ),
  );
  const { disclosed } = await ask(registryOf({}, ...configured, ...held.flat()), call);
  // 25 configurations, 50 each of credentials, allocations and holdings; factory and rule.
  expect(disclosed).toHaveLength(25 + 3 * 50 + 2);
});
