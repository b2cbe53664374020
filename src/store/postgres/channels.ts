/** The channels by which processes on one database tell each other that there is something to look at. A message may be lost. */
export const channels = {
  /** The store stands at another offset, or another state has been put there. */
  stateChanged: "offledger_moved",
  /** Somebody wants the mirror to catch up with the ledger; the payload names the question. */
  catchUpRequested: "offledger_ask",
  /** The mirror has caught up, as far as it could; the payload names the question. */
  caughtUp: "offledger_told",
} as const;
