import { unavailable } from "../domain/errors.js";
import { abortablePause } from "../util/async.js";
import { type KeptContracts, mirroredOf } from "../domain/ledger.js";
import type { Template } from "../domain/template.js";
import { Decoder } from "../ledger/decode.js";
import { ParticipantClient } from "../ledger/participant/client.js";
import { LedgerError } from "../ledger/participant/errors.js";
import { ParticipantContracts, ParticipantHistory } from "../ledger/participant/lookups.js";
import { Pace } from "../ledger/participant/http.js";
import { partySource } from "../ledger/participant/parties.js";
import { ParticipantPackages } from "../ledger/participant/packages.js";
import { createTokenSource, type LedgerCredentials } from "../ledger/participant/tokens.js";
import { MemoryStore } from "../state/memory-store.js";
import type { Logger } from "../util/logger.js";
import { displayUrl } from "../util/urls.js";
import { type DatabaseOptions, databaseSource, type ProcessRoles } from "./database-source.js";
import { fileIngestor } from "./file-ingestor.js";
import { type LagLimits, LagTracker } from "./lag.js";
import { Mirror, originOf } from "./mirror.js";
import type { Ingestion, Ingestor, ParticipantConnection, Source } from "./source.js";

export interface SourceOptions {
  /** Undefined to serve the snapshot file. */
  readonly participant: ParticipantOptions | undefined;
  readonly snapshotPath: string;
  /** Undefined to keep the contracts in memory. */
  readonly database: DatabaseOptions | undefined;
  readonly limits: LagLimits;
  readonly kept: KeptContracts;
}

/**
 * Creates the source that the options describe, not yet started. `now` is in milliseconds since 1970, for what contracts
 * mean; `clock` is monotonic, for ages and waits.
 */
export function createSource(
  { participant, snapshotPath, database, limits, kept }: SourceOptions,
  roles: ProcessRoles,
  templates: readonly Template[],
  now: () => number,
  clock: () => number,
  log: Logger,
): Source {
  const end = new AbortController();
  const decoder = new Decoder(templates, kept);
  const common = { limits, kept, templates, clock, log };
  const connection = participant && connectParticipant(participant, { ...common, decoder, now, signal: end.signal });
  const ingestor = connection?.ingestor ?? fileIngestor(snapshotPath, decoder, database === undefined, log);
  if (database === undefined) return memorySource(ingestor, connection, end);
  return databaseSource({ ...database, ...common, roles, ingestor, connection, end });
}

/** A store in the memory of this process. `close` aborts `end`. */
function memorySource(ingestor: Ingestor, connection: ParticipantConnection | undefined, end: AbortController): Source {
  const store = new MemoryStore();
  let ingestion: Ingestion | undefined;
  return {
    name: ingestor.name,
    reader: store,
    changes: store.changes,
    history: connection?.history,
    contracts: connection?.contracts,
    packages: connection && { catalog: connection.packages, ids: async () => store.packageIds() },
    parties: () => connection?.parties(),
    async start() {
      ingestion = ingestor.start(store, end.signal);
      await ingestion.started;
    },
    failed: undefined,
    staleReason: () => (ingestion === undefined ? "the service is starting" : ingestion.staleReason?.()),
    notReadyReason: () => (ingestion === undefined ? "the service is starting" : ingestion.notReadyReason()),
    status: () => ({
      offset: ingestion?.offset(),
      age: ingestion?.age(),
      reconnects: ingestor.reconnects(),
      foreign: ingestor.foreign(),
      isLeader: ingestion !== undefined,
      pool: undefined,
      heapShare: undefined,
    }),
    get catchUp() {
      return ingestion?.catchUp;
    },
    async close() {
      end.abort();
      await ingestion?.ended;
    },
  };
}

