import type { Freshness } from "../../domain/freshness.js";
import type { History } from "../../domain/history.js";
import type { StoreReader } from "../../store/port.js";
import type { Logger } from "../../util/logger.js";
import type { SourceStatus } from "./source-status.js";

/** A store together with what keeps it equal to a file or a ledger. */
export interface Source extends Freshness {
  /** A path or a URL, for messages. */
  readonly name: string;
  readonly reader: StoreReader;
  /** Whether all contracts are in the memory of this process, so that listing them is cheap. */
  readonly isInMemory: boolean;
  /** Looks up past updates; undefined for a file, which has none. */
  readonly history: History | undefined;
  /**
   * Starts to fill the store. A file is loaded when this resolves; a participant is
   * read in the background. Throws SnapshotError if the file cannot be loaded, and
   * DatabaseError if the database cannot be used and a retry would not help.
   */
  start(log: Logger): Promise<void>;
  /** Why the service is not ready; undefined if it is. */
  notReadyReason(): string | undefined;
  status(): SourceStatus;
  /** Stops, and resolves when all work has ended. */
  close(): Promise<void>;
}
