/** An update, as one statement or several; migrations/0001-log.sql describes the tables. PostgresLog reads them. */
import { type Change, type CountedOnly, isStored, type StoredContract } from "../../domain/contract.js";
import type { SupplyContribution } from "../../domain/template.js";
import { idHash, registrarHashOf, sumHash, type Tag, tagOf, templateHash, touchedLookups } from "../lookup-hash.js";
import { encodeParsed } from "./contract-json.js";
import { channels, type Statement } from "./database.js";

/**
 * Applies a batch and moves the offset in one step. Returns no row, and changes nothing, unless the state is where the
 * writer left it: $1 epoch, $2 generation, $3 offset before the update (in a further batch of the same update, the offset of
 * the update itself). $4 offset, $5 as of, $6 update id; the others are those of `toParameters`. Archived: $7 ids, $8 tags of
 * their ids. Unassigned: $9 ids, $10 counters. Active, as lists of columns: $11 to $22, and $23 to $25 their bodies. Counted only:
 * $26 ids, $27 hashes of sums, $28 amounts, $29 tallies.
 *
 * The offset of the state moves first, which locks its row until the commit: offsets grow in the order of commits.
 */
export const applyStatement: Statement = {
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
  INSERT INTO offledger.log_bodies (generation, contract_id, payload, views, created_event_blob)
  SELECT f.generation, u.id, u.payload, u.views, u.blob
  FROM fence f CROSS JOIN unnest($11::text[], $23::text[], $24::text[], $25::text[]) u (id, payload, views, blob)
  ON CONFLICT (generation, contract_id) DO UPDATE SET payload = excluded.payload
),
inserted_counted_only AS (
  INSERT INTO offledger.log_counted_only (generation, contract_id, sum_hash, amount)
  SELECT f.generation, u.id, u.hash, u.amount
  FROM fence f CROSS JOIN unnest($26::text[], $27::uuid[], $28::numeric[]) u (id, hash, amount)
  ON CONFLICT DO NOTHING
  RETURNING sum_hash, amount
),
upserted_sums AS (
  INSERT INTO offledger.log_sums AS t (generation, sum_hash, ledger_offset, amount, tally)
  SELECT f.generation, s.sum_hash, $4::bigint, sum(s.amount),
    (SELECT max(u.tally) FROM unnest($27::uuid[], $29::text[]) u (hash, tally) WHERE u.hash = s.sum_hash)
  FROM fence f CROSS JOIN (
    SELECT d.sum_hash, -d.amount AS amount FROM deleted d WHERE d.sum_hash IS NOT NULL
    UNION ALL SELECT u.sum_hash, u.amount FROM upserted u WHERE u.is_new AND u.sum_hash IS NOT NULL
    UNION ALL SELECT c.sum_hash, -c.amount FROM deleted_counted_only c
    UNION ALL SELECT c.sum_hash, c.amount FROM inserted_counted_only c
  ) s
  GROUP BY f.generation, s.sum_hash
  ON CONFLICT (generation, sum_hash) DO UPDATE
  SET amount = t.amount + excluded.amount, ledger_offset = excluded.ledger_offset, tally = coalesce(excluded.tally, t.tally)
)
SELECT pg_notify('${channels.stateChanged}', content_hash::text) FROM fence`,
};

/** Those of each statement that applies the changes, in order: at least one. Throws UnstorableContract. */
export const toParameters = (changes: readonly Change[]): unknown[][] => batchChanges(changes).map(parametersOf);

function parametersOf({ archived, unassigned, active, countedOnly }: ChangeBatch): unknown[] {
  const rows = active.map(contractColumns);
  return [
    archived,
    archived.map((id) => tagOf(idHash(id))),
    unassigned.map(({ contractId }) => contractId),
    unassigned.map(({ counter }) => counter),
    ...CONTRACT_COLUMNS.map((_column, index) => rows.map((columns) => columns[index])),
    active.map(({ body }) => body.payload),
    active.map(({ body }) => body.views),
    active.map(({ body }) => body.createdEventBlob),
    countedOnly.map(({ contractId }) => contractId),
    countedOnly.map(({ supply }) => sumHash(supply.sum)),
    countedOnly.map(({ supply }) => supply.amount.toString()),
    countedOnly.map(({ supply }) => tallyText(supply)),
  ];
}

/** JSON escapes what text of PostgreSQL cannot have. */
export const tallyText = ({ tally }: SupplyContribution): string | null =>
  tally === undefined ? null : JSON.stringify([tally.group, tally.name]);

/** Those of a contract, without generation and offset. */
export const CONTRACT_COLUMNS = [
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

export type Columns = readonly (string | null)[];

export const contractColumns = (contract: StoredContract): Columns => [
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

/** Changes to different contracts, by type. */
interface ChangeBatch {
  readonly archived: string[];
  readonly unassigned: { readonly contractId: string; readonly counter: number }[];
  readonly active: StoredContract[];
  readonly countedOnly: CountedOnly[];
}

/** Keeps a statement well below its timeout. */
const MAX_CHANGES = 2_000;

/** Splits changes into at least one batch, to apply in order. A batch has at most one change for each contract. */
function batchChanges(changes: readonly Change[]): ChangeBatch[] {
  const batches: ChangeBatch[] = [emptyBatch()];
  const sizes: number[] = [0];
  /** The first batch that the next change to a contract may join. */
  const nextIndexes = new Map<string, number>();
  for (const change of changes) {
    const contractId = contractIdOf(change);
    let index = nextIndexes.get(contractId) ?? 0;
    while ((sizes[index] ?? 0) >= MAX_CHANGES) index++;
    nextIndexes.set(contractId, index + 1);
    sizes[index] = (sizes[index] ?? 0) + 1;
    const batch = (batches[index] ??= emptyBatch());
    if ("archived" in change) batch.archived.push(contractId);
    else if ("unassigned" in change) batch.unassigned.push({ contractId, counter: change.reassignmentCounter });
    else if (isStored(change.active)) batch.active.push(change.active);
    else batch.countedOnly.push(change.active);
  }
  return batches;
}

const emptyBatch = (): ChangeBatch => ({ archived: [], unassigned: [], active: [], countedOnly: [] });

function contractIdOf(change: Change): string {
  if ("archived" in change) return change.archived;
  return "unassigned" in change ? change.unassigned : change.active.contractId;
}
