import type { Config } from "../config/config.js";
import { readInstruments } from "../config/setting-files.js";
import { Decoder } from "../ledger/decode.js";
import { parseSnapshot, type Snapshot } from "../ledger/file/snapshot.js";
import type { Inventory } from "../registry/sdk/registry.js";
import { MemoryStore } from "../store/memory/memory-store.js";
import { loadRegistry } from "./load-registry.js";

export interface SnapshotCheck {
  readonly snapshot: Snapshot;
  /** What the snapshot would serve; undefined if it has problems. */
  readonly inventory: Inventory | undefined;
}

/**
 * Checks the content of a snapshot file. `now` is in milliseconds since 1970. Throws SettingError for a wrong registry
 * module, contexts file or instruments file.
 */
export async function checkSnapshot(config: Config, content: string, now: number): Promise<SnapshotCheck> {
  const registry = await loadRegistry(config);
  await readInstruments(config.instruments);
  const snapshot = parseSnapshot(content, new Decoder(registry.templates, config.totalSupply, config.keepHoldings));
  if (snapshot.problems.length > 0) return { snapshot, inventory: undefined };
  const store = new MemoryStore();
  await store.replace(snapshot.contracts, snapshot.offset);
  const options = { now, credentialDays: config.credentialDays };
  return { snapshot, inventory: store.read((view) => registry.inventory(view, options)) };
}
