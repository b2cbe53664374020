import { describe, expect, test } from "vitest";
import type { View } from "../../../src/store/port.js";
import { apple, pear, byLabel, contract, idsOf, toList, active, namesOf } from "./fixtures.js";
import type { Subject } from "./subject.js";

/** Everything that a view has on contract "a" and label "red" of the apples. */
function describeState(view: View) {
  return {
    offset: view.offset,
    byId: namesOf(toList(view.byId(apple, "a"))),
    byKey: namesOf(view.byKey(apple, byLabel("red"))),
    all: namesOf(view.all(apple)),
  };
}

export function readCases({ store, read, found }: Subject): void {
  describe("read", () => {
    test("returns the result of the function", async () => {
      await store.writer.replace([], 5);
      const made = { of: "the state" };
      expect(await read(() => made)).toBe(made);
    });

    test("rethrows an error, and the store keeps working", async () => {
      await store.writer.replace([contract(apple, "a")], 5);
      const reason = new Error("of the reader");
      const reading = read(() => {
        throw reason;
      });
      await expect(reading).rejects.toBe(reason);
      expect(await found(apple, { id: "a" })).toEqual(["a"]);
      await store.writer.replace([], 6);
      expect(await found(apple, { id: "a" })).toEqual([]);
    });

    test("sees an empty state after it was stored", async () => {
      await store.writer.replace([], 7);
      expect(await read((view) => [view.offset, view.all(apple)])).toEqual([7, []]);
    });

    test("returns the result of the last run", async () => {
      await store.writer.replace([contract(apple, "a")], 5);
      let runs = 0;
      const made = await read((view) => {
        const run = ++runs;
        return { run, ids: idsOf(toList(view.byId(apple, "a"))) };
      });
      expect(made).toEqual({ run: runs, ids: ["a"] });
    });

    test("sees one state during concurrent replacements", async () => {
      await store.writer.replace([contract(apple, "a", { labels: ["red"], name: "old" })], 1);
      // Start everything before waiting for anything.
      const [first, , second, , third] = await Promise.all([
        read(describeState),
        store.writer.replace([contract(apple, "a", { labels: ["red"], name: "new" })], 2),
        read(describeState),
        store.writer.replace([contract(pear, "b", { labels: ["red"] })], 3),
        read(describeState),
      ]);
      const states = [
        { offset: 1, byId: ["old"], byKey: ["old"], all: ["old"] },
        { offset: 2, byId: ["new"], byKey: ["new"], all: ["new"] },
        { offset: 3, byId: [], byKey: [], all: [] },
      ];
      for (const seen of [first, second, third]) expect(states).toContainEqual(seen);
      expect(await read(describeState)).toEqual(states[2]);
    });

    test("sees the state before or after a concurrent update", async () => {
      await store.writer.replace([contract(apple, "a")], 5);
      const [seen] = await Promise.all([
        read((view) => ({ before: view.offset, ids: idsOf(view.all(apple)), after: view.offset })),
        store.writer.apply([active("b")], 6),
      ]);
      expect([
        { before: 5, ids: ["a"], after: 5 },
        { before: 6, ids: ["a", "b"], after: 6 },
      ]).toContainEqual(seen);
    });

    test("never sees part of a replacement", async () => {
      const size = 20;
      const stateAt = (offset: number) =>
        Array.from({ length: size }, (_, index) =>
          contract(apple, `${offset % 2 === 0 ? "even" : "odd"}-${index}`, { labels: ["red"], name: String(offset) }),
        );
      await store.writer.replace(stateAt(1), 1);
      const progress = { isOver: false };
      const writer = (async () => {
        for (let offset = 2; offset <= 15; offset++) await store.writer.replace(stateAt(offset), offset);
        progress.isOver = true;
      })();
      const offsets: number[] = [];
      while (!progress.isOver) {
        const { offset, names } = await read((view) => {
          const byKey = view.byKey(apple, byLabel("red"));
          return { offset: view.offset, names: namesOf([...byKey, ...view.all(apple)]) };
        });
        expect(names).toEqual(Array.from({ length: 2 * size }, () => String(offset)));
        offsets.push(offset);
      }
      await writer;
      expect(offsets).toEqual(offsets.toSorted((a, b) => a - b));
      expect(await read((view) => view.offset)).toBe(15);
    });

    test("can run several times concurrently", async () => {
      await store.writer.replace([contract(apple, "a")], 5);
      const readings = Array.from({ length: 20 }, () => found(apple, { id: "a" }));
      expect(await Promise.all(readings)).toEqual(readings.map(() => ["a"]));
    });
  });
}
