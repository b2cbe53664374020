import type { ContractSource, Freshness, History, PackageCatalog, ReadAs } from "../domain/ledger.js";
import type { Template } from "../domain/template.js";
import type { ChangeFeed, StoreReader, StoreWriter } from "../state/port.js";

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
  /** Looks up past updates; undefined for a file, which has none. */
  readonly history: History | undefined;
  /** Creates a source of contracts by id, given their templates; undefined without a participant. */
  readonly contracts: ((templates: readonly Template[]) => ContractSource) | undefined;
  /** The participant's packages, which a database has for its followers; undefined for a file in memory. */
  readonly packages: SourcePackages | undefined;
  /** As which parties the participant is read; undefined if that is not known, and without a participant. */
  parties(): ReadAs | undefined;
  /**
   * Resolves when a file is loaded; reads a participant later. Throws SnapshotError, a permanent DatabaseError, or
   * StateTooLarge.
   */
  start(): Promise<void>;
  /** Resolves with why the process has to end: it serves nothing yet, and never will. Undefined if that cannot be. */
  readonly failed: Promise<Error> | undefined;
  notReadyReason(): string | undefined;
  status(): SourceStatus;
  close(): Promise<void>;
}

/** The state of a source, for metrics. A value is undefined if this process does not know it. */
export interface SourceStatus {
  /** Offset of the ledger up to which the contracts are known. */
  readonly offset: number | undefined;
  /** Milliseconds since the contracts were last known to equal the ledger's. */
  readonly age: number | undefined;
  /** How often the stream of updates was lost since the process started; undefined if it follows none. */
  readonly reconnects: number | undefined;
  /**
   * Contracts that are left out since the last snapshot, because no registrar of ours has signed them. Undefined if this process
   * reads none, or if signatures do not matter.
   */
  readonly foreign: number | undefined;
  /** Whether this process writes the store now; undefined if it never does. */
  readonly isLeader: boolean | undefined;
  /** Connections to the database; undefined without one. */
  readonly pool: PoolStatus | undefined;
  /** The share of the usable heap that the contracts of a database take with all else, or would take if they do not fit. */
  readonly heapShare: number | undefined;
}

interface PoolStatus {
  readonly inUse: number;
  readonly idle: number;
  readonly waiting: number;
}

/** Writes contracts from a file or a participant into a store. */
export interface Ingestor {
  /** A path or a URL, for messages. */
  readonly name: string;
  /**
   * Identifies the set of contracts: an ingestor can resume on a store that one with the same origin has written. It may be
   * another for each snapshot, or be told only after the start.
   */
  readonly origin: string;
  /** How often the stream of updates was lost since the process started; undefined for a file. */
  reconnects(): number | undefined;
  /** As in SourceStatus. */
  foreign(): number | undefined;
  /** Resumes from the checkpoint of the store. */
  start(writer: StoreWriter, signal: AbortSignal): Ingestion;
}

export interface Ingestion extends Pick<Freshness, "catchUp"> {
  /** Resolves when the store has its first state, or when retries will bring it. Rejects if they would not help. */
  readonly started: Promise<void>;
  /** Undefined for a file, which does not get stale: nothing is ahead of it. */
  readonly staleReason?: Freshness["staleReason"];
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

/** What a source has of a participant. */
export interface ParticipantConnection {
  readonly ingestor: Ingestor;
  /** Looks up past updates. */
  readonly history: History;
  readonly packages: PackageCatalog;
  /** As which parties it is read; undefined if that is not known. */
  readonly parties: () => ReadAs | undefined;
  /** Looks up contracts of templates by id. */
  readonly contracts: (templates: readonly Template[]) => ContractSource;
}
