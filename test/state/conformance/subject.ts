/** The store of the current case, and the fruits that it holds. */
import { afterEach, beforeEach } from "vitest";
import type { Change, Contract, StoredContract } from "../../../src/domain/contract.js";
import type { Template } from "../../../src/domain/template.js";
import type { StoreReader, StoreWriter, TemplateCount, View } from "../../../src/state/port.js";
import { apple, byLabel, type Fruit, fruit, type FruitOptions, pear as plainPear } from "../../fixtures/fruits.js";

/** A store without a state. */
export interface StoreUnderTest {
  readonly reader: StoreReader;
  readonly writer: StoreWriter;
  /** Whether bodies are read by contract id, so that a view's contracts have none. */
  readonly keepsBodiesApart?: boolean;
  close(): Promise<void>;
}

/** Makes a store for contracts of the given templates. Called once for each case. */
export type MakeStore = (templates: readonly Template[]) => Promise<StoreUnderTest>;

export { apple };
/** The registrar of all pears. */
export const GROWER = "grower";
export const pear: Template<Fruit> = { ...plainPear, registrarOf: () => GROWER };
/** The same qualified name in another package is another template. */
export const otherApple: Template<Fruit> = { ...apple, packageName: "other-fruit" };
/** No case stores a plum. */
export const plum: Template<Fruit> = { ...apple, qualifiedName: "Fruit.Tree:Plum" };
/** Its labels are tallied. */
export const cherry: Template<Fruit> = {
  ...apple,
  qualifiedName: "Fruit.Tree:Cherry",
  tally: ({ labels }) => labels.map((name) => ({ group: "cherries", name })),
};
export const templates = [apple, pear, otherApple, plum, cherry];

/** A red apple becomes active. */
export const active = (id: string, options: FruitOptions = {}): Change => ({ active: fruit(id, options) });
export const unassigned = (id: string, reassignmentCounter: number): Change => ({
  unassigned: id,
  reassignmentCounter,
});
/** After a reassignment. */
export const on = (place: string, reassignmentCounter: number): FruitOptions => ({
  synchronizerId: `sync-${place}`,
  reassignmentCounter,
});
export const worth = (amount: bigint): FruitOptions => ({ supply: { sum: "USD", amount } });

export const idsOf = (contracts: readonly Contract[]): string[] => contracts.map(({ contractId }) => contractId);
export const namesOf = (contracts: readonly Contract<Fruit>[]): string[] => contracts.map(({ fields }) => fields.name);

/** What is found by id or label, or without either, of the whole template. */
export type By = { readonly id: string } | { readonly label: string } | undefined;

export function find(view: View, template: Template<Fruit>, by?: By): readonly Contract<Fruit>[] {
  if (by === undefined) return view.all(template);
  if ("label" in by) return view.byKey(template, byLabel(by.label));
  return [view.byId(template, by.id)].flatMap((found) => found ?? []);
}

/** `package id, template and count` of each, sorted. */
export const formatCounts = (counts: readonly TemplateCount[]): string =>
  counts
    .map(({ template, packageId, count }) => `${packageId} ${template.packageName} ${template.qualifiedName} ${count}`)
    .toSorted((a, b) => (a < b ? -1 : 1))
    .join(", ");

/** To be called within a `describe`: each case gets a store of its own. */
export function createSubject(makeStore: MakeStore) {
  let current: StoreUnderTest;
  beforeEach(async () => {
    current = await makeStore(templates);
  });
  afterEach(() => current.close());
  const read = async <T>(use: (view: View) => T): Promise<T> => current.reader.read(use);
  return {
    get writer() {
      return current.writer;
    },
    get keepsBodiesApart() {
      return current.keepsBodiesApart === true;
    },
    /** A contract as a view returns it. */
    viewed(given: StoredContract<Fruit>): Contract<Fruit> {
      const { body: _body, ...contract } = given;
      return current.keepsBodiesApart === true ? contract : given;
    },
    /** With a promise, so that what it throws rejects. */
    read,
    ids: (template: Template) => current.reader.ids(template),
    found: (template: Template<Fruit>, by?: By): Promise<string[]> => read((view) => idsOf(find(view, template, by))),
    sums: (...names: readonly string[]) => read((view) => view.sums(names)),
  };
}

export type Subject = ReturnType<typeof createSubject>;
