/** Executors of the rules on a store in memory and on a database, where a test sets what HTTP cannot. */
import { afterAll, beforeAll } from "vitest";
import type { Change } from "../../src/domain/contract.js";
import { RegistryError } from "../../src/domain/errors.js";
import { alreadyCaughtUp, type CatchUpProgress, type HoldingSource } from "../../src/domain/ledger.js";
import type { JsonObject } from "../../src/domain/json.js";
import { Decoder } from "../../src/ledger/decode.js";
import { type Answer, QueryExecutor } from "../../src/registry/executor.js";
import type { ContextAnswer, Registry } from "../../src/registry/sdk/registry.js";
import { MemoryStore } from "../../src/store/memory/memory-store.js";
import type { StoreReader, StoreWriter } from "../../src/store/port.js";
import { Replica } from "../../src/store/postgres/replica.js";
import { PostgresWriter } from "../../src/store/postgres/writer.js";
import { clock, freshSchema, type Schema } from "../fixtures/postgres-schema.js";

const NOW = Date.parse("2026-06-01T00:00:00Z");

interface Store {
  readonly writer: StoreWriter;
  readonly reader: StoreReader;
  refresh(): Promise<unknown>;
}

export interface World {
  readonly registry: Registry;
  readonly elements: readonly JsonObject[];
  /** Contracts that have been archived since. */
  readonly archived?: readonly string[];
  readonly holdings?: HoldingSource;
  /** Default: the store has all that the ledger has. */
  readonly catchUp?: () => AsyncIterable<CatchUpProgress>;
}

export const storeNames = ["memory", "PostgreSQL"] as const;

/** To be called in a `describe`. The function puts a world into the store and returns an executor on it. */
export function useStore(name: (typeof storeNames)[number]): (world: World) => Promise<QueryExecutor> {
  let schema: Schema | undefined;
  beforeAll(async () => {
    if (name === "PostgreSQL") schema = await freshSchema();
  });
  afterAll(() => schema?.drop());
  return async ({ registry, elements, archived = [], holdings, catchUp = alreadyCaughtUp }) => {
    const store = await emptyStore(registry, schema);
    const { writer, reader } = store;
    const decoder = new Decoder(registry.templates);
    await writer.replace(
      elements.flatMap((one) => decoder.decode(one)?.contract ?? []),
      1,
    );
    await writer.apply(
      archived.map((contractId): Change => ({ archived: contractId })),
      2,
    );
    await store.refresh();
    const freshness = { staleReason: () => undefined, catchUp };
    return new QueryExecutor(registry, reader, freshness, () => NOW, undefined, holdings);
  };
}

async function emptyStore({ templates }: Registry, schema: Schema | undefined): Promise<Store> {
  if (schema === undefined) {
    const store = new MemoryStore();
    return { writer: store, reader: store, refresh: async () => undefined };
  }
  await schema.empty();
  const writer = await PostgresWriter.begin(schema.database, 0, { contentId: "tests", origin: "tests" }, (error) => {
    throw error;
  });
  const replica = new Replica(schema.database, { templates, contentId: "tests", cacheBytes: 0, clock });
  return { writer, reader: replica, refresh: () => replica.refresh() };
}

export interface Outcome {
  /** The reason of a refusal. */
  readonly refused?: string;
  readonly message?: string;
  /** Contract ids by the key without its prefix; lists are joined. */
  readonly values?: Readonly<Record<string, string>>;
  /** Sorted. */
  readonly disclosed?: readonly string[];
  readonly factoryId?: string;
}

/** A short form of an answer or of its refusal. */
export async function outcomeOf(query: () => Answer<ContextAnswer> | Promise<Answer<ContextAnswer>>): Promise<Outcome> {
  try {
    const { value } = await query();
    const ids = (one: ContextAnswer["values"][number]["value"]): string => {
      if (one.tag === "AV_List") return one.value.map(ids).join();
      return one.tag === "AV_Map"
        ? one.value.map(({ name, value: inner }) => `${name}=${ids(inner)}`).join()
        : String(one.value);
    };
    return {
      values: Object.fromEntries(value.values.map(({ name, value: inner }) => [name.replace(/^.*\//, ""), ids(inner)])),
      disclosed: value.disclosed.map(({ contractId }) => contractId).toSorted(),
      ...("factoryId" in value && typeof value.factoryId === "string" ? { factoryId: value.factoryId } : {}),
    };
  } catch (error) {
    if (error instanceof RegistryError) return { refused: error.reason, message: error.message };
    throw error;
  }
}
