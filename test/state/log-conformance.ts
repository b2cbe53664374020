/** Holds a log and its writer to src/state/log.ts: every promise has a case. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Change, Contract, StoredContract } from "../../src/domain/contract.js";
import type { Template } from "../../src/domain/template.js";
import {
  type LoggedState,
  type LogHead,
  type LogNotices,
  type LogPosition,
  type LogStep,
  MAX_BODIES,
  MAX_STEP_ROWS,
  type StateLog,
} from "../../src/state/log.js";
import {
  anyRegistrarHash,
  idHash,
  indexKeyHash,
  type LookupHash,
  registrarHash,
  sumHash,
  tagOf,
  templateHash,
} from "../../src/state/lookup-hash.js";
import { StoreUnavailable, type StoreWriter } from "../../src/state/port.js";
import { byLabel, counted, fruit } from "../fixtures/fruits.js";
import { until } from "../fixtures/wait.js";
import { active, apple, GROWER, on, pear, templates, unassigned, worth } from "./conformance/subject.js";

/** A log in which nothing has been committed. */
interface LogUnderTest {
  readonly log: StateLog;
  readonly writer: StoreWriter;
  /** A writer of contracts of another origin. No other writes any more. */
  otherWriter(): Promise<StoreWriter>;
  /** What the mirror says: for how many milliseconds it has not known the state to equal the ledger, undefined if never. */
  heartbeat(age: number | undefined, otherHistory?: string): Promise<void>;
  /** Makes the log forget what came after offsets below this one. */
  trim(offset: number): Promise<void>;
  /** Makes a backup. The returned function restores it, and returns a writer that goes on there. */
  backup(): Promise<() => Promise<StoreWriter>>;
  /** Called by later replacements while a filled generation is not served yet. */
  beforeSwap(use: () => Promise<void>): void;
  /** What the mirror does every minute. */
  cleanUp(): Promise<void>;
  /** Has the mirror answer each request to catch up. */
  answerRequests(): Promise<void>;
  close(): Promise<void>;
}

/** Makes a log for contracts of the given templates. Called once for each case. */
type MakeLog = (templates: readonly Template[]) => Promise<LogUnderTest>;

