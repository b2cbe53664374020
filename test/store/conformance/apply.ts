import { describe, expect, test } from "vitest";
import { NotReady } from "../../../src/store/port.js";
import { apple, pear, contract, createdAt, active, unassigned, GROWER } from "./fixtures.js";
import type { Subject } from "./subject.js";

export function applyCases({ store, found, wasArchived, assignments }: Subject): void {
  describe("apply", () => {
    test("throws NotReady without a state", async () => {
      await expect(store.writer.apply([active("a")], 6)).rejects.toThrow(NotReady);
    });

    test("adds created contracts with their index keys, and removes archived ones", async () => {
      await store.writer.replace([contract(apple, "a", { labels: ["red"] }), contract(pear, "p")], 5);
      await store.writer.apply([active("b"), { archived: "a" }], 6);
      expect(await assignments()).toEqual({ offset: 6, at: { b: "sync-A" } });
      expect(await found(apple, { label: "red" })).toEqual(["b"]);
      expect(await found(apple, { id: "a" })).toEqual([]);
      expect(await found(pear, undefined)).toEqual(["p"]);
    });

    test("keeps lists in order", async () => {
      await store.writer.replace([createdAt("m", 2_000_000), createdAt("o", 1_000_000)], 5);
      await store.writer.apply([{ active: createdAt("n", 2_000_000) }, { active: createdAt("z", 3_000_000) }], 6);
      await store.writer.apply([{ active: createdAt("a", 1_500_000) }], 7);
      expect(await found(apple, { label: "red" })).toEqual(["z", "m", "n", "a", "o"]);
    });

    test("ignores an update at or below the offset", async () => {
      await store.writer.replace([contract(apple, "a")], 5);
      await store.writer.apply([{ archived: "a" }, active("b")], 5);
      await store.writer.apply([{ archived: "a" }, active("b")], 4);
      expect(await assignments()).toEqual({ offset: 5, at: { a: "sync-A" } });
      await store.writer.apply([active("b")], 6);
      await store.writer.apply([{ archived: "b" }], 6);
      expect(await assignments()).toEqual({ offset: 6, at: { a: "sync-A", b: "sync-A" } });
    });

    test("without changes moves the offset", async () => {
      await store.writer.replace([contract(apple, "a")], 5);
      await store.writer.apply([], 17);
      expect(await assignments()).toEqual({ offset: 17, at: { a: "sync-A" } });
    });

    test("follows a reassignment from one synchronizer to another", async () => {
      await store.writer.replace([contract(apple, "a", { labels: ["red"] })], 5);
      await store.writer.apply([unassigned("a", 1)], 6);
      expect(await assignments()).toEqual({ offset: 6, at: { a: undefined } });
      expect(await found(apple, { label: "red" })).toEqual(["a"]);
      await store.writer.apply([active("a", { synchronizerId: "sync-B", reassignmentCounter: 1 })], 7);
      expect(await assignments()).toEqual({ offset: 7, at: { a: "sync-B" } });
      expect(await found(apple, { label: "red" })).toEqual(["a"]);
    });

    test("accepts an assignment that arrives before the unassignment", async () => {
      await store.writer.replace([contract(apple, "a", { labels: ["red"] })], 5);
      await store.writer.apply([active("a", { synchronizerId: "sync-B", reassignmentCounter: 1 })], 6);
      await store.writer.apply([unassigned("a", 1)], 7);
      expect(await assignments()).toEqual({ offset: 7, at: { a: "sync-B" } });
      await store.writer.apply([active("a", { reassignmentCounter: 0 })], 8);
      expect(await assignments()).toEqual({ offset: 8, at: { a: "sync-B" } });
      await store.writer.apply([unassigned("a", 2)], 9);
      expect(await assignments()).toEqual({ offset: 9, at: { a: undefined } });
    });

    test("ignores changes to unknown contracts", async () => {
      await store.writer.replace([contract(apple, "a")], 5);
      await store.writer.apply([{ archived: "x" }, unassigned("y", 3)], 6);
      expect(await assignments()).toEqual({ offset: 6, at: { a: "sync-A" } });
    });

    test("is atomic for readers", async () => {
      await store.writer.replace([contract(apple, "0")], 0);
      const progress = { isOver: false };
      const writing = (async () => {
        for (let offset = 1; offset <= 300; offset++) {
          await store.writer.apply([{ archived: String(offset - 1) }, active(String(offset))], offset);
          if (offset % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
        }
        progress.isOver = true;
      })();
      while (!progress.isOver) {
        const { offset, at: places } = await assignments();
        expect(Object.keys(places)).toEqual([String(offset)]);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await writing;
    });

    test("remembers archived contracts", async () => {
      await store.writer.replace([contract(apple, "a"), contract(apple, "b")], 5);
      await store.writer.apply([{ archived: "a" }], 6);
      expect([await wasArchived("a"), await wasArchived("b"), await wasArchived("x")]).toEqual([true, false, false]);
    });

    test("remembers of which registrar an archived contract was", async () => {
      const [ofGrower, ofNobody] = [contract(pear, "a"), contract(apple, "b")];
      await store.writer.replace([ofGrower, ofNobody], 5);
      await store.writer.apply([{ archived: "a" }, { archived: "b" }, { archived: "unknown" }], 6);
      const [a, b, unknown] = await Promise.all(
        ["a", "b", "unknown"].map((id) => Promise.all([wasArchived(id, GROWER), wasArchived(id, "another")])),
      );
      expect({ a, b, unknown }).toEqual({ a: [true, false], b: [false, false], unknown: [false, false] });
    });
  });
}
