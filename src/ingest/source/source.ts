import type { Freshness, History, HoldingFields, HoldingSource, PackageCatalog } from "../../domain/ledger.js";
import type { Template } from "../../domain/template.js";
import type { ChangeFeed, StoreReader, StoreScan } from "../../store/port.js";
import type { Logger } from "../../util/logger.js";
import type { SourceStatus } from "./source-status.js";

/** Where the versions of the packages of the store's contracts are known. */
export interface SourcePackages {
  readonly catalog: PackageCatalog;
  /** The packages of the stored contracts. Rejects if they cannot be read, or before the first contracts. */
  readonly ids: () => Promise<readonly string[]>;
}

/** A store together with what keeps it equal to a file or a ledger. */
export interface Source extends Freshness {
  readonly name: string;
  readonly reader: StoreReader;
  /** What changes in the store, after readers see it. */
  readonly changes: ChangeFeed;
  /** Opens a scan of the store in the background, which needs no end. */
  openScan(): StoreScan;
  /** Whether all contracts are in the memory of this process, so that listing them is cheap. */
  readonly isInMemory: boolean;
  /** Looks up past updates; undefined for a file, which has none. */
  readonly history: History | undefined;
  /** Creates a source of holdings by contract id, given their template; undefined for a file. */
  readonly holdings: ((template: Template<HoldingFields>) => HoldingSource) | undefined;
  /** The participant's packages, which a database has for its replicas; undefined for a file in memory. */
  readonly packages: SourcePackages | undefined;
  /** Resolves when a file is loaded; reads a participant later. Throws SnapshotError, or a permanent DatabaseError. */
  start(log: Logger): Promise<void>;
  notReadyReason(): string | undefined;
  status(): SourceStatus;
  close(): Promise<void>;
}
