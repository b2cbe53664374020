/** The tables from which replicas execute lookups. They go one release after the log. */
import { isStored, type StoredContract } from "../../domain/contract.js";
import {
  anyRegistrarHash,
  idHash,
  indexKeyHash,
  type LookupHash,
  registrarHashOf,
  sumHash,
  templateHash,
} from "../lookup-hash.js";
import { MAX_ARCHIVED_IDS } from "../port.js";
import type { ChangeBatch } from "./batches.js";
import type { Columns, ContentTables, Copy } from "./content-tables.js";
import { channels, type Statement } from "./database.js";

/**
 * Applies changes, at most one for each contract, and moves the offset in one step. Does nothing and returns no row
 * unless the store is where the writer left it: $1 epoch, $2 generation, $3 offset before the update (in a second
 * statement for the same update, the offset of the update itself).
 *
 * $4 offset, $5 as of, $6 update id, $7 hashes of invalidated lookups. Archived: $8 ids. Unassigned: $9 ids, $10
 * counters. Active: $11 ids, $12 template hashes, $13 template ids, $14 payloads, $15 blobs, $16 creation times, $17
 * the same in microseconds, $18 synchronizers, $19 counters, $20 supply sums, $21 supply amounts; index keys: $22 ids,
 * $23 hashes. Counted only: $24 ids, $25 hashes of sums, $26 amounts. $27 hashes of the registrars of the active contracts.
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
deleted AS (
  DELETE FROM offledger.contracts c USING fence f
  WHERE c.generation = f.generation AND c.contract_id = ANY ($8::text[])
  RETURNING c.contract_id, c.template_hash, c.template_id, c.supply_sum, c.supply_amount, c.registrar_hash
),
deleted_counted_only AS (
  DELETE FROM offledger.counted_only c USING fence f
  WHERE c.generation = f.generation AND c.contract_id = ANY ($8::text[])
  RETURNING c.sum_hash, c.amount
),
deleted_index_keys AS (
  DELETE FROM offledger.index_keys k USING fence f
  WHERE k.generation = f.generation AND k.contract_id = ANY ($8::text[])
  RETURNING k.index_key_hash
),
inserted_archived AS (
  INSERT INTO offledger.archived_contracts (generation, contract_id, ledger_offset, registrar_hash)
  SELECT f.generation, u.id, $4::bigint, d.registrar_hash
  FROM fence f CROSS JOIN unnest($8::text[]) u (id) LEFT JOIN deleted d ON d.contract_id = u.id
  ON CONFLICT DO NOTHING
),
unassigned AS (
  UPDATE offledger.contracts c SET synchronizer_id = NULL, reassignment_counter = u.counter
  FROM fence f CROSS JOIN unnest($9::text[], $10::bigint[]) u (id, counter)
  WHERE c.generation = f.generation AND c.contract_id = u.id AND c.reassignment_counter < u.counter
  RETURNING c.generation, c.contract_id, c.template_hash, c.registrar_hash
),
active AS MATERIALIZED (
  SELECT f.generation, u.*
  FROM fence f CROSS JOIN unnest(
    $11::text[], $12::uuid[], $13::text[], $14::text[], $15::text[], $16::text[], $17::bigint[], $18::text[], $19::bigint[],
    $20::bytea[], $21::numeric[], $27::uuid[]
  ) u (contract_id, template_hash, template_id, payload, created_event_blob, created_at, created_micros, synchronizer_id,
    reassignment_counter, supply_sum, supply_amount, registrar_hash)
),
upserted AS (
  INSERT INTO offledger.contracts AS c (generation, contract_id, template_hash, template_id, payload, created_event_blob,
    created_at, created_micros, synchronizer_id, reassignment_counter, supply_sum, supply_amount, registrar_hash)
  SELECT generation, contract_id, template_hash, template_id, payload, created_event_blob,
    created_at, created_micros, synchronizer_id, reassignment_counter, supply_sum, supply_amount, registrar_hash
  FROM active
  ON CONFLICT (generation, contract_id) DO UPDATE
  SET synchronizer_id = excluded.synchronizer_id, reassignment_counter = excluded.reassignment_counter
  WHERE c.reassignment_counter <= excluded.reassignment_counter
  RETURNING c.template_hash, c.template_id, c.supply_sum, c.supply_amount, c.xmax = 0 AS is_new
),
inserted_index_keys AS (
  INSERT INTO offledger.index_keys (generation, index_key_hash, contract_id)
  SELECT f.generation, u.hash, u.id FROM fence f CROSS JOIN unnest($22::text[], $23::uuid[]) u (id, hash)
  ON CONFLICT DO NOTHING
),
inserted_counted_only AS (
  INSERT INTO offledger.counted_only (generation, contract_id, sum_hash, amount)
  SELECT f.generation, u.id, u.hash, u.amount
  FROM fence f CROSS JOIN unnest($24::text[], $25::uuid[], $26::numeric[]) u (id, hash, amount)
  ON CONFLICT DO NOTHING
  RETURNING sum_hash, amount
),
-- The hash of a sum is computed, not looked up: no join on a name that may be long.
stored_supply AS (
  SELECT encode(substring(sha256('sum '::bytea || s.supply_sum) FROM 1 FOR 16), 'hex')::uuid AS sum_hash, s.amount
  FROM (
    SELECT d.supply_sum, -d.supply_amount AS amount FROM deleted d
    UNION ALL SELECT u.supply_sum, u.supply_amount FROM upserted u WHERE u.is_new
  ) s
  WHERE s.supply_sum IS NOT NULL
),
upserted_sums AS (
  INSERT INTO offledger.sums AS t (generation, sum_hash, amount)
  SELECT f.generation, d.sum_hash, sum(d.amount)
  FROM fence f CROSS JOIN (
    SELECT s.sum_hash, s.amount FROM stored_supply s
    UNION ALL SELECT c.sum_hash, -c.amount FROM deleted_counted_only c
    UNION ALL SELECT c.sum_hash, c.amount FROM inserted_counted_only c
  ) d
  GROUP BY f.generation, d.sum_hash
  ON CONFLICT (generation, sum_hash) DO UPDATE SET amount = t.amount + excluded.amount
  RETURNING t.sum_hash
),
upserted_template_counts AS (
  INSERT INTO offledger.template_counts AS t (generation, template_hash, package_id, count)
  SELECT f.generation, d.template_hash, split_part(d.template_id, ':', 1), sum(d.n)
  FROM fence f CROSS JOIN (
    SELECT template_hash, template_id, -1 AS n FROM deleted
    UNION ALL SELECT template_hash, template_id, 1 FROM upserted WHERE is_new
  ) d
  GROUP BY f.generation, d.template_hash, split_part(d.template_id, ':', 1)
  ON CONFLICT (generation, template_hash, package_id) DO UPDATE SET count = t.count + excluded.count
),
invalidated AS (
  SELECT u.hash FROM unnest($7::uuid[]) u (hash)
  UNION SELECT template_hash FROM deleted
  UNION SELECT coalesce(registrar_hash, '${anyRegistrarHash}') FROM deleted
  UNION SELECT index_key_hash FROM deleted_index_keys
  UNION SELECT template_hash FROM unassigned
  UNION SELECT coalesce(registrar_hash, '${anyRegistrarHash}') FROM unassigned
  UNION SELECT k.index_key_hash FROM unassigned u JOIN offledger.index_keys k USING (generation, contract_id)
  UNION SELECT sum_hash FROM upserted_sums
  UNION SELECT '${anyRegistrarHash}' FROM upserted_sums
),
inserted_invalidations AS (
  INSERT INTO offledger.invalidations AS i (generation, ledger_offset, lookup_hashes)
  SELECT f.generation, $4::bigint, t.hashes
  FROM fence f CROSS JOIN (SELECT array_agg(hash) AS hashes FROM invalidated) t
  WHERE t.hashes IS NOT NULL
  ON CONFLICT (generation, ledger_offset) DO UPDATE SET lookup_hashes = i.lookup_hashes || excluded.lookup_hashes
)
SELECT pg_notify('${channels.stateChanged}', '') FROM fence`,
};

/** The parameters of applyStatement from $7 on. */
function toParameters({ archived, unassigned, active, countedOnly }: ChangeBatch): unknown[] {
  const keys = active.flatMap(({ contractId, indexKeys }) =>
    indexKeys.map((key) => ({ contractId, hash: indexKeyHash(key) })),
  );
  const invalidated = new Set<LookupHash>([
    ...[...archived, ...unassigned.map(({ contractId }) => contractId)].map(idHash),
    ...active.flatMap((contract) => [
      idHash(contract.contractId),
      templateHash(contract.template),
      registrarHashOf(contract),
    ]),
    ...keys.map(({ hash }) => hash),
  ]);
  return [
    [...invalidated],
    archived,
    unassigned.map(({ contractId }) => contractId),
    unassigned.map(({ counter }) => counter),
    active.map(({ contractId }) => contractId),
    active.map(({ template }) => templateHash(template)),
    active.map(({ templateId }) => templateId),
    active.map(({ body }) => body.payload),
    active.map(({ body }) => body.createdEventBlob),
    active.map(({ createdAt }) => createdAt),
    active.map(({ createdMicros }) => createdMicros),
    active.map(({ synchronizerId }) => synchronizerId ?? null),
    active.map(({ reassignmentCounter }) => reassignmentCounter),
    active.map(({ supply }) => (supply === undefined ? null : Buffer.from(supply.sum))),
    active.map(({ supply }) => supply?.amount.toString() ?? null),
    keys.map(({ contractId }) => contractId),
    keys.map(({ hash }) => hash),
    countedOnly.map(({ contractId }) => contractId),
    countedOnly.map(({ supply }) => sumHash(supply.sum)),
    countedOnly.map(({ supply }) => supply.amount.toString()),
    active.map(registrarHashOf),
  ];
}

