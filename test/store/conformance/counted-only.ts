import { describe, expect, test } from "vitest";
import type { Contract, CountedOnly } from "../../../src/domain/contract.js";
import { apple, templates, contract, unassigned, countedOnly, supply } from "./fixtures.js";
import type { Subject } from "./subject.js";

export function countedOnlyCases({ store, read, found, wasArchived, templateCounts }: Subject): void {
  describe("a counted-only contract", () => {
    test("is neither found nor listed", async () => {
      await store.writer.replace([contract(apple, "a"), countedOnly("c", 5n)], 5);
      await store.writer.apply([{ active: countedOnly("d", 5n) }], 6);
      for (const template of templates) {
        expect(await found(template, { id: "c" })).toEqual([]);
        expect(await found(template, { id: "d" })).toEqual([]);
      }
      expect(await found(apple, undefined)).toEqual(["a"]);
      await store.writer.apply([unassigned("c", 1)], 7);
      expect(await found(apple, undefined)).toEqual(["a"]);
    });

    test("is remembered after its archival", async () => {
      await store.writer.replace([countedOnly("c", 5n), countedOnly("d", 5n)], 5);
      await store.writer.apply([{ archived: "c" }], 6);
      expect([await wasArchived("c"), await wasArchived("d")]).toEqual([true, false]);
    });

    test.each<[string, (Contract | CountedOnly)[]]>([
      ["twice counted only", [countedOnly("new", 1n), countedOnly("b", 2n), countedOnly("b", 2n)]],
      ["stored, then counted only", [contract(apple, "b"), countedOnly("new", 1n), countedOnly("b", 2n)]],
      ["counted only, then stored", [countedOnly("b", 2n), countedOnly("new", 1n), contract(apple, "b")]],
    ])("makes replace throw if its id appears twice, %s", async (_where, twice) => {
      await store.writer.replace([contract(apple, "a", { more: supply(5n) }), countedOnly("c", 7n)], 5, 50);
      await expect(store.writer.replace(twice, 6, 60)).rejects.toThrow(Error);
      expect(await found(apple, undefined)).toEqual(["a"]);
      expect(await templateCounts()).toEqual(["fruit Fruit.Tree:Apple pkg-1 1"]);
      const kept = await read((view) => [view.offset, view.asOf, ...view.sums(["USD"])]);
      expect(kept).toEqual([5, 50, 12n]);
    });
  });
}
