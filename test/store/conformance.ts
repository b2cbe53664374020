/** What every store owes: the promises of src/store/port.ts, a case for each. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Change } from "../../src/domain/change.js";
import type { Contract, CountedOnly } from "../../src/domain/contract.js";
import type { JsonObject } from "../../src/domain/json.js";
import { indexKey, type Template } from "../../src/domain/template.js";
import {
  type TemplateCount,
  NotReady,
  type ContractLookup,
  type StoreReader,
  type StoreWriter,
  type View,
} from "../../src/store/port.js";

/** A store that has taken no state yet. */
export interface Made {
  readonly reader: StoreReader;
  readonly writer: StoreWriter;
  close(): Promise<void>;
}

/** What the kinds below read: a name, and the labels that are keys. */
interface Facts {
  readonly name: string;
  readonly labels: readonly string[];
}

const byLabel = (label: string): string => indexKey("label", label);

function kindOf(packageName: string, qualifiedName: string): Template<Facts> {
  return {
    packageName,
    qualifiedName,
    parse(payload) {
      const { name, labels } = payload as unknown as Facts;
      return { fields: { name, labels }, indexKeys: labels.map(byLabel) };
    },
  };
}

const apple = kindOf("fruit", "Fruit.Tree:Apple");
const pear = kindOf("fruit", "Fruit.Tree:Pear");
/** The entity of another package is another kind. */
const otherApple = kindOf("other-fruit", "Fruit.Tree:Apple");
const unheld = kindOf("fruit", "Fruit.Tree:Plum");
const templates = [apple, pear, otherApple, unheld];

interface Options {
  readonly labels?: readonly string[];
  readonly createdMicros?: number;
  readonly name?: string;
  readonly more?: Partial<Contract<Facts>>;
}

/** A contract as the ledger would have it: facts and keys are what its kind reads from its payload. */
function contract(template: Template<Facts>, contractId: string, options: Options = {}): Contract<Facts> {
  const { labels = [], createdMicros = 1_767_600_000_000_000, name = contractId, more } = options;
  const payload: JsonObject = { name, labels: [...labels] };
  const parsed = template.parse(payload);
  if (parsed === undefined) throw new Error("the kinds here keep everything");
  return {
    ...parsed,
    contractId,
    template,
    templateId: `pkg-1:${template.qualifiedName}`,
    payload: JSON.stringify(payload),
    createdEventBlob: Buffer.from(contractId).toString("base64"),
    createdAt: timeOf(createdMicros),
    createdMicros,
    synchronizerId: "sync-A",
    reassignmentCounter: 0,
    supply: undefined,
    slots: undefined,
    ...more,
  };
}

/** A time of the ledger with all its digits, from microseconds since 1970. */
function timeOf(micros: number): string {
  const millis = Math.floor(micros / 1000);
  return new Date(millis).toISOString().replace("Z", `${String(micros - millis * 1000).padStart(3, "0")}Z`);
}

const at = (id: string, createdMicros: number): Contract<Facts> =>
  contract(apple, id, { labels: ["red"], createdMicros });

const idsOf = (contracts: readonly Contract[]): string[] => contracts.map(({ contractId }) => contractId);

/** What was found by id, as what is found by key comes. */
const listOf = <F>(found: Contract<F> | undefined): readonly Contract<F>[] => (found === undefined ? [] : [found]);

/** What comes of it in a list, which is empty where it throws. */
function tried<T>(use: () => T): T[] {
  try {
    return [use()];
  } catch {
    return [];
  }
}

/** Two apples and a pear, with lookups in them and the ids that each has to find. */
const threeOfTwo = [
  contract(apple, "a", { labels: ["red"], createdMicros: 2 }),
  contract(apple, "b", { labels: ["red", "sweet"], createdMicros: 1 }),
  contract(pear, "c", { labels: ["red"] }),
];
interface Lookup {
  readonly template: Template<Facts>;
  readonly by: { readonly id: string } | { readonly label: string };
}
const lookups: readonly (Lookup & { readonly ids: readonly string[] })[] = [
  { template: apple, by: { id: "b" }, ids: ["b"] },
  { template: apple, by: { label: "red" }, ids: ["a", "b"] },
  { template: apple, by: { id: "none" }, ids: [] },
  { template: pear, by: { label: "red" }, ids: ["c"] },
  { template: pear, by: { id: "b" }, ids: [] },
  { template: apple, by: { id: "b" }, ids: ["b"] },
  { template: apple, by: { label: "red" }, ids: ["a", "b"] },
  { template: apple, by: { label: "none" }, ids: [] },
];
const questionOf = ({ template, by }: Lookup): ContractLookup =>
  "id" in by ? { template, contractId: by.id } : { template, indexKey: byLabel(by.label) };
const lookUp = (view: View, { template, by }: Lookup): string[] =>
  idsOf("id" in by ? listOf(view.byId(template, by.id)) : view.byKey(template, byLabel(by.label)));
const lookUpAll = (view: View): string[][] => lookups.map((lookup) => lookUp(view, lookup));

/** Every other contract by its id, those between by their label. */
const byTurns = (id: string, index: number): Lookup["by"] => (index % 2 === 0 ? { id } : { label: id });

