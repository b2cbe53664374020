import { afterEach, beforeEach } from "vitest";
import type { Template } from "../../../src/domain/template.js";
import type { StoreReader, StoreWriter, TemplateCount, View } from "../../../src/store/port.js";
import { apple, type FruitFields, idsOf, lookUp, type Lookup, templates } from "./fixtures.js";

/** A store without a state. */
export interface StoreUnderTest {
  readonly reader: StoreReader;
  readonly writer: StoreWriter;
  close(): Promise<void>;
}

/** Makes a store for contracts of the given templates. Called once for each case. */
export type MakeStore = (templates: readonly Template[]) => Promise<StoreUnderTest>;

/** The store of the current case, and shorthands to read it. */
export interface Subject {
  readonly store: Pick<StoreUnderTest, "reader" | "writer">;
  /** Reads with a promise, whether the store is synchronous or not. */
  readonly read: <T>(use: (view: View) => T) => Promise<T>;
  /** Ids found by contract id or by label, or of the whole template. */
  readonly found: (template: Template<FruitFields>, by: Lookup["by"] | undefined) => Promise<string[]>;
  readonly sums: (...names: readonly string[]) => Promise<readonly bigint[]>;
  /** The sum "USD". */
  readonly sum: () => Promise<bigint | undefined>;
  readonly asOf: () => Promise<number | undefined>;
  readonly wasArchived: (id: string, registrar?: string) => Promise<boolean>;
  /** `package name, qualified name, package id, count` of each, sorted. */
  readonly templateCounts: () => Promise<string[]>;
  /** The offset, and the synchronizer of each apple by id. */
  readonly assignments: () => Promise<{ offset: number; at: Record<string, string | undefined> }>;
}

export const formatCounts = (counts: readonly TemplateCount[]): string[] =>
  counts
    .map(({ template, packageId, count }) => `${template.packageName} ${template.qualifiedName} ${packageId} ${count}`)
    .toSorted((a, b) => (a < b ? -1 : 1));

/** To be called within a `describe`: each case gets a store of its own. */
export function createSubject(makeStore: MakeStore): Subject {
  let current: StoreUnderTest;
  beforeEach(async () => {
    current = await makeStore(templates);
  });
  afterEach(() => current.close());
  const read = async <T>(use: (view: View) => T): Promise<T> => current.reader.read(use);
  const sums = (...names: readonly string[]) => read((view) => view.sums(names));
  return {
    store: {
      get reader() {
        return current.reader;
      },
      get writer() {
        return current.writer;
      },
    },
    read,
    found: (template, by) =>
      read((view) => (by === undefined ? idsOf(view.all(template)) : lookUp(view, { template, by }))),
    sums,
    sum: async () => (await sums("USD"))[0],
    asOf: () => read((view) => view.asOf),
    wasArchived: (id, registrar) => read((view) => view.wasArchived(id, registrar)),
    templateCounts: () => read((view) => formatCounts(view.templateCounts())),
    assignments: () =>
      read((view) => ({
        offset: view.offset,
        at: Object.fromEntries(view.all(apple).map(({ contractId, synchronizerId }) => [contractId, synchronizerId])),
      })),
  };
}
