/** Bodies by id: how they are fetched, and what is kept. */
import { beforeEach, describe, expect, test } from "vitest";
import { bodyOf, type Contract, memoizeByContract, peekBody } from "../../src/domain/contract.js";
import { Bodies } from "../../src/state/bodies.js";
import type { FetchedBodies } from "../../src/state/log.js";
import { StateMovedOn, StoreUnavailable } from "../../src/state/port.js";
import { fruit } from "../fixtures/fruits.js";

const STATE = { generation: "7", offset: 10 };
const HEAD = { generation: 7, offset: 10, updateId: undefined };
const encode = memoizeByContract((_contract, { payload }) => payload.repeat(100));

/** A contract of a follower: without its body. */
function indexed(contractId: string): Contract {
  const { body: _body, ...contract } = fruit(contractId);
  return contract;
}

/** A log whose statements are answered by the test. */
class AskedLog {
  readonly asked: string[][] = [];
  /** Of each statement. */
  readonly generations: number[] = [];
  readonly #answers: ((answer: FetchedBodies | Error) => void)[] = [];

  bodies(contractIds: readonly string[], generation: number): Promise<FetchedBodies> {
    this.asked.push([...contractIds]);
    this.generations.push(generation);
    return new Promise((resolve, reject) =>
      this.#answers.push((answer) => (answer instanceof Error ? reject(answer) : resolve(answer))),
    );
  }