/** Declares the cases. `makeStore` is called for each; it is told the kinds of the contracts that will be stored. */
export function storePromises(name: string, makeStore: (kinds: readonly Template[]) => Promise<Made>): void {
  describe(`the promises of a store: ${name}`, () => {
    let store: Made;
    beforeEach(async () => {
      store = await makeStore(templates);
    });
    afterEach(() => store.close());

    /** A reading that answers at once or with a promise, and throws as the one or the other does. */
    const read = async <T>(use: (view: View) => T): Promise<T> => store.reader.read(use);

    /** Ids found by contract id, by label and of the whole kind. */
    const found = (template: Template<Facts>, by: { readonly id: string } | { readonly label: string } | undefined) =>
      read((view) => {
        if (by === undefined) return idsOf(view.all(template));
        return lookUp(view, { template, by });
      });

    const sums = (...names: readonly string[]) => read((view) => view.sums(names));
    const sum = async (): Promise<bigint | undefined> => (await sums("USD"))[0];
    const asOf = () => read((view) => view.asOf);
    const archived = (id: string) => read((view) => view.wasArchived(id));

    describe("before the first state", () => {
      test("a read throws NotReady, and asks nothing", async () => {
        let asked = false;
        const reading = read(() => {
          asked = true;
        });
        await expect(reading).rejects.toThrow(NotReady);
        expect(asked).toBe(false);
      });

      test("a state that is refused is no state", async () => {
        await expect(store.writer.replace([contract(apple, "a"), contract(apple, "a")], 5)).rejects.toThrow(Error);
        await expect(read(() => "read")).rejects.toThrow(NotReady);
      });
    });

    describe("read", () => {
      test("returns what is made of the state", async () => {
        await store.writer.replace([], 5);
        const made = { of: "the state" };
        expect(await read(() => made)).toBe(made);
      });

      test("throws what was thrown, and the store goes on", async () => {
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

      test("has an empty state once one was put there", async () => {
        await store.writer.replace([], 7);
        expect(await read((view) => [view.offset, view.all(apple)])).toEqual([7, []]);
      });

      test("gives what the last run has made, however often it is run", async () => {
        await store.writer.replace([contract(apple, "a")], 5);
        let runs = 0;
        const made = await read((view) => {
          const run = ++runs;
          return { run, ids: idsOf(listOf(view.byId(apple, "a"))) };
        });
        expect(made).toEqual({ run: runs, ids: ["a"] });
      });

      test("is of one state, whatever is put in its place at the same time", async () => {
        await store.writer.replace([contract(apple, "a", { labels: ["red"], name: "old" })], 1);
        // All of it is under way before any of it is waited for.
        const [first, , second, , third] = await Promise.all([
          read(stateOf),
          store.writer.replace([contract(apple, "a", { labels: ["red"], name: "new" })], 2),
          read(stateOf),
          store.writer.replace([contract(pear, "b", { labels: ["red"] })], 3),
          read(stateOf),
        ]);
        const states = [
          { offset: 1, byId: ["old"], byKey: ["old"], all: ["old"] },
          { offset: 2, byId: ["new"], byKey: ["new"], all: ["new"] },
          { offset: 3, byId: [], byKey: [], all: [] },
        ];
        for (const seen of [first, second, third]) expect(states).toContainEqual(seen);
        expect(await read(stateOf)).toEqual(states[2]);
      });

      test("that is overtaken by an update ends on the state before it or the one behind it", async () => {
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

      test("sees the one state or the other, and never a part of one", async () => {
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

      test("may go on several times at once", async () => {
        await store.writer.replace([contract(apple, "a")], 5);
        const readings = Array.from({ length: 20 }, () => found(apple, { id: "a" }));
        expect(await Promise.all(readings)).toEqual(readings.map(() => ["a"]));
      });
    });

    describe("a view", () => {
      test("tells the offset of its state", async () => {
        for (const offset of [0, 1, 4_294_967_296, 900_719_925_474]) {
          await store.writer.replace([], offset);
          expect(await read((view) => view.offset)).toBe(offset);
        }
      });

      test("finds a contract by its id, and by each of its keys", async () => {
        await store.writer.replace([contract(apple, "a", { labels: ["red", "sweet"] }), contract(apple, "b")], 5);
        expect(await found(apple, { id: "a" })).toEqual(["a"]);
        expect(await found(apple, { label: "red" })).toEqual(["a"]);
        expect(await found(apple, { label: "sweet" })).toEqual(["a"]);
        expect(await found(apple, { id: "b" })).toEqual(["b"]);
      });

      test("finds nothing of what does not exist", async () => {
        await store.writer.replace([contract(apple, "a", { labels: ["red"] })], 5);
        expect(await found(apple, { id: "b" })).toEqual([]);
        expect(await found(apple, { id: "" })).toEqual([]);
        expect(await found(apple, { id: "A" })).toEqual([]);
        expect(await found(apple, { label: "green" })).toEqual([]);
        expect(await found(apple, { label: "re" })).toEqual([]);
        expect(await found(apple, { label: "a" })).toEqual([]);
        expect(await found(unheld, undefined)).toEqual([]);
      });

      test("does not find a contract of another kind, not even by the right id or key", async () => {
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

      test("lists contracts newest first, and those of the same time by ascending id", async () => {
        const newest = 1_767_600_000_000_002;
        const state = [
          at("m", newest - 1),
          at("b", newest),
          at("oldest", newest - 2),
          at("a", newest),
          at("B", newest),
          at("10", newest),
          at("9", newest),
          at("a-", newest),
          at("aa", newest),
          at("ancient", -1),
        ];
        const order = ["10", "9", "B", "a", "a-", "aa", "b", "m", "oldest", "ancient"];
        for (const given of [state, state.toReversed()]) {
          await store.writer.replace(given, 5);
          expect(await found(apple, { label: "red" })).toEqual(order);
          expect(await found(apple, undefined)).toEqual(order);
        }
      });

      test("gives undefined for an id, and an empty list for a key, that finds nothing", async () => {
        await store.writer.replace([contract(apple, "a", { labels: ["red"] })], 5);
        const nothing = await read((view) => ({
          byId: [view.byId(apple, "b"), view.byId(pear, "a")],
          byKey: [view.byKey(apple, byLabel("green")), view.byKey(pear, byLabel("red"))],
          all: view.all(pear),
        }));
        expect(nothing).toEqual({ byId: [undefined, undefined], byKey: [[], []], all: [] });
      });

      test("gives one contract as one and the same object, however it is asked for in one reading", async () => {
        const state = [contract(apple, "a", { labels: ["red", "sweet"] }), contract(apple, "b"), contract(pear, "c")];
        await store.writer.replace(state, 5);
        const asked: ((view: View) => unknown)[] = [
          (view) => [view.byId(apple, "a"), view.byId(apple, "b"), view.byId(pear, "c")],
          (view) => [...view.byKey(apple, byLabel("red")), view.byId(apple, "b"), ...view.all(pear)],
          (view) => [...view.byKey(apple, byLabel("sweet")), view.all(apple).at(-1), ...view.all(pear)],
        ];
        for (const first of asked) {
          await store.writer.replace(state, 5);
          const [given, ...others] = await read((view) => [first, ...asked].map((ask) => ask(view) as unknown[]));
          for (const other of others) for (const [index, one] of other.entries()) expect(one).toBe(given?.[index]);
        }
      });

      test("answers each lookup by itself, also one that is made twice", async () => {
        await store.writer.replace(threeOfTwo, 5);
        const answers = await read(lookUpAll);
        expect(answers).toEqual(lookups.map(({ ids }) => ids));
      });

      test.each<[string, (view: View) => void]>([
        ["all that is looked for", (view) => view.prefetch(() => lookups.map(questionOf))],
        ["a part of it", (view) => view.prefetch(() => lookups.slice(2, 4).map(questionOf))],
        ["nothing", (view) => view.prefetch(() => [])],
        ["what is never looked for", (view) => view.prefetch(() => [{ template: apple, contractId: "never" }])],
        [
          "one thing after the other",
          (view) => {
            for (const lookup of lookups) view.prefetch(() => [questionOf(lookup)]);
          },
        ],
        [
          "what only the answers to others tell, one by one",
          (view) =>
            view.prefetch(function* foreseen() {
              for (const { fields } of view.byKey(apple, byLabel("red"))) {
                for (const label of fields.labels) yield { template: pear, indexKey: byLabel(label) };
              }
            }),
        ],
      ])("gives the same answers where %s was foreseen", async (_what, foresee) => {
        await store.writer.replace(threeOfTwo, 5);
        const answers = await read((view) => {
          foresee(view);
          return lookUpAll(view);
        });
        expect(answers).toEqual(lookups.map(({ ids }) => ids));
      });

      test("answers a thousand lookups in one reading, where they were foreseen", async () => {
        const ids = Array.from({ length: 1_000 }, (_, index) => `contract-${index}`);
        await store.writer.replace(
          ids.map((id) => contract(apple, id, { labels: [id] })),
          5,
        );
        const wanted = ids.map((id, index): Lookup => ({ template: apple, by: byTurns(id, index) }));
        const answers = await read((view) => {
          // As the rules do it: a view that fetches has to say that it does, or this takes too many trips.
          if (view.wantsPrefetch) view.prefetch(() => wanted.map(questionOf));
          return wanted.map((lookup) => lookUp(view, lookup));
        });
        expect(answers).toEqual(ids.map((id) => [id]));
      });

      test("leaves what it gave as it was when the state moves on", async () => {
        await store.writer.replace([at("a", 2), at("b", 1)], 5);
        const given = await read((view) => ({
          byId: view.byId(apple, "a"),
          byKey: view.byKey(apple, byLabel("red")),
          all: view.all(apple),
        }));
        await store.writer.apply([{ active: at("c", 3) }, { archived: "b" }, unassigned("a", 1)], 6);
        await store.writer.replace([], 7);
        expect(given.byId).toEqual(at("a", 2));
        expect(given.byKey).toEqual([at("a", 2), at("b", 1)]);
        expect(given.all).toEqual([at("a", 2), at("b", 1)]);
      });

      const uses: [string, (view: View) => unknown][] = [
        ["an id", (view) => view.byId(apple, "a")],
        ["a key", (view) => view.byKey(apple, byLabel("red"))],
        ["all of a kind", (view) => view.all(apple)],
        ["an archival", (view) => view.wasArchived("a")],
        ["the census", (view) => view.templateCounts()],
        ["sums", (view) => view.sums(["USD"])],
      ];

      test.each(uses)(
        "that is kept against its promise throws where the state has moved on: %s",
        async (_what, use) => {
          await store.writer.replace([contract(apple, "a", { labels: ["red"] })], 5);
          const kept = await read((view) => view);
          await store.writer.apply([{ archived: "a" }, { active: at("b", 1) }, { active: counted("c", 5n) }], 6);
          expect(() => use(kept)).toThrow(Error);
          // A view of the new state does not.
          await read(use);
        },
      );

      test.each(uses)("that is kept tells nothing of a state that was put in its place: %s", async (_what, use) => {
        await store.writer.replace([contract(apple, "a", { labels: ["red"], more: share(7n) })], 5);
        const [kept, before] = await read((view) => [view, use(view)] as const);
        await store.writer.replace([at("b", 1), at("c", 1), counted("d", 5n)], 6);
        // It throws, or it still has the state of which it is.
        expect([[], [before]]).toContainEqual(tried(() => use(kept)));
      });

      test("keeps keys apart, whatever characters they hold", async () => {
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

    describe("a contract", () => {
      test("comes back with every field as it was", async () => {
        const awkward = "é \u2028 😀 '\"\\";
        const payload: JsonObject = {
          labels: ["red", "sweet"],
          name: awkward,
          amount: "1.0000000000",
          number: 1.5,
          nothing: null,
          flag: false,
          empty: {},
          list: [[], {}, null, { map: [["party::1220", {}]] }],
        };
        const given = contract(apple, `00${"ab".repeat(68)}`, {
          labels: ["red", "sweet"],
          more: {
            templateId: `${"cd".repeat(32)}:Fruit.Tree:Apple`,
            payload: JSON.stringify(payload),
            fields: { name: awkward, labels: ["red", "sweet"] },
            createdEventBlob: Buffer.alloc(3_000, 0xa5).toString("base64"),
            createdAt: "2026-01-05T09:00:00.123456789Z",
            createdMicros: 1_767_603_600_123_456,
            synchronizerId: "global-domain::1220ab",
            reassignmentCounter: 3,
          },
        });
        const back = await roundTrip(store, given);
        expect(back).toEqual([given, given, given]);
        for (const { template } of back) expect(template).toBe(apple);
      });

      test("that is between synchronizers comes back so", async () => {
        const given = contract(apple, "moving", { labels: ["red"], more: { synchronizerId: undefined } });
        const back = await roundTrip(store, given);
        expect(back.map(({ synchronizerId }) => synchronizerId)).toEqual([undefined, undefined, undefined]);
      });

      test("comes with nothing derived, and after a reassignment with nothing of before it", async () => {
        await store.writer.replace([contract(apple, "a", { labels: ["red"] })], 5);
        /** What was derived from the contract before, and then something is. */
        const deriving = async () => {
          const [one] = await read((view) => view.byKey(apple, byLabel("red")));
          const before = one === undefined ? ["the contract is not there"] : (one.slots ?? []);
          if (one !== undefined) one.slots = ["something"];
          return before;
        };
        expect(await deriving()).toEqual([]);
        await store.writer.apply([unassigned("a", 1)], 6);
        expect(await deriving()).toEqual([]);
        await store.writer.apply([active("a", { synchronizerId: "sync-B", reassignmentCounter: 1 })], 7);
        expect(await deriving()).toEqual([]);
      });

      test("has the order of its keys and claims no other", async () => {
        const back = await roundTrip(store, contract(apple, "a", { labels: ["sweet", "red"] }));
        for (const { indexKeys } of back) expect(indexKeys).toEqual([byLabel("sweet"), byLabel("red")]);
      });
    });

    describe("replace", () => {
      test("leaves nothing of the state before", async () => {
        await store.writer.replace([contract(apple, "a", { labels: ["red"] }), contract(pear, "c")], 5);
        await store.writer.replace([contract(apple, "b", { labels: ["green"] })], 6);
        expect(await found(apple, { id: "a" })).toEqual([]);
        expect(await found(apple, { label: "red" })).toEqual([]);
        expect(await found(apple, undefined)).toEqual(["b"]);
        expect(await found(pear, undefined)).toEqual([]);
      });

      test("takes a contract that it had before as it is now", async () => {
        await store.writer.replace([contract(apple, "a", { labels: ["red"], name: "old" })], 5);
        await store.writer.replace([contract(apple, "a", { labels: ["green"], name: "new" })], 5);
        expect(await found(apple, { label: "red" })).toEqual([]);
        const names = await read((view) =>
          namesOf([...listOf(view.byId(apple, "a")), ...view.byKey(apple, byLabel("green"))]),
        );
        expect(names).toEqual(["new", "new"]);
      });

      test("takes any iterable, and goes through it once", async () => {
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

      test("takes a lower offset as well: a ledger may have been restored", async () => {
        await store.writer.replace([], 9);
        await store.writer.replace([contract(apple, "a")], 4);
        expect(await read((view) => [view.offset, idsOf(view.all(apple))])).toEqual([4, ["a"]]);
      });

      test.each<[string, Contract[]]>([
        ["in a row", [contract(apple, "new", { labels: ["red"] }), contract(apple, "b"), contract(apple, "b")]],
        ["far apart", [contract(apple, "b"), contract(apple, "new", { labels: ["red"] }), contract(apple, "b")]],
        [
          "as different kinds",
          [contract(apple, "b"), contract(apple, "new", { labels: ["red"] }), contract(pear, "b")],
        ],
      ])("throws where a contract id appears twice, %s, and keeps the old state", async (_where, twice) => {
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

      test("keeps the old state where the contracts break off", async () => {
        await store.writer.replace([contract(apple, "a")], 5);
        function* contracts() {
          yield contract(apple, "b");
          throw new Error("the file ends here");
        }
        await expect(store.writer.replace(contracts(), 6)).rejects.toThrow("the file ends here");
        expect(await read((view) => [view.offset, idsOf(view.all(apple))])).toEqual([5, ["a"]]);
      });
    });

    describe("the census", () => {
      test("of an empty state is empty", async () => {
        await store.writer.replace([], 5);
        expect(await censusOf(store)).toEqual([]);
      });

      test("tells how many there are of each kind and package", async () => {
        await store.writer.replace(
          [
            contract(apple, "a"),
            contract(apple, "b"),
            ofPackage("pkg-2", contract(apple, "c")),
            contract(pear, "p"),
            contract(otherApple, "o"),
          ],
          5,
        );
        const templateCounts = await read((view) => view.templateCounts());
        for (const { template } of templateCounts) expect(templates).toContain(template);
        expect(namedIn(templateCounts)).toEqual([
          "fruit Fruit.Tree:Apple pkg-1 2",
          "fruit Fruit.Tree:Apple pkg-2 1",
          "fruit Fruit.Tree:Pear pkg-1 1",
          "other-fruit Fruit.Tree:Apple pkg-1 1",
        ]);
      });

      test("follows what is created and archived, and knows nothing of what is gone", async () => {
        await store.writer.replace([contract(apple, "a"), contract(pear, "p")], 5);
        await store.writer.apply([active("b"), { active: ofPackage("pkg-2", contract(apple, "c")) }], 6);
        expect(await censusOf(store)).toEqual([
          "fruit Fruit.Tree:Apple pkg-1 2",
          "fruit Fruit.Tree:Apple pkg-2 1",
          "fruit Fruit.Tree:Pear pkg-1 1",
        ]);
        await store.writer.apply([{ archived: "a" }, { archived: "p" }, { archived: "c" }], 7);
        expect(await censusOf(store)).toEqual(["fruit Fruit.Tree:Apple pkg-1 1"]);
        await store.writer.apply([{ archived: "b" }, { archived: "x" }], 8);
        expect(await censusOf(store)).toEqual([]);
      });

      test("has a contract once, however often it arrives, and wherever it is", async () => {
        await store.writer.replace([contract(apple, "a")], 5);
        await store.writer.apply([active("a"), active("a")], 6);
        await store.writer.apply([unassigned("a", 1)], 7);
        expect(await censusOf(store)).toEqual(["fruit Fruit.Tree:Apple pkg-1 1"]);
        await store.writer.apply([active("a", { synchronizerId: "sync-B", reassignmentCounter: 1 })], 8);
        await store.writer.apply([active("a"), unassigned("a", 1)], 9);
        expect(await censusOf(store)).toEqual(["fruit Fruit.Tree:Apple pkg-1 1"]);
      });

      test("does not know what is only counted", async () => {
        await store.writer.replace([contract(apple, "a"), counted("c", 5n)], 5);
        await store.writer.apply([{ active: counted("d", 5n) }], 6);
        expect(await censusOf(store)).toEqual(["fruit Fruit.Tree:Apple pkg-1 1"]);
      });

      test("is that of the state that took the place of another", async () => {
        await store.writer.replace([contract(apple, "a"), contract(pear, "p")], 5);
        await store.writer.replace([contract(pear, "q"), contract(pear, "r")], 6);
        expect(await censusOf(store)).toEqual(["fruit Fruit.Tree:Pear pkg-1 2"]);
      });
    });

    describe("the sums", () => {
      test("of no shares are 0", async () => {
        await store.writer.replace([contract(apple, "a")], 5);
        expect(await sums("USD", "EUR", "")).toEqual([0n, 0n, 0n]);
        expect(await sums()).toEqual([]);
      });

      test("come in the order of their names, also of one that is asked for twice", async () => {
        await store.writer.replace([counted("a", 1n), counted("b", 20n, "EUR"), counted("c", 300n)], 5);
        expect(await sums("EUR", "JPY", "USD", "EUR")).toEqual([20n, 0n, 301n, 20n]);
      });

      test("are exact, however large, and may be below 0", async () => {
        const large = 10n ** 38n - 1n;
        await store.writer.replace([counted("a", large), counted("b", large), counted("c", -5n, "EUR")], 5);
        expect(await sums("USD", "EUR")).toEqual([2n * large, -5n]);
        await store.writer.apply([{ archived: "a" }, { archived: "c" }], 6);
        expect(await sums("USD", "EUR")).toEqual([large, 0n]);
      });

      test("keep names apart, whatever characters they hold", async () => {
        const names = ["", " ", "a", "A", "a ", "é", "e\u0301", "%", "_", "'", "\\", "\n", "😀", "__proto__"];
        await store.writer.replace(
          names.map((sumName, index) => counted(`counted-${index}`, BigInt(index + 1), sumName)),
          5,
        );
        expect(await sums(...names)).toEqual(names.map((_, index) => BigInt(index + 1)));
      });

      test("have what is held and what is only counted", async () => {
        await store.writer.replace([contract(apple, "a", { more: share(7n) }), counted("b", 5n)], 5);
        expect(await sum()).toBe(12n);
        await store.writer.apply([active("c", share(100n)), { active: counted("d", 1_000n) }], 6);
        expect(await sum()).toBe(1_112n);
      });

      test("have a counted contract once, however often it arrives and wherever it goes", async () => {
        await store.writer.replace([counted("a", 5n)], 5);
        await store.writer.apply([{ active: counted("a", 5n) }, { active: counted("b", 7n) }], 6);
        await store.writer.apply([{ active: counted("b", 7n) }, { active: counted("b", 7n) }], 7);
        expect(await sum()).toBe(12n);
        await store.writer.apply([unassigned("a", 1)], 8);
        expect(await sum()).toBe(12n);
        await store.writer.apply(
          [{ active: { ...counted("a", 5n), synchronizerId: "sync-B", reassignmentCounter: 1 } }],
          9,
        );
        expect(await sum()).toBe(12n);
        // The arrival is told before the departure.
        await store.writer.apply(
          [{ active: { ...counted("a", 5n), synchronizerId: "sync-C", reassignmentCounter: 2 } }],
          10,
        );
        await store.writer.apply([unassigned("a", 2)], 11);
        expect(await sum()).toBe(12n);
        await store.writer.apply([{ archived: "a" }], 12);
        expect(await sum()).toBe(7n);
      });

      test("count a contract that is between synchronizers from the start", async () => {
        const moving = { synchronizerId: undefined, reassignmentCounter: 1 };
        await store.writer.replace(
          [{ ...counted("a", 5n), ...moving }, contract(apple, "b", { more: { ...share(7n), ...moving } })],
          5,
        );
        expect(await sum()).toBe(12n);
      });

      test("have a held contract as long as it is held", async () => {
        await store.writer.replace([contract(apple, "a", { more: share(5n) })], 5);
        await store.writer.apply([active("a", share(5n))], 6);
        expect(await sum()).toBe(5n);
        await store.writer.apply([unassigned("a", 1)], 7);
        expect(await sum()).toBe(5n);
        await store.writer.apply([active("a", { ...share(5n), synchronizerId: "sync-B", reassignmentCounter: 1 })], 8);
        await store.writer.apply([active("a", share(5n)), unassigned("a", 1)], 9);
        expect(await sum()).toBe(5n);
        expect(await found(apple, { id: "a" })).toEqual(["a"]);
        await store.writer.apply([{ archived: "a" }], 10);
        expect(await sum()).toBe(0n);
        expect(await found(apple, { id: "a" })).toEqual([]);
      });

      test("lose what is archived, once", async () => {
        await store.writer.replace([counted("a", 5n), counted("b", 7n), contract(apple, "c", { more: share(11n) })], 5);
        await store.writer.apply([{ archived: "a" }], 6);
        expect(await sum()).toBe(18n);
        await store.writer.apply([{ archived: "a" }, { archived: "c" }], 7);
        expect(await sum()).toBe(7n);
        await store.writer.apply([{ archived: "c" }, { archived: "b" }], 8);
        expect(await sum()).toBe(0n);
      });

      test("lose nothing by the archival of what is not there", async () => {
        await store.writer.replace([counted("a", 5n), contract(apple, "b")], 5);
        await store.writer.apply([{ archived: "x" }, { archived: "b" }], 6);
        expect(await sum()).toBe(5n);
      });

      test("have nothing of what is created and archived in one update", async () => {
        await store.writer.replace([], 5);
        await store.writer.apply(
          [{ active: counted("a", 5n) }, active("b", share(7n)), { archived: "a" }, { archived: "b" }],
          6,
        );
        expect(await sum()).toBe(0n);
      });

      test("stay as they are by an update at or below the offset", async () => {
        await store.writer.replace([counted("a", 5n)], 5);
        await store.writer.apply([{ active: counted("b", 7n) }, { archived: "a" }], 5);
        await store.writer.apply([{ active: counted("b", 7n) }, { archived: "a" }], 4);
        expect(await sum()).toBe(5n);
      });

      test("begin anew with a state that takes the place of another", async () => {
        await store.writer.replace(
          [counted("a", 5n), contract(apple, "b", { more: share(7n) }), counted("c", 1n, "EUR")],
          5,
        );
        await store.writer.replace([counted("a", 20n)], 6);
        expect(await sums("USD", "EUR")).toEqual([20n, 0n]);
        await store.writer.apply([{ archived: "b" }, { archived: "c" }], 7);
        expect(await sums("USD", "EUR")).toEqual([20n, 0n]);
        await store.writer.apply([{ archived: "a" }], 8);
        expect(await sums("USD", "EUR")).toEqual([0n, 0n]);
      });

      test("are those of one state with its contracts", async () => {
        const stepTo = async (offset: number) => {
          const amount = BigInt(offset);
          const gone: Change[] = [{ archived: String(offset - 1) }, { archived: `held-${offset - 1}` }];
          const come: Change[] = [{ active: counted(String(offset), amount) }, active(`held-${offset}`, share(amount))];
          await store.writer.apply([...gone, ...come], offset, offset * 10);
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
            held: idsOf(view.all(apple)),
            sums: view.sums(["USD"]),
            census: namedIn(view.templateCounts()),
          }));
          const { offset } = seen;
          expect(seen).toEqual({
            offset,
            asOf: offset * 10,
            held: [`held-${offset}`],
            sums: [BigInt(2 * offset)],
            census: ["fruit Fruit.Tree:Apple pkg-1 1"],
          });
          await new Promise((resolve) => setImmediate(resolve));
        }
        await writing;
        expect(await sum()).toBe(600n);
      });
    });

    describe("what is only counted", () => {
      test("is not found, and not listed", async () => {
        await store.writer.replace([contract(apple, "a"), counted("c", 5n)], 5);
        await store.writer.apply([{ active: counted("d", 5n) }], 6);
        for (const template of templates) {
          expect(await found(template, { id: "c" })).toEqual([]);
          expect(await found(template, { id: "d" })).toEqual([]);
        }
        expect(await found(apple, undefined)).toEqual(["a"]);
        await store.writer.apply([unassigned("c", 1)], 7);
        expect(await found(apple, undefined)).toEqual(["a"]);
      });

      test("is remembered when it is archived", async () => {
        await store.writer.replace([counted("c", 5n), counted("d", 5n)], 5);
        await store.writer.apply([{ archived: "c" }], 6);
        expect([await archived("c"), await archived("d")]).toEqual([true, false]);
      });

      test.each<[string, (Contract | CountedOnly)[]]>([
        ["among the counted", [counted("new", 1n), counted("b", 2n), counted("b", 2n)]],
        ["as held, and then as counted", [contract(apple, "b"), counted("new", 1n), counted("b", 2n)]],
        ["as counted, and then as held", [counted("b", 2n), counted("new", 1n), contract(apple, "b")]],
      ])("may not come twice in a state, %s: the old one stays", async (_where, twice) => {
        await store.writer.replace([contract(apple, "a", { more: share(5n) }), counted("c", 7n)], 5, 50);
        await expect(store.writer.replace(twice, 6, 60)).rejects.toThrow(Error);
        expect(await found(apple, undefined)).toEqual(["a"]);
        expect(await censusOf(store)).toEqual(["fruit Fruit.Tree:Apple pkg-1 1"]);
        const kept = await read((view) => [view.offset, view.asOf, ...view.sums(["USD"])]);
        expect(kept).toEqual([5, 50, 12n]);
      });
    });

    describe("the time of the latest change", () => {
      test("is that of the state, where the writer says it", async () => {
        await store.writer.replace([], 5, 1_767_603_600_123_456);
        expect(await asOf()).toBe(1_767_603_600_123_456);
        await store.writer.replace([], 6, 0);
        expect(await asOf()).toBe(0);
      });

      test("is undefined where the writer does not say it, also behind a state with a time", async () => {
        await store.writer.replace([], 5);
        expect(await asOf()).toBeUndefined();
        await store.writer.replace([], 6, 60);
        await store.writer.replace([], 7);
        expect(await asOf()).toBeUndefined();
      });

      test("is that of each update that says one, also of one without a change", async () => {
        await store.writer.replace([], 5);
        await store.writer.apply([active("a")], 6, 60);
        expect(await asOf()).toBe(60);
        await store.writer.apply([], 7, 70);
        expect(await asOf()).toBe(70);
      });

      test("stays by an update that says none", async () => {
        await store.writer.replace([], 5, 50);
        await store.writer.apply([active("a")], 6);
        expect(await asOf()).toBe(50);
        await store.writer.apply([], 7, 70);
        await store.writer.apply([{ archived: "a" }], 8);
        expect(await asOf()).toBe(70);
      });

      test("stays by an update at or below the offset", async () => {
        await store.writer.replace([], 5, 50);
        await store.writer.apply([active("a")], 5, 70);
        await store.writer.apply([active("a")], 4, 80);
        expect(await asOf()).toBe(50);
      });

      test("of a view is that of its state", async () => {
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

    describe("apply", () => {
      test("before the first state throws NotReady", async () => {
        await expect(store.writer.apply([active("a")], 6)).rejects.toThrow(NotReady);
      });

      test("adds what is created, under its id and its keys, and takes away what is archived", async () => {
        await store.writer.replace([contract(apple, "a", { labels: ["red"] }), contract(pear, "p")], 5);
        await store.writer.apply([active("b"), { archived: "a" }], 6);
        expect(await placesIn(store)).toEqual({ offset: 6, at: { b: "sync-A" } });
        expect(await found(apple, { label: "red" })).toEqual(["b"]);
        expect(await found(apple, { id: "a" })).toEqual([]);
        expect(await found(pear, undefined)).toEqual(["p"]);
      });

      test("keeps the order of a view", async () => {
        await store.writer.replace([at("m", 2_000_000), at("o", 1_000_000)], 5);
        await store.writer.apply([{ active: at("n", 2_000_000) }, { active: at("z", 3_000_000) }], 6);
        await store.writer.apply([{ active: at("a", 1_500_000) }], 7);
        expect(await found(apple, { label: "red" })).toEqual(["z", "m", "n", "a", "o"]);
      });

      test("of an update at or below the offset changes nothing", async () => {
        await store.writer.replace([contract(apple, "a")], 5);
        await store.writer.apply([{ archived: "a" }, active("b")], 5);
        await store.writer.apply([{ archived: "a" }, active("b")], 4);
        expect(await placesIn(store)).toEqual({ offset: 5, at: { a: "sync-A" } });
        await store.writer.apply([active("b")], 6);
        await store.writer.apply([{ archived: "b" }], 6);
        expect(await placesIn(store)).toEqual({ offset: 6, at: { a: "sync-A", b: "sync-A" } });
      });

      test("of no change moves the offset alone", async () => {
        await store.writer.replace([contract(apple, "a")], 5);
        await store.writer.apply([], 17);
        expect(await placesIn(store)).toEqual({ offset: 17, at: { a: "sync-A" } });
      });

      test("follows a reassignment from one synchronizer to another", async () => {
        await store.writer.replace([contract(apple, "a", { labels: ["red"] })], 5);
        await store.writer.apply([unassigned("a", 1)], 6);
        expect(await placesIn(store)).toEqual({ offset: 6, at: { a: undefined } });
        expect(await found(apple, { label: "red" })).toEqual(["a"]);
        await store.writer.apply([active("a", { synchronizerId: "sync-B", reassignmentCounter: 1 })], 7);
        expect(await placesIn(store)).toEqual({ offset: 7, at: { a: "sync-B" } });
        expect(await found(apple, { label: "red" })).toEqual(["a"]);
      });

      test("takes an arrival that is told before the departure", async () => {
        await store.writer.replace([contract(apple, "a")], 5);
        await store.writer.apply([active("a", { synchronizerId: "sync-B", reassignmentCounter: 1 })], 6);
        await store.writer.apply([unassigned("a", 1)], 7);
        expect(await placesIn(store)).toEqual({ offset: 7, at: { a: "sync-B" } });
        await store.writer.apply([active("a", { reassignmentCounter: 0 })], 8);
        expect(await placesIn(store)).toEqual({ offset: 8, at: { a: "sync-B" } });
        await store.writer.apply([unassigned("a", 2)], 9);
        expect(await placesIn(store)).toEqual({ offset: 9, at: { a: undefined } });
      });

      test("of events on contracts that are not there changes nothing else", async () => {
        await store.writer.replace([contract(apple, "a")], 5);
        await store.writer.apply([{ archived: "x" }, unassigned("y", 3)], 6);
        expect(await placesIn(store)).toEqual({ offset: 6, at: { a: "sync-A" } });
      });

      test("is seen whole or not at all", async () => {
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
          const { offset, at: places } = await placesIn(store);
          expect(Object.keys(places)).toEqual([String(offset)]);
          await new Promise((resolve) => setImmediate(resolve));
        }
        await writing;
      });

      test("remembers what was archived", async () => {
        await store.writer.replace([contract(apple, "a"), contract(apple, "b")], 5);
        await store.writer.apply([{ archived: "a" }], 6);
        expect([await archived("a"), await archived("b"), await archived("x")]).toEqual([true, false, false]);
      });
    });
  });
}

const active = (id: string, more: Partial<Contract<Facts>> = {}): Change => ({
  active: contract(apple, id, { labels: ["red"], more }),
});

const unassigned = (id: string, reassignmentCounter: number): Change => ({ unassigned: id, reassignmentCounter });

/** A contract of which nothing is kept but what it adds to a sum. */
const counted = (contractId: string, amount: bigint, sum = "USD"): CountedOnly => ({
  contractId,
  synchronizerId: "sync-A",
  reassignmentCounter: 0,
  supply: { sum, amount },
});

/** What a contract that is held adds to a sum. */
const share = (amount: bigint, sum = "USD"): Pick<Contract, "supply"> => ({ supply: { sum, amount } });

const ofPackage = (packageId: string, given: Contract<Facts>): Contract<Facts> => ({
  ...given,
  templateId: `${packageId}:${given.template.qualifiedName}`,
});

/** `package name, entity, package id, count` of each, sorted: a census has no order. */
const namedIn = (templateCounts: readonly TemplateCount[]): string[] =>
  templateCounts
    .map(({ template, packageId, count }) => `${template.packageName} ${template.qualifiedName} ${packageId} ${count}`)
    .toSorted((a, b) => (a < b ? -1 : 1));

const censusOf = async ({ reader }: Made): Promise<string[]> => reader.read((view) => namedIn(view.templateCounts()));

/** Where each apple is, by id, with the offset. */
async function placesIn({ reader }: Made) {
  return reader.read((view) => ({
    offset: view.offset,
    at: Object.fromEntries(view.all(apple).map(({ contractId, synchronizerId }) => [contractId, synchronizerId])),
  }));
}

/** Stores a contract, and finds it by id, by the label "red" and in the list of its kind. */
async function roundTrip({ reader, writer }: Made, given: Contract<Facts>): Promise<readonly Contract<Facts>[]> {
  await writer.replace([given], 5);
  return reader.read((view) => [
    ...listOf(view.byId(apple, given.contractId)),
    ...view.byKey(apple, byLabel("red")),
    ...view.all(apple),
  ]);
}

const namesOf = (contracts: readonly Contract<Facts>[]): string[] => contracts.map(({ fields }) => fields.name);

/** All that a view says of contract "a" and label "red" of the apples. */
function stateOf(view: View) {
  return {
    offset: view.offset,
    byId: namesOf(listOf(view.byId(apple, "a"))),
    byKey: namesOf(view.byKey(apple, byLabel("red"))),
    all: namesOf(view.all(apple)),
  };
}