export interface ParticipantOptions {
  readonly url: URL;
  /** `user`: those of the token's own user. */
  readonly parties: readonly string[] | "user";
  /** Root certificates in PEM, for the participant and the issuer; undefined for those that Node.js trusts. */
  readonly ca: string | undefined;
  /** As in MirrorOptions. */
  readonly waits?: boolean;
  /** Undefined if the participant needs no token. */
  readonly credentials: LedgerCredentials | undefined;
}

interface ConnectionOptions extends Pick<SourceOptions, "limits" | "kept"> {
  readonly templates: readonly Template[];
  readonly decoder: Decoder;
  readonly log: Logger;
  /** As in createSource. */
  readonly now: () => number;
  readonly clock: () => number;
  /** Ends lookups and token requests. */
  readonly signal: AbortSignal;
}

function connectParticipant(
  { url, parties, ca, waits = false, credentials }: ParticipantOptions,
  { limits, kept, templates, decoder, now, clock, signal, log }: ConnectionOptions,
): ParticipantConnection {
  const token = createTokenSource(credentials, ca, signal, clock);
  const pace = new Pace();
  const endpointUntil = (end: AbortSignal) => ({ url, ca, token, pace, signal: end });
  const endpoint = endpointUntil(signal);
  const source = partySource(parties, { endpoint, lacksRegistrars: decoder.lacksRegistrars, clock });
  const polling = { maxWait: limits.readWait, clock, pause: abortablePause(signal) };
  const history = new ParticipantHistory(endpoint, source, polling);
  let current: LagTracker | undefined;
  let reading: ParticipantClient | undefined;
  let mirror: Mirror | undefined;
  let earlierReconnects = 0;
  const reconnects = () => earlierReconnects + (current?.reconnects ?? 0);
  return {
    ingestor: {
      name: displayUrl(url),
      get origin() {
        // Until the parties are known, no store is of this origin.
        return originOf(reading?.parties ?? source.fixed ?? [], mirror?.lacking ?? []);
      },
      reconnects,
      foreign: () => decoder.foreign,
      start(writer, end): Ingestion {
        const ledger = new ParticipantClient(endpointUntil(end), source, mirroredOf(templates, kept));
        reading = ledger;
        mirror = undefined;
        const lag = new LagTracker(limits, clock, () => ledger.ledgerEnd(), writer.checkpoint?.offset);
        // On a database each leadership term starts the ingestor again.
        earlierReconnects = reconnects();
        current = lag;
        const pause = abortablePause(end);
        const { readWait } = limits;
        const parts = { ledger, decoder, writer, lag, readWait, waits, log };
        const started = new Mirror({ ...parts, now, clock, random: Math.random, pause, signal: end });
        mirror = started;
        return {
          started: Promise.resolve(),
          staleReason: () => lag.staleReason(),
          notReadyReason: () => started.notReadyReason(),
          catchUp: readWait === 0 ? undefined : () => started.catchUp(),
          offset: () => lag.status.offset,
          age: () => lag.status.age,
          otherHistory: () => lag.otherHistory,
          ended: started.run(),
        };
      },
    },
    history: {
      update: (which, ofTemplates) => asUnavailable(history.update(which, ofTemplates), log),
      creation: (contractId, ofTemplates) => asUnavailable(history.creation(contractId, ofTemplates), log),
      pollUntil: (query) => history.pollUntil(query),
    },
    packages: new ParticipantPackages(endpoint),
    parties: () => source.known,
    contracts: (ofTemplates) =>
      new ParticipantContracts(endpoint, source, {
        templates: ofTemplates,
        registrars: kept.registrars ?? [],
        maxWait: limits.readWait,
        clock,
        onFailure: ({ kind, message }) => log.warn({ kind, reason: message }, "contracts not read by id"),
      }),
  };
}

/** Logs the participant's error and throws one for the caller, without its details. */
async function asUnavailable<T>(lookup: Promise<T>, log: Logger): Promise<T> {
  try {
    return await lookup;
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
    log.warn({ kind: error.kind, reason: error.message }, "transfer proof failed: the participant cannot be queried");
    throw unavailable("the ledger cannot be asked for its updates now");
  }
}
