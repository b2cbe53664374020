import type { Statement } from "../database.js";

/**
 * Everything that a read needs, of one state, in one round trip: the position of the store, what has changed since the
 * state that the reader knows ($1 generation, $2 offset), and the lookups. $12 asks for the template counts. $13 is the
 * number of updates that a reader may be behind, $14 of contracts that a lookup returns.
 *
 * Unknown lookups are always executed: $3 ids, and hashes of $5 index keys, $7 templates, $9 sums. Known lookups only
 * if changed since $2, or if that is unknown: hashes of $4 ids (the ids in $11), $6 index keys, $8 templates, $10 sums.
 *
 * OFFSET 0 fences each LATERAL subquery: the planner uses all columns of an index for each row. Otherwise it may scan a
 * whole generation to find a few rows.
 */
export const fetchStatement: Statement = {
  name: "fetch",
  text: `
WITH state AS MATERIALIZED (
  SELECT s.*,
    greatest(0, extract(epoch FROM clock_timestamp() - s.confirmed_at) * 1000) AS age,
    s.generation = $1::bigint AND s.ledger_offset >= $2::bigint AND s.invalidations_from <= $2::bigint
      AND NOT EXISTS (
        SELECT FROM offledger.invalidations i WHERE i.generation = $1::bigint AND i.ledger_offset > $2::bigint
        OFFSET $13::bigint LIMIT 1
      ) AS is_contiguous
  FROM offledger.state s
),
invalidated AS MATERIALIZED (
  SELECT DISTINCT u.hash
  FROM state s
  CROSS JOIN LATERAL (
    SELECT i.lookup_hashes FROM offledger.invalidations i
    WHERE s.is_contiguous AND i.generation = s.generation AND i.ledger_offset > $2::bigint OFFSET 0
  ) i
  CROSS JOIN LATERAL unnest(i.lookup_hashes) u (hash)
),
stale AS MATERIALIZED (
  SELECT k.hash
  FROM state s CROSS JOIN unnest($4::uuid[] || $6::uuid[] || $8::uuid[] || $10::uuid[]) k (hash)
  WHERE NOT s.is_contiguous OR k.hash IN (SELECT i.hash FROM invalidated i)
),
ids AS MATERIALIZED (
  SELECT u.id FROM unnest($3::text[]) u (id)
  UNION
  SELECT k.id FROM unnest($11::text[], $4::uuid[]) k (id, hash) JOIN stale x ON x.hash = k.hash
),
index_keys AS MATERIALIZED (
  SELECT u.hash FROM unnest($5::uuid[]) u (hash)
  UNION SELECT x.hash FROM stale x WHERE x.hash = ANY ($6::uuid[])
),
templates AS MATERIALIZED (
  SELECT u.hash FROM unnest($7::uuid[]) u (hash)
  UNION SELECT x.hash FROM stale x WHERE x.hash = ANY ($8::uuid[])
),
sums AS MATERIALIZED (
  SELECT u.hash FROM unnest($9::uuid[]) u (hash)
  UNION SELECT x.hash FROM stale x WHERE x.hash = ANY ($10::uuid[])
)
SELECT 'state' AS row_type, NULL::uuid AS lookup_hash, NULL::uuid AS template_hash,
  NULL AS contract_id, NULL AS template_id,
  json_build_object('generation', s.generation, 'offset', s.ledger_offset, 'asOf', s.as_of, 'contentId', s.content_id,
    'age', s.age, 'otherHistory', s.other_history, 'isContiguous', s.is_contiguous)::text AS payload,
  NULL AS created_event_blob, NULL AS created_at, NULL::bigint AS created_micros, NULL AS synchronizer_id,
  NULL::bigint AS reassignment_counter, NULL::bytea AS supply_sum, NULL::numeric AS supply_amount
FROM state s
UNION ALL
SELECT 'invalidated', i.hash, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM invalidated i
UNION ALL
SELECT 'stale', x.hash, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM stale x
UNION ALL
SELECT 'id', NULL, c.template_hash, c.contract_id, c.template_id, c.payload, c.created_event_blob,
  c.created_at, c.created_micros, c.synchronizer_id, c.reassignment_counter, c.supply_sum, c.supply_amount
FROM state s CROSS JOIN ids i
CROSS JOIN LATERAL (
  SELECT * FROM offledger.contracts c WHERE c.generation = s.generation AND c.contract_id = i.id OFFSET 0
) c
UNION ALL
SELECT 'archived', a.registrar_hash, NULL, a.contract_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM state s CROSS JOIN ids i
CROSS JOIN LATERAL (
  SELECT a.contract_id, a.registrar_hash FROM offledger.archived_contracts a
  WHERE a.generation = s.generation AND a.contract_id = i.id OFFSET 0
) a
UNION ALL
SELECT 'index_key', k.hash, c.template_hash, c.contract_id, c.template_id, c.payload, c.created_event_blob,
  c.created_at, c.created_micros, c.synchronizer_id, c.reassignment_counter, c.supply_sum, c.supply_amount
FROM state s CROSS JOIN index_keys k
CROSS JOIN LATERAL (
  SELECT ik.contract_id FROM offledger.index_keys ik
  WHERE ik.generation = s.generation AND ik.index_key_hash = k.hash OFFSET 0 LIMIT $14::bigint
) ik
CROSS JOIN LATERAL (
  SELECT * FROM offledger.contracts c WHERE c.generation = s.generation AND c.contract_id = ik.contract_id OFFSET 0
) c
UNION ALL
SELECT 'template', t.hash, c.template_hash, c.contract_id, c.template_id, c.payload, c.created_event_blob,
  c.created_at, c.created_micros, c.synchronizer_id, c.reassignment_counter, c.supply_sum, c.supply_amount
FROM state s CROSS JOIN templates t
CROSS JOIN LATERAL (
  SELECT * FROM offledger.contracts c WHERE c.generation = s.generation AND c.template_hash = t.hash OFFSET 0
  LIMIT $14::bigint
) c
UNION ALL
SELECT 'sum', u.hash, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, t.amount
FROM state s CROSS JOIN sums u
CROSS JOIN LATERAL (
  SELECT t.amount FROM offledger.sums t WHERE t.generation = s.generation AND t.sum_hash = u.hash OFFSET 0
) t
UNION ALL
SELECT 'template_count', NULL, n.template_hash, NULL, n.package_id, NULL, NULL, NULL, n.count, NULL, NULL, NULL, NULL
FROM state s
CROSS JOIN LATERAL (
  SELECT * FROM offledger.template_counts n WHERE $12::boolean AND n.generation = s.generation AND n.count > 0 OFFSET 0
) n`,
};
