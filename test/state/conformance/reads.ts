/** What a reader sees of one state. */
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { bodyOf, type Contract, type StoredContract } from "../../../src/domain/contract.js";
import type { JsonObject } from "../../../src/util/json.js";
import type { Template } from "../../../src/domain/template.js";
import { NotReady, type View } from "../../../src/state/port.js";
import { byLabel, counted, type Fruit, fruit } from "../../fixtures/fruits.js";
import {
  active,
  apple,
  type By,
  find,
  idsOf,
  namesOf,
  on,
  otherApple,
  pear,
  plum,
  type Subject,
  unassigned,
  worth,
} from "./subject.js";

/** Two apples and a pear. */
const three = [
  fruit("a", { createdMicros: 2, ...worth(7n) }),
  fruit("b", { labels: ["red", "sweet"], createdMicros: 1 }),
  fruit("c", { template: pear }),
];

/** Every way to read a state with these. */
const uses: readonly [string, (view: View) => unknown][] = [
  ["byId", (view) => view.byId(apple, "a")],
  ["byKey", (view) => view.byKey(apple, byLabel("red"))],
  ["all", (view) => view.all(apple)],
  ["wasArchived", (view) => view.wasArchived("a")],
  ["templateCounts", (view) => view.templateCounts()],
  ["tallied", (view) => view.tallied("cherries")],
  ["sums", (view) => view.sums(["USD"])],
];

/** The result in a list; an empty list if `use` throws. */
function resultOrNone<T>(use: () => T): T[] {
  try {
    return [use()];
  } catch {
    return [];
  }
}

const at = (id: string, createdMicros: number) => fruit(id, { createdMicros });

/** Stores a contract, and finds it by id, by the label "red" and in the list of its template. */
async function storedForms(
  { writer, read }: Subject,
  given: StoredContract<Fruit>,
): Promise<readonly Contract<Fruit>[]> {
  await writer.replace([given], 5);
  return read((view) => [{ id: given.contractId }, { label: "red" }, undefined].flatMap((by) => find(view, apple, by)));
}

/** Returns the encodings kept with the red apple and then keeps one. */
async function takeEncodings({ read }: Subject): Promise<unknown[] | undefined> {
  const [taken] = await read((view) => view.byKey(apple, byLabel("red")));
  if (taken === undefined) return undefined;
  const body = bodyOf(taken);
  const { encodings = [] } = body;
  body.encodings = ["something"];
  return encodings;
}

