import type { Statement } from "../database.js";

/**
 * All that a reading asks for, of one state, in one round trip: where the store
 * stands, what has changed since the reader looked last ($1 generation, $2
 * offset), and the look-ups. Of the latter there are two sorts: those that are
 * not known ($3 ids, $5 keys, $7 kinds, $9 sums, by name), and those that the
 * reader knows as of $2 ($4, $6, $8, $10: names, ids with their own in $11),
 * which are fetched only where they have changed since, or where that cannot be
 * told. $12 says whether the census is asked for, $13 how many updates a reader
 * may be behind.
 *
 * What stands behind LATERAL is fenced by OFFSET 0, so that each table is looked
 * into by all columns of an index, one look-up at a time: the server would
 * otherwise go through a whole generation for what it thinks are a few rows.
 */
export const fetchStatement: Statement = {
  name: "fetch",
  text: `
WITH state AS MATERIALIZED (
  SELECT s.*,
    greatest(0, extract(epoch FROM clock_timestamp() - s.confirmed_at) * 1000) AS age,
    s.generation = $1::bigint AND s.ledger_offset >= $2::bigint AND s.log_from <= $2::bigint
      AND NOT EXISTS (
        SELECT FROM offledger.changes c WHERE c.generation = $1::bigint AND c.ledger_offset > $2::bigint
        OFFSET $13::bigint LIMIT 1
      ) AS continues
  FROM offledger.state s
),
touched AS MATERIALIZED (
  SELECT DISTINCT t.name
  FROM state s
  CROSS JOIN LATERAL (
    SELECT c.touched FROM offledger.changes c
    WHERE s.continues AND c.generation = s.generation AND c.ledger_offset > $2::bigint OFFSET 0
  ) c
  CROSS JOIN LATERAL unnest(c.touched) t (name)
),
stale AS MATERIALIZED (
  SELECT k.name
  FROM state s CROSS JOIN unnest($4::uuid[] || $6::uuid[] || $8::uuid[] || $10::uuid[]) k (name)
  WHERE NOT s.continues OR k.name IN (SELECT t.name FROM touched t)
),
ids AS MATERIALIZED (
  SELECT u.id FROM unnest($3::text[]) u (id)
  UNION
  SELECT k.id FROM unnest($11::text[], $4::uuid[]) k (id, name) JOIN stale x ON x.name = k.name
),
keys AS MATERIALIZED (
  SELECT u.name FROM unnest($5::uuid[]) u (name)
  UNION SELECT x.name FROM stale x WHERE x.name = ANY ($6::uuid[])
),
kinds AS MATERIALIZED (
  SELECT u.name FROM unnest($7::uuid[]) u (name)
  UNION SELECT x.name FROM stale x WHERE x.name = ANY ($8::uuid[])
),
sums AS MATERIALIZED (
  SELECT u.name FROM unnest($9::uuid[]) u (name)
  UNION SELECT x.name FROM stale x WHERE x.name = ANY ($10::uuid[])
)
SELECT 'state' AS what, NULL::uuid AS name, NULL::uuid AS kind, NULL AS contract_id, NULL AS template_id,
  json_build_object('generation', s.generation, 'offset', s.ledger_offset, 'asOf', s.as_of, 'contents', s.contents,
    'age', s.age, 'continues', s.continues)::text AS payload,
  NULL AS created_event_blob, NULL AS created_at, NULL::bigint AS created_micros, NULL AS synchronizer_id,
  NULL::bigint AS reassignment_counter, NULL::bytea AS share_sum, NULL::numeric AS share_amount
FROM state s
UNION ALL
SELECT 'touched', t.name, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM touched t
UNION ALL
SELECT 'stale', x.name, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM stale x
UNION ALL
SELECT 'id', NULL, c.kind, c.contract_id, c.template_id, c.payload, c.created_event_blob, c.created_at, c.created_micros,
  c.synchronizer_id, c.reassignment_counter, c.share_sum, c.share_amount
FROM state s CROSS JOIN ids i
CROSS JOIN LATERAL (
  SELECT * FROM offledger.contracts c WHERE c.generation = s.generation AND c.contract_id = i.id OFFSET 0
) c
UNION ALL
SELECT 'archived', NULL, NULL, a.contract_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM state s CROSS JOIN ids i
CROSS JOIN LATERAL (
  SELECT a.contract_id FROM offledger.archived a WHERE a.generation = s.generation AND a.contract_id = i.id OFFSET 0
) a
UNION ALL
SELECT 'key', k.name, c.kind, c.contract_id, c.template_id, c.payload, c.created_event_blob, c.created_at, c.created_micros,
  c.synchronizer_id, c.reassignment_counter, c.share_sum, c.share_amount
FROM state s CROSS JOIN keys k
CROSS JOIN LATERAL (
  SELECT ck.contract_id FROM offledger.contract_keys ck WHERE ck.generation = s.generation AND ck.key = k.name OFFSET 0
) ck
CROSS JOIN LATERAL (
  SELECT * FROM offledger.contracts c WHERE c.generation = s.generation AND c.contract_id = ck.contract_id OFFSET 0
) c
UNION ALL
SELECT 'kind', k.name, c.kind, c.contract_id, c.template_id, c.payload, c.created_event_blob, c.created_at, c.created_micros,
  c.synchronizer_id, c.reassignment_counter, c.share_sum, c.share_amount
FROM state s CROSS JOIN kinds k
CROSS JOIN LATERAL (
  SELECT * FROM offledger.contracts c WHERE c.generation = s.generation AND c.kind = k.name OFFSET 0
) c
UNION ALL
SELECT 'sum', u.name, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, t.amount
FROM state s CROSS JOIN sums u
CROSS JOIN LATERAL (
  SELECT t.amount FROM offledger.sums t WHERE t.generation = s.generation AND t.sum = u.name OFFSET 0
) t
UNION ALL
SELECT 'census', NULL, n.kind, NULL, n.package_id, NULL, NULL, NULL, n.count, NULL, NULL, NULL, NULL
FROM state s
CROSS JOIN LATERAL (
  SELECT * FROM offledger.census n WHERE $12::boolean AND n.generation = s.generation AND n.count > 0 OFFSET 0
) n`,
};