  /** Answers the oldest statement, by default with a body for each id. */
  async answer(answer?: FetchedBodies | Error): Promise<void> {
    const ids = this.asked[this.asked.length - this.#answers.length] ?? [];
    const bodies = new Map(ids.map((id) => [id, { payload: `{"id":"${id}"}`, views: "", createdEventBlob: "AAAA" }]));
    this.#answers.shift()?.(answer ?? { head: HEAD, bodies });
    await settle();
  }
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe("bodies", () => {
  let log: AskedLog;
  let missing: (readonly string[])[];

  beforeEach(() => {
    log = new AskedLog();
    missing = [];
  });

  const create = (maxBytes = 1_000_000) =>
    new Bodies({ log, maxBytes, onMissing: (ids) => missing.push(ids), moveOn: async () => undefined });

  test("are fetched once, whoever waits for them, and then at hand", async () => {
    const bodies = create();
    const [a, b] = [indexed("a"), indexed("b")];
    expect(bodies.has([a])).toBe(false);
    const first = bodies.take([a, b], STATE);
    const second = bodies.take([b], STATE);
    await settle();
    expect(log.asked).toEqual([["a", "b"]]);
    await log.answer();
    (await first)();
    (await second)();
    expect(bodyOf(a).payload).toBe('{"id":"a"}');
    expect(bodies.has([a, b])).toBe(true);
    expect(log.asked).toHaveLength(1);
  });

  test("of two generations are asked for in two statements", async () => {
    const bodies = create();
    const later = { generation: "8", offset: 3 };
    const asked: readonly [readonly string[], typeof later][] = [
      [["a", "b"], STATE],
      [["b", "c"], later],
      [["d"], STATE],
    ];
    const taken = Promise.allSettled(asked.map(([ids, state]) => bodies.take(ids.map(indexed), state)));
    await settle();
    await log.answer();
    await log.answer({ head: { ...HEAD, generation: 8, offset: 3 }, bodies: new Map() });
    await log.answer();
    expect(log.asked).toEqual([["a", "b"], ["b", "c"], ["d"]]);
    expect(log.generations).toEqual([7, 8, 7]);
    expect((await taken).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(missing).toEqual([["b", "c"]]);
  });

  test("of 1,200 contracts are three statements, two of them under way", async () => {
    const bodies = create();
    const contracts = Array.from({ length: 1_200 }, (_, index) => indexed(`c${index}`));
    const taken = bodies.take(contracts, STATE);
    await settle();
    expect(log.asked.map((ids) => ids.length)).toEqual([500, 500]);
    await log.answer();
    expect(log.asked.map((ids) => ids.length)).toEqual([500, 500, 200]);
    await log.answer();
    await log.answer();
    (await taken)();
    expect(bodies.has(contracts)).toBe(true);
  });

  test("that were not used for longest are dropped, with their encodings", async () => {
    const bodies = create(6_000);
    const contracts = ["a", "b", "c"].map(indexed);
    for (const contract of contracts) {
      const taken = bodies.take([contract], STATE);
      await settle();
      await log.answer();
      (await taken)();
      encode(contract);
      bodies.used([contract]);
      bodies.has(contracts.slice(0, 1));
    }
    const areKept = () => contracts.map((contract) => peekBody(contract) !== undefined);
    expect(areKept()).toEqual([true, true, true]);
    const more = [indexed("d"), indexed("e")];
    const taken = bodies.take(more, STATE);
    await settle();
    await log.answer();
    (await taken)();
    bodies.used(more);
    // Five bodies fit, without so many encodings.
    expect(areKept()).toEqual([true, true, true]);
    for (const contract of more) encode(contract);
    bodies.used(more);
    expect(areKept()).toEqual([true, false, true]);
    expect(bodies.bytes).toBeLessThanOrEqual(6_000);
  });

  test("are given to who has waited, although others have had them dropped meanwhile", async () => {
    const bodies = create(500);
    const [a, b, c] = [indexed("a"), indexed("b"), indexed("c")];
    const first = bodies.take([a], STATE);
    await settle();
    await log.answer();
    (await first)();
    bodies.used([a]);
    // `a` is at hand when this one asks, and dropped before its other body comes.
    const waiting = bodies.take([a, b], STATE);
    const other = bodies.take([c], STATE);
    await settle();
    await log.answer();
    const give = await waiting;
    (await other)();
    bodies.used([c]);
    expect(peekBody(a)).toBeUndefined();
    give();
    expect([bodyOf(a).payload, bodyOf(b).payload]).toEqual(['{"id":"a"}', '{"id":"b"}']);
    bodies.used([a, b]);
    expect(bodies.bytes).toBeLessThanOrEqual(500);
  });

  test.each([
    ["a later offset", { ...HEAD, offset: 11 }],
    ["another generation", { ...HEAD, generation: 8, offset: 3 }],
    ["no state", undefined],
  ])("that are gone say that the state has moved on, where the log is at %s", async (_name, head) => {
    const taken = create()
      .take([indexed("a")], STATE)
      .catch((error: unknown) => error);
    await settle();
    await log.answer({ head, bodies: new Map() });
    expect(await taken).toBeInstanceOf(StateMovedOn);
    expect(missing).toEqual([]);
  });

  test("that an active contract does not have are an incident", async () => {
    const taken = create()
      .take([indexed("a"), indexed("b")], STATE)
      .catch((error: unknown) => error);
    await settle();
    await log.answer({ head: HEAD, bodies: new Map([["a", { payload: "{}", views: "", createdEventBlob: "" }]]) });
    expect(await taken).toBeInstanceOf(StoreUnavailable);
    expect(missing).toEqual([["b"]]);
  });

  test("of a log that fails are asked for again by the next", async () => {
    const bodies = create();
    const contract = indexed("a");
    const lost = bodies.take([contract], STATE).catch((error: unknown) => error);
    await settle();
    await log.answer(new StoreUnavailable("down"));
    expect(await lost).toMatchObject({ message: "down" });
    const taken = bodies.take([contract], STATE);
    await settle();
    await log.answer();
    (await taken)();
    expect(bodies.has([contract])).toBe(true);
  });

  test("are refused where more wait than the memory allows", async () => {
    const bodies = create();
    const ask = (from: number, count: number) =>
      bodies.take(
        Array.from({ length: count }, (_, index) => indexed(`c${from + index}`)),
        STATE,
      );
    const waiting = [ask(0, 1_000)];
    await settle();
    waiting.push(ask(1_000, 10_000));
    await expect(ask(20_000, 1)).rejects.toThrow("10,000 contracts wait");
    await settle();
    while (log.asked.length < 22) await log.answer();
    await log.answer();
    await log.answer();
    for (const taken of waiting) (await taken)();
  });
});
