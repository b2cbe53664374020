/** How well the store keeps up with the ledger. Implemented by what writes the store, read by the query executor. */
export interface Freshness {
  /** Why requests must not be answered from the store; undefined if they may be. */
  staleReason(): string | undefined;
  /** Waits, for a bounded time, for the ledger end. Returns whether the store is past `offset`. Never throws. */
  catchUp(offset: number): Promise<boolean>;
}
