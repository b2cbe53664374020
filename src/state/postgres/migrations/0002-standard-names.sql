-- Renames tables, columns, indexes and primary keys to standard terms. Moves no data.
--
-- Hashes are the first 16 bytes of a SHA-256 digest; lookup-hash.ts makes them.

-- content_id: which templates are stored and how they are read; content-id.ts makes it.
-- invalidations_from: offledger.invalidations is complete for the updates after this offset.
ALTER TABLE offledger.state RENAME COLUMN contents TO content_id;
ALTER TABLE offledger.state RENAME COLUMN log_from TO invalidations_from;

-- supply_sum, supply_amount: what the contract adds to a sum; NULL if nothing.
ALTER TABLE offledger.contracts RENAME COLUMN kind TO template_hash;
ALTER TABLE offledger.contracts RENAME COLUMN share_sum TO supply_sum;
ALTER TABLE offledger.contracts RENAME COLUMN share_amount TO supply_amount;
ALTER INDEX offledger.contracts_by_kind RENAME TO contracts_by_template;

-- index_keys: one row for each index key of a contract. These are not Daml contract keys.
ALTER TABLE offledger.contract_keys RENAME TO index_keys;
ALTER TABLE offledger.index_keys RENAME COLUMN key TO index_key_hash;
ALTER INDEX offledger.contract_keys_by_contract RENAME TO index_keys_by_contract;
ALTER INDEX offledger.contract_keys_pkey RENAME TO index_keys_pkey;

-- counted_only: contracts that are not stored; only what they add to a sum is kept.
ALTER TABLE offledger.counted RENAME TO counted_only;
ALTER TABLE offledger.counted_only RENAME COLUMN sum TO sum_hash;
ALTER INDEX offledger.counted_pkey RENAME TO counted_only_pkey;

ALTER TABLE offledger.sums RENAME COLUMN sum TO sum_hash;

-- template_counts: the number of stored contracts by template and package.
ALTER TABLE offledger.census RENAME TO template_counts;
ALTER TABLE offledger.template_counts RENAME COLUMN kind TO template_hash;
ALTER INDEX offledger.census_pkey RENAME TO template_counts_pkey;

-- archived_contracts: the latest archivals.
ALTER TABLE offledger.archived RENAME TO archived_contracts;
ALTER INDEX offledger.archived_pkey RENAME TO archived_contracts_pkey;
ALTER INDEX offledger.archived_by_offset RENAME TO archived_contracts_by_offset;

-- invalidations: the hashes of all lookups whose result an update has changed. Replicas drop these from their caches.
ALTER TABLE offledger.changes RENAME TO invalidations;
ALTER TABLE offledger.invalidations RENAME COLUMN touched TO lookup_hashes;
ALTER INDEX offledger.changes_pkey RENAME TO invalidations_pkey;
