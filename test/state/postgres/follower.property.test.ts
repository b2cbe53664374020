/** For any writes and refreshes, a follower returns what a memory store returns for the same state. */
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MemoryStore } from "../../../src/state/memory-store.js";
import { PostgresWriter } from "../../../src/state/postgres/writer.js";
import { type Change, type Contract, type CountedOnly, type StoredContract } from "../../../src/domain/contract.js";
import type { View } from "../../../src/state/port.js";
import { type Followed, followerOf } from "../../fixtures/follower.js";
import { apple, byLabel, counted, fruit, fruits, pear } from "../../fixtures/fruits.js";
import { freshSchema, type Schema } from "../../fixtures/postgres-schema.js";

/** New scripts start until then. */
const MAX_DURATION_MS = 10_000;
const FOLLOWERS = 2;

let schema: Schema;
beforeAll(async () => {
  schema = await freshSchema();
});
afterAll(() => schema.drop());

const ids = ["a", "b", "c", "p", "q"];
const countedIds = ["x", "y"];
const labels = ["red", "green", "blue", ""];
const sums = ["USD", "EUR", "none"];
const templateOf = (id: string) => (id < "d" ? apple : pear);

/** Each snapshot has contracts with other fields. */
function contractOf(id: string, snapshot: number, counter: number): StoredContract | CountedOnly {
  const index = ids.indexOf(id);
  const assignment = { reassignmentCounter: counter, synchronizerId: `sync-${counter}` };
  const amount = BigInt(snapshot * 10 + index + 1);
  if (index === -1) return { ...counted(id, amount, id === "x" ? "USD" : "EUR"), ...assignment };
  return fruit(id, {
    ...assignment,
    template: templateOf(id),
    name: `${id} of ${snapshot}`,
    labels: labels.filter((_, bit) => (index + snapshot * 3) & (1 << bit)),
    createdMicros: 1_767_603_600_000_000 + (index % 2),
    supply: index % 2 === 0 ? { sum: "USD", amount } : undefined,
  });
}

/** What a lookup finds, as text. `seen` has each object by contract id, to find copies. */
type Lookup = (view: View, seen: Map<string, Contract>) => string[];

const describe = (contracts: readonly Contract[], seen: Map<string, Contract>): string[] =>
  contracts.map((contract) => {
    const { contractId, template, synchronizerId, reassignmentCounter, supply, fields, indexKeys } = contract;
    const first = seen.get(contractId) ?? contract;
    seen.set(contractId, first);
    if (first !== contract) return `${contractId} is another object than before`;
    const amount = supply === undefined ? "nothing" : `${supply.amount} ${supply.sum}`;
    const text = JSON.stringify([fields, indexKeys, amount]);
    return `${contractId} ${template.qualifiedName} ${synchronizerId ?? "nowhere"} ${reassignmentCounter} ${text}`;
  });

/** Every lookup by its name. */
const lookups: Readonly<Record<string, Lookup>> = Object.fromEntries<Lookup>([
  ...[...ids, ...countedIds, "never"].flatMap((id): [string, Lookup][] => [
    [
      `id ${id}`,
      (view, seen) =>
        describe(
          fruits.flatMap((template) => view.byId(template, id) ?? []),
          seen,
        ),
    ],
    [`archived ${id}`, (view) => [String(view.wasArchived(id))]],
  ]),
  ...fruits.flatMap((template): [string, Lookup][] => [
    [`all ${template.qualifiedName}`, (view, seen) => describe(view.all(template), seen)],
    ...[...labels, "never"].map((label): [string, Lookup] => [
      `label ${template.qualifiedName} ${label}`,
      (view, seen) => describe(view.byKey(template, byLabel(label)), seen),
    ]),
  ]),
  ["sums", (view) => view.sums(sums).map(String)],
  [
    "counts",
    (view) =>
      view
        .templateCounts()
        .map(({ template, packageId, count }) => `${template.qualifiedName} ${packageId} ${count}`)
        .toSorted((a, b) => (a < b ? -1 : 1)),
  ],
]);
const allNames = Object.keys(lookups);

const aReading = fc.record({
  does: fc.constant("read" as const),
  follower: fc.nat({ max: FOLLOWERS - 1 }),
  names: fc.oneof(
    { weight: 3, arbitrary: fc.array(fc.constantFrom(...allNames), { minLength: 1, maxLength: 6 }) },
    { weight: 1, arbitrary: fc.constant(allNames) },
  ),
});
const aRefresh = fc.record({ does: fc.constant("refresh" as const), follower: fc.nat({ max: FOLLOWERS - 1 }) });
const aChange = fc.record({
  what: fc.constantFrom("active", "active", "unassigned", "archived"),
  id: fc.constantFrom(...ids, ...countedIds),
  counter: fc.nat({ max: 3 }),
});
/** `step` is added to the offset. An update with a step of 0 or less changes nothing. */
const anUpdate = fc.record({
  does: fc.constant("apply" as const),
  step: fc.constantFrom(1, 1, 1, 2, 0, -1),
  changes: fc.array(aChange, { maxLength: 6 }),
});
const aSnapshot = fc.record({
  does: fc.constant("replace" as const),
  step: fc.integer({ min: -2, max: 2 }),
  contracts: fc.uniqueArray(fc.constantFrom(...ids, ...countedIds)),
});
const aWrite = fc.oneof({ weight: 6, arbitrary: anUpdate }, { weight: 1, arbitrary: aSnapshot });
const atOnce = fc.record({
  does: fc.constant("at once" as const),
  writes: fc.array(aWrite, { minLength: 1, maxLength: 3 }),
  reads: fc.array(fc.oneof({ weight: 4, arbitrary: aReading }, { weight: 1, arbitrary: aRefresh }), {
    minLength: 1,
    maxLength: 6,
  }),
});
const aScript = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: aReading },
    { weight: 3, arbitrary: aWrite },
    { weight: 2, arbitrary: aRefresh },
    { weight: 2, arbitrary: atOnce },
  ),
  { minLength: 5, maxLength: 30 },
);

