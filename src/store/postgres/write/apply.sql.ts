import { channels } from "../channels.js";
import type { Statement } from "../database.js";

/**
 * Applies changes to contracts of which each stands once, and moves the offset,
 * in one step. It does nothing, and returns no row, unless the store stands where
 * the writer believes it does: $1 is its epoch, $2 its generation, $3 the offset
 * before (in a second statement for the same update that of the update itself).
 *
 * $4 offset, $5 as of, $6 update id, $7 names that are touched; archived: $8 ids;
 * unassigned: $9 ids, $10 counters; active: $11 ids, $12 kinds, $13 templates,
 * $14 payloads, $15 blobs, $16 times, $17 the same in microseconds,
 * $18 synchronizers, $19 counters, $20 sums, $21 amounts; their keys: $22 ids,
 * $23 keys; counted: $24 ids, $25 names of sums, $26 amounts.
 */
export const applyStatement: Statement = {
  name: "apply",
  text: `
WITH fence AS (
  UPDATE offledger.state
  SET ledger_offset = $4::bigint, as_of = coalesce($5::bigint, as_of), update_id = $6::text
  WHERE epoch = $1::bigint AND generation = $2::bigint AND ledger_offset = $3::bigint
  RETURNING generation
),
gone AS (
  DELETE FROM offledger.contracts c USING fence f
  WHERE c.generation = f.generation AND c.contract_id = ANY ($8::text[])
  RETURNING c.kind, c.template_id, c.share_sum, c.share_amount
),
gone_counted AS (
  DELETE FROM offledger.counted c USING fence f
  WHERE c.generation = f.generation AND c.contract_id = ANY ($8::text[])
  RETURNING c.sum, c.amount
),
gone_keys AS (
  DELETE FROM offledger.contract_keys k USING fence f
  WHERE k.generation = f.generation AND k.contract_id = ANY ($8::text[])
  RETURNING k.key
),
remembered AS (
  INSERT INTO offledger.archived (generation, contract_id, ledger_offset)
  SELECT f.generation, u.id, $4::bigint FROM fence f CROSS JOIN unnest($8::text[]) u (id)
  ON CONFLICT DO NOTHING
),
left_it AS (
  UPDATE offledger.contracts c SET synchronizer_id = NULL, reassignment_counter = u.counter
  FROM fence f CROSS JOIN unnest($9::text[], $10::bigint[]) u (id, counter)
  WHERE c.generation = f.generation AND c.contract_id = u.id AND c.reassignment_counter < u.counter
  RETURNING c.generation, c.contract_id, c.kind
),
active AS MATERIALIZED (
  SELECT f.generation, u.*
  FROM fence f CROSS JOIN unnest(
    $11::text[], $12::uuid[], $13::text[], $14::text[], $15::text[], $16::text[], $17::bigint[], $18::text[], $19::bigint[],
    $20::bytea[], $21::numeric[]
  ) u (contract_id, kind, template_id, payload, created_event_blob, created_at, created_micros, synchronizer_id,
    reassignment_counter, share_sum, share_amount)
),
put AS (
  INSERT INTO offledger.contracts AS c (generation, contract_id, kind, template_id, payload, created_event_blob, created_at,
    created_micros, synchronizer_id, reassignment_counter, share_sum, share_amount)
  SELECT generation, contract_id, kind, template_id, payload, created_event_blob, created_at, created_micros, synchronizer_id,
    reassignment_counter, share_sum, share_amount
  FROM active
  ON CONFLICT (generation, contract_id) DO UPDATE
  SET synchronizer_id = excluded.synchronizer_id, reassignment_counter = excluded.reassignment_counter
  WHERE c.reassignment_counter <= excluded.reassignment_counter
  RETURNING c.kind, c.template_id, c.share_sum, c.share_amount, c.xmax = 0 AS is_new
),
put_keys AS (
  INSERT INTO offledger.contract_keys (generation, key, contract_id)
  SELECT f.generation, u.key, u.id FROM fence f CROSS JOIN unnest($22::text[], $23::uuid[]) u (id, key)
  ON CONFLICT DO NOTHING
),
counted AS (
  INSERT INTO offledger.counted (generation, contract_id, sum, amount)
  SELECT f.generation, u.id, u.sum, u.amount
  FROM fence f CROSS JOIN unnest($24::text[], $25::uuid[], $26::numeric[]) u (id, sum, amount)
  ON CONFLICT DO NOTHING
  RETURNING sum, amount
),
-- The name of a sum is made of it here, not looked for: nothing is joined that may be long.
held_shares AS (
  SELECT encode(substring(sha256('sum '::bytea || h.share_sum) FROM 1 FOR 16), 'hex')::uuid AS sum, h.amount
  FROM (
    SELECT g.share_sum, -g.share_amount AS amount FROM gone g
    UNION ALL SELECT p.share_sum, p.share_amount FROM put p WHERE p.is_new
  ) h
  WHERE h.share_sum IS NOT NULL
),
shares AS (
  INSERT INTO offledger.sums AS t (generation, sum, amount)
  SELECT f.generation, d.sum, sum(d.amount)
  FROM fence f CROSS JOIN (
    SELECT h.sum, h.amount FROM held_shares h
    UNION ALL SELECT g.sum, -g.amount FROM gone_counted g
    UNION ALL SELECT n.sum, n.amount FROM counted n
  ) d
  GROUP BY f.generation, d.sum
  ON CONFLICT (generation, sum) DO UPDATE SET amount = t.amount + excluded.amount
  RETURNING t.sum
),
counts AS (
  INSERT INTO offledger.census AS t (generation, kind, package_id, count)
  SELECT f.generation, d.kind, split_part(d.template_id, ':', 1), sum(d.n)
  FROM fence f CROSS JOIN (
    SELECT kind, template_id, -1 AS n FROM gone
    UNION ALL SELECT kind, template_id, 1 FROM put WHERE is_new
  ) d
  GROUP BY f.generation, d.kind, split_part(d.template_id, ':', 1)
  ON CONFLICT (generation, kind, package_id) DO UPDATE SET count = t.count + excluded.count
),
touched AS (
  SELECT u.name FROM unnest($7::uuid[]) u (name)
  UNION SELECT kind FROM gone
  UNION SELECT key FROM gone_keys
  UNION SELECT kind FROM left_it
  UNION SELECT k.key FROM left_it l JOIN offledger.contract_keys k USING (generation, contract_id)
  UNION SELECT sum FROM shares
),
logged AS (
  INSERT INTO offledger.changes AS c (generation, ledger_offset, touched)
  SELECT f.generation, $4::bigint, t.names
  FROM fence f CROSS JOIN (SELECT array_agg(name) AS names FROM touched) t
  WHERE t.names IS NOT NULL
  ON CONFLICT (generation, ledger_offset) DO UPDATE SET touched = c.touched || excluded.touched
)
SELECT pg_notify('${channels.stateChanged}', '') FROM fence`,
};
