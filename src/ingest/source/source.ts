/** Where answers come from: a store, and what keeps it equal to a file or a ledger. */
import type { Log } from "../../ledger/log.js";
import type { Freshness } from "../../registry/executor.js";
import type { History } from "../../registry/sdk/history.js";
import type { StoreReader } from "../../store/port.js";
import type { SourceStatus } from "./source-status.js";

/** A store that is kept up to date, and says how recent it is. */
export interface Source extends Freshness {
  /** A path or a URL, for texts. */
  readonly name: string;
  readonly reader: StoreReader;
  /** Whether all contracts are in the memory of this process, so that all of them may be looked at. */
  readonly isInMemory: boolean;
  /** Looks up what has been; undefined for a file, which tells only what is. */
  readonly history: History | undefined;
  /**
   * Begins to feed the store. A file is in the store when this ends, and throws
   * SnapshotError where it cannot be served; a participant's contracts come when
   * they come.
   */
  start(log: Log): Promise<void>;
  /** Why the service is not ready; undefined where it is. */
  notReadyReason(): string | undefined;
  /** How it stands, for whoever watches. */
  status(): SourceStatus;
  /** Ends, and waits for what is under way. */
  close(): Promise<void>;
}
