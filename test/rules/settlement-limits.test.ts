import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { account, leg, settlement, settlementFactory } from "../fixtures/requests.js";
import { disclosedBy, failure, short } from "../fixtures/context.js";
import { element, payload, requirement } from "../fixtures/elements.js";
import { registryOf, serving } from "../fixtures/registries.js";
import { type Running, serve } from "../fixtures/run-service.js";

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

let running: Running;
beforeAll(async () => {
  running = await serve(elements);
});
afterAll(() => running.close());

const statusOf = async (body: JsonObject) => (await running.post(settlementFactory(), body)).status;
const tooMany = (limit: number, what: string): JsonObject => failure(400, ` ${limit}`, what);

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
  const answer = await worst.post(settlementFactory(), body);
  // 25 configurations, 50 each of credentials, allocations and holdings; factory and rule.
  expect(disclosedBy(answer)).toHaveLength(25 + 3 * 50 + 2);
});

describe("at each default limit, and one above it", () => {
  test("100 legs", async () => {
    expect(await statusOf(settlement(legs(100), allocations(1)))).toBe(200);
    const answer = await running.post(settlementFactory(), settlement(legs(101), allocations(1)));
    expect(short(answer)).toEqual(tooMany(100, "legs"));
  });

  test("100 allocations", async () => {
    expect(await statusOf(settlement(legs(1), allocations(100)))).toBe(200);
    const answer = await running.post(settlementFactory(), settlement(legs(1), allocations(101)));
    expect(short(answer)).toEqual(tooMany(100, "allocations"));
  });

  test("25 instruments", async () => {
    expect(await statusOf(settlement(instruments(25), allocations(1)))).toBe(200);
    const answer = await running.post(settlementFactory(), settlement(instruments(26), allocations(1)));
    expect(short(answer)).toEqual(tooMany(25, "instruments"));
  });

  test("200 parties, owners and providers alike", async () => {
    const fifty = upTo(50, (i) => leg(account(`a${i}`, `b${i}`), account(`c${i}`, `d${i}`), "T0"));
    const oneMore = leg(account("a0", "b0"), account("a0", "e"), "T0");
    expect(await statusOf(settlement(fifty, allocations(1)))).toBe(200);
    const answer = await running.post(settlementFactory(), settlement([...fifty, oneMore], allocations(1)));
    expect(short(answer)).toEqual(tooMany(200, "parties"));
  });

  // 100 legs have at most 200 accounts: this limit needs a registry that allows more legs.
  test("200 accounts, distinguished by their ids too", async () => {
    const wider = await serving(elements, { config: { maxLegs: 101 } });
    const ask = (count: number) => wider.post(settlementFactory(), settlement(pairs(count), allocations(1)));
    expect(await ask(100)).toMatchObject({ status: 200 });
    expect(short(await ask(101))).toEqual(tooMany(200, "accounts"));
  });
});

describe("raised limits", () => {
  test("allow as much, and no more", async () => {
    const wider = await serving(elements, { config: { maxLegs: 150, maxAllocations: 101, maxInstruments: 26 } });
    const ask = async (legsThen: JsonObject[], count: number) =>
      short(await wider.post(settlementFactory(), settlement(legsThen, allocations(count))));
    expect(await ask(legs(150), 101)).toMatchObject({ factoryId: "factory" });
    expect(await ask(instruments(26), 1)).toMatchObject({ factoryId: "factory" });
    expect(await ask(legs(151), 1)).toEqual(tooMany(150, "legs"));
    expect(await ask(legs(1), 102)).toEqual(tooMany(101, "allocations"));
  });
});
