import type { Registry } from "../../src/registry/sdk/registry.js";
import { MemoryStore } from "../../src/store/memory/memory-store.js";
import type { ChangeFeed, StoreWriter } from "../../src/store/port.js";
import { NOW } from "../rules/model/contract-arbitraries.js";
import { VirtualClock } from "../ingest/mirror/virtual/clock.js";
import type { Clocks } from "./documented-client.js";
import { InProcessService } from "./in-process-service.js";
import type { DatabaseStep } from "./steps.js";

/** A store that is written, the services that answer from it, and the time. */
export interface Deployment {
  readonly clocks: Clocks;
  /** The services of equal replicas. */
  readonly services: readonly InProcessService[];
  writer(): StoreWriter;
  /** The generation that was written last, as responses name it. */
  generation(): Promise<string>;
  /** The tags of all changes after an offset of the present generation; undefined if that is not known here. */
  changedSince(offset: number): Promise<ReadonlySet<string> | undefined>;
  /** Lets time pass, and all that happens in it. */
  pass(ms: number): Promise<void>;
  /** Resolves when no event is due any more. */
  settle(): Promise<void>;
  /** Steps of this deployment alone. */
  other?(step: DatabaseStep): Promise<void>;
  close(): Promise<void>;
}

/** Undefined if it is not known. */
export function tagsSince(changes: ChangeFeed, offset: number): ReadonlySet<string> | undefined {
  const since = changes.position === undefined ? undefined : changes.since({ ...changes.position, offset });
  if (since === undefined) return undefined;
  const changed = new Set<string>();
  for (const { tags } of since) for (const tag of tags) changed.add(tag);
  return changed;
}

/** A service with its store in memory, in virtual time. */
export function inMemory(registry: Registry, countsHoldings: boolean): Deployment {
  const clock = new VirtualClock();
  clock.now = NOW;
  const restoreTimers = clock.install();
  const now = () => clock.now;
  const store = new MemoryStore();
  const { changes } = store;
  const streams = { clock: now };
  const service = new InProcessService({ registry, reader: store, changes, now, countsHoldings, streams });
  const named = () => changes.position?.generation ?? "";
  return {
    clocks: { now, elapsed: now },
    services: [service],
    writer: () => store,
    generation: async () => `${named()}.configured`,
    changedSince: async (offset) => tagsSince(changes, offset),
    pass: (ms) => clock.advance(ms, () => undefined),
    // Changes are sent 100 ms after those before, at the latest.
    settle: () => clock.advance(200, () => undefined),
    async close() {
      service.close();
      await clock.advance(0, () => undefined);
      restoreTimers();
    },
  };
}
