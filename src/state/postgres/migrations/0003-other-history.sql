-- Why the ledger is not the one that the contracts come from, as of the last heartbeat; NULL if it is.
ALTER TABLE offledger.state ADD COLUMN other_history text;
