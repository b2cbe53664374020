import type { Log } from "../../ledger/log.js";
import type { History } from "../../registry/sdk/history.js";
import { MemoryStore } from "../../store/memory/memory-store.js";
import type { Ingestor, Ingestion } from "../ingestor.js";
import type { Source } from "./source.js";

/** A store in this process, which one feeder keeps up to date. `signal` of `end` ends what else the source has begun. */
export function memorySource(
  ingestor: Ingestor,
  historyWith: ((log: () => Log | undefined) => History) | undefined,
  end: AbortController,
): Source {
  const store = new MemoryStore();
  let ingestion: Ingestion | undefined;
  let logged: Log | undefined;
  return {
    name: ingestor.name,
    reader: store,
    isInMemory: true,
    history: historyWith?.(() => logged),
    async start(log) {
      logged = log;
      ingestion = ingestor.start(store, log, end.signal);
      await ingestion.started;
    },
    staleReason: () => (ingestion === undefined ? "the service is starting" : ingestion.staleReason()),
    notReadyReason: () => (ingestion === undefined ? "the service is starting" : ingestion.notReadyReason()),
    status: () => ({
      offset: ingestion?.offset(),
      age: ingestion?.age(),
      reconnects: ingestor.reconnects(),
      isLeader: ingestion !== undefined,
      pool: undefined,
    }),
    catchUp: (offset) => ingestion?.catchUp(offset) ?? Promise.resolve(false),
    async close() {
      end.abort();
      await ingestion?.ended;
    },
  };
}
