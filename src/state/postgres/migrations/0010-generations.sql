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