interface Loaded {
  readonly head: LogHead;
  readonly contracts: readonly Contract[];
  readonly archived: readonly (readonly [string, LookupHash | undefined])[];
  readonly sums: ReadonlyMap<LookupHash, bigint>;
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

const collectContracts = async (items: LoggedState["contracts"]): Promise<Contract[]> =>
  (await collect(items)).map(({ contract }) => contract);

const { signal } = new AbortController();

async function read({ head, contracts, archived, sums }: LoggedState): Promise<Loaded> {
  const all = byId(await collectContracts(contracts));
  const graves = (await collect(archived)).map(({ contractId, registrar }) => [contractId, registrar] as const);
  const amounts = (await collect(sums)).filter(({ amount }) => amount !== 0n);
  return {
    head,
    contracts: all,
    archived: graves,
    sums: new Map(amounts.map(({ sum, amount }) => [sum, amount])),
  };
}

const byId = <T extends { readonly contractId: string }>(items: readonly T[]): T[] =>
  items.toSorted((a, b) => (a.contractId < b.contractId ? -1 : 1));

/** What a reader gets of a contract. */
const readable = ({ body: _body, ...contract }: StoredContract): Contract => contract;

/** Those of the lookups that find a red fruit, and of its registrar. */
const tagsOf = (id: string, template: Template, registrar: LookupHash, ...sums: readonly string[]) =>
  [idHash(id), templateHash(template), registrar, indexKeyHash(byLabel("red")), ...sums.map(sumHash)].map(tagOf);

const archive = (id: string): Change => ({ archived: id });
const pearOf = (id: string) => fruit(id, { template: pear });

/** "ids archived; ids active, with place and counter; amounts of USD and EUR", where they have changed. */
function describeStep(step: LogStep | undefined): string {
  if (step === undefined) return "reload";
  const places = byId(step.active).map(
    ({ contractId, synchronizerId = "sync--", reassignmentCounter }) =>
      `${contractId}@${synchronizerId.slice(5)}${reassignmentCounter}`,
  );
  const names = new Map(["USD", "EUR"].map((name) => [sumHash(name), name]));
  const sums = step.sums.map(({ sum, amount }) => `${names.get(sum) ?? sum} ${amount}`).toSorted();
  return [
    byId(step.archived)
      .map(({ contractId }) => contractId)
      .join(" "),
    places.join(" "),
    sums.join(" "),
  ].join("; ");
}

export function logConformance(name: string, makeLog: MakeLog): void {
  describe(`log conformance: ${name}`, () => {
    let subject: LogUnderTest;
    beforeEach(async () => {
      subject = await makeLog(templates);
    });
    afterEach(() => subject.close());

    const progress = async (since: LogPosition | undefined) => {
      const made = await subject.log.progress(since);
      if (made === "empty") throw new Error("the log is empty");
      return made;
    };
    const head = async (): Promise<LogHead> => (await progress(undefined)).head;
    const stepFrom = async (since: LogPosition) => describeStep((await progress(since)).step);
    const tombstonesFrom = async (since: LogPosition) => (await progress(since)).step?.archived ?? [];
    const load = (next?: number) =>
      subject.log.load(
        async (state) => {
          if (state === undefined) throw new Error("there is no such state");
          return read(state);
        },
        signal,
        next,
      );
    const apply = (changes: readonly Change[], offset: number, updateId = `update-${offset}`) =>
      subject.writer.apply(changes, offset, offset * 10, updateId);

    test("nothing has been committed", async () => {
      expect(await subject.log.progress(undefined)).toBe("empty");
      expect(await subject.log.load(async (state) => state, signal)).toBeUndefined();
      expect(await subject.log.bodies(["a"], 1)).toEqual({ head: undefined, bodies: new Map() });
    });

    describe("the head", () => {
      test("is the latest commit, with its time", async () => {
        await subject.writer.replace([], 5, 50);
        const snapshot = await head();
        expect(snapshot).toMatchObject({ offset: 5, updateId: undefined, asOf: 50 });
        await apply([active("a")], 7);
        await subject.writer.apply([], 8, undefined, "update-8");
        const { generation, origin } = snapshot;
        const last = { generation, origin, offset: 8, updateId: "update-8", asOf: 70 };
        expect(await head()).toMatchObject(last);
        expect((await load()).head).toMatchObject(last);
        expect((await subject.log.bodies([], generation)).head).toMatchObject({
          generation,
          offset: 8,
          updateId: "update-8",
        });
      });

      test("has another generation after each replacement, and the origin of its writer", async () => {
        await subject.writer.replace([], 5);
        const first = await head();
        await subject.writer.replace([], 5);
        const second = await head();
        await (await subject.otherWriter()).replace([], 5);
        const other = await head();
        expect(new Set([first, second, other].map(({ generation }) => generation)).size).toBe(3);
        expect([second.origin === first.origin, other.origin === first.origin]).toEqual([true, false]);
      });

      test("has what the mirror says last", async () => {
        await subject.writer.replace([], 5);
        expect(await head()).toMatchObject({ otherHistory: undefined });
        await subject.heartbeat(2_000, "restored");
        const { heartbeat, otherHistory } = await head();
        expect(otherHistory).toBe("restored");
        expect(heartbeat?.count).toBeGreaterThan(0);
        // Both times are of one reading of the clock.
        expect((heartbeat?.writtenAt ?? 0) - (heartbeat?.confirmedAt ?? 0)).toBeCloseTo(2_000, 0);
        expect(heartbeat?.elapsed).toBeGreaterThanOrEqual(1_999);
        // A mirror that has just begun does not know.
        await subject.heartbeat(undefined);
        expect(await head()).toMatchObject({
          otherHistory: "restored",
          heartbeat: { confirmedAt: heartbeat?.confirmedAt },
        });
        await subject.heartbeat(0);
        const last = await head();
        expect([last.otherHistory, last.heartbeat?.count]).toEqual([undefined, (heartbeat?.count ?? 0) + 2]);
      });
    });

    describe("a step", () => {
      test("is what has changed since each earlier position", async () => {
        await subject.writer.replace([fruit("a", worth(5n)), fruit("b"), fruit("m")], 5);
        const positions = [await head()];
        const updates: readonly (readonly Change[])[] = [
          [active("c"), archive("a")],
          [],
          [unassigned("m", 1), archive("never stored")],
          [active("m", on("B", 1)), { active: counted("d", 7n) }, active("e", worth(20n))],
          // Late, and older than what is stored.
          [unassigned("m", 1), active("m", on("A", 0))],
          [archive("c"), archive("d")],
        ];
        for (const [index, update] of updates.entries()) {
          await apply(update, 6 + 2 * index);
          positions.push(await head());
        }
        const steps: string[] = [];
        for (const position of positions) steps.push(await stepFrom(position));
        expect(steps).toEqual([
          "a c d never stored; e@A0 m@B1; USD 20",
          "c d never stored; e@A0 m@B1; USD 20",
          "c d never stored; e@A0 m@B1; USD 20",
          "c d; e@A0 m@B1; USD 20",
          "c d; ; USD 20",
          "c d; ; USD 20",
          "; ; ",
        ]);
      });

      test("leads on from an update without an id", async () => {
        await subject.writer.replace([fruit("a")], 5);
        await apply([active("b")], 6);
        await subject.writer.apply([active("c")], 7);
        const since = await head();
        await apply([active("d")], 8);
        expect(await stepFrom(since)).toBe("; d@A0; ");
      });

      test("has contracts with all their fields, as they are at the head", async () => {
        const fields = { name: "é \u2028 😀 '\"\\", labels: ["sweet", "red"] };
        const given = fruit(`00${"ab".repeat(68)}`, {
          ...fields,
          ...on("B", 3),
          templateId: `${"cd".repeat(32)}:Fruit.Tree:Apple`,
          supply: { sum: "USD", amount: 10n ** 30n },
          createdAt: "2026-01-05T09:00:00.123456789Z",
          createdMicros: 1_767_603_600_123_456,
        });
        await subject.writer.replace([], 5);
        const since = await head();
        await apply([{ active: given }], 6);
        const [stepped] = (await progress(since)).step?.active ?? [];
        const [loaded] = (await load()).contracts;
        for (const got of [stepped, loaded]) {
          expect(got).toMatchObject(readable(given));
          expect(got?.template).toBe(apple);
          expect(got?.indexKeys).toEqual([byLabel("sweet"), byLabel("red")]);
        }
        await apply([unassigned(given.contractId, 4)], 7);
        const [moving] = (await progress(since)).step?.active ?? [];
        expect(moving).toMatchObject({ ...readable(given), synchronizerId: undefined, reassignmentCounter: 4 });
      });

      test("has a sum that has changed and is what it was, and one that is 0 again", async () => {
        await subject.writer.replace([counted("a", 5n), counted("b", 7n, "EUR")], 5);
        const since = await head();
        await apply([{ active: counted("c", 1n) }, archive("b")], 6);
        await apply([archive("c")], 7);
        expect(await stepFrom(since)).toBe("b c; ; EUR 0 USD 5");
        expect((await load()).sums).toEqual(new Map([[sumHash("USD"), 5n]]));
      });
    });

    describe("a tombstone", () => {
      const none = anyRegistrarHash;
      const grower = registrarHash(GROWER);

      test("has the registrar of the contract, and the tags of all lookups that found it", async () => {
        await subject.writer.replace([fruit("a", worth(5n)), pearOf("p"), counted("c", 5n)], 5);
        const since = await head();
        await apply([archive("a")], 6);
        await apply([archive("p"), archive("c"), archive("unknown")], 7);
        const tombstones = new Map((await tombstonesFrom(since)).map((one) => [one.contractId, one]));
        expect(["a", "p", "c", "unknown"].map((id) => tombstones.get(id)?.registrar)).toEqual([
          none,
          grower,
          undefined,
          undefined,
        ]);
        expect(tombstones.get("a")?.tags).toEqual(expect.arrayContaining(tagsOf("a", apple, none, "USD")));
        expect(tombstones.get("p")?.tags).toEqual(expect.arrayContaining(tagsOf("p", pear, grower)));
        for (const id of ["c", "unknown"]) expect(tombstones.get(id)?.tags).toContain(tagOf(idHash(id)));
      });

      test("has them also of a contract that the step does not begin or end with", async () => {
        await subject.writer.replace([], 5);
        const since = await head();
        await apply([{ active: pearOf("p") }, active("a"), archive("a")], 6);
        await apply([archive("p")], 7);
        const tombstones = new Map((await tombstonesFrom(since)).map((one) => [one.contractId, one.tags]));
        expect(tombstones.get("p")).toEqual(expect.arrayContaining(tagsOf("p", pear, grower)));
        expect(tombstones.get("a")).toEqual(expect.arrayContaining(tagsOf("a", apple, none)));
      });

      test("is in the step with a contract that is active again, and counts again when it is archived again", async () => {
        await subject.writer.replace([pearOf("p")], 5);
        const start = await head();
        await apply([archive("p")], 6);
        const between = await head();
        await apply([{ active: { ...pearOf("p"), ...on("B", 1) } }], 7);
        const again = await head();
        expect([await stepFrom(start), await stepFrom(between)]).toEqual(["p; p@B1; ", "; p@B1; "]);
        expect(await load()).toMatchObject({ contracts: [{ contractId: "p" }], archived: [["p", grower]] });
        await apply([archive("p")], 8);
        for (const since of [start, between, again]) {
          expect(await tombstonesFrom(since)).toMatchObject([{ contractId: "p", registrar: grower }]);
          const [tombstone] = await tombstonesFrom(since);
          expect(tombstone?.tags).toEqual(expect.arrayContaining(tagsOf("p", pear, grower)));
        }
        // Once more, of one that is not there.
        const dead = await head();
        await apply([archive("p"), archive("q")], 9);
        const last = byId(await tombstonesFrom(dead));
        expect(last).toMatchObject([{ contractId: "p", registrar: grower }, { contractId: "q" }]);
        // For those who have not seen the first archival, it has the tags of both.
        const whole = (await tombstonesFrom(again)).find(({ contractId }) => contractId === "p");
        expect(whole?.tags).toEqual(expect.arrayContaining(tagsOf("p", pear, grower)));
        expect(new Map((await load()).archived)).toEqual(
          new Map([
            ["p", grower],
            ["q", undefined],
          ]),
        );
      });
    });

    describe("no step leads to the head", () => {
      test("for a follower without a state", async () => {
        await subject.writer.replace([], 5);
        expect((await progress(undefined)).step).toBeUndefined();
      });

      test("from another generation", async () => {
        await subject.writer.replace([fruit("a")], 5);
        const since = await head();
        await subject.writer.replace([fruit("a")], 5);
        expect(await stepFrom(since)).toBe("reload");
      });

      test("from an offset at which nothing was committed, or one after the head", async () => {
        await subject.writer.replace([], 5);
        await apply([active("a")], 7);
        const at = await head();
        expect(await stepFrom({ ...at, offset: 6, updateId: "update-6" })).toBe("reload");
        expect(await stepFrom({ ...at, offset: 8, updateId: "update-8" })).toBe("reload");
        expect(await stepFrom({ ...at, updateId: "another" })).toBe("reload");
        expect(await stepFrom({ ...at, updateId: undefined })).toBe("reload");
      });

      test("from what a restored log does not have", async () => {
        await subject.writer.replace([fruit("a")], 5);
        await apply([active("b")], 6);
        const kept = await head();
        const restore = await subject.backup();
        await apply([active("c"), archive("a")], 7);
        const lost = await head();
        const writer = await restore();
        expect([await stepFrom(kept), await stepFrom(lost)]).toEqual(["; ; ", "reload"]);
        expect(await head()).toMatchObject({ generation: kept.generation, offset: 6, updateId: "update-6" });
        await writer.apply([active("d")], 7, 70, "other-7");
        expect([await stepFrom(kept), await stepFrom(lost)]).toEqual(["; d@A0; ", "reload"]);
        await writer.apply([active("e")], 8, 80, "other-8");
        expect([await stepFrom(kept), await stepFrom(lost)]).toEqual(["; d@A0 e@A0; ", "reload"]);
        expect((await load()).contracts.map(({ contractId }) => contractId)).toEqual(["a", "b", "d", "e"]);
      });

      test("from below what the log remembers", async () => {
        await subject.writer.replace([fruit("a"), fruit("b")], 5);
        const positions = [await head()];
        for (const offset of [6, 7, 8]) {
          await apply([active(`n${offset}`), archive(offset === 6 ? "a" : "b")], offset);
          positions.push(await head());
        }
        await subject.trim(7);
        const steps: string[] = [];
        for (const position of positions) steps.push(await stepFrom(position));
        expect(steps).toEqual(["reload", "reload", "b; n8@A0; ", "; ; "]);
        expect((await load()).contracts).toHaveLength(3);
      });

      test(`with more than ${MAX_STEP_ROWS} changes`, async () => {
        await subject.writer.replace([], 5);
        const since = await head();
        const many = (count: number, from: number) => Array.from({ length: count }, (_, at) => active(`n${from + at}`));
        await apply(many(MAX_STEP_ROWS - 1, 0), 6);
        await apply(many(1, MAX_STEP_ROWS), 7);
        const { step } = await progress(since);
        expect(step?.active).toHaveLength(MAX_STEP_ROWS);
        await apply(many(1, MAX_STEP_ROWS + 1), 8);
        expect((await progress(since)).step).toBeUndefined();
      });
    });

    describe("a load", () => {
      test("has contracts, the archived, and sums", async () => {
        await subject.writer.replace([fruit("a", worth(5n)), pearOf("p"), fruit("m"), counted("c", 7n, "EUR")], 5);
        await apply([archive("p"), unassigned("m", 1), active("b", worth(20n))], 6);
        await apply([archive("unknown")], 7);
        const loaded = await load();
        const ab = [fruit("a", worth(5n)), fruit("b", worth(20n))];
        const m = fruit("m", { synchronizerId: undefined, reassignmentCounter: 1 });
        expect(loaded.contracts).toMatchObject([...ab, m].map(readable));
        expect(loaded.archived).toEqual([
          ["p", registrarHash(GROWER)],
          ["unknown", undefined],
        ]);
        expect(loaded.sums).toEqual(
          new Map([
            [sumHash("USD"), 25n],
            [sumHash("EUR"), 7n],
          ]),
        );
      });

      test("is of one state, whatever is committed meanwhile", async () => {
        await subject.writer.replace([fruit("a"), fruit("b", worth(5n)), fruit("c")], 5);
        await apply([archive("a")], 6);
        const loaded = await subject.log.load(async (state) => {
          if (state === undefined) throw new Error("the log is empty");
          await apply([archive("b"), active("d", worth(1n))], 7);
          const contracts = collectContracts(state.contracts);
          const ids = byId(await contracts).map(({ contractId }) => contractId);
          await subject.writer.replace([fruit("e")], 4);
          const archived = (await collect(state.archived)).map(({ contractId }) => contractId);
          await subject.writer.apply([active("f")], 5, 50, "update-5");
          const sums = (await collect(state.sums)).filter(({ amount }) => amount !== 0n);
          return [state.head.offset, ids, archived, sums];
        }, signal);
        expect(loaded).toEqual([6, ["b", "c"], ["a"], [{ sum: sumHash("USD"), amount: 5n }]]);
        expect((await load()).contracts.map(({ contractId }) => contractId)).toEqual(["e", "f"]);
      });

      test("rethrows what its user throws", async () => {
        await subject.writer.replace([fruit("a")], 5);
        const reason = new Error("of the user");
        await expect(subject.log.load(() => Promise.reject(reason), signal)).rejects.toBe(reason);
      });

      test("ends soon with its signal, also before it begins", async () => {
        const ids = Array.from({ length: 5_000 }, (_, index) => `n${index}`);
        await subject.writer.replace(
          ids.map((id) => fruit(id)),
          5,
        );
        const end = new AbortController();
        let seen = 0;
        const ended = subject.log.load(async (state) => {
          for await (const _contract of state?.contracts ?? []) if (++seen === 1) end.abort();
        }, end.signal);
        await expect(ended).rejects.toThrow(StoreUnavailable);
        expect(seen).toBeLessThan(2_000);
        const never = subject.log.load(async (state) => state && read(state), end.signal);
        await expect(never).rejects.toThrow(StoreUnavailable);
        expect((await load()).contracts).toHaveLength(5_000);
      });
    });

    describe("the next generation", () => {
      /** What `look` returns while a second generation is filled and not served yet; it is served then. */
      async function meanwhile<T>(look: () => Promise<T>): Promise<T> {
        await subject.writer.replace([fruit("a"), fruit("b", worth(5n))], 5, 50);
        await apply([archive("a")], 6);
        const seen: T[] = [];
        subject.beforeSwap(async () => void seen.push(await look()));
        await subject.writer.replace([fruit("b", worth(5n)), counted("c", 7n)], 4, 40);
        const [only, ...more] = seen;
        expect(more).toEqual([]);
        if (only === undefined) throw new Error("it was served at once");
        return only;
      }

      test("is none at first, and is served at once where nothing is", async () => {
        let waited = 0;
        subject.beforeSwap(async () => void waited++);
        await subject.writer.replace([fruit("a")], 5);
        expect([waited, (await head()).next]).toEqual([0, undefined]);
      });

      test("is told and can be loaded while the one before is served, and moves on from there", async () => {
        const { before, told, next, served, again, other } = await meanwhile(async () => {
          const at = await head();
          return {
            before: at.generation,
            told: at,
            next: await load(at.next?.generation),
            served: await load(),
            again: await load(at.generation),
            other: await subject.log.load(async (state) => state, signal, at.generation + 1_000_000_000),
          };
        });
        const { generation = 0 } = told.next ?? {};
        expect(told).toMatchObject({ offset: 6, next: { offset: 4, asOf: 40, origin: told.origin } });
        expect([served.head.generation, served.contracts.length, served.archived.length]).toEqual([before, 1, 1]);
        expect(next.head).toMatchObject({ generation, offset: 4, updateId: undefined, asOf: 40, next: undefined });
        expect([next.contracts.map(({ contractId }) => contractId), next.archived]).toEqual([["b"], []]);
        expect(next.sums).toEqual(new Map([[sumHash("USD"), 12n]]));
        expect([again.contracts, other]).toEqual([served.contracts, undefined]);
        expect((await load(generation)).contracts).toEqual(next.contracts);
        expect(await head()).toMatchObject({ generation, offset: 4, next: undefined });
        expect(await stepFrom(next.head)).toBe("; ; ");
        await apply([active("d")], 5);
        expect(await stepFrom(next.head)).toBe("; d@A0; ");
        expect(await stepFrom(served.head)).toBe("reload");
      });

      test("has the origin of its writer", async () => {
        await subject.writer.replace([fruit("a")], 5);
        const { origin } = await head();
        const writer = await subject.otherWriter();
        const seen: LogHead[] = [];
        subject.beforeSwap(async () => void seen.push(await head()));
        await writer.replace([fruit("a")], 5);
        const after = await head();
        expect(after.origin).not.toBe(origin);
        expect(seen).toMatchObject([{ origin, next: { origin: after.origin } }]);
      });

      test("is given up by another writer, which goes on where the served one is", async () => {
        await subject.writer.replace([fruit("a")], 5);
        const before = await head();
        const given: (number | undefined)[] = [];
        let writer: StoreWriter | undefined;
        subject.beforeSwap(async () => {
          given.push((await head()).next?.generation);
          writer = await subject.otherWriter();
          given.push((await head()).next?.generation);
        });
        await expect(subject.writer.replace([fruit("b")], 6)).rejects.toBeInstanceOf(Error);
        expect(given).toEqual([expect.any(Number), undefined]);
        expect(await subject.log.load(async (state) => state, signal, given[0])).toBeUndefined();
        expect(await head()).toMatchObject({ generation: before.generation, offset: 5, next: undefined });
        subject.beforeSwap(async () => undefined);
        await writer?.replace([fruit("c")], 3);
        expect(await head()).toMatchObject({ offset: 3, next: undefined });
      });

      test("is given up where a log is restored that had one", async () => {
        const restored = await meanwhile(() => subject.backup());
        const writer = await restored();
        expect(await head()).toMatchObject({ offset: 6, next: undefined });
        await writer.apply([active("d")], 7, 70, "update-7");
        expect((await load()).contracts.map(({ contractId }) => contractId)).toEqual(["b", "d"]);
      });
    });

    describe("bodies", () => {
      const body = (id: string) => ({
        payload: JSON.stringify({ name: id, é: null }),
        views: JSON.stringify({ "pkg:Fruit:Eatable": { of: id, "\\": "\t" } }),
        createdEventBlob: Buffer.from(id).toString("base64"),
      });
      const withBody = (id: string) => fruit(id, { body: { ...body(id), encodings: undefined } });
      const bodiesOf = (...ids: readonly string[]) => new Map(ids.map((id) => [id, body(id)]));

      test("are those of contracts, by id, of a snapshot and of updates, of any size", async () => {
        const ids = Array.from({ length: MAX_BODIES - 1 }, (_, index) => `n${index}`);
        await subject.writer.replace(ids.map(withBody), 5);
        const { generation } = await head();
        await apply([{ active: withBody("later") }, unassigned("n2", 1)], 6);
        const asked = await subject.log.bodies([...ids, "later"], generation);
        expect([asked.head?.offset, asked.bodies]).toEqual([6, bodiesOf(...ids, "later")]);
        expect((await subject.log.bodies(["n1", "n1", "unknown"], generation)).bodies).toEqual(bodiesOf("n1"));

        const large = {
          payload: `{"text":"${"é".repeat(50_000)}"}`,
          views: "",
          createdEventBlob: "QUJD".repeat(50_000),
        };
        await apply([{ active: fruit("large", { body: { ...large, encodings: undefined } }) }], 7);
        expect((await subject.log.bodies(["large"], generation)).bodies).toEqual(new Map([["large", large]]));
      });

      test("are there for a while after the archival, and when the contract is active again", async () => {
        await subject.writer.replace([withBody("a"), withBody("b")], 5);
        const { generation } = await head();
        await apply([archive("a"), { active: withBody("c") }], 6);
        await apply([archive("c")], 7);
        const asked = await subject.log.bodies(["a", "b", "c"], generation);
        expect([asked.head?.offset, asked.bodies]).toEqual([7, bodiesOf("a", "b", "c")]);
        await apply([{ active: withBody("a") }], 8);
        await apply([archive("a")], 9);
        expect((await subject.log.bodies(["a"], generation)).bodies).toEqual(bodiesOf("a"));
      });

      test("are there for a while after another generation has begun, and are not those of that", async () => {
        await subject.writer.replace([withBody("a"), withBody("b")], 5);
        const { generation } = await head();
        await subject.writer.replace([withBody("b"), withBody("c")], 4);
        const { generation: next } = await head();
        await subject.cleanUp();
        const before = await subject.log.bodies(["a", "b", "c"], generation);
        expect([before.head?.generation, before.bodies]).toEqual([next, bodiesOf("a", "b")]);
        expect((await subject.log.bodies(["a", "b", "c"], next)).bodies).toEqual(bodiesOf("b", "c"));
        await subject.writer.replace([withBody("c")], 4);
        await subject.cleanUp();
        expect((await subject.log.bodies(["a", "b", "c"], generation)).bodies).toEqual(bodiesOf("a", "b"));
      });
    });

    describe("notices", () => {
      /** Counts them until `stop`. */
      function listen() {
        const counts = { listening: 0, committed: 0 };
        const caughtUp: string[] = [];
        const end = new AbortController();
        const notices: LogNotices = {
          listening: () => void counts.listening++,
          committed: () => void counts.committed++,
          caughtUp: (id) => void caughtUp.push(id),
        };
        const ended = subject.log.listen(notices, end.signal);
        const stop = () => {
          end.abort();
          return ended;
        };
        return { counts, caughtUp, stop };
      }

      test("come for snapshots, updates and heartbeats, until the end", async () => {
        const { counts, stop } = listen();
        await until("it listens", () => counts.listening === 1);
        const writes = [
          () => subject.writer.replace([], 5),
          () => apply([active("a")], 6),
          () => apply([], 7),
          () => subject.heartbeat(0),
        ];
        for (const write of writes) {
          const before = counts.committed;
          await write();
          await until("a notice comes", () => counts.committed > before);
        }
        await stop();
        expect(counts.listening).toBe(1);
      });

      test("come for a generation that is filled, before it is served", async () => {
        await subject.writer.replace([], 5);
        const { counts, stop } = listen();
        await until("it listens", () => counts.listening === 1);
        let isTold = false;
        subject.beforeSwap(async () => {
          await until("a notice comes", () => counts.committed > 0);
          isTold = (await head()).next !== undefined;
        });
        await subject.writer.replace([], 6);
        expect(isTold).toBe(true);
        await stop();
      });

      test("tell who has asked that the mirror has caught up", async () => {
        await subject.writer.replace([], 5);
        await subject.answerRequests();
        const [first, second] = [listen(), listen()];
        await until("both listen", () => first.counts.listening + second.counts.listening === 2);
        await subject.log.requestCatchUp("a request");
        await until("it is answered", () => first.caughtUp.length > 0);
        expect(first.caughtUp).toEqual(["a request"]);
        await first.stop();
        await second.stop();
      });

      test("end at once if they were not wanted", async () => {
        const end = new AbortController();
        end.abort();
        const silent = () => undefined;
        const ended = subject.log.listen({ listening: silent, committed: silent, caughtUp: silent }, end.signal);
        await expect(ended).resolves.toBeUndefined();
      });
    });
  });
}
