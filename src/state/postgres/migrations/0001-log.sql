-- The states that mirrors write and followers read; src/state/log.ts. Each uuid is a hash, each tag the beginning of one
-- (lookup-hash.ts): strings of a ledger may be longer than an index allows, and may contain characters that text of PostgreSQL
-- cannot. `ledger_offset` of a row is that of the commit that has changed it last.
-- Later migrations only add, so that the release before runs on the schema, too. What is not used any more is dropped one
-- release later.

-- One state for each content: the releases and configurations that share a database have a generation each. A generation is a
-- snapshot with the updates that follow it; 0 if there is none.
CREATE TABLE offledger.state (
  -- The hash of content_id; lookup-hash.ts makes it.
  content_hash uuid PRIMARY KEY,
  -- Which templates are stored and how they are read; content-id.ts makes it.
  content_id text NOT NULL,
  -- Incremented whenever the lease is acquired. A writer of an earlier epoch cannot write.
  epoch bigint NOT NULL DEFAULT 0,
  -- When a process last had the lease, by the clock of this server. A state that nobody leads for long is deleted.
  led_at timestamptz NOT NULL DEFAULT now(),
  generation bigint NOT NULL DEFAULT 0,
  ledger_offset bigint NOT NULL DEFAULT 0,
  -- Microseconds since 1970.
  as_of bigint,
  -- The update at the offset; NULL after a snapshot.
  update_id text,
  -- The source of the contracts. A writer resumes only from the same source.
  origin text NOT NULL DEFAULT '',
  -- The generation that is being loaded or was loaded last. Rows of neither it nor `generation` are deleted.
  loading bigint NOT NULL DEFAULT 0,
  -- The generation that is served next, all of whose rows are there, so that followers load it before. It is only while it is
  -- `loading`, too: who loads another gives it up.
  next_generation bigint,
  next_offset bigint,
  next_as_of bigint,
  next_origin text,
  -- How many heartbeats were written: which of two is the later one, also after the clock of this server was set.
  heartbeats bigint NOT NULL DEFAULT 0,
  -- When the state was last known to equal the ledger, by the clock of this server.
  confirmed_at timestamptz,
  -- Why the ledger is not the one that the contracts come from, as of the last heartbeat; NULL if it is.
  other_history text
) WITH (fillfactor = 10);
-- Two leaders that begin in the same millisecond must not load the same generation.
CREATE UNIQUE INDEX state_by_loading ON offledger.state (loading) WHERE loading > 0;

-- The generations that were served lately: followers serve one for some time after another is. Its rows stay as long as it is
-- listed here.
CREATE TABLE offledger.retired_generations (
  generation bigint PRIMARY KEY,
  retired_at timestamptz NOT NULL
);

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
  PRIMARY KEY (generation, contract_id)
);
ALTER TABLE offledger.log_contracts ALTER COLUMN parsed SET STORAGE MAIN;
CREATE INDEX log_contracts_by_offset ON offledger.log_contracts (generation, ledger_offset);
-- For the packages of the contracts. A million of them are few packages, each found by one step.
CREATE INDEX log_contracts_by_template ON offledger.log_contracts (generation, template_id COLLATE "C");

-- The bodies of the contracts in a table of their own: a load does not read them, and an archival leaves them, for those who
-- have just disclosed the contract. A row is read at once: only one that fills a page is stored out of line.
CREATE TABLE offledger.log_bodies (
  generation bigint NOT NULL,
  contract_id text NOT NULL,
  payload text NOT NULL,
  -- JSON, without what the payload has; empty where none was read.
  views text NOT NULL,
  created_event_blob text NOT NULL,
  PRIMARY KEY (generation, contract_id)
) WITH (toast_tuple_target = 8160);
ALTER TABLE offledger.log_bodies
  ALTER COLUMN payload SET STORAGE MAIN,
  ALTER COLUMN views SET STORAGE MAIN,
  ALTER COLUMN created_event_blob SET STORAGE MAIN;

-- The latest archivals.
CREATE TABLE offledger.log_tombstones (
  generation bigint NOT NULL,
  contract_id text NOT NULL,
  ledger_offset bigint NOT NULL,
  -- The hash of its registrar, so that callers of other registrars do not learn of it. NULL if the contract was not stored.
  registrar_hash uuid,
  tags text[] NOT NULL,
  -- Whether the body of the archived contract may still be there.
  has_body boolean NOT NULL DEFAULT false,
  PRIMARY KEY (generation, contract_id)
);
CREATE INDEX log_tombstones_by_offset ON offledger.log_tombstones (generation, ledger_offset);
CREATE INDEX log_tombstones_with_body ON offledger.log_tombstones (generation, ledger_offset) WHERE has_body;

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
  -- JSON: group and name, as of the contracts that are only counted; NULL if none of them had one.
  tally text,
  PRIMARY KEY (generation, sum_hash)
);
CREATE INDEX log_sums_by_offset ON offledger.log_sums (generation, ledger_offset);

-- Name and version of packages, as the participant of the mirror says: followers have no participant to ask.
CREATE TABLE offledger.packages (
  package_id text PRIMARY KEY,
  name text NOT NULL,
  version text NOT NULL
);
