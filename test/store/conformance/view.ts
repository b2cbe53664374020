import { describe, expect, test } from "vitest";
import type { View } from "../../../src/store/port.js";
import {
  apple,
  pear,
  otherApple,
  plum,
  byLabel,
  contract,
  createdAt,
  threeContracts,
  lookups,
  idsOf,
  namesOf,
  lookUp,
  lookUpAll,
  unassigned,
  countedOnly,
  supply,
  type Lookup,
} from "./fixtures.js";
import type { Subject } from "./subject.js";

/** Alternates between lookups by id and by label. */
const alternate = (id: string, index: number): Lookup["by"] => (index % 2 === 0 ? { id } : { label: id });

/** Throws, or returns another text, where a contract is missing. */
function readBoth(view: View): string {
  if (view.byId(apple, "a") === undefined) throw new Error("a is missing");
  return view.byId(apple, "b")?.contractId ?? "b is missing";
}

/** The result in a list; an empty list if `use` throws. */
function resultOrNone<T>(use: () => T): T[] {
  try {
    return [use()];
  } catch {
    return [];
  }
}

export function viewCases({ store, read, found }: Subject): void {
  describe("a view", () => {
    test("has the offset of its state", async () => {
      for (const offset of [0, 1, 4_294_967_296, 900_719_925_474]) {
        await store.writer.replace([], offset);
        expect(await read((view) => view.offset)).toBe(offset);
      }
    });

    test("finds a contract by id and by each index key", async () => {
      await store.writer.replace([contract(apple, "a", { labels: ["red", "sweet"] }), contract(apple, "b")], 5);
      expect(await found(apple, { id: "a" })).toEqual(["a"]);
      expect(await found(apple, { label: "red" })).toEqual(["a"]);
      expect(await found(apple, { label: "sweet" })).toEqual(["a"]);
      expect(await found(apple, { id: "b" })).toEqual(["b"]);
    });

    test("finds nothing that does not exist", async () => {
      await store.writer.replace([contract(apple, "a", { labels: ["red"] })], 5);
      expect(await found(apple, { id: "b" })).toEqual([]);
      expect(await found(apple, { id: "" })).toEqual([]);
      expect(await found(apple, { id: "A" })).toEqual([]);
      expect(await found(apple, { label: "green" })).toEqual([]);
      expect(await found(apple, { label: "re" })).toEqual([]);
      expect(await found(apple, { label: "a" })).toEqual([]);
      expect(await found(plum, undefined)).toEqual([]);
    });

    test("does not find a contract of another template by its id or key", async () => {
      const state = [contract(apple, "a", { labels: ["red"] }), contract(otherApple, "o", { labels: ["red"] })];
      await store.writer.replace(state, 5);
      expect(await found(pear, { id: "a" })).toEqual([]);
      expect(await found(otherApple, { id: "a" })).toEqual([]);
      expect(await found(pear, { label: "red" })).toEqual([]);
      expect(await found(apple, { label: "red" })).toEqual(["a"]);
      expect(await found(otherApple, { label: "red" })).toEqual(["o"]);
      expect(await found(apple, undefined)).toEqual(["a"]);
      expect(await found(pear, undefined)).toEqual([]);
    });

    test("lists contracts newest first, then by ascending id", async () => {
      const newest = 1_767_600_000_000_002;
      const state = [
        createdAt("m", newest - 1),
        createdAt("b", newest),
        createdAt("oldest", newest - 2),
        createdAt("a", newest),
        createdAt("B", newest),
        createdAt("10", newest),
        createdAt("9", newest),
        createdAt("a-", newest),
        createdAt("aa", newest),
        createdAt("ancient", -1),
      ];
      const order = ["10", "9", "B", "a", "a-", "aa", "b", "m", "oldest", "ancient"];
      for (const given of [state, state.toReversed()]) {
        await store.writer.replace(given, 5);
        expect(await found(apple, { label: "red" })).toEqual(order);
        expect(await found(apple, undefined)).toEqual(order);
      }
    });

    test("returns undefined for an unknown id and an empty list for an unknown key", async () => {
      await store.writer.replace([contract(apple, "a", { labels: ["red"] })], 5);
      const nothing = await read((view) => ({
        byId: [view.byId(apple, "b"), view.byId(pear, "a")],
        byKey: [view.byKey(apple, byLabel("green")), view.byKey(pear, byLabel("red"))],
        all: view.all(pear),
      }));
      expect(nothing).toEqual({ byId: [undefined, undefined], byKey: [[], []], all: [] });
    });

    test("returns the same object for every lookup of a contract", async () => {
      const state = [contract(apple, "a", { labels: ["red", "sweet"] }), contract(apple, "b"), contract(pear, "c")];
      await store.writer.replace(state, 5);
      const variants: ((view: View) => unknown)[] = [
        (view) => [view.byId(apple, "a"), view.byId(apple, "b"), view.byId(pear, "c")],
        (view) => [...view.byKey(apple, byLabel("red")), view.byId(apple, "b"), ...view.all(pear)],
        (view) => [...view.byKey(apple, byLabel("sweet")), view.all(apple).at(-1), ...view.all(pear)],
      ];
      for (const first of variants) {
        await store.writer.replace(state, 5);
        const [expected, ...others] = await read((view) =>
          [first, ...variants].map((variant) => variant(view) as unknown[]),
        );
        for (const other of others)
          for (const [index, actual] of other.entries()) expect(actual).toBe(expected?.[index]);
      }
    });

    test("answers repeated lookups", async () => {
      await store.writer.replace(threeContracts, 5);
      const answers = await read(lookUpAll);
      expect(answers).toEqual(lookups.map(({ ids }) => ids));
    });

    test("answers lookups that depend on other results", async () => {
      await store.writer.replace(threeContracts, 5);
      const names = await read((view) =>
        view
          .byKey(apple, byLabel("sweet"))
          .flatMap(({ fields }) => fields.labels.map((label) => namesOf(view.byKey(pear, byLabel(label))))),
      );
      expect(names).toEqual([["c"], []]);
    });

    test("counts no run that lacked a contract, whatever it threw or returned", async () => {
      await store.writer.replace(threeContracts, 5);
      expect(await read(readBoth)).toBe("b");
      await store.writer.apply([{ archived: "a" }], 6);
      await expect(read(readBoth)).rejects.toThrow("a is missing");
    });

    test.each<[string, (view: View) => unknown, unknown]>([
      ["all", (view) => idsOf(view.all(pear)), ["c"]],
      ["wasArchived", (view) => view.wasArchived("c"), false],
      ["templateCounts", (view) => view.templateCounts().length, 2],
      ["sums", (view) => view.sums(["USD"]), [0n]],
    ])("does not answer %s, or what follows, in part", async (_what, use, expected) => {
      await store.writer.replace(threeContracts, 5);
      const swallowing = (view: View) => {
        const count = view.byKey(apple, byLabel("red")).length;
        try {
          return [count, use(view)];
        } catch {
          return "swallowed";
        }
      };
      expect(await read(swallowing)).toEqual([2, expected]);
    });

    test("answers a thousand lookups in one read", async () => {
      const ids = Array.from({ length: 1_000 }, (_, index) => `contract-${index}`);
      await store.writer.replace(
        ids.map((id) => contract(apple, id, { labels: [id] })),
        5,
      );
      const thousandLookups = ids.map((id, index): Lookup => ({ template: apple, by: alternate(id, index) }));
      const answers = await read((view) => thousandLookups.map((lookup) => lookUp(view, lookup)));
      expect(answers).toEqual(ids.map((id) => [id]));
    });

    test("returns contracts that later updates do not change", async () => {
      await store.writer.replace([createdAt("a", 2), createdAt("b", 1)], 5);
      const given = await read((view) => ({
        byId: view.byId(apple, "a"),
        byKey: view.byKey(apple, byLabel("red")),
        all: view.all(apple),
      }));
      await store.writer.apply([{ active: createdAt("c", 3) }, { archived: "b" }, unassigned("a", 1)], 6);
      await store.writer.replace([], 7);
      expect(given.byId).toEqual(createdAt("a", 2));
      expect(given.byKey).toEqual([createdAt("a", 2), createdAt("b", 1)]);
      expect(given.all).toEqual([createdAt("a", 2), createdAt("b", 1)]);
    });

    const uses: [string, (view: View) => unknown][] = [
      ["byId", (view) => view.byId(apple, "a")],
      ["byKey", (view) => view.byKey(apple, byLabel("red"))],
      ["all", (view) => view.all(apple)],
      ["wasArchived", (view) => view.wasArchived("a")],
      ["templateCounts", (view) => view.templateCounts()],
      ["sums", (view) => view.sums(["USD"])],
    ];

    test.each(uses)("throws when it is used after an update: %s", async (_what, use) => {
      await store.writer.replace([contract(apple, "a", { labels: ["red"] })], 5);
      const kept = await read((view) => view);
      await store.writer.apply([{ archived: "a" }, { active: createdAt("b", 1) }, { active: countedOnly("c", 5n) }], 6);
      expect(() => use(kept)).toThrow(Error);
      // A view of the new state works.
      await read(use);
    });

    test.each(uses)("does not show a later state: %s", async (_what, use) => {
      await store.writer.replace([contract(apple, "a", { labels: ["red"], more: supply(7n) })], 5);
      const [kept, before] = await read((view) => [view, use(view)] as const);
      await store.writer.replace([createdAt("b", 1), createdAt("c", 1), countedOnly("d", 5n)], 6);
      // It throws, or returns the old state.
      expect([[], [before]]).toContainEqual(resultOrNone(() => use(kept)));
    });

    test("distinguishes keys with any characters", async () => {
      const labels = ["", " ", "a", "A", "a ", "é", "e\u0301", "%", "_", "'", '"', "\\", "a/1:b", "\n", "😀", "a::b"];
      await store.writer.replace(
        labels.map((label, index) => contract(apple, `contract-${index}`, { labels: [label] })),
        5,
      );
      for (const [index, label] of labels.entries()) {
        expect({ label, ids: await found(apple, { label }) }).toEqual({ label, ids: [`contract-${index}`] });
      }
    });
  });
}
