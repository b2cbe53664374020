/** The tables of a log; migrations/0001-log.sql describes them. PostgresLog reads them. */
import type { Client } from "pg";
import { type CountedOnly, isStored, type StoredContract } from "../../domain/contract.js";
import { idHash, registrarHashOf, sumHash, type Tag, tagOf, templateHash, touchedLookups } from "../lookup-hash.js";
import { MAX_ARCHIVED_IDS } from "../port.js";
import type { ChangeBatch } from "./batches.js";
import { encodeParsed } from "./contract-json.js";
import { channels, type Statement } from "./database.js";

/**
 * Applies a batch and moves the offset in one step. Returns no row, and changes nothing, unless the state is where the
 * writer left it: $1 epoch, $2 generation, $3 offset before the update (in a further batch of the same update, the offset of
 * the update itself). $4 offset, $5 as of, $6 update id; the others are those of `toParameters`. Archived: $7 ids, $8 tags of
 * their ids. Unassigned: $9 ids, $10 counters. Active, as lists of columns: $11 to $22, and $23, $24 their bodies. Counted only:
 * $25 ids, $26 hashes of sums, $27 amounts.
 *
 * The offset of the state moves first, which locks its row until the commit: offsets grow in the order of commits.
 */
export const applyToLogStatement: Statement = {
  name: "apply-to-log",
  text: `
WITH fence AS (
  UPDATE offledger.state
  SET ledger_offset = $4::bigint, as_of = coalesce($5::bigint, as_of), update_id = $6::text
  WHERE epoch = $1::bigint AND generation = $2::bigint AND ledger_offset = $3::bigint
  RETURNING generation, content_hash
),
inserted_commit AS (
  INSERT INTO offledger.log_commits (generation, ledger_offset, update_id)
  SELECT f.generation, $4::bigint, $6::text FROM fence f
  ON CONFLICT DO NOTHING
),
deleted AS (
  DELETE FROM offledger.log_contracts c USING fence f
  WHERE c.generation = f.generation AND c.contract_id = ANY ($7::text[])
  RETURNING c.contract_id, c.registrar_hash, c.tags, c.sum_hash, c.amount
),
deleted_counted_only AS (
  DELETE FROM offledger.log_counted_only c USING fence f
  WHERE c.generation = f.generation AND c.contract_id = ANY ($7::text[])
  RETURNING c.sum_hash, c.amount
),
-- A late event may have made a contract active again: of two archivals the later counts, with what is known of both.
upserted_tombstones AS (
  INSERT INTO offledger.log_tombstones AS t (generation, contract_id, ledger_offset, registrar_hash, tags, has_body)
  SELECT f.generation, u.id, $4::bigint, d.registrar_hash, coalesce(d.tags, ARRAY[u.tag]), d.contract_id IS NOT NULL
  FROM fence f CROSS JOIN unnest($7::text[], $8::text[]) u (id, tag) LEFT JOIN deleted d ON d.contract_id = u.id
  ON CONFLICT (generation, contract_id) DO UPDATE
  SET ledger_offset = excluded.ledger_offset, registrar_hash = coalesce(excluded.registrar_hash, t.registrar_hash),
    tags = ARRAY(SELECT unnest(t.tags) UNION SELECT unnest(excluded.tags)), has_body = t.has_body OR excluded.has_body
),
unassigned AS (
  UPDATE offledger.log_contracts c
  SET synchronizer_id = NULL, reassignment_counter = u.counter, ledger_offset = $4::bigint
  FROM fence f CROSS JOIN unnest($9::text[], $10::bigint[]) u (id, counter)
  WHERE c.generation = f.generation AND c.contract_id = u.id AND c.reassignment_counter < u.counter
),
upserted AS (
  INSERT INTO offledger.log_contracts AS c (generation, ledger_offset, contract_id, template_hash, template_id, created_at,
    created_micros, synchronizer_id, reassignment_counter, parsed, sum_hash, amount, registrar_hash, tags)
  SELECT f.generation, $4::bigint, u.contract_id, u.template_hash, u.template_id, u.created_at, u.created_micros,
    u.synchronizer_id, u.reassignment_counter, u.parsed, u.sum_hash, u.amount, u.registrar_hash, u.tags::text[]
  FROM fence f CROSS JOIN unnest(
    $11::text[], $12::uuid[], $13::text[], $14::text[], $15::bigint[], $16::text[], $17::bigint[], $18::text[], $19::uuid[],
    $20::numeric[], $21::uuid[], $22::text[]
  ) u (contract_id, template_hash, template_id, created_at, created_micros, synchronizer_id, reassignment_counter, parsed,
    sum_hash, amount, registrar_hash, tags)
  ON CONFLICT (generation, contract_id) DO UPDATE
  SET synchronizer_id = excluded.synchronizer_id, reassignment_counter = excluded.reassignment_counter,
    ledger_offset = excluded.ledger_offset
  WHERE c.reassignment_counter <= excluded.reassignment_counter
  RETURNING c.sum_hash, c.amount, c.xmax = 0 AS is_new
),
-- A body never changes. Of a contract that is active again it is written again, so that trimming does not delete it.
upserted_bodies AS (
  INSERT INTO offledger.log_bodies (generation, contract_id, payload, created_event_blob)
  SELECT f.generation, u.id, u.payload, u.blob
  FROM fence f CROSS JOIN unnest($11::text[], $23::text[], $24::text[]) u (id, payload, blob)
  ON CONFLICT (generation, contract_id) DO UPDATE SET payload = excluded.payload
),
inserted_counted_only AS (
  INSERT INTO offledger.log_counted_only (generation, contract_id, sum_hash, amount)
  SELECT f.generation, u.id, u.hash, u.amount
  FROM fence f CROSS JOIN unnest($25::text[], $26::uuid[], $27::numeric[]) u (id, hash, amount)
  ON CONFLICT DO NOTHING
  RETURNING sum_hash, amount
),
upserted_sums AS (
  INSERT INTO offledger.log_sums AS t (generation, sum_hash, ledger_offset, amount)
  SELECT f.generation, s.sum_hash, $4::bigint, sum(s.amount)
  FROM fence f CROSS JOIN (
    SELECT d.sum_hash, -d.amount AS amount FROM deleted d WHERE d.sum_hash IS NOT NULL
    UNION ALL SELECT u.sum_hash, u.amount FROM upserted u WHERE u.is_new AND u.sum_hash IS NOT NULL
    UNION ALL SELECT c.sum_hash, -c.amount FROM deleted_counted_only c
    UNION ALL SELECT c.sum_hash, c.amount FROM inserted_counted_only c
  ) s
  GROUP BY f.generation, s.sum_hash
  ON CONFLICT (generation, sum_hash) DO UPDATE
  SET amount = t.amount + excluded.amount, ledger_offset = excluded.ledger_offset
)
SELECT pg_notify('${channels.stateChanged}', content_hash::text) FROM fence`,
};

