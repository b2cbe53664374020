/** What a writer changes: contracts and their places, lists, sums, counts, archivals and the time. */
import { describe, expect, test } from "vitest";
import type { Change, StoredContract, CountedOnly } from "../../../src/domain/contract.js";
import { combined, type Template } from "../../../src/domain/template.js";
import { NotReady, type View } from "../../../src/state/port.js";
import { counted, type Fruit, fruit } from "../../fixtures/fruits.js";
import {
  active,
  apple,
  cherry,
  find,
  formatCounts,
  GROWER,
  idsOf,
  namesOf,
  on,
  otherApple,
  pear,
  type Subject,
  templates,
  unassigned,
  worth,
} from "./subject.js";

/** A second package of apples. */
const OTHER = { templateId: "pkg-2:Fruit.Tree:Apple" };
const APPLE = "pkg-1 fruit Fruit.Tree:Apple";
const PEAR = "pkg-1 fruit Fruit.Tree:Pear";

/** "apples with their places; the sum USD; counts". All are red. */
function describeState(view: View): string {
  const apples = view.all(apple);
  expect(idsOf(find(view, apple, { label: "red" }))).toEqual(idsOf(apples));
  const places = apples.map(({ contractId, synchronizerId = "sync--" }) => `${contractId}@${synchronizerId.slice(5)}`);
  return [places.join(" "), ...view.sums(["USD"]), formatCounts(view.templateCounts())].join("; ");
}

type Content = readonly (StoredContract | CountedOnly)[];
/** The offset grows by one, unless another is given. */
type Step = readonly [changes: readonly Change[], expected: string, offset?: number];

const archived = (...ids: readonly string[]): Change[] => ids.map((id) => ({ archived: id }));
const counting = (id: string, amount: bigint, options: object = {}): Change => ({
  active: { ...counted(id, amount), ...options },
});

/** From offset 5. */
const scripts: readonly [string, Content, ...(readonly Step[])][] = [
  [
    "created contracts are added, archived ones removed",
    [fruit("a", worth(5n)), fruit("p", { template: pear }), counted("c", 7n)],
    [[active("b", worth(100n)), ...archived("a"), counting("d", 1_000n)], `b@A; 1107; ${APPLE} 1, ${PEAR} 1`],
    [[active("e", OTHER), ...archived("p")], `b@A e@A; 1107; ${APPLE} 1, pkg-2 fruit Fruit.Tree:Apple 1`],
    [archived("b", "e", "c", "d", "unknown"), "; 0; "],
  ],
  [
    "an update at or below the offset is ignored",
    [fruit("a", worth(5n)), counted("c", 7n)],
    [[...archived("a", "c"), active("b"), counting("d", 1n)], `a@A; 12; ${APPLE} 1`, 5],
    [[...archived("a", "c"), active("b"), counting("d", 1n)], `a@A; 12; ${APPLE} 1`, 4],
    [[active("b")], `a@A b@A; 12; ${APPLE} 2`, 6],
    [archived("b"), `a@A b@A; 12; ${APPLE} 2`, 6],
  ],
  ["an update without changes moves the offset", [fruit("a")], [[], `a@A; 0; ${APPLE} 1`, 17]],
  [
    "a contract is reassigned, and counts once",
    [fruit("a", worth(5n))],
    [[active("a", worth(5n)), active("a", worth(5n))], `a@A; 5; ${APPLE} 1`],
    [[unassigned("a", 1)], `a@-; 5; ${APPLE} 1`],
    [[active("a", { ...worth(5n), ...on("B", 1) })], `a@B; 5; ${APPLE} 1`],
    [[active("a", worth(5n)), unassigned("a", 1)], `a@B; 5; ${APPLE} 1`],
    [archived("a"), "; 0; "],
  ],
  [
    "an assignment may come before the unassignment",
    [fruit("a")],
    [[active("a", on("B", 1))], `a@B; 0; ${APPLE} 1`],
    [[unassigned("a", 1)], `a@B; 0; ${APPLE} 1`],
    [[active("a", on("A", 0))], `a@B; 0; ${APPLE} 1`],
    [[unassigned("a", 2)], `a@-; 0; ${APPLE} 1`],
  ],
  [
    "what is only counted is reassigned, and counts once",
    [counted("a", 5n)],
    [[counting("a", 5n), counting("b", 7n), counting("b", 7n)], "; 12; "],
    [[unassigned("a", 1)], "; 12; "],
    [[counting("a", 5n, on("B", 1))], "; 12; "],
    [[counting("a", 5n, on("C", 2))], "; 12; "],
    [[unassigned("a", 2)], "; 12; "],
    [archived("a"), "; 7; "],
    [archived("a"), "; 7; "],
  ],
  [
    "contracts that start between synchronizers count",
    [
      { ...counted("a", 5n), synchronizerId: undefined, reassignmentCounter: 1 },
      fruit("b", { ...worth(7n), synchronizerId: undefined, reassignmentCounter: 1 }),
    ],
    [[active("b", { ...worth(7n), ...on("B", 1) })], `b@B; 12; ${APPLE} 1`],
  ],
  [
    "changes to unknown contracts are ignored",
    [fruit("a", worth(5n))],
    [[...archived("x"), unassigned("y", 3)], `a@A; 5; ${APPLE} 1`],
  ],
  [
    "what is created and archived in one update is not there",
    [],
    [[counting("a", 5n), active("b", worth(7n)), ...archived("a", "b")], "; 0; "],
  ],
];

