import { describe, expect, test } from "vitest";
import { compactClone } from "../../../src/store/memory/compact-clone.js";
import { MemoryStore } from "../../../src/store/memory/memory-store.js";
import type { Contract } from "../../../src/domain/contract.js";
import { apple, byLabel, fruit } from "../../fixtures/fruits.js";

/** More than a store keeps as recently read. */
const MANY = 10_000;
const long = "00".repeat(100);
const unlisted = (id: string): Contract => fruit(id, { labels: [] });

describe("a contract that is made anew", () => {
  test("has the same fields, and a list for what will be derived of it", () => {
    const given = fruit(long, { name: long, synchronizerId: undefined, reassignmentCounter: 7 });
    const made = compactClone(given);
    expect(made).toStrictEqual({ ...given, slots: [] });
    expect(made.fields).not.toBe(given.fields);
  });

  test.each([
    ["text that two halves of characters stand in", { text: `\ud800${long}\udc00` }],
    ["text beyond ASCII", { text: `é\u2028\u0000😀"\\${long}` }],
    ["fields that are undefined", { there: 1, not: undefined, neither: null }],
    ["lists, objects and functions", { list: [long], inner: { long }, use: () => long }],
    ["a field of a name that objects have of their own", JSON.parse('{"__proto__": {"a": 1}, "constructor": "b"}')],
    ["nothing", null],
    ["a text", long],
    ["a list", [long, 1n]],
  ])("has the facts that it had: %s", (_what, fields: unknown) => {
    const made = compactClone({ ...unlisted("a"), fields });
    expect(made.fields).toStrictEqual(fields);
    // Of what is no object, the names and the prototype are those of the object that stands for it.
    expect(Object.getPrototypeOf(Object(made.fields))).toBe(Object.getPrototypeOf(Object(fields)));
    expect(Reflect.ownKeys(Object(made.fields) as object)).toEqual(Reflect.ownKeys(Object(fields) as object));
  });

  test("has the very facts where they are of a class, which may hold what nobody sees", () => {
    class Facts {
      readonly #name = long;
      get name() {
        return this.#name;
      }
    }
    const fields = new Facts();
    expect(compactClone({ ...unlisted("a"), fields }).fields).toBe(fields);
  });
});

describe("a store in memory", () => {
  test("gives the same contract for as long as it has it, with what is derived of it, however much is read between", async () => {
    const store = new MemoryStore();
    const ids = Array.from({ length: MANY }, (_, index) => `00${index}`);
    await store.replace(ids.map(unlisted), 1);
    const readAll = () => store.read((view) => ids.map((id) => view.byId(apple, id)));
    const first = readAll();
    for (const [index, one] of first.entries()) if (one !== undefined) one.slots = [index];
    await store.apply([{ archived: "000" }, { active: fruit("new") }], 2);
    for (const [index, one] of readAll().entries()) {
      expect(one).toBe(index === 0 ? undefined : first[index]);
      expect(one?.slots).toEqual(index === 0 ? undefined : [index]);
    }
  });

  test("makes nothing anew for whoever lists a kind, nor what that one asks for then", async () => {
    const store = new MemoryStore();
    const given = unlisted("a");
    await store.replace([given], 1);
    const [listed, asked] = store.read((view) => [view.all(apple)[0], view.byId(apple, "a")]);
    expect(listed).toBe(given);
    expect(asked).toBe(given);
    const other = unlisted("b");
    await store.apply([{ active: other }], 2);
    const made = store.read((view) => view.byId(apple, "b"));
    expect(made).not.toBe(other);
    expect(store.read((view) => view.all(apple).find(({ contractId }) => contractId === "b"))).toBe(made);
  });

  test("gives the contract that it was given where that stands in a list", async () => {
    const store = new MemoryStore();
    const given = fruit("a", { labels: ["red"] });
    await store.replace([given], 1);
    expect(store.read((view) => view.byId(apple, "a"))).toBe(given);
    expect(store.read((view) => view.byKey(apple, byLabel("red")))).toEqual([given]);
  });

  test("leaves the contract of which it made another as it was", async () => {
    const given = unlisted("a");
    const before = structuredClone({ ...given, template: null });
    const store = new MemoryStore();
    await store.replace([given], 1);
    const made = store.read((view) => view.byId(apple, "a"));
    expect(made).not.toBe(given);
    if (made !== undefined) made.slots = ["something"];
    expect({ ...given, template: null }).toEqual(before);
  });
});
