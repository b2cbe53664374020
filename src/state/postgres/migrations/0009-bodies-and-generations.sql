-- The bodies of a log's contracts in a table of their own: a load does not read them, and an archival leaves them, for those
-- who have just disclosed the contract.
ALTER TABLE offledger.log_contracts
  DROP COLUMN payload,
  DROP COLUMN created_event_blob;

-- A row is read at once: only one that fills a page is stored out of line.
CREATE TABLE offledger.log_bodies (
  generation bigint NOT NULL,
  contract_id text NOT NULL,
  payload text NOT NULL,
  created_event_blob text NOT NULL,
  PRIMARY KEY (generation, contract_id)
) WITH (toast_tuple_target = 8160);
ALTER TABLE offledger.log_bodies
  ALTER COLUMN payload SET STORAGE MAIN,
  ALTER COLUMN created_event_blob SET STORAGE MAIN;

-- For the packages of the contracts. A million of them are few packages, each found by one step.
CREATE INDEX log_contracts_by_template ON offledger.log_contracts (generation, template_id COLLATE "C");

-- Whether the body of the archived contract may still be there.
ALTER TABLE offledger.log_tombstones ADD COLUMN has_body boolean NOT NULL DEFAULT false;
CREATE INDEX log_tombstones_with_body ON offledger.log_tombstones (generation, ledger_offset) WHERE has_body;

-- The generations that were served lately: followers serve one for some time after another is. Its rows stay as long as it is
-- listed here.
CREATE TABLE offledger.retired_generations (
  generation bigint PRIMARY KEY,
  retired_at timestamptz NOT NULL
);

-- The generation that is served next, all of whose rows are there, so that followers load it before. It is only while it is
-- `loading`, too: who loads another gives it up.
ALTER TABLE offledger.state
  ADD COLUMN next_generation bigint,
  ADD COLUMN next_offset bigint,
  ADD COLUMN next_as_of bigint,
  ADD COLUMN next_origin text,
  -- How many heartbeats were written: which of two is the later one, also after the clock of this server was set.
  ADD COLUMN heartbeats bigint NOT NULL DEFAULT 0;