/** Throws UnstorableContract. */
function toParameters({ archived, unassigned, active, countedOnly }: ChangeBatch): unknown[] {
  const rows = active.map(contractColumns);
  return [
    archived,
    archived.map((id) => tagOf(idHash(id))),
    unassigned.map(({ contractId }) => contractId),
    unassigned.map(({ counter }) => counter),
    ...CONTRACT_COLUMNS.map((_column, index) => rows.map((columns) => columns[index])),
    active.map(({ body }) => body.payload),
    active.map(({ body }) => body.createdEventBlob),
    countedOnly.map(({ contractId }) => contractId),
    countedOnly.map(({ supply }) => sumHash(supply.sum)),
    countedOnly.map(({ supply }) => supply.amount.toString()),
  ];
}

/** Those of a contract, without generation and offset. */
const CONTRACT_COLUMNS = [
  "contract_id",
  "template_hash",
  "template_id",
  "created_at",
  "created_micros",
  "synchronizer_id",
  "reassignment_counter",
  "parsed",
  "sum_hash",
  "amount",
  "registrar_hash",
  "tags",
] as const;

type Columns = readonly (string | null)[];

const contractColumns = (contract: StoredContract): Columns => [
  contract.contractId,
  templateHash(contract.template),
  contract.templateId,
  contract.createdAt,
  String(contract.createdMicros),
  contract.synchronizerId ?? null,
  String(contract.reassignmentCounter),
  encodeParsed(contract),
  contract.supply === undefined ? null : sumHash(contract.supply.sum),
  contract.supply?.amount.toString() ?? null,
  registrarHashOf(contract),
  arrayLiteral(touchedLookups(contract).map(tagOf)),
];

/** Tags are hexadecimal digits: none needs quotes. */
const arrayLiteral = (tags: readonly Tag[]): string => `{${[...new Set(tags)].join(",")}}`;

/** A COPY statement, and what it writes of a contract: rows without their first column, the generation. */
export interface Copy {
  readonly statement: string;
  /** Throws UnstorableContract. */
  readonly rowsOf: (contract: StoredContract | CountedOnly, offset: number) => readonly Columns[];
}

const COPIES: readonly Copy[] = [
  {
    statement: `COPY offledger.log_contracts (generation, ledger_offset, ${CONTRACT_COLUMNS.join(", ")}) FROM STDIN`,
    rowsOf: (contract, offset) => (isStored(contract) ? [[String(offset), ...contractColumns(contract)]] : []),
  },
  {
    statement: "COPY offledger.log_bodies (generation, contract_id, payload, created_event_blob) FROM STDIN",
    rowsOf: (contract) =>
      isStored(contract) ? [[contract.contractId, contract.body.payload, contract.body.createdEventBlob]] : [],
  },
  {
    statement: "COPY offledger.log_counted_only (generation, contract_id, sum_hash, amount) FROM STDIN",
    rowsOf: (contract) =>
      isStored(contract) ? [] : [[contract.contractId, sumHash(contract.supply.sum), String(contract.supply.amount)]],
  },
];

