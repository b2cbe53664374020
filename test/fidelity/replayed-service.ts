/** The service on a store that is moved through a recorded ledger, with the time of the ledger. */
import { alreadyCaughtUp } from "../../src/domain/ledger.js";
import type { JsonValue } from "../../src/domain/json.js";
import { loadRegistry } from "../../src/app/registry.js";
import { QueryExecutor } from "../../src/registry/executor.js";
import type { Registry } from "../../src/registry/sdk/registry.js";
import { services } from "../../src/service/services.js";
import { MemoryStore } from "../../src/store/memory/memory-store.js";
import type { StoreReader, StoreWriter } from "../../src/store/port.js";
import { Replica } from "../../src/store/postgres/replica.js";
import { PostgresWriter } from "../../src/store/postgres/writer.js";
import { createServer } from "../../src/transport/server.js";
import { clock, freshSchema } from "../fixtures/postgres-schema.js";
import { quiet } from "../fixtures/run-service.js";
import { TEST_SERVER_OPTIONS } from "../fixtures/server-options.js";
import { type Flow, holdingsOf, type RecordedContract, timeAt, updatesOf } from "./recorded-ledger.js";

export interface ReplayedStore {
  readonly reader: StoreReader;
  readonly writer: StoreWriter;
  /** Makes what was written readable. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

export interface Replied {
  readonly status: number;
  readonly body: JsonValue;
}

const utility = await loadRegistry(quiet());

const done = (): Promise<void> => Promise.resolve();

export function inMemory(): Promise<ReplayedStore> {
  const store = new MemoryStore();
  return Promise.resolve({ reader: store, writer: store, refresh: done, close: done });
}

/** A writer and a replica on a database of their own. */
export async function onPostgres({ templates }: Registry = utility): Promise<ReplayedStore> {
  const schema = await freshSchema();
  const content = { contentId: "recording", origin: "recording" };
  const writer = await PostgresWriter.begin(schema.database, 0, content, () => undefined);
  const options = { templates, contentId: "recording", cacheBytes: 10_000_000, clock };
  const replica = new Replica(schema.database, options);
  return { reader: replica, writer, refresh: () => replica.refresh(), close: () => schema.drop() };
}

/** Asks the flows one after the other, each in its state. `contracts` are those that the mirror sees. */
export async function replies(
  flows: readonly Flow[],
  contracts: readonly RecordedContract[],
  createStore: (registry: Registry) => Promise<ReplayedStore> = inMemory,
  registry = utility,
): Promise<ReadonlyMap<Flow, Replied>> {
  const store = await createStore(registry);
  const { reader, writer } = store;
  let now = 0;
  const freshness = { staleReason: () => undefined, catchUp: alreadyCaughtUp };
  let offset = 0;
  const holdings = { holdings: (ids: readonly string[]) => Promise.resolve(holdingsOf(contracts, ids, offset)) };
  const executor = new QueryExecutor(registry, reader, freshness, () => now, undefined, holdings);
  const options = { overrides: new Map(), countsHoldings: false, openApi: {}, notReadyReason: () => undefined };
  const server = await createServer(services(executor, options), TEST_SERVER_OPTIONS);
  const url = await server.listen("127.0.0.1", 0);
  const updates = updatesOf(contracts, registry.templates);
  const answers = new Map<Flow, Replied>();
  await writer.replace([], 0);
  try {
    let next = 0;
    for (const flow of flows) {
      for (; (updates[next]?.offset ?? Infinity) <= flow.askedAt; next++)
        await writer.apply(updates[next]?.changes ?? [], updates[next]?.offset ?? 0);
      await store.refresh();
      now = flow.time === undefined ? timeAt(contracts, flow.askedAt) : Date.parse(flow.time);
      offset = flow.askedAt;
      answers.set(flow, await ask(url, flow));
    }
  } finally {
    await server.close(1_000);
    await store.close();
  }
  return answers;
}

async function ask(url: string, { request: { method, path, body = {} } }: Flow): Promise<Replied> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as JsonValue };
}
