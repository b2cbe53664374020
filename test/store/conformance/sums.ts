import { describe, expect, test } from "vitest";
import type { Change } from "../../../src/domain/contract.js";
import { apple, contract, idsOf, active, unassigned, countedOnly, supply } from "./fixtures.js";
import { formatCounts, type Subject } from "./subject.js";

export function sumsCases({ store, read, found, sums, sum }: Subject): void {
  describe("sums", () => {
    test("without contributions are 0", async () => {
      await store.writer.replace([contract(apple, "a")], 5);
      expect(await sums("USD", "EUR", "")).toEqual([0n, 0n, 0n]);
      expect(await sums()).toEqual([]);
    });

    test("are returned in the order of the names, repeated names included", async () => {
      await store.writer.replace([countedOnly("a", 1n), countedOnly("b", 20n, "EUR"), countedOnly("c", 300n)], 5);
      expect(await sums("EUR", "JPY", "USD", "EUR")).toEqual([20n, 0n, 301n, 20n]);
    });

    test("are exact integers of any size, and may be negative", async () => {
      const large = 10n ** 38n - 1n;
      await store.writer.replace([countedOnly("a", large), countedOnly("b", large), countedOnly("c", -5n, "EUR")], 5);
      expect(await sums("USD", "EUR")).toEqual([2n * large, -5n]);
      await store.writer.apply([{ archived: "a" }, { archived: "c" }], 6);
      expect(await sums("USD", "EUR")).toEqual([large, 0n]);
    });

    test("distinguish names with any characters", async () => {
      const names = ["", " ", "a", "A", "a ", "é", "e\u0301", "%", "_", "'", "\\", "\n", "😀", "__proto__"];
      await store.writer.replace(
        names.map((sumName, index) => countedOnly(`counted-${index}`, BigInt(index + 1), sumName)),
        5,
      );
      expect(await sums(...names)).toEqual(names.map((_, index) => BigInt(index + 1)));
    });

    test("include stored and counted-only contracts", async () => {
      await store.writer.replace([contract(apple, "a", { more: supply(7n) }), countedOnly("b", 5n)], 5);
      expect(await sum()).toBe(12n);
      await store.writer.apply([active("c", supply(100n)), { active: countedOnly("d", 1_000n) }], 6);
      expect(await sum()).toBe(1_112n);
    });

    test("include a repeated or reassigned counted-only contract once", async () => {
      await store.writer.replace([countedOnly("a", 5n)], 5);
      await store.writer.apply([{ active: countedOnly("a", 5n) }, { active: countedOnly("b", 7n) }], 6);
      await store.writer.apply([{ active: countedOnly("b", 7n) }, { active: countedOnly("b", 7n) }], 7);
      expect(await sum()).toBe(12n);
      await store.writer.apply([unassigned("a", 1)], 8);
      expect(await sum()).toBe(12n);
      await store.writer.apply(
        [{ active: { ...countedOnly("a", 5n), synchronizerId: "sync-B", reassignmentCounter: 1 } }],
        9,
      );
      expect(await sum()).toBe(12n);
      // The assignment arrives before the unassignment.
      await store.writer.apply(
        [{ active: { ...countedOnly("a", 5n), synchronizerId: "sync-C", reassignmentCounter: 2 } }],
        10,
      );
      await store.writer.apply([unassigned("a", 2)], 11);
      expect(await sum()).toBe(12n);
      await store.writer.apply([{ archived: "a" }], 12);
      expect(await sum()).toBe(7n);
    });

    test("include a contract that starts between synchronizers", async () => {
      const moving = { synchronizerId: undefined, reassignmentCounter: 1 };
      await store.writer.replace(
        [{ ...countedOnly("a", 5n), ...moving }, contract(apple, "b", { more: { ...supply(7n), ...moving } })],
        5,
      );
      expect(await sum()).toBe(12n);
    });

    test("include a stored contract until it is archived", async () => {
      await store.writer.replace([contract(apple, "a", { labels: ["red"], more: supply(5n) })], 5);
      await store.writer.apply([active("a", supply(5n))], 6);
      expect(await sum()).toBe(5n);
      await store.writer.apply([unassigned("a", 1)], 7);
      expect(await sum()).toBe(5n);
      await store.writer.apply([active("a", { ...supply(5n), synchronizerId: "sync-B", reassignmentCounter: 1 })], 8);
      await store.writer.apply([active("a", supply(5n)), unassigned("a", 1)], 9);
      expect(await sum()).toBe(5n);
      expect(await found(apple, { id: "a" })).toEqual(["a"]);
      await store.writer.apply([{ archived: "a" }], 10);
      expect(await sum()).toBe(0n);
      expect(await found(apple, { id: "a" })).toEqual([]);
    });

    test("subtract an archived contract once", async () => {
      await store.writer.replace(
        [countedOnly("a", 5n), countedOnly("b", 7n), contract(apple, "c", { more: supply(11n) })],
        5,
      );
      await store.writer.apply([{ archived: "a" }], 6);
      expect(await sum()).toBe(18n);
      await store.writer.apply([{ archived: "a" }, { archived: "c" }], 7);
      expect(await sum()).toBe(7n);
      await store.writer.apply([{ archived: "c" }, { archived: "b" }], 8);
      expect(await sum()).toBe(0n);
    });

    test("ignore the archival of an unknown contract", async () => {
      await store.writer.replace([countedOnly("a", 5n), contract(apple, "b")], 5);
      await store.writer.apply([{ archived: "x" }, { archived: "b" }], 6);
      expect(await sum()).toBe(5n);
    });

    test("exclude a contract that is created and archived in one update", async () => {
      await store.writer.replace([], 5);
      await store.writer.apply(
        [{ active: countedOnly("a", 5n) }, active("b", supply(7n)), { archived: "a" }, { archived: "b" }],
        6,
      );
      expect(await sum()).toBe(0n);
    });

    test("ignore an update at or below the offset", async () => {
      await store.writer.replace([countedOnly("a", 5n)], 5);
      await store.writer.apply([{ active: countedOnly("b", 7n) }, { archived: "a" }], 5);
      await store.writer.apply([{ active: countedOnly("b", 7n) }, { archived: "a" }], 4);
      expect(await sum()).toBe(5n);
    });

    test("start over when the state is replaced", async () => {
      await store.writer.replace(
        [countedOnly("a", 5n), contract(apple, "b", { more: supply(7n) }), countedOnly("c", 1n, "EUR")],
        5,
      );
      await store.writer.replace([countedOnly("a", 20n)], 6);
      expect(await sums("USD", "EUR")).toEqual([20n, 0n]);
      await store.writer.apply([{ archived: "b" }, { archived: "c" }], 7);
      expect(await sums("USD", "EUR")).toEqual([20n, 0n]);
      await store.writer.apply([{ archived: "a" }], 8);
      expect(await sums("USD", "EUR")).toEqual([0n, 0n]);
    });

    test("match the contracts of the same state", async () => {
      const stepTo = async (offset: number) => {
        const amount = BigInt(offset);
        const archived: Change[] = [{ archived: String(offset - 1) }, { archived: `stored-${offset - 1}` }];
        const activated: Change[] = [
          { active: countedOnly(String(offset), amount) },
          active(`stored-${offset}`, supply(amount)),
        ];
        await store.writer.apply([...archived, ...activated], offset, offset * 10);
      };
      await store.writer.replace([], 0);
      await stepTo(1);
      const progress = { isOver: false };
      const writing = (async () => {
        for (let offset = 2; offset <= 300; offset++) {
          await stepTo(offset);
          if (offset % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
        }
        progress.isOver = true;
      })();
      while (!progress.isOver) {
        const seen = await read((view) => ({
          offset: view.offset,
          asOf: view.asOf,
          ids: idsOf(view.all(apple)),
          sums: view.sums(["USD"]),
          counts: formatCounts(view.templateCounts()),
        }));
        const { offset } = seen;
        expect(seen).toEqual({
          offset,
          asOf: offset * 10,
          ids: [`stored-${offset}`],
          sums: [BigInt(2 * offset)],
          counts: ["fruit Fruit.Tree:Apple pkg-1 1"],
        });
        await new Promise((resolve) => setImmediate(resolve));
      }
      await writing;
      expect(await sum()).toBe(600n);
    });
  });
}