/** $1 generation, $2 offset. */
const COMPLETING_STATEMENTS = [
  `INSERT INTO offledger.log_sums (generation, ledger_offset, sum_hash, amount)
   SELECT $1::bigint, $2::bigint, sum_hash, sum(amount) FROM (
     SELECT sum_hash, amount FROM offledger.log_contracts WHERE generation = $1 AND sum_hash IS NOT NULL
     UNION ALL SELECT sum_hash, amount FROM offledger.log_counted_only WHERE generation = $1
   ) contributions GROUP BY sum_hash`,
  "INSERT INTO offledger.log_commits (generation, ledger_offset) VALUES ($1, $2)",
];

/** A request that has disclosed a contract still gets its body if fewer commits have followed its archival. */
const COMMITS_WITH_BODIES = 1_000;
/** Keeps the statement short. */
const MAX_TRIMMED = 1_000;

/**
 * Deletes bodies of archived contracts. By their places: a row that is written meanwhile, since the contract is active again or
 * archived once more, has another.
 */
export const trimBodiesStatement: Statement = {
  name: "trim-bodies",
  text: `
WITH oldest AS MATERIALIZED (
  SELECT s.generation,
    (SELECT ledger_offset FROM offledger.log_commits c WHERE c.generation = s.generation
     ORDER BY ledger_offset DESC OFFSET ${COMMITS_WITH_BODIES - 1} LIMIT 1) AS committed
  FROM offledger.state s WHERE s.generation = $1::bigint AND s.epoch = $2::bigint
),
trimmed AS MATERIALIZED (
  SELECT t.* FROM oldest o CROSS JOIN LATERAL (
    SELECT t.ctid AS place, t.generation, t.contract_id FROM offledger.log_tombstones t
    WHERE t.has_body AND t.generation = o.generation AND t.ledger_offset < o.committed
    ORDER BY t.generation, t.ledger_offset LIMIT ${MAX_TRIMMED}
  ) t
),
deleted AS (
  DELETE FROM offledger.log_bodies WHERE ctid = ANY (ARRAY(
    SELECT b.ctid FROM trimmed t JOIN offledger.log_bodies b USING (generation, contract_id)
    WHERE NOT EXISTS (
      SELECT FROM offledger.log_contracts c WHERE c.generation = t.generation AND c.contract_id = t.contract_id
    )
  ))
)
UPDATE offledger.log_tombstones SET has_body = false WHERE ctid = ANY (ARRAY(SELECT place FROM trimmed))
RETURNING 1`,
};

/** A follower that was paused for fewer goes on by a step. */
const MAX_COMMITS = 20_000;

/**
 * A commit from which a step would lack a tombstone goes with it, in one statement: a position is known if its commit is.
 */
export const trimStatement: Statement = {
  name: "trim-log",
  text: `
WITH fence AS (
  SELECT s.generation FROM offledger.state s WHERE s.generation = $1::bigint AND s.epoch = $2::bigint
),
oldest AS MATERIALIZED (
  SELECT f.generation,
    (SELECT ledger_offset FROM offledger.log_commits c WHERE c.generation = f.generation
     ORDER BY ledger_offset DESC OFFSET ${MAX_COMMITS - 1} LIMIT 1) AS committed,
    (SELECT ledger_offset FROM offledger.log_tombstones t WHERE t.generation = f.generation
     ORDER BY ledger_offset DESC OFFSET ${MAX_ARCHIVED_IDS - 1} LIMIT 1) AS archived
  FROM fence f
),
deleted_commits AS (
  DELETE FROM offledger.log_commits c USING oldest o
  WHERE c.generation = o.generation AND c.ledger_offset < greatest(o.committed, o.archived)
)
DELETE FROM offledger.log_tombstones t USING oldest o
WHERE t.generation = o.generation AND t.ledger_offset < o.archived AND NOT t.has_body`,
};

export const logTables = {
  apply: applyToLogStatement,
  toParameters,
  copies: COPIES,
  /** Completes a snapshot of which all rows were copied. */
  async complete(session: Client, generation: number, offset: number): Promise<void> {
    for (const statement of COMPLETING_STATEMENTS) await session.query(statement, [generation, offset]);
    // Without statistics the planner knows nothing about the new rows.
    await session.query("ANALYZE offledger.log_contracts, offledger.log_counted_only");
  },
  /** Finds a contract of generation $1 that is stored and counted only. */
  countedTwice: `
SELECT c.contract_id FROM offledger.log_counted_only o JOIN offledger.log_contracts c USING (generation, contract_id)
WHERE generation = $1 LIMIT 1`,
  /** Delete what no reader needs of generation $1, unless another epoch than $2 has begun. One that returns rows is run again. */
  trims: [trimBodiesStatement, trimStatement],
};
