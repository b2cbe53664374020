-- The hash of the registrar whose answers alone may use the contract, for streams of changes; see lookup-hash.ts.
-- NULL for contracts that were stored before: a new content id makes the mirror take a new snapshot.
ALTER TABLE offledger.contracts ADD COLUMN registrar_hash uuid;
