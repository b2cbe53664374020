import type { Client } from "pg";
import { withTimeout } from "../../util/async.js";
import type { Body, Contract } from "../../domain/contract.js";
import type { Template } from "../../domain/template.js";
import {
  type FetchedBodies,
  type LoggedState,
  type LoggedSum,
  type LogHead,
  type LogNotices,
  type LogPosition,
  type LogProgress,
  MAX_STEP_ROWS,
  type Snapshot,
  type StateLog,
  type Tombstone,
} from "../log.js";
import { contentHash, type LookupHash } from "../lookup-hash.js";
import { MAX_ARCHIVED_IDS, StoreUnavailable } from "../port.js";
import { ContractDecoder, type ContractRow } from "./contract-json.js";
import { channels, type Database, endSession, type Statement } from "./database.js";
import { DatabaseError, orUnavailable } from "./errors.js";

/** Rows of one answer while a state is loaded: some milliseconds of work. */
const FETCH_ROWS = 1_000;
/** For one answer while a state is loaded. */
const FETCH_TIMEOUT_MS = 30_000;

export interface PostgresLogOptions {
  /** Of the contracts that the log has. */
  readonly templates: readonly Template[];
  /** See contentId. */
  readonly contentId: string;
}

/** The log of a content in a database, to which PostgresWriter commits. */
export class PostgresLog implements StateLog {
  readonly #database: Database;
  readonly #contentHash: LookupHash;
  readonly #decoder: ContractDecoder;

  constructor(database: Database, { templates, contentId }: PostgresLogOptions) {
    this.#database = database;
    this.#contentHash = contentHash(contentId);
    this.#decoder = new ContractDecoder(templates);
  }

