-- The contracts of a ledger at an offset. Each uuid is a lookup hash (lookup-hash.ts): strings of a ledger may be longer
-- than an index allows, and may contain characters that text of PostgreSQL cannot. Migration 0002 renames most names.

-- The state of the store: one row. A generation is a snapshot with the updates that follow it; 0 if there is none.
CREATE TABLE offledger.state (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  -- Incremented whenever the lease is acquired. A writer of an earlier epoch cannot write.
  epoch bigint NOT NULL DEFAULT 0,
  generation bigint NOT NULL DEFAULT 0,
  ledger_offset bigint NOT NULL DEFAULT 0,
  -- Microseconds since 1970.
  as_of bigint,
  -- The update at the offset; NULL after a snapshot.
  update_id text,
  -- Identifies the templates and how they are decoded. A process with another value cannot use the store.
  contents text NOT NULL DEFAULT '',
  -- The source of the contracts. A writer resumes only from the same source.
  origin text NOT NULL DEFAULT '',
  -- offledger.changes is complete for the updates after this offset.
  log_from bigint NOT NULL DEFAULT 0,
  -- When the store was last known to equal the ledger, by the clock of this server.
  confirmed_at timestamptz
) WITH (fillfactor = 10);
INSERT INTO offledger.state DEFAULT VALUES;

CREATE TABLE offledger.contracts (
  generation bigint NOT NULL,
  contract_id text NOT NULL,
  -- The hash of its template.
  kind uuid NOT NULL,
  template_id text NOT NULL,
  -- JSON as text: no query reads into it, and it may contain characters that jsonb rejects.
  payload text NOT NULL,
  created_event_blob text NOT NULL,
  created_at text NOT NULL,
  created_micros bigint NOT NULL,
  -- NULL while it is between synchronizers.
  synchronizer_id text,
  reassignment_counter bigint NOT NULL,
  share_sum bytea,
  share_amount numeric,
  PRIMARY KEY (generation, contract_id)
) WITH (toast_tuple_target = 8160);
-- Blobs do not compress, and every read fetches the whole row.
ALTER TABLE offledger.contracts ALTER COLUMN created_event_blob SET STORAGE EXTERNAL, ALTER COLUMN payload SET STORAGE MAIN;
CREATE INDEX contracts_by_kind ON offledger.contracts (generation, kind);

CREATE TABLE offledger.contract_keys (
  generation bigint NOT NULL,
  key uuid NOT NULL,
  contract_id text NOT NULL,
  PRIMARY KEY (generation, key, contract_id)
);
CREATE INDEX contract_keys_by_contract ON offledger.contract_keys (generation, contract_id);

-- Contracts that are not stored; only what they add to a sum is kept.
CREATE TABLE offledger.counted (
  generation bigint NOT NULL,
  contract_id text NOT NULL,
  sum uuid NOT NULL,
  amount numeric NOT NULL,
  PRIMARY KEY (generation, contract_id)
);

CREATE TABLE offledger.sums (
  generation bigint NOT NULL,
  sum uuid NOT NULL,
  amount numeric NOT NULL,
  PRIMARY KEY (generation, sum)
);

CREATE TABLE offledger.census (
  generation bigint NOT NULL,
  kind uuid NOT NULL,
  package_id text NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (generation, kind, package_id)
);

-- The latest archivals.
CREATE TABLE offledger.archived (
  generation bigint NOT NULL,
  contract_id text NOT NULL,
  ledger_offset bigint NOT NULL,
  PRIMARY KEY (generation, contract_id)
);
CREATE INDEX archived_by_offset ON offledger.archived (generation, ledger_offset);

-- For the caches of readers: the hashes of all lookups whose result an update has changed.
CREATE TABLE offledger.changes (
  generation bigint NOT NULL,
  ledger_offset bigint NOT NULL,
  touched uuid[] NOT NULL,
  PRIMARY KEY (generation, ledger_offset)
);
