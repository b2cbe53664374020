-- The hash of the registrar of an archived contract, so that callers of other registrars do not learn of it. NULL if the
-- contract was not stored, has no registrar, or was archived before.
ALTER TABLE offledger.archived_contracts ADD COLUMN registrar_hash uuid;
