/** The composition root: picks the store and the source, wires the parts, opens the listener. */
import { createRequire } from "node:module";
import type { Config } from "./config/config.js";
import { readInstruments } from "./config/instruments-file.js";
import { Decoder } from "./ledger/decode.js";
import { readSnapshot, type Snapshot } from "./ledger/file/snapshot.js";
import { Engine } from "./registry/engine.js";
import type { Inventory } from "./registry/registry.js";
import { registryOf } from "./registries.js";
import { services } from "./service/services.js";
import { sourceOf } from "./source.js";
import { MemoryStore } from "./store/memory.js";
import type { JsonObject } from "./store/store.js";
import { keepTicksQuick } from "./wire/quick-ticks.js";
import { createServer } from "./wire/server.js";

/** A running service. */
export interface App {
  /** Where it answers, without a trailing slash. */
  readonly url: string;
  /** Where its contracts come from: a path or a URL. */
  readonly source: string;
  /** What it served when it started; undefined where no snapshot of the ledger was there yet. */
  readonly inventory: Inventory | undefined;
  /** Takes no more requests, ends those under way, and lets go of everything. */
  close(): Promise<void>;
}

/**
 * Starts the service. Throws SnapshotError where the file cannot be served,
 * SettingError where another that the configuration names cannot be used, and
 * the system's error where the address cannot be listened on; then nothing is
 * left running. `now` gives milliseconds since 1970.
 */
export async function startApp(config: Config, now: () => number = Date.now): Promise<App> {
  keepTicksQuick();
  const registry = await registryOf(config);
  const words = await readInstruments(config.instruments);
  const store = new MemoryStore();
  const source = await sourceOf(config, registry.kinds, store, now);
  const engine = new Engine(registry, store, source, now, source.history);
  const openApi = openApiDocument();
  const offered = services(engine, {
    words,
    countsHoldings: config.totalSupply,
    openApi,
    unreadiness: () => source.unreadiness(),
  });
  const server = await createServer(offered, { logLevel: config.logLevel, openApi });
  const close = async () => {
    await server.close(config.graceSeconds * 1000);
    await source.close();
  };
  try {
    await source.start(server.log);
    const inventory = source.refusal() === undefined ? store.read((view) => registry.inventory(view)) : undefined;
    const url = await server.listen(config.host, config.port);
    return { url, source: source.name, inventory, close };
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
  const registry = await registryOf(config);
  await readInstruments(config.instruments);
  const snapshot = readSnapshot(content, new Decoder(registry.kinds, config.totalSupply));
  if (snapshot.problems.length > 0) return { snapshot, inventory: undefined };
  const store = new MemoryStore();
  await store.replace(snapshot.contracts, snapshot.offset);
  return { snapshot, inventory: store.read((view) => registry.inventory(view)) };
}

function openApiDocument(): JsonObject {
  return createRequire(import.meta.url)("#openapi.json") as JsonObject;
}
