/** How well the store keeps up with the ledger. Implemented by what writes the store, read by the query executor. */
export interface Freshness {
  /** Why requests must not be answered from the store; undefined if they may be. */
  staleReason(): string | undefined;
  /**
   * Brings the store to an end of the ledger that is read from now on. Yields "advanced" each time the store has moved on,
   * and "reached" as the last, when the store has all up to that end. Ends without "reached" if it gives up, within a
   * bounded time. Never throws.
   */
  catchUp(): AsyncIterable<CatchUpProgress>;
}

export type CatchUpProgress = "advanced" | "reached";

/** `catchUp` of a store that nothing is ahead of. */
export async function* alreadyCaughtUp(): AsyncGenerator<CatchUpProgress> {
  yield "reached";
}
