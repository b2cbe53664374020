import { describe, expect, test } from "vitest";
import { compactClone } from "../../../src/store/memory/compact-clone.js";
import { MemoryStore } from "../../../src/store/memory/memory-store.js";
import type { Contract } from "../../../src/domain/contract.js";
import { apple, byLabel, fruit } from "../../fixtures/fruits.js";

/** More than the hot-contract cache holds. */
const MANY = 10_000;
const long = "00".repeat(100);
const withoutKeys = (id: string): Contract => fruit(id, { labels: [] });

describe("a compact clone", () => {
  test("equals the original, with empty slots", () => {
    const given = fruit(long, { name: long, synchronizerId: undefined, reassignmentCounter: 7 });
    const made = compactClone(given);
    expect(made).toStrictEqual({ ...given, slots: [] });
    expect(made.fields).not.toBe(given.fields);
  });

  test.each([
    ["strings with lone surrogates", { text: `\ud800${long}\udc00` }],
    ["strings beyond ASCII", { text: `é\u2028\u0000😀"\\${long}` }],
    ["undefined and null", { there: 1, not: undefined, neither: null }],
    ["lists, objects and functions", { list: [long], inner: { long }, use: () => long }],
    ["names that objects inherit", JSON.parse('{"__proto__": {"a": 1}, "constructor": "b"}')],
    ["null itself", null],
    ["a string", long],
    ["a list", [long, 1n]],
  ])("keeps its fields: %s", (_what, fields: unknown) => {
    const made = compactClone({ ...withoutKeys("a"), fields });
    expect(made.fields).toStrictEqual(fields);
    // Object() wraps primitives.
    expect(Object.getPrototypeOf(Object(made.fields))).toBe(Object.getPrototypeOf(Object(fields)));
    expect(Reflect.ownKeys(Object(made.fields) as object)).toEqual(Reflect.ownKeys(Object(fields) as object));
  });

  test("shares fields that are a class instance, which may have private state", () => {
    class Fields {
      readonly #name = long;
      get name() {
        return this.#name;
      }
    }
    const fields = new Fields();
    expect(compactClone({ ...withoutKeys("a"), fields }).fields).toBe(fields);
  });
});

describe("a memory store", () => {
  test("returns the same object with its slots, however much is read in between", async () => {
    const store = new MemoryStore();
    const ids = Array.from({ length: MANY }, (_, index) => `00${index}`);
    await store.replace(ids.map(withoutKeys), 1);
    const readAll = () => store.read((view) => ids.map((id) => view.byId(apple, id)));
    const first = readAll();
    for (const [index, one] of first.entries()) if (one !== undefined) one.slots = [index];
    await store.apply([{ archived: "000" }, { active: fruit("new") }], 2);
    for (const [index, one] of readAll().entries()) {
      expect(one).toBe(index === 0 ? undefined : first[index]);
      expect(one?.slots).toEqual(index === 0 ? undefined : [index]);
    }
  });

  test("does not clone contracts in a view that has listed them", async () => {
    const store = new MemoryStore();
    const given = withoutKeys("a");
    await store.replace([given], 1);
    const [listed, found] = store.read((view) => [view.all(apple)[0], view.byId(apple, "a")]);
    expect(listed).toBe(given);
    expect(found).toBe(given);
    const other = withoutKeys("b");
    await store.apply([{ active: other }], 2);
    const made = store.read((view) => view.byId(apple, "b"));
    expect(made).not.toBe(other);
    expect(store.read((view) => view.all(apple).find(({ contractId }) => contractId === "b"))).toBe(made);
  });

  test("does not clone a contract with index keys", async () => {
    const store = new MemoryStore();
    const given = fruit("a", { labels: ["red"] });
    await store.replace([given], 1);
    expect(store.read((view) => view.byId(apple, "a"))).toBe(given);
    expect(store.read((view) => view.byKey(apple, byLabel("red")))).toEqual([given]);
  });

  test("does not change the original", async () => {
    const given = withoutKeys("a");
    const before = structuredClone({ ...given, template: null });
    const store = new MemoryStore();
    await store.replace([given], 1);
    const made = store.read((view) => view.byId(apple, "a"));
    expect(made).not.toBe(given);
    if (made !== undefined) made.slots = ["something"];
    expect({ ...given, template: null }).toEqual(before);
  });
});