function* truncated() {
  yield fruit("b");
  throw new Error("the file ends here");
}

/** Replaces what is stored, and what is counted only. */
const stepTo = ({ writer }: Subject, offset: number) =>
  writer.apply(
    [
      ...archived(`counted-${offset - 1}`, `stored-${offset - 1}`),
      counting(`counted-${offset}`, BigInt(offset)),
      active(`stored-${offset}`, worth(BigInt(offset))),
    ],
    offset,
    offset * 10,
  );

export function writeCases(subject: Subject): void {
  const { read, found, sums } = subject;
  const replace = (contracts: Iterable<StoredContract | CountedOnly>, offset = 5, asOf?: number) =>
    subject.writer.replace(contracts, offset, asOf);

  describe("apply", () => {
    test("throws NotReady without a state", async () => {
      await expect(subject.writer.apply([active("a")], 6)).rejects.toThrow(NotReady);
    });

    test.each(scripts)("%s", async (_what, start, ...steps) => {
      await replace(start);
      let offset = 5;
      for (const [changes, expected, at = offset + 1] of steps) {
        await subject.writer.apply(changes, at);
        offset = Math.max(offset, at);
        expect(await read((view) => [view.offset, describeState(view)])).toEqual([offset, expected]);
      }
    });

    test("is atomic for readers, with sums, counts and the time", async () => {
      await replace([], 0);
      await stepTo(subject, 1);
      const progress = { isOver: false };
      const writing = (async () => {
        for (let offset = 2; offset <= 150; offset++) {
          await stepTo(subject, offset);
          if (offset % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
        }
        progress.isOver = true;
      })();
      while (!progress.isOver) {
        const { offset, ...seen } = await read((view) => ({
          offset: view.offset,
          asOf: view.asOf,
          state: describeState(view),
        }));
        expect(seen).toEqual({ asOf: offset * 10, state: `stored-${offset}@A; ${2 * offset}; ${APPLE} 1` });
        await new Promise((resolve) => setImmediate(resolve));
      }
      await writing;
      expect(await read(describeState)).toBe(`stored-150@A; 300; ${APPLE} 1`);
    });

    test("remembers archived contracts, and of which registrar they were", async () => {
      await replace([fruit("a", { template: pear }), fruit("b"), fruit("there"), counted("c", 5n)]);
      await subject.writer.apply(archived("a", "b", "c", "unknown"), 6);
      const known = await read((view) =>
        ["a", "b", "c", "unknown", "there", "never"].map((id) => [
          id,
          view.wasArchived(id),
          view.wasArchived(id, GROWER),
          view.wasArchived(id, "another"),
        ]),
      );
      expect(known).toEqual([
        ["a", true, true, false],
        ["b", true, false, false],
        ["c", true, false, false],
        ["unknown", true, false, false],
        ["there", false, false, false],
        ["never", false, false, false],
      ]);
    });

    test("a contract of several templates is one of each", async () => {
      const both = combined([apple, cherry]) as Template<Fruit>;
      await replace([fruit("a"), fruit("b", { template: both, labels: ["red", "sour"] })]);
      const seen = () =>
        read((view) => [
          [apple, cherry, pear].map((one) => idsOf(find(view, one))),
          [apple, cherry, pear].map((one) => idsOf(find(view, one, { label: "sour" }))),
          [apple, cherry, pear].map((one) => idsOf(find(view, one, { id: "b" }))),
        ]);
      expect(await seen()).toEqual([
        [["a", "b"], ["b"], []],
        [["b"], ["b"], []],
        [["b"], ["b"], []],
      ]);
      expect(subject.ids(cherry)).toEqual(["b"]);
      await subject.writer.apply(archived("b"), 6);
      expect(await seen()).toEqual([
        [["a"], [], []],
        [[], [], []],
        [[], [], []],
      ]);
    });

    test("tallies names as long as a contract has them", async () => {
      await replace([fruit("a", { template: cherry, labels: ["sweet", "sour"] }), fruit("b")]);
      const tallied = () => read((view) => view.tallied("cherries"));
      expect(await tallied()).toEqual(["sour", "sweet"]);
      await subject.writer.apply([active("c", { template: cherry, labels: ["sour", "dark"] })], 6);
      expect(await tallied()).toEqual(["dark", "sour", "sweet"]);
      await subject.writer.apply(archived("a"), 7);
      expect(await tallied()).toEqual(["dark", "sour"]);
      await subject.writer.apply(archived("c"), 8);
      expect(await tallied()).toEqual([]);
      expect(await read((view) => view.tallied("apples"))).toEqual([]);
    });

    test("tallies the name of a sum as long as what is only counted adds to it", async () => {
      const named = (id: string, name: string, amount = 5n): CountedOnly => ({
        ...counted(id, amount, name),
        supply: { sum: name, amount, tally: { group: "cherries", name: `\u0000"${name}` } },
      });
      const tallied = async () =>
        (await read((view) => view.tallied("cherries"))).map((name) => name.replace('\u0000"', "of a sum: "));
      await replace([
        fruit("a", { template: cherry, labels: ["sweet"] }),
        named("b", "USD"),
        named("c", "USD"),
        counted("d", 7n, "unnamed"),
      ]);
      expect(await tallied()).toEqual(["of a sum: USD", "sweet"]);
      await subject.writer.apply([...archived("b"), { active: named("e", "EUR") }], 6);
      expect(await tallied()).toEqual(["of a sum: EUR", "of a sum: USD", "sweet"]);
      await subject.writer.apply([...archived("c"), ...archived("d")], 7);
      expect(await tallied()).toEqual(["of a sum: EUR", "sweet"]);
      await subject.writer.apply([{ active: named("f", "USD") }, ...archived("e")], 8);
      expect(await tallied()).toEqual(["of a sum: USD", "sweet"]);
      await replace([named("g", "GBP")], 9);
      expect(await tallied()).toEqual(["of a sum: GBP"]);
      expect(await read((view) => view.tallied("apples"))).toEqual([]);
    });

    test("does not show what is only counted", async () => {
      await replace([fruit("a"), counted("c", 5n)]);
      await subject.writer.apply([counting("d", 5n), unassigned("c", 1)], 6);
      const shown = await read((view) =>
        templates.flatMap((template) =>
          [undefined, { id: "c" }, { id: "d" }].flatMap((by) => find(view, template, by)),
        ),
      );
      expect(idsOf(shown)).toEqual(["a"]);
    });
  });

  describe("replace", () => {
    test("removes the previous state, and accepts a lower offset, as after a restore of the ledger", async () => {
      await replace([fruit("a", worth(5n)), fruit("c", { template: pear }), counted("d", 7n)], 9);
      await subject.writer.apply(archived("c"), 10);
      await replace([fruit("b"), counted("d", 20n)], 4);
      expect(await read((view) => [view.offset, describeState(view)])).toEqual([4, `b@A; 20; ${APPLE} 1`]);
      expect([await found(apple, { id: "a" }), await found(pear)]).toEqual([[], []]);
      await subject.writer.apply(archived("a", "d"), 5);
      expect(await read(describeState)).toBe(`b@A; 0; ${APPLE} 1`);
    });

    test("stores the new version of a contract", async () => {
      await replace([fruit("a", { name: "old" })]);
      await replace([fruit("a", { name: "new", labels: ["green"] })]);
      const names = await read((view) =>
        [{ label: "red" }, { label: "green" }, { id: "a" }].map((by) => namesOf(find(view, apple, by))),
      );
      expect(names).toEqual([[], ["new"], ["new"]]);
    });

    test("counts by template and package", async () => {
      const all = [fruit("a"), fruit("b"), fruit("c", OTHER), fruit("p", { template: pear })];
      await replace([...all, fruit("o", { template: otherApple })]);
      const expected = [
        `${APPLE} 2`,
        `${PEAR} 1`,
        "pkg-1 other-fruit Fruit.Tree:Apple 1",
        "pkg-2 fruit Fruit.Tree:Apple 1",
      ];
      const counts = await read((view) => view.templateCounts());
      expect(formatCounts(counts)).toBe(expected.join(", "));
      for (const { template } of counts) expect(templates).toContain(template);
    });

    test("iterates once over any iterable", async () => {
      let times = 0;
      function* contracts() {
        times++;
        yield fruit("a");
        yield fruit("b");
      }
      await replace(contracts());
      expect([await found(apple), times]).toEqual([["a", "b"], 1]);
    });

    test.each<[string, Iterable<StoredContract | CountedOnly>, string]>([
      ["twice in a row", [fruit("new"), fruit("b"), fruit("b")], "appears twice"],
      ["twice, far apart", [fruit("b"), fruit("new"), fruit("b")], "appears twice"],
      ["twice in two templates", [fruit("b"), fruit("new"), fruit("b", { template: pear })], "appears twice"],
      ["twice counted only", [counted("new", 1n), counted("b", 2n), counted("b", 2n)], "appears twice"],
      ["stored, then counted only", [fruit("b"), counted("new", 1n), counted("b", 2n)], "appears twice"],
      ["counted only, then stored", [counted("b", 2n), counted("new", 1n), fruit("b")], "appears twice"],
      ["an iterable that throws", truncated(), "the file ends here"],
    ])("throws and keeps the old state: %s", async (_where, contracts, why) => {
      await replace([fruit("a", worth(5n)), counted("c", 7n)], 5, 50);
      await expect(replace(contracts, 6, 60)).rejects.toThrow(why);
      const kept = await read((view) => [view.offset, view.asOf, describeState(view), view.all(pear)]);
      expect(kept).toEqual([5, 50, `a@A; 12; ${APPLE} 1`, []]);
      await replace([fruit("b")], 7);
      expect(await found(apple)).toEqual(["b"]);
    });
  });

  describe("sums", () => {
    test("are returned in the order of the names, repeated and unknown names included", async () => {
      await replace([counted("a", 1n), counted("b", 20n, "EUR"), counted("c", 300n)]);
      expect(await sums("EUR", "JPY", "USD", "EUR", "")).toEqual([20n, 0n, 301n, 20n, 0n]);
      expect(await sums()).toEqual([]);
    });

    test("are exact integers of any size, and may be negative", async () => {
      const large = 10n ** 38n - 1n;
      await replace([counted("a", large), counted("b", large), counted("c", -5n, "EUR")]);
      expect(await sums("USD", "EUR")).toEqual([2n * large, -5n]);
      await subject.writer.apply(archived("a", "c"), 6);
      expect(await sums("USD", "EUR")).toEqual([large, 0n]);
    });

    test("distinguish names with any characters", async () => {
      const names = ["", " ", "a", "A", "a ", "é", "e\u0301", "%", "_", "'", "\\", "\n", "😀", "__proto__"];
      await replace(names.map((name, index) => counted(`counted-${index}`, BigInt(index + 1), name)));
      expect(await sums(...names)).toEqual(names.map((_, index) => BigInt(index + 1)));
    });
  });

  test("the time is that of the latest replacement, or update with a time", async () => {
    const micros = 1_767_603_600_123_456;
    const writes: readonly [(writer: Subject["writer"]) => Promise<void>, number | undefined][] = [
      [(writer) => writer.replace([], 5), undefined],
      [(writer) => writer.replace([], 5, micros), micros],
      [(writer) => writer.apply([active("a")], 6), micros],
      [(writer) => writer.apply([], 7, 70), 70],
      [(writer) => writer.apply(archived("a"), 8), 70],
      [(writer) => writer.apply([active("b")], 8, 80), 70],
      [(writer) => writer.apply([active("b")], 4, 80), 70],
      [(writer) => writer.replace([], 9, 0), 0],
      [(writer) => writer.replace([], 9), undefined],
    ];
    for (const [write, expected] of writes) {
      await write(subject.writer);
      expect(await read((view) => view.asOf)).toBe(expected);
    }
  });
}
