/** The composition root: picks the store, wires the parts, opens the listener. */
import { createRequire } from "node:module";
import type { Config } from "./config.js";
import { Decoder } from "./ledger/decode.js";
import { readSnapshot, type Snapshot } from "./ledger/snapshot.js";
import { SnapshotFile } from "./ledger/snapshot-file.js";
import { Engine } from "./registry/engine.js";
import type { Inventory, Registry } from "./registry/registry.js";
import { utilityRegistry } from "./registry/utility/index.js";
import { services } from "./service/services.js";
import { MemoryStore } from "./store/memory.js";
import { createServer } from "./wire/server.js";

/** How often a snapshot file is looked at, and how long requests under way have at the end. */
const POLL_MS = 1_000;
const GRACE_MS = 5_000;

/** A running service. */
export interface App {
  /** Where it answers, without a trailing slash. */
  readonly url: string;
  /** What it served when it started. */
  readonly inventory: Inventory;
  /** Takes no more requests, ends those under way, and lets go of everything. */
  close(): Promise<void>;
}

/**
 * Starts the service. Throws SnapshotError where the file cannot be served, and
 * the system's error where the address cannot be listened on; then nothing is
 * left running. `now` gives milliseconds since 1970.
 */
export async function startApp(config: Config, now: () => number = Date.now): Promise<App> {
  const registry = registryOf(config);
  const store = new MemoryStore();
  const server = await createServer(services(new Engine(registry, store, now)), config.logLevel);
  const path = snapshotPath(config);
  const file = new SnapshotFile(path, new Decoder(registry.kinds), store);
  const close = async () => {
    await server.close(GRACE_MS);
    await file.close();
  };
  try {
    await file.start(POLL_MS, {
      swapped: ({ contracts }) =>
        server.log.info({ path, contracts: contracts.length }, "serving the changed snapshot"),
      rejected: (reason) =>
        server.log.error({ path, reason }, "the changed snapshot cannot be served; what was served before goes on"),
    });
    const inventory = await store.read((view) => registry.inventory(view));
    const url = await server.listen(config.host, config.port);
    return { url, inventory, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What a snapshot file would serve, and what in it is wrong. */
export interface Check {
  readonly snapshot: Snapshot;
  /** Undefined where the file has problems. */
  readonly inventory: Inventory | undefined;
}

export async function checkSnapshot(config: Config, content: string): Promise<Check> {
  const registry = registryOf(config);
  const snapshot = readSnapshot(content, new Decoder(registry.kinds));
  if (snapshot.problems.length > 0) return { snapshot, inventory: undefined };
  const store = new MemoryStore();
  await store.replace(snapshot.contracts, snapshot.offset);
  return { snapshot, inventory: await store.read((view) => registry.inventory(view)) };
}

/** The file that is served: the operator's, or the demo registry that comes with the package. */
export function snapshotPath({ snapshot }: Config): string {
  return snapshot ?? createRequire(import.meta.url).resolve("#demo/registry.ndjson");
}

function registryOf(config: Config): Registry {
  return utilityRegistry({
    settlementLimits: {
      legs: config.maxLegs,
      allocations: config.maxAllocations,
      instruments: config.maxInstruments,
      accounts: config.maxAccounts,
      parties: config.maxParties,
    },
  });
}