const COPIES: readonly Copy[] = [
  {
    statement:
      "COPY offledger.contracts (generation, contract_id, template_hash, template_id, payload, created_event_blob, " +
      "created_at, created_micros, synchronizer_id, reassignment_counter, supply_sum, supply_amount, registrar_hash) " +
      "FROM STDIN",
    rowsOf: (contract) => (isStored(contract) ? [contractColumns(contract)] : []),
  },
  {
    statement: "COPY offledger.index_keys (generation, index_key_hash, contract_id) FROM STDIN",
    rowsOf: (contract) =>
      isStored(contract) ? [...new Set(contract.indexKeys)].map((key) => [indexKeyHash(key), contract.contractId]) : [],
  },
  {
    statement: "COPY offledger.counted_only (generation, contract_id, sum_hash, amount) FROM STDIN",
    rowsOf: (contract) => {
      const { contractId, supply } = contract;
      return isStored(contract) || supply === undefined
        ? []
        : [[contractId, sumHash(supply.sum), String(supply.amount)]];
    },
  },
];

const contractColumns = (contract: StoredContract): Columns => [
  contract.contractId,
  templateHash(contract.template),
  contract.templateId,
  contract.body.payload,
  contract.body.createdEventBlob,
  contract.createdAt,
  String(contract.createdMicros),
  contract.synchronizerId ?? null,
  String(contract.reassignmentCounter),
  contract.supply === undefined ? null : `\\x${Buffer.from(contract.supply.sum).toString("hex")}`,
  contract.supply?.amount.toString() ?? null,
  registrarHashOf(contract),
];

