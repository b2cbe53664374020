import { describe, expect, test } from "vitest";
import { apple, contract, idsOf, active } from "./fixtures.js";
import type { Subject } from "./subject.js";

export function asOfCases({ store, read, asOf }: Subject): void {
  describe("asOf", () => {
    test("is the time given with the state", async () => {
      await store.writer.replace([], 5, 1_767_603_600_123_456);
      expect(await asOf()).toBe(1_767_603_600_123_456);
      await store.writer.replace([], 6, 0);
      expect(await asOf()).toBe(0);
    });

    test("is undefined if a state is given without a time", async () => {
      await store.writer.replace([], 5);
      expect(await asOf()).toBeUndefined();
      await store.writer.replace([], 6, 60);
      await store.writer.replace([], 7);
      expect(await asOf()).toBeUndefined();
    });

    test("is the time given with the latest update, even without changes", async () => {
      await store.writer.replace([], 5);
      await store.writer.apply([active("a")], 6, 60);
      expect(await asOf()).toBe(60);
      await store.writer.apply([], 7, 70);
      expect(await asOf()).toBe(70);
    });

    test("is kept by an update without a time", async () => {
      await store.writer.replace([], 5, 50);
      await store.writer.apply([active("a")], 6);
      expect(await asOf()).toBe(50);
      await store.writer.apply([], 7, 70);
      await store.writer.apply([{ archived: "a" }], 8);
      expect(await asOf()).toBe(70);
    });

    test("ignores an update at or below the offset", async () => {
      await store.writer.replace([], 5, 50);
      await store.writer.apply([active("a")], 5, 70);
      await store.writer.apply([active("a")], 4, 80);
      expect(await asOf()).toBe(50);
    });

    test("belongs to the state of the view", async () => {
      await store.writer.replace([contract(apple, "a")], 5, 50);
      const [seen] = await Promise.all([
        read((view) => [view.offset, view.asOf, idsOf(view.all(apple))]),
        store.writer.replace([], 6, 60),
      ]);
      expect([
        [5, 50, ["a"]],
        [6, 60, []],
      ]).toContainEqual(seen);
    });
  });
}
