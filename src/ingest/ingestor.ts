import type { Freshness } from "../domain/ledger.js";
import type { StoreWriter } from "../store/port.js";
import type { Logger } from "../util/logger.js";

/** Writes contracts from a file or a participant into a store. */
export interface Ingestor {
  /** A path or a URL, for messages. */
  readonly name: string;
  /** Identifies the set of contracts: an ingestor can resume on a store that one with the same origin has written. */
  readonly origin: string;
  /** How often the stream of updates was lost since the process started; undefined for a file. */
  reconnects(): number | undefined;
  /** Resumes from the checkpoint of the store. */
  start(writer: StoreWriter, log: Logger, signal: AbortSignal): Ingestion;
}

export interface Ingestion extends Freshness {
  /** Resolves when the store has its first state, or when retries will bring it. Rejects if they would not help. */
  readonly started: Promise<void>;
  notReadyReason(): string | undefined;
  /** Offset up to which the store equals the origin; undefined before the first state. */
  offset(): number | undefined;
  /** Milliseconds since the store was last known to equal the origin; undefined if it never was. */
  age(): number | undefined;
  /** Why the origin is a ledger with another history than the store; undefined if it is not known to be. */
  otherHistory(): string | undefined;
  /** Resolves after the signal is aborted and all work has ended. Never rejects. */
  readonly ended: Promise<void>;
}