const AGGREGATE_STATEMENTS = [
  `INSERT INTO offledger.template_counts (generation, template_hash, package_id, count)
   SELECT generation, template_hash, split_part(template_id, ':', 1), count(*) FROM offledger.contracts
   WHERE generation = $1 GROUP BY 1, 2, 3`,
  `INSERT INTO offledger.sums (generation, sum_hash, amount)
   SELECT $1, sum_hash, sum(amount) FROM (
     SELECT encode(substring(sha256('sum '::bytea || supply_sum) FROM 1 FOR 16), 'hex')::uuid AS sum_hash,
       supply_amount AS amount
     FROM offledger.contracts WHERE generation = $1 AND supply_sum IS NOT NULL
     UNION ALL SELECT sum_hash, amount FROM offledger.counted_only WHERE generation = $1
   ) contributions GROUP BY 2`,
];

/** No reader uses more than the latest MAX_UPDATES_BEHIND of them; see fetch.ts. */
const MAX_INVALIDATIONS = 20_000;

const TRIM_STATEMENTS: readonly Statement[] = [
  {
    name: "trim-invalidations",
    text: `
WITH cutoff AS (
  SELECT ledger_offset FROM offledger.invalidations WHERE generation = $1::bigint
  ORDER BY ledger_offset DESC OFFSET ${MAX_INVALIDATIONS} LIMIT 1
),
updated AS (
  UPDATE offledger.state s SET invalidations_from = greatest(s.invalidations_from, cutoff.ledger_offset) FROM cutoff
  WHERE s.generation = $1::bigint AND s.epoch = $2::bigint
  RETURNING s.generation
)
DELETE FROM offledger.invalidations i USING cutoff, updated
WHERE i.generation = updated.generation AND i.ledger_offset <= cutoff.ledger_offset`,
  },
  {
    name: "trim-archived",
    text: `
DELETE FROM offledger.archived_contracts a USING (
  SELECT ledger_offset FROM offledger.archived_contracts WHERE generation = $1::bigint
  ORDER BY ledger_offset DESC OFFSET ${MAX_ARCHIVED_IDS} LIMIT 1
) cutoff
WHERE a.generation = $1::bigint AND a.ledger_offset <= cutoff.ledger_offset
  AND EXISTS (SELECT FROM offledger.state WHERE generation = $1::bigint AND epoch = $2::bigint)`,
  },
];

const COUNTED_TWICE = `
SELECT c.contract_id FROM offledger.counted_only o JOIN offledger.contracts c USING (generation, contract_id)
WHERE generation = $1 LIMIT 1`;

export const lookupTables: ContentTables = {
  apply: applyStatement,
  toParameters,
  copies: COPIES,
  async complete(session, generation) {
    for (const statement of AGGREGATE_STATEMENTS) await session.query(statement, [generation]);
    // Without statistics the planner knows nothing about the new rows.
    await session.query("ANALYZE offledger.contracts, offledger.index_keys, offledger.counted_only");
  },
  countedTwice: COUNTED_TWICE,
  trims: TRIM_STATEMENTS,
};