type Write = typeof aWrite extends fc.Arbitrary<infer T> ? T : never;
type Read = typeof aReading extends fc.Arbitrary<infer T> ? T : never;

/** `asOf` has the number of the write, which identifies the state. */
function read(view: View, names: readonly string[]) {
  const seen = new Map<string, Contract>();
  const find = (name: string) => lookups[name]?.(view, seen) ?? [];
  return { write: view.asOf ?? -1, offset: view.offset, answers: names.map(find) };
}

/** A class is no test block. */
function expectSame(seen: unknown, expected: unknown): void {
  expect(seen).toEqual(expected);
}

/** Writes to the database and to the model, and keeps the results of the model after each write. */
class Run {
  readonly #model = new MemoryStore();
  readonly #writer: PostgresWriter;
  readonly #followers: readonly Followed[];
  /** The results of the model, by number of the write. */
  readonly #states = new Map<number, { offset: number; answers: ReadonlyMap<string, string[] | undefined> }>();
  #writes = 0;
  #snapshots = 0;
  #offset = 10;
  #archived = new Set<string>();
  /** The latest write that each follower has seen. */
  readonly #reached = Array.from({ length: FOLLOWERS }, () => 0);

  private constructor(writer: PostgresWriter) {
    this.#writer = writer;
    this.#followers = Array.from({ length: FOLLOWERS }, () => followerOf(schema.database, { templates: fruits }));
  }

  static async begin(): Promise<Run> {
    await schema.empty();
    const run = new Run(
      await PostgresWriter.begin(schema.database, 0, { contentId: "tests", origin: "tests" }, () => undefined),
    );
    await run.write({ does: "replace", step: 0, contracts: ["a", "b", "p", "x"] });
    for (const index of run.#followers.keys()) await run.refresh(index);
    return run;
  }

  async write(write: Write): Promise<void> {
    const number = ++this.#writes;
    const offset = this.#offset + write.step;
    if (write.does === "replace") {
      this.#snapshots++;
      this.#archived.clear();
      const contracts = write.contracts.map((id) => contractOf(id, this.#snapshots, 0));
      await this.#model.replace(contracts, offset, number);
      this.#recordResults(offset);
      await this.#writer.replace(contracts, offset, number);
    } else {
      const changes = offset > this.#offset ? write.changes.flatMap((one) => this.#change(one)) : [];
      await this.#model.apply(changes, offset, number);
      this.#recordResults(Math.max(offset, this.#offset));
      await this.#writer.apply(changes, offset, number);
    }
  }

  /** On a ledger, an archived contract never becomes active again. */
  #change({ what, id, counter }: (Write & { does: "apply" })["changes"][number]): Change[] {
    if (what === "unassigned") return [{ unassigned: id, reassignmentCounter: counter }];
    if (what === "active") return this.#archived.has(id) ? [] : [{ active: contractOf(id, this.#snapshots, counter) }];
    this.#archived.add(id);
    return [{ archived: id }];
  }

  /** Called before the database is written, since a follower may see the write at once. */
  #recordResults(offset: number): void {
    this.#offset = offset;
    const { write, answers } = this.#model.read((view) => read(view, allNames));
    this.#states.set(write, { offset, answers: new Map(allNames.map((name, index) => [name, answers[index]])) });
  }

  async refresh(index: number): Promise<void> {
    await this.#followers[index]?.refresh();
  }

  async read({ follower, names }: Pick<Read, "follower" | "names">): Promise<void> {
    const before = this.#reached[follower] ?? 0;
    const seen = this.#followers[follower]?.read((view) => read(view, names));
    const write = seen?.write ?? -1;
    const state = this.#states.get(write);
    expectSame(seen, { write, offset: state?.offset, answers: names.map((name) => state?.answers.get(name)) });
    // A follower never goes back.
    expectSame(write >= before, true);
    this.#reached[follower] = Math.max(write, this.#reached[follower] ?? 0);
  }

  /** After the last write, a refresh brings each follower to the latest state. */
  async end(): Promise<void> {
    const latest = this.#model.read((view) => view.asOf);
    for (const follower of this.#followers.keys()) {
      await this.refresh(follower);
      await this.read({ follower, names: allNames });
      expectSame(this.#reached[follower], latest);
    }
  }
}

test("a follower returns what a memory store returns for the same state", async () => {
  const end = performance.now() + MAX_DURATION_MS;
  await fc.assert(
    fc.asyncProperty(aScript, async (script) => {
      if (performance.now() > end) return;
      const run = await Run.begin();
      for (const step of script) {
        if (step.does === "read") await run.read(step);
        else if (step.does === "refresh") await run.refresh(step.follower);
        else if (step.does === "at once") {
          const writing = (async () => {
            for (const write of step.writes) await run.write(write);
          })();
          const reading = step.reads.map((one) => (one.does === "read" ? run.read(one) : run.refresh(one.follower)));
          const outcomes = await Promise.allSettled([writing, ...reading]);
          // Wait for everything, then fail with the first error.
          for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
        } else await run.write(step);
      }
      await run.end();
    }),
    { numRuns: 60 },
  );
}, 60_000);
