-- The contracts of a ledger, and where they stand. Names are the first 16 bytes of a hash (names.ts): texts of a ledger
-- may be longer than an index takes, and may hold what a text of PostgreSQL cannot.

-- Where the store stands: one row. A generation is a snapshot with the updates behind it; 0 is none.
CREATE TABLE offledger.state (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  -- Grows with each taking of the lease. A writer of an earlier one cannot write.
  epoch bigint NOT NULL DEFAULT 0,
  generation bigint NOT NULL DEFAULT 0,
  ledger_offset bigint NOT NULL DEFAULT 0,
  -- Microseconds since 1970.
  as_of bigint,
  -- The update at the offset; NULL right behind a snapshot.
  update_id text,
  -- Which contracts are kept, and how they are read: a process that would keep others, or read them otherwise, cannot use it.
  contents text NOT NULL DEFAULT '',
  -- Where they come from: a writer goes on with what came from there.
  origin text NOT NULL DEFAULT '',
  -- Changes behind this offset are all in the log.
  log_from bigint NOT NULL DEFAULT 0,
  -- When the store was last known to equal the ledger, by the clock of this server.
  confirmed_at timestamptz
) WITH (fillfactor = 10);
INSERT INTO offledger.state DEFAULT VALUES;

CREATE TABLE offledger.contracts (
  generation bigint NOT NULL,
  contract_id text NOT NULL,
  -- The name of its kind.
  kind uuid NOT NULL,
  template_id text NOT NULL,
  -- JSON, as text: nothing looks into it, and it may hold what jsonb does not take.
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
-- Blobs do not compress, and a contract is read whole.
ALTER TABLE offledger.contracts ALTER COLUMN created_event_blob SET STORAGE EXTERNAL, ALTER COLUMN payload SET STORAGE MAIN;
CREATE INDEX contracts_by_kind ON offledger.contracts (generation, kind);

CREATE TABLE offledger.contract_keys (
  generation bigint NOT NULL,
  key uuid NOT NULL,
  contract_id text NOT NULL,
  PRIMARY KEY (generation, key, contract_id)
);
CREATE INDEX contract_keys_by_contract ON offledger.contract_keys (generation, contract_id);

-- Contracts of which nothing is kept but what they add to a sum.
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

-- For readers that keep what they have read: the names of all look-ups that an update has changed the answer of.
CREATE TABLE offledger.changes (
  generation bigint NOT NULL,
  ledger_offset bigint NOT NULL,
  touched uuid[] NOT NULL,
  PRIMARY KEY (generation, ledger_offset)
);
