import { alreadyCaughtUp } from "../../domain/ledger.js";
import { MemoryStore } from "../../store/memory/memory-store.js";
import type { Logger } from "../../util/logger.js";
import type { Ingestion, Ingestor } from "../ingestor.js";
import type { ParticipantConnection } from "../mirror/participant-ingestor.js";
import type { Source } from "./source.js";

/** A store in the memory of this process. `close` aborts `end`. */
export function memorySource(
  ingestor: Ingestor,
  connection: ParticipantConnection | undefined,
  end: AbortController,
): Source {
  const store = new MemoryStore();
  let ingestion: Ingestion | undefined;
  let logger: Logger | undefined;
  return {
    name: ingestor.name,
    reader: store,
    changes: store.changes,
    openScan: () => store.openScan(),
    isInMemory: true,
    history: connection?.history(() => logger),
    holdings: connection && ((template) => connection.holdings(template, () => logger)),
    packages: connection && {
      catalog: connection.packages,
      ids: async () => store.read((view) => view.templateCounts().map(({ packageId }) => packageId)),
    },
    async start(log) {
      logger = log;
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
    catchUp: () => ingestion?.catchUp() ?? alreadyCaughtUp(),
    async close() {
      end.abort();
      await ingestion?.ended;
    },
  };
}
