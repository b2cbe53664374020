/** How a source stands, for whoever watches. What is undefined this process does not know. */
export interface SourceStatus {
  /** Offset of the ledger up to which the contracts are known. */
  readonly offset: number | undefined;
  /** Milliseconds since they were last known to equal the ledger's. */
  readonly age: number | undefined;
  /** How often the stream of updates was lost since this process began; undefined where it follows none. */
  readonly reconnects: number | undefined;
  /** Whether this process feeds the store now; undefined where that is not its part. */
  readonly isLeader: boolean | undefined;
  /** Connections to the database; undefined without one. */
  readonly pool: PoolStatus | undefined;
}

export interface PoolStatus {
  readonly inUse: number;
  readonly idle: number;
  /** Questions that wait for a connection. */
  readonly waiting: number;
}