  async progress(since: LogPosition | undefined): Promise<LogProgress> {
    const rows = await orUnavailable(
      this.#database.read<ProgressRow>(progressStatement, [
        this.#contentHash,
        since?.generation ?? null,
        since?.offset ?? null,
        since?.updateId ?? null,
      ]),
    );
    const archived: Tombstone[] = [];
    const active: Contract[] = [];
    const sums: LoggedSum[] = [];
    let state: StateJson | undefined;
    for (const row of rows) {
      switch (row.row_type) {
        case "state":
          state = JSON.parse(row.parsed) as StateJson;
          break;
        case "tombstone":
          archived.push({ ...tombstoneOf(row), tags: row.tags });
          break;
        case "contract":
          active.push(this.#decoder.decode(row));
          break;
        case "sum":
          sums.push(sumOf(row));
          break;
      }
    }
    if (state === undefined) return "empty";
    return { head: headOf(state), step: state.hasStep === true ? { archived, active, sums } : undefined };
  }

  async load<T>(
    use: (state: LoggedState | undefined) => Promise<T>,
    signal: AbortSignal,
    generation?: number,
  ): Promise<T> {
    const session = await orUnavailable(this.#database.openSession());
    // What is under way rejects.
    const end = () => void endSession(session);
    const query: Query = async (text, values) => {
      if (signal.aborted) throw new StoreUnavailable("the service is stopping");
      const answer = session.query<LoadRow>(text, values && [...values]);
      const { rows } = await orUnavailable(withTimeout(answer, FETCH_TIMEOUT_MS, throwTimeout));
      return rows;
    };
    signal.addEventListener("abort", end);
    try {
      await query(BEGIN_LOAD);
      const [row] = await query(READ_HEAD, [this.#contentHash]);
      const served = row && headOf(JSON.parse(row.state) as StateJson);
      const head = generation === undefined || served?.generation === generation ? served : nextOf(served, generation);
      if (head === undefined) return await use(undefined);
      const decode = (one: LoadRow) => ({ contract: this.#decoder.decode(one), size: sizeOf(one) });
      return await use({
        head,
        contracts: readAll(query, "contracts", head, decode),
        archived: readAll(query, "tombstones", head, tombstoneOf),
        sums: readAll(query, "sums", head, sumOf),
      });
    } finally {
      signal.removeEventListener("abort", end);
      // This ends the transaction, too.
      await endSession(session);
    }
  }

  async bodies(contractIds: readonly string[], generation: number): Promise<FetchedBodies> {
    const rows = await orUnavailable(
      this.#database.read<BodyRow>(bodiesStatement, [this.#contentHash, [...contractIds], generation]),
    );
    const bodies = new Map<string, Pick<Body, "payload" | "createdEventBlob">>();
    for (const { contract_id, payload, created_event_blob } of rows) {
      if (contract_id !== null) bodies.set(contract_id, { payload, createdEventBlob: created_event_blob });
    }
    const [state] = rows;
    const head = state && {
      generation: Number(state.generation),
      offset: Number(state.ledger_offset),
      updateId: state.update_id ?? undefined,
    };
    return { head, bodies };
  }

  async listen({ listening, committed, caughtUp }: LogNotices, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const session = await orUnavailable(this.#database.openSession());
    try {
      const ended = endOf(session, signal);
      session.on("notification", ({ channel, payload = "" }) => {
        // Other contents of the database have mirrors of their own.
        if (!payload.startsWith(this.#contentHash)) return;
        if (channel === channels.caughtUp) caughtUp(payload.slice(this.#contentHash.length + 1));
        else committed();
      });
      await orUnavailable(session.query(`LISTEN ${channels.stateChanged}; LISTEN ${channels.caughtUp}`));
      listening();
      await ended;
    } finally {
      await endSession(session);
    }
  }

  async requestCatchUp(id: string): Promise<void> {
    await orUnavailable(this.#database.read(REQUEST_CATCH_UP, [`${this.#contentHash} ${id}`]));
  }
}

const REQUEST_CATCH_UP: Statement = {
  name: "request-catch-up",
  text: `SELECT pg_notify('${channels.catchUpRequested}', $1)`,
};

function endOf(session: Client, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      signal.removeEventListener("abort", end);
      resolve();
    };
    session.on("error", end).on("end", end);
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
  });
}

/** The head, as JSON. */
const HEAD = `'generation', s.generation, 'offset', s.ledger_offset, 'updateId', s.update_id, 'origin', s.origin, 'asOf', s.as_of,
    'heartbeats', s.heartbeats, 'writtenAt', extract(epoch FROM s.led_at) * 1000, 'confirmedAt', extract(epoch FROM s.confirmed_at) * 1000,
    'elapsed', extract(epoch FROM clock_timestamp() - s.confirmed_at) * 1000, 'otherHistory', s.other_history,
    'next', CASE WHEN s.next_generation = s.loading AND s.next_generation <> s.generation THEN json_build_object(
      'generation', s.next_generation, 'offset', s.next_offset, 'origin', s.next_origin, 'asOf', s.next_as_of) END`;

interface StateJson {
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

const headOf = (state: StateJson): LogHead => ({
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
const nextOf = (served: LogHead | undefined, generation: number): LogHead | undefined =>
  served?.next?.generation === generation
    ? { ...served, ...served.next, updateId: undefined, next: undefined }
    : undefined;

/** The columns of ContractRow. */
const CONTRACT = `c.contract_id, c.template_hash, c.template_id, c.created_at, c.created_micros, c.synchronizer_id,
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
SELECT 'sum', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, m.amount, NULL, m.sum_hash, NULL
FROM state s CROSS JOIN LATERAL (
  SELECT * FROM offledger.log_sums m
  WHERE s.has_step AND m.generation = s.generation AND m.ledger_offset > $3::bigint OFFSET 0
) m`,
};

interface TombstoneRow {
  readonly contract_id: string;
  readonly registrar_hash: LookupHash | null;
}

interface SumRow {
  readonly sum_hash: LookupHash;
  readonly amount: string;
}

type ProgressRow =
  | { readonly row_type: "state"; readonly parsed: string }
  | ({ readonly row_type: "contract" } & ContractRow)
  | ({ readonly row_type: "tombstone"; readonly tags: readonly string[] } & TombstoneRow)
  | ({ readonly row_type: "sum" } & SumRow);

const tombstoneOf = ({ contract_id, registrar_hash }: TombstoneRow): Pick<Tombstone, "contractId" | "registrar"> => ({
  contractId: contract_id,
  registrar: registrar_hash ?? undefined,
});

const sumOf = ({ sum_hash, amount }: SumRow): LoggedSum => ({ sum: sum_hash, amount: BigInt(amount) });

/** The head of content $1, and the bodies of the contracts with ids $2 of generation $3: one row at least if there is a state. */
export const bodiesStatement: Statement = {
  name: "bodies",
  text: `
SELECT s.generation, s.ledger_offset, s.update_id, b.contract_id, b.payload, b.created_event_blob
FROM offledger.state s
LEFT JOIN LATERAL (
  SELECT * FROM offledger.log_bodies b WHERE b.generation = $3::bigint AND b.contract_id = ANY ($2::text[]) OFFSET 0
) b ON true
WHERE s.content_hash = $1::uuid AND s.generation > 0`,
};

interface BodyRow {
  readonly generation: string;
  readonly ledger_offset: string;
  readonly update_id: string | null;
  /** NULL, as are the others, if no contract is found. */
  readonly contract_id: string | null;
  readonly payload: string;
  readonly created_event_blob: string;
}

/** Every answer is of one state. All rows are read: no index helps. A process that stalls must not hold off a migration for long. */
const BEGIN_LOAD = [
  "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
  "SET LOCAL enable_seqscan = on",
  "SET LOCAL idle_in_transaction_session_timeout = '60s'",
].join("; ");

const READ_HEAD = `
SELECT json_build_object(${HEAD})::text AS state FROM offledger.state s
WHERE s.content_hash = $1::uuid AND s.generation > 0`;

/** Of generation $1. */
const ALL_OF_A_STATE = {
  contracts: `SELECT ${CONTRACT} FROM offledger.log_contracts c WHERE c.generation = $1::bigint`,
  tombstones: `
SELECT * FROM (
  SELECT t.contract_id, t.registrar_hash, t.ledger_offset FROM offledger.log_tombstones t WHERE t.generation = $1::bigint
  ORDER BY t.ledger_offset DESC, t.contract_id DESC LIMIT ${MAX_ARCHIVED_IDS}
) latest ORDER BY ledger_offset, contract_id`,
  sums: "SELECT m.sum_hash, m.amount FROM offledger.log_sums m WHERE m.generation = $1::bigint AND m.amount <> 0",
};

/** A row of a query of a load, which has the columns that it asks for. */
type LoadRow = ContractRow & TombstoneRow & SumRow & { readonly state: string };

type Query = (text: string, values?: readonly unknown[]) => Promise<LoadRow[]>;

const sizeOf = ({ contract_id, parsed, created_at }: ContractRow): number =>
  contract_id.length + parsed.length + created_at.length;

/** By a cursor: a state may be larger than the memory has room for twice. */
async function* readAll<T>(
  query: Query,
  name: keyof typeof ALL_OF_A_STATE,
  { generation }: LogHead,
  decode: (row: LoadRow) => T,
): AsyncGenerator<T> {
  await query(`DECLARE ${name} NO SCROLL CURSOR FOR ${ALL_OF_A_STATE[name]}`, [generation]);
  for (;;) {
    const rows = await query(`FETCH ${FETCH_ROWS} FROM ${name}`);
    for (const row of rows) yield decode(row);
    if (rows.length < FETCH_ROWS) return;
  }
}

function throwTimeout(): never {
  throw new DatabaseError("unavailable", `the database has not answered for ${FETCH_TIMEOUT_MS / 1_000} s`);
}
