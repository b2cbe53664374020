import { alreadyCaughtUp } from "../domain/ledger.js";
import type { Template } from "../domain/template.js";
import { Decoder } from "../ledger/decode.js";
import { MemoryStore } from "../store/memory/memory-store.js";
import type { Logger } from "../util/logger.js";
import { type DatabaseOptions, databaseSource, type Roles } from "./database-source.js";
import { fileIngestor } from "./file-ingestor.js";
import type { LagLimits } from "./lag.js";
import { connectParticipant, type ParticipantConnection, type ParticipantOptions } from "./participant-ingestor.js";
import type { Ingestion, Ingestor, Source } from "./source.js";

export interface SourceOptions {
  /** Undefined to serve the snapshot file. */
  readonly participant: ParticipantOptions | undefined;
  readonly snapshotPath: string;
  /** Undefined to keep the contracts in memory. */
  readonly database: DatabaseOptions | undefined;
  readonly limits: LagLimits;
  readonly countsSupply: boolean;
  /** Whether contracts are stored that only some services need. */
  readonly keepsOptional: boolean;
}

/** Creates the source that the options describe, not yet started. `now` is in milliseconds since 1970. */
export function createSource(
  { participant, snapshotPath, database, limits, countsSupply, keepsOptional }: SourceOptions,
  roles: Roles,
  templates: readonly Template[],
  now: () => number,
): Source {
  const end = new AbortController();
  const decoder = new Decoder(templates, countsSupply, keepsOptional);
  const connection =
    participant === undefined
      ? undefined
      : connectParticipant(participant, limits, templates, decoder, now, end.signal);
  const ingestor = connection?.ingestor ?? fileIngestor(snapshotPath, decoder);
  if (database === undefined) return memorySource(ingestor, connection, end);
  return databaseSource({
    ...database,
    roles,
    limits,
    templates,
    countsSupply,
    keepsOptional,
    ingestor,
    connection,
    end,
  });
}

/** A store in the memory of this process. `close` aborts `end`. */
function memorySource(ingestor: Ingestor, connection: ParticipantConnection | undefined, end: AbortController): Source {
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
