/** The state of a source, for metrics. A value is undefined if this process does not know it. */
export interface SourceStatus {
  /** Offset of the ledger up to which the contracts are known. */
  readonly offset: number | undefined;
  /** Milliseconds since the contracts were last known to equal the ledger's. */
  readonly age: number | undefined;
  /** How often the stream of updates was lost since the process started; undefined if it follows none. */
  readonly reconnects: number | undefined;
  /** Whether this process writes the store now; undefined if it never does. */
  readonly isLeader: boolean | undefined;
  /** Connections to the database; undefined without one. */
  readonly pool: PoolStatus | undefined;
}

export interface PoolStatus {
  readonly inUse: number;
  readonly idle: number;
  readonly waiting: number;
}