export function readCases(subject: Subject): void {
  const { read, found } = subject;
  const replace = (contracts: readonly StoredContract[], offset = 5) => subject.writer.replace(contracts, offset);

  describe("a read", () => {
    test("before the first state throws NotReady and does not run", async () => {
      let hasRun = false;
      const use = () => {
        hasRun = true;
      };
      await expect(read(use)).rejects.toThrow(NotReady);
      await expect(replace([fruit("a"), fruit("a")])).rejects.toThrow(Error);
      await expect(read(use)).rejects.toThrow(NotReady);
      expect(hasRun).toBe(false);
    });

    test("runs once, and returns its result", async () => {
      await replace([fruit("a")]);
      let runs = 0;
      const made = await read((view) => ({ run: ++runs, ids: idsOf(find(view, apple, { id: "a" })) }));
      expect([runs, made]).toEqual([1, { run: 1, ids: ["a"] }]);
    });

    test("rethrows an error, and the store keeps working", async () => {
      await replace([fruit("a")]);
      const reason = new Error("of the reader");
      const failing = read(() => {
        throw reason;
      });
      await expect(failing).rejects.toBe(reason);
      expect(await found(apple, { id: "a" })).toEqual(["a"]);
    });

    test("never sees part of a replacement", async () => {
      const size = 20;
      const stateAt = (offset: number) =>
        Array.from({ length: size }, (_, index) =>
          fruit(index === 0 ? "always" : `${offset % 2}-${index}`, { name: String(offset) }),
        );
      await replace(stateAt(1), 1);
      const progress = { isOver: false };
      const writing = (async () => {
        for (let offset = 2; offset <= 6; offset++) await replace(stateAt(offset), offset);
        progress.isOver = true;
      })();
      const offsets: number[] = [];
      while (!progress.isOver) {
        const { offset, names } = await read((view) => ({
          offset: view.offset,
          names: namesOf([{ id: "always" }, { label: "red" }, undefined].flatMap((by) => find(view, apple, by))),
        }));
        expect(names).toEqual(Array.from({ length: 1 + 2 * size }, () => String(offset)));
        offsets.push(offset);
        // A read of what is in memory lets nothing else happen.
        await setImmediate();
      }
      await writing;
      expect(offsets).toEqual(offsets.toSorted((a, b) => a - b));
      expect(await read((view) => view.offset)).toBe(6);
    });
  });

  describe("a view", () => {
    test("has the offset of its state", async () => {
      for (const offset of [0, 1, 4_294_967_296, 900_719_925_474]) {
        await replace([], offset);
        expect(await read((view) => [view.offset, view.all(apple)])).toEqual([offset, []]);
      }
    });

    test("finds contracts by id, by each key, and in the list of their template, and nothing else", async () => {
      await replace([...three, fruit("o", { template: otherApple })]);
      const cases: readonly (readonly [Template<Fruit>, By, readonly string[]])[] = [
        [apple, { id: "b" }, ["b"]],
        [apple, { label: "red" }, ["a", "b"]],
        [apple, { label: "sweet" }, ["b"]],
        [apple, undefined, ["a", "b"]],
        [otherApple, { label: "red" }, ["o"]],
        [pear, { label: "red" }, ["c"]],
        [pear, { id: "a" }, []],
        [otherApple, { id: "a" }, []],
        ...["none", "", "A", "o"].map((id) => [apple, { id }, []] as const),
        ...["none", "re", "a"].map((label) => [apple, { label }, []] as const),
        [plum, { label: "red" }, []],
        [plum, undefined, []],
        // Again.
        [apple, { id: "b" }, ["b"]],
        [apple, { label: "red" }, ["a", "b"]],
      ];
      const asked = await read((view) =>
        cases.map(([template, by]) => [template, by, idsOf(find(view, template, by))]),
      );
      expect(asked).toEqual(cases);
      for (const [template, by, ids] of cases) expect(await found(template, by)).toEqual(ids);
    });

    test("lists contracts newest first, then by ascending id, also after updates", async () => {
      const newest = 1_767_600_000_000_002;
      const same = ["b", "a", "B", "10", "9", "a-", "aa"].map((id) => at(id, newest));
      const state = [at("m", newest - 1), at("oldest", newest - 2), ...same, at("ancient", -1)];
      const order = ["10", "9", "B", "a", "a-", "aa", "b", "m", "oldest", "ancient"];
      for (const given of [state, state.toReversed()]) {
        await replace(given);
        expect([await found(apple, { label: "red" }), await found(apple)]).toEqual([order, order]);
      }
      await subject.writer.apply([{ active: at("new", newest + 1) }, { active: at("n", newest - 1) }], 6);
      await subject.writer.apply([{ active: at("last", -2) }, { active: at("0", newest) }], 7);
      const after = ["new", "0", ...order.slice(0, 8), "n", "oldest", "ancient", "last"];
      expect([await found(apple, { label: "red" }), await found(apple)]).toEqual([after, after]);
    });

    test("returns the same object for every lookup of a contract", async () => {
      const variants: ((view: View) => readonly unknown[])[] = [
        (view) => [view.byId(apple, "a"), view.byId(apple, "b"), view.byId(pear, "c")],
        (view) => [...view.byKey(apple, byLabel("red")), ...view.all(pear)],
        (view) => [view.all(apple)[0], ...view.byKey(apple, byLabel("sweet")), ...view.byKey(pear, byLabel("red"))],
      ];
      for (const first of variants) {
        await replace(three);
        const [expected, ...others] = await read((view) => [first, ...variants].map((variant) => variant(view)));
        expect(expected?.map((one) => (one as Contract).contractId)).toEqual(["a", "b", "c"]);
        for (const other of others) for (const [index, one] of other.entries()) expect(one).toBe(expected?.[index]);
      }
    });

    test("has the ids of the contracts of a template, as they are now", async () => {
      expect(() => subject.ids(apple)).toThrow(NotReady);
      await replace(three);
      const before = subject.ids(apple);
      await subject.writer.apply([{ archived: "a" }, { active: fruit("d") }], 6);
      expect([before, subject.ids(apple)].map((ids) => ids.toSorted())).toEqual([
        ["a", "b"],
        ["b", "d"],
      ]);
      expect([subject.ids(pear), subject.ids(otherApple)]).toEqual([["c"], []]);
    });

    test("returns contracts that later updates do not change", async () => {
      await replace(three);
      const given = await read((view) => [{ id: "a" }, { label: "red" }, undefined].map((by) => find(view, apple, by)));
      await subject.writer.apply([active("d"), { archived: "b" }, unassigned("a", 1)], 6);
      await replace([], 7);
      const [a, b] = three.map((contract) => subject.viewed(contract));
      expect(given).toEqual([[a], [a, b], [a, b]]);
    });

    test("throws when it is used after an update", async () => {
      await replace(three);
      const kept = await read((view) => view);
      await subject.writer.apply([{ archived: "a" }, active("d"), { active: counted("e", 5n) }], 6);
      for (const [what, use] of uses) expect(() => use(kept), what).toThrow(Error);
      // A view of the new state works.
      for (const [, use] of uses) await read(use);
    });

    test("does not show a later state", async () => {
      await replace(three);
      const [kept, before] = await read((view) => [view, uses.map(([, use]) => use(view))] as const);
      await subject.writer.replace([fruit("d"), fruit("e"), counted("f", 5n)], 6);
      // It throws, or returns the old state.
      for (const [index, [what, use]] of uses.entries()) {
        expect([[], [before[index]]], what).toContainEqual(resultOrNone(() => use(kept)));
      }
    });

    test("distinguishes keys with any characters", async () => {
      const labels = ["", " ", "a", "A", "a ", "é", "e\u0301", "%", "_", "'", '"', "\\", "a/1:b", "\n", "😀", "a::b"];
      await replace(labels.map((label, index) => fruit(`contract-${index}`, { labels: [label] })));
      const ids = await read((view) => labels.map((label) => idsOf(find(view, apple, { label }))));
      expect(ids).toEqual(labels.map((_, index) => [`contract-${index}`]));
    });
  });

  describe("a contract", () => {
    test("is returned with every field unchanged, its keys in order", async () => {
      const fields = { name: "é \u2028 😀 '\"\\", labels: ["sweet", "red"] };
      const more = {
        amount: "1.0000000000",
        number: 1.5,
        nothing: null,
        flag: false,
        list: [[], {}, { map: [["p", {}]] }],
      };
      const payload: JsonObject = { ...fields, ...more };
      const given = fruit(`00${"ab".repeat(68)}`, {
        ...fields,
        templateId: `${"cd".repeat(32)}:Fruit.Tree:Apple`,
        body: {
          payload: JSON.stringify(payload),
          views: JSON.stringify({ "pkg:Fruit:Eatable": payload }),
          createdEventBlob: Buffer.alloc(3_000, 0xa5).toString("base64"),
          encodings: undefined,
        },
        createdAt: "2026-01-05T09:00:00.123456789Z",
        createdMicros: 1_767_603_600_123_456,
        synchronizerId: "global-domain::1220ab",
        reassignmentCounter: 3,
      });
      const back = await storedForms(subject, given);
      expect(back).toEqual(Array(3).fill(subject.viewed(given)));
      for (const { template, indexKeys } of back) {
        expect(template).toBe(apple);
        expect(indexKeys).toEqual([byLabel("sweet"), byLabel("red")]);
      }
      const moving = await storedForms(subject, fruit("moving", { synchronizerId: undefined }));
      expect(moving.map(({ synchronizerId }) => synchronizerId)).toEqual([undefined, undefined, undefined]);
    });

    test("has empty slots at first and after each reassignment", async ({ skip }) => {
      skip(subject.keepsBodiesApart);
      await replace([fruit("a")]);
      expect(await takeEncodings(subject)).toEqual([]);
      await subject.writer.apply([unassigned("a", 1)], 6);
      expect(await takeEncodings(subject)).toEqual([]);
      await subject.writer.apply([active("a", on("B", 1))], 7);
      expect(await takeEncodings(subject)).toEqual([]);
    });
  });
}
