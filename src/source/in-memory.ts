import type { Log } from "../ledger/log.js";
import type { History } from "../registry/history.js";
import { MemoryStore } from "../store/memory.js";
import type { Feeder, Feeding } from "./feeder.js";
import type { Source } from "./source.js";

/** A store in this process, which one feeder keeps up to date. `signal` of `end` ends what else the source has begun. */
export function inMemory(
  feeder: Feeder,
  historyWith: ((log: () => Log | undefined) => History) | undefined,
  end: AbortController,
): Source {
  const store = new MemoryStore();
  let feeding: Feeding | undefined;
  let logged: Log | undefined;
  return {
    name: feeder.name,
    reader: store,
    isAtHand: true,
    history: historyWith?.(() => logged),
    async start(log) {
      logged = log;
      feeding = feeder.feed(store, log, end.signal);
      await feeding.begun;
    },
    refusal: () => (feeding === undefined ? "the service is starting" : feeding.refusal()),
    unreadiness: () => (feeding === undefined ? "the service is starting" : feeding.unreadiness()),
    standing: () => ({
      offset: feeding?.offset(),
      age: feeding?.age(),
      reconnects: feeder.reconnects(),
      isMirroring: feeding !== undefined,
      pool: undefined,
    }),
    catchUp: (offset) => feeding?.catchUp(offset) ?? Promise.resolve(false),
    async close() {
      end.abort();
      await feeding?.ended;
    },
  };
}
