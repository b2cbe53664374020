/** Notification channels between the processes on one database. A notification may be lost. */
export const channels = {
  /** The store has moved to another offset or another snapshot. */
  stateChanged: "offledger_state_changed",
  /** A replica asks the mirror to catch up with the ledger. The payload is the id of the request. */
  catchUpRequested: "offledger_catch_up_requested",
  /** The mirror has reached the ledger's end, as it was after the request. The payload is the id of the request. */
  caughtUp: "offledger_caught_up",
} as const;
