import { describe, expect, test } from "vitest";
import {
  apple,
  pear,
  otherApple,
  templates,
  contract,
  active,
  unassigned,
  countedOnly,
  inPackage,
} from "./fixtures.js";
import { formatCounts, type Subject } from "./subject.js";

export function templateCountsCases({ store, read, templateCounts }: Subject): void {
  describe("template counts", () => {
    test("are empty in an empty state", async () => {
      await store.writer.replace([], 5);
      expect(await templateCounts()).toEqual([]);
    });

    test("count contracts by template and package", async () => {
      await store.writer.replace(
        [
          contract(apple, "a"),
          contract(apple, "b"),
          inPackage("pkg-2", contract(apple, "c")),
          contract(pear, "p"),
          contract(otherApple, "o"),
        ],
        5,
      );
      const counts = await read((view) => view.templateCounts());
      for (const { template } of counts) expect(templates).toContain(template);
      expect(formatCounts(counts)).toEqual([
        "fruit Fruit.Tree:Apple pkg-1 2",
        "fruit Fruit.Tree:Apple pkg-2 1",
        "fruit Fruit.Tree:Pear pkg-1 1",
        "other-fruit Fruit.Tree:Apple pkg-1 1",
      ]);
    });

    test("follow creations and archivals, without empty entries", async () => {
      await store.writer.replace([contract(apple, "a"), contract(pear, "p")], 5);
      await store.writer.apply([active("b"), { active: inPackage("pkg-2", contract(apple, "c")) }], 6);
      expect(await templateCounts()).toEqual([
        "fruit Fruit.Tree:Apple pkg-1 2",
        "fruit Fruit.Tree:Apple pkg-2 1",
        "fruit Fruit.Tree:Pear pkg-1 1",
      ]);
      await store.writer.apply([{ archived: "a" }, { archived: "p" }, { archived: "c" }], 7);
      expect(await templateCounts()).toEqual(["fruit Fruit.Tree:Apple pkg-1 1"]);
      await store.writer.apply([{ archived: "b" }, { archived: "x" }], 8);
      expect(await templateCounts()).toEqual([]);
    });

    test("count a reassigned or repeated contract once", async () => {
      await store.writer.replace([contract(apple, "a", { labels: ["red"] })], 5);
      await store.writer.apply([active("a"), active("a")], 6);
      await store.writer.apply([unassigned("a", 1)], 7);
      expect(await templateCounts()).toEqual(["fruit Fruit.Tree:Apple pkg-1 1"]);
      await store.writer.apply([active("a", { synchronizerId: "sync-B", reassignmentCounter: 1 })], 8);
      await store.writer.apply([active("a"), unassigned("a", 1)], 9);
      expect(await templateCounts()).toEqual(["fruit Fruit.Tree:Apple pkg-1 1"]);
    });

    test("do not include contracts that are counted only", async () => {
      await store.writer.replace([contract(apple, "a"), countedOnly("c", 5n)], 5);
      await store.writer.apply([{ active: countedOnly("d", 5n) }], 6);
      expect(await templateCounts()).toEqual(["fruit Fruit.Tree:Apple pkg-1 1"]);
    });

    test("are replaced with the state", async () => {
      await store.writer.replace([contract(apple, "a"), contract(pear, "p")], 5);
      await store.writer.replace([contract(pear, "q"), contract(pear, "r")], 6);
      expect(await templateCounts()).toEqual(["fruit Fruit.Tree:Pear pkg-1 2"]);
    });
  });
}
