-- One state for each content: the releases and configurations that share a database have a generation each.
-- From here on migrations only add, so that the release before runs on the schema, too. What is not used any more is
-- dropped one release later. The processes of earlier releases have to end before this one.
ALTER TABLE offledger.state
  -- The hash of content_id; lookup-hash.ts makes it.
  ADD COLUMN content_hash uuid,
  -- The generation that is being loaded or was loaded last. Rows of neither it nor `generation` are deleted.
  ADD COLUMN loading bigint NOT NULL DEFAULT 0,
  -- When a process last had the lease, by the clock of this server. A state that nobody leads for long is deleted.
  ADD COLUMN led_at timestamptz NOT NULL DEFAULT now(),
  DROP COLUMN only_row;
DELETE FROM offledger.state WHERE content_id = '';
UPDATE offledger.state
SET content_hash = encode(substring(sha256(convert_to('content ' || content_id, 'UTF8')) FROM 1 FOR 16), 'hex')::uuid,
  loading = generation;
ALTER TABLE offledger.state ADD PRIMARY KEY (content_hash);
-- Two leaders that begin in the same millisecond must not load the same generation.
CREATE UNIQUE INDEX state_by_loading ON offledger.state (loading) WHERE loading > 0;
