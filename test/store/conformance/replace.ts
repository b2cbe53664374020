import { describe, expect, test } from "vitest";
import type { Contract } from "../../../src/domain/contract.js";
import { apple, pear, byLabel, contract, idsOf, toList, namesOf } from "./fixtures.js";
import type { Subject } from "./subject.js";

function* truncated() {
  yield contract(apple, "b");
  throw new Error("the file ends here");
}

export function replaceCases({ store, read, found }: Subject): void {
  describe("replace", () => {
    test("removes the previous state", async () => {
      await store.writer.replace([contract(apple, "a", { labels: ["red"] }), contract(pear, "c")], 5);
      await store.writer.replace([contract(apple, "b", { labels: ["green"] })], 6);
      expect(await found(apple, { id: "a" })).toEqual([]);
      expect(await found(apple, { label: "red" })).toEqual([]);
      expect(await found(apple, undefined)).toEqual(["b"]);
      expect(await found(pear, undefined)).toEqual([]);
    });

    test("stores the new version of a contract", async () => {
      await store.writer.replace([contract(apple, "a", { labels: ["red"], name: "old" })], 5);
      await store.writer.replace([contract(apple, "a", { labels: ["green"], name: "new" })], 5);
      expect(await found(apple, { label: "red" })).toEqual([]);
      const names = await read((view) =>
        namesOf([...toList(view.byId(apple, "a")), ...view.byKey(apple, byLabel("green"))]),
      );
      expect(names).toEqual(["new", "new"]);
    });

    test("iterates once over any iterable", async () => {
      let times = 0;
      function* contracts() {
        times++;
        yield contract(apple, "a");
        yield contract(apple, "b");
      }
      await store.writer.replace(contracts(), 5);
      expect(await found(apple, undefined)).toEqual(["a", "b"]);
      expect(times).toBe(1);
    });

    test("accepts a lower offset, as after a restore of the ledger", async () => {
      await store.writer.replace([], 9);
      await store.writer.replace([contract(apple, "a")], 4);
      expect(await read((view) => [view.offset, idsOf(view.all(apple))])).toEqual([4, ["a"]]);
    });

    test.each<[string, Contract[]]>([
      ["in a row", [contract(apple, "new", { labels: ["red"] }), contract(apple, "b"), contract(apple, "b")]],
      ["far apart", [contract(apple, "b"), contract(apple, "new", { labels: ["red"] }), contract(apple, "b")]],
      [
        "in different templates",
        [contract(apple, "b"), contract(apple, "new", { labels: ["red"] }), contract(pear, "b")],
      ],
    ])("throws if a contract id appears twice, %s, and keeps the old state", async (_where, twice) => {
      await store.writer.replace([contract(apple, "a", { labels: ["red"] })], 5);
      await expect(store.writer.replace(twice, 6)).rejects.toThrow(Error);
      expect(await read((view) => view.offset)).toBe(5);
      expect(await found(apple, undefined)).toEqual(["a"]);
      expect(await found(apple, { label: "red" })).toEqual(["a"]);
      expect(await found(apple, { id: "new" })).toEqual([]);
      expect(await found(pear, { id: "b" })).toEqual([]);
      await store.writer.replace([contract(apple, "b")], 7);
      expect(await found(apple, undefined)).toEqual(["b"]);
    });

    test("keeps the old state if the iterable throws", async () => {
      await store.writer.replace([contract(apple, "a")], 5);
      await expect(store.writer.replace(truncated(), 6)).rejects.toThrow("the file ends here");
      expect(await read((view) => [view.offset, idsOf(view.all(apple))])).toEqual([5, ["a"]]);
    });
  });
}
