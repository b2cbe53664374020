/** Statements and rows of where a log stands, and of what has changed in it since a position. */
import { type LoggedSum, type LogHead, MAX_STEP_ROWS, type Snapshot, type Tombstone } from "../log.js";
import type { LookupHash } from "../lookup-hash.js";
import type { ContractRow } from "./contract-json.js";
import type { Statement } from "./database.js";

/** The head, as JSON. */
export const HEAD = `'generation', s.generation, 'offset', s.ledger_offset, 'updateId', s.update_id, 'origin', s.origin, 'asOf', s.as_of,
    'heartbeats', s.heartbeats, 'writtenAt', extract(epoch FROM s.led_at) * 1000, 'confirmedAt', extract(epoch FROM s.confirmed_at) * 1000,
    'elapsed', extract(epoch FROM clock_timestamp() - s.confirmed_at) * 1000, 'otherHistory', s.other_history,
    'next', CASE WHEN s.next_generation = s.loading AND s.next_generation <> s.generation THEN json_build_object(
      'generation', s.next_generation, 'offset', s.next_offset, 'origin', s.next_origin, 'asOf', s.next_as_of) END`;

export interface StateJson {
  readonly generation: number;
  readonly offset: number;
  readonly updateId: string | null;
  readonly origin: string;
  readonly asOf: number | null;
  readonly heartbeats: number;
  readonly writtenAt: number;
  readonly confirmedAt: number | null;
  readonly elapsed: number | null;
  readonly otherHistory: string | null;
  readonly next: (Omit<Snapshot, "asOf"> & { readonly asOf: number | null }) | null;
  readonly hasStep?: boolean;
}

export const headOf = (state: StateJson): LogHead => ({
  generation: state.generation,
  offset: state.offset,
  updateId: state.updateId ?? undefined,
  origin: state.origin,
  asOf: state.asOf ?? undefined,
  heartbeat: {
    count: state.heartbeats,
    writtenAt: state.writtenAt,
    confirmedAt: state.confirmedAt ?? undefined,
    elapsed: state.elapsed ?? undefined,
  },
  otherHistory: state.otherHistory ?? undefined,
  next: state.next === null ? undefined : { ...state.next, asOf: state.next.asOf ?? undefined },
});

/** The head that the next generation will have, if it is that of the number. */
export const nextOf = (served: LogHead | undefined, generation: number): LogHead | undefined =>
  served?.next?.generation === generation
    ? { ...served, ...served.next, updateId: undefined, next: undefined }
    : undefined;

/** The columns of ContractRow. */
export const CONTRACT = `c.contract_id, c.template_hash, c.template_id, c.created_at, c.created_micros, c.synchronizer_id,
  c.reassignment_counter, c.parsed, c.amount`;

/**
 * The head of content $1 and, if the position of $2 generation, $3 offset and $4 update id leads to it by a step, what has
 * changed since: in one statement, so of one state. Without a position $2 to $4 are NULL.
 *
 * OFFSET 0 fences each LATERAL subquery: the planner uses all columns of an index for each row.
 */
export const progressStatement: Statement = {
  name: "progress",
  text: `
WITH known AS MATERIALIZED (
  SELECT s.*, EXISTS (
    SELECT FROM offledger.log_commits t
    WHERE t.generation = $2::bigint AND t.generation = s.generation AND t.ledger_offset = $3::bigint
      AND t.update_id IS NOT DISTINCT FROM $4::text
  ) AS is_known
  FROM offledger.state s WHERE s.content_hash = $1::uuid AND s.generation > 0
),
state AS MATERIALIZED (
  SELECT k.*, k.is_known AND ${MAX_STEP_ROWS} >= (
    SELECT count(*) FROM (
      (SELECT 1 FROM offledger.log_contracts c
       WHERE k.is_known AND c.generation = $2::bigint AND c.ledger_offset > $3::bigint LIMIT ${MAX_STEP_ROWS + 1})
      UNION ALL (SELECT 1 FROM offledger.log_tombstones t
       WHERE k.is_known AND t.generation = $2::bigint AND t.ledger_offset > $3::bigint LIMIT ${MAX_STEP_ROWS + 1})
      UNION ALL (SELECT 1 FROM offledger.log_sums m
       WHERE k.is_known AND m.generation = $2::bigint AND m.ledger_offset > $3::bigint LIMIT ${MAX_STEP_ROWS + 1})
    ) changed
  ) AS has_step
  FROM known k
)
SELECT 'state' AS row_type, NULL AS contract_id, NULL::uuid AS template_hash, NULL AS template_id, NULL AS created_at,
  NULL::bigint AS created_micros, NULL AS synchronizer_id, NULL::bigint AS reassignment_counter,
  json_build_object(${HEAD}, 'hasStep', s.has_step)::text AS parsed, NULL::numeric AS amount, NULL::uuid AS registrar_hash,
  NULL::uuid AS sum_hash, NULL::text[] AS tags
FROM state s
UNION ALL
SELECT 'contract', ${CONTRACT}, NULL, NULL, NULL
FROM state s CROSS JOIN LATERAL (
  SELECT * FROM offledger.log_contracts c
  WHERE s.has_step AND c.generation = s.generation AND c.ledger_offset > $3::bigint OFFSET 0
) c
UNION ALL
SELECT 'tombstone', t.contract_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, t.registrar_hash, NULL, t.tags
FROM state s CROSS JOIN LATERAL (
  SELECT * FROM offledger.log_tombstones t
  WHERE s.has_step AND t.generation = s.generation AND t.ledger_offset > $3::bigint
  ORDER BY t.ledger_offset, t.contract_id OFFSET 0
) t
UNION ALL
SELECT 'sum', NULL, NULL, NULL, NULL, NULL, NULL, NULL, m.tally, m.amount, NULL, m.sum_hash, NULL
FROM state s CROSS JOIN LATERAL (
  SELECT * FROM offledger.log_sums m
  WHERE s.has_step AND m.generation = s.generation AND m.ledger_offset > $3::bigint OFFSET 0
) m`,
};

export interface TombstoneRow {
  readonly contract_id: string;
  readonly registrar_hash: LookupHash | null;
}

export interface SumRow {
  readonly sum_hash: LookupHash;
  readonly amount: string;
  /** Its tally. */
  readonly parsed: string | null;
}

export type ProgressRow =
  | { readonly row_type: "state"; readonly parsed: string }
  | ({ readonly row_type: "contract" } & ContractRow)
  | ({ readonly row_type: "tombstone"; readonly tags: readonly string[] } & TombstoneRow)
  | ({ readonly row_type: "sum" } & SumRow);

export const tombstoneOf = ({
  contract_id,
  registrar_hash,
}: TombstoneRow): Pick<Tombstone, "contractId" | "registrar"> => ({
  contractId: contract_id,
  registrar: registrar_hash ?? undefined,
});

export function sumOf({ sum_hash, amount, parsed }: SumRow): LoggedSum {
  if (parsed === null) return { sum: sum_hash, amount: BigInt(amount) };
  const [group, name] = JSON.parse(parsed) as readonly [string, string];
  return { sum: sum_hash, amount: BigInt(amount), tally: { group, name } };
}
