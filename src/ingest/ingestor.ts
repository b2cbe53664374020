import type { Log } from "../ledger/log.js";
import type { Freshness } from "../registry/executor.js";
import type { StoreWriter } from "../store/port.js";

/** Puts contracts into a store, for as long as it may. */
export interface Ingestor {
  /** A path or a URL, for texts. */
  readonly name: string;
  /** Which contracts it feeds: a store that was fed by another with the same can be gone on with. */
  readonly origin: string;
  /** How often what it reads from was lost since this process began; undefined for a file, which is there. */
  reconnects(): number | undefined;
  /** Begins at what the store has. */
  start(writer: StoreWriter, log: Log, signal: AbortSignal): Ingestion;
}

/** A store while it is fed. */
export interface Ingestion extends Freshness {
  /** Resolves when the store has its first state from this feeding, or when it is sure to come by itself. Throws where it cannot be had. */
  readonly started: Promise<void>;
  /** Why the service is not ready; undefined where it is. */
  notReadyReason(): string | undefined;
  /** Offset up to which the store equals what feeds it; undefined before the first state. */
  offset(): number | undefined;
  /** Milliseconds since the store was last known to equal what feeds it; undefined where it never was. */
  age(): number | undefined;
  /** Ends when the signal is aborted, and everything that was under way has ended. Never throws. */
  readonly ended: Promise<void>;
}
