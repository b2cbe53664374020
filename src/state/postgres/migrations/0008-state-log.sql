-- The log of a content, for followers; src/state/log.ts. The tables that replicas read stay as they are for the release
-- before, and go one release later. In each table `ledger_offset` is that of the commit that has changed the row last.
-- Hashes and tags are made by lookup-hash.ts.

-- A snapshot, whose update id is NULL, and the updates that follow it. What has changed since a commit is known while the
-- commit is there.
CREATE TABLE offledger.log_commits (
  generation bigint NOT NULL,
  ledger_offset bigint NOT NULL,
  update_id text,
  PRIMARY KEY (generation, ledger_offset)
);

CREATE TABLE offledger.log_contracts (
  generation bigint NOT NULL,
  contract_id text NOT NULL,
  ledger_offset bigint NOT NULL,
  template_hash uuid NOT NULL,
  template_id text NOT NULL,
  created_at text NOT NULL,
  created_micros bigint NOT NULL,
  -- NULL while it is between synchronizers.
  synchronizer_id text,
  reassignment_counter bigint NOT NULL,
  -- JSON: fields, index keys and the name of the sum; contract-json.ts. As text, since no query reads into it, and it may
  -- contain characters that jsonb rejects.
  parsed text NOT NULL,
  -- What it adds to a sum; NULL if nothing.
  sum_hash uuid,
  amount numeric,
  -- For its tombstone.
  registrar_hash uuid NOT NULL,
  tags text[] NOT NULL,
  -- The body. Rules never read it: it is stored out of line, so that a follower's load does not pass over it.
  payload text NOT NULL,
  created_event_blob text NOT NULL,
  PRIMARY KEY (generation, contract_id)
);
ALTER TABLE offledger.log_contracts
  ALTER COLUMN payload SET STORAGE EXTERNAL,
  ALTER COLUMN created_event_blob SET STORAGE EXTERNAL,
  ALTER COLUMN parsed SET STORAGE MAIN;
CREATE INDEX log_contracts_by_offset ON offledger.log_contracts (generation, ledger_offset);

-- The latest archivals.
CREATE TABLE offledger.log_tombstones (
  generation bigint NOT NULL,
  contract_id text NOT NULL,
  ledger_offset bigint NOT NULL,
  -- NULL if the contract was not stored.
  registrar_hash uuid,
  tags text[] NOT NULL,
  PRIMARY KEY (generation, contract_id)
);
CREATE INDEX log_tombstones_by_offset ON offledger.log_tombstones (generation, ledger_offset);

-- Contracts that are not stored; only what they add to a sum is kept.
CREATE TABLE offledger.log_counted_only (
  generation bigint NOT NULL,
  contract_id text NOT NULL,
  sum_hash uuid NOT NULL,
  amount numeric NOT NULL,
  PRIMARY KEY (generation, contract_id)
);

CREATE TABLE offledger.log_sums (
  generation bigint NOT NULL,
  sum_hash uuid NOT NULL,
  ledger_offset bigint NOT NULL,
  amount numeric NOT NULL,
  PRIMARY KEY (generation, sum_hash)
);
CREATE INDEX log_sums_by_offset ON offledger.log_sums (generation, ledger_offset);
