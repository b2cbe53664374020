import { once } from "node:events";
import type { BodyTexts, Contract } from "../../domain/contract.js";
import type { Template } from "../../domain/template.js";
import { withTimeout } from "../../util/async.js";
import type {
  FetchedBodies,
  LoggedState,
  LoggedSum,
  LogHead,
  LogNotices,
  LogPosition,
  LogProgress,
  StateLog,
  Tombstone,
} from "../log.js";
import { contentHash, type LookupHash } from "../lookup-hash.js";
import { MAX_ARCHIVED_IDS, StoreUnavailable } from "../port.js";
import { ContractDecoder, type ContractRow } from "./contract-json.js";
import { channels, type Database, type Statement } from "./database.js";
import { DatabaseError, orUnavailable } from "./errors.js";
import {
  CONTRACT,
  HEAD,
  headOf,
  nextOf,
  type ProgressRow,
  progressStatement,
  type StateJson,
  type SumRow,
  sumOf,
  type TombstoneRow,
  tombstoneOf,
} from "./progress.js";
import { endSession, withSessionTimeout } from "./sessions.js";

export interface PostgresLogOptions {
  /** Of the contracts that the log has. */
  readonly templates: readonly Template[];
  /** See contentId. */
  readonly contentId: string;
}

/** The log of a content in a database, to which PostgresWriter commits. */
export class PostgresLog implements StateLog {
  readonly #contentHash: LookupHash;
  readonly #decoder: ContractDecoder;

  constructor(
    private readonly database: Database,
    { templates, contentId }: PostgresLogOptions,
  ) {
    this.#contentHash = contentHash(contentId);
    this.#decoder = new ContractDecoder(templates);
  }

  async progress(since: LogPosition | undefined): Promise<LogProgress> {
    const { generation = null, offset = null, updateId = null } = since ?? {};
    const rows = await orUnavailable(
      this.database.read<ProgressRow>(progressStatement, [this.#contentHash, generation, offset, updateId]),
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

  /** In one transaction. */
  async load<T>(
    use: (state: LoggedState | undefined) => Promise<T>,
    signal: AbortSignal,
    generation?: number,
  ): Promise<T> {
    const session = await orUnavailable(this.database.openSession());
    // What is under way rejects.
    const end = () => void endSession(session);
    const query: Query = async (text, values) => {
      if (signal.aborted) throw new StoreUnavailable("the service is stopping");
      const { rows } = await orUnavailable(
        withTimeout(session.query<LoadRow>(text, values), FETCH_TIMEOUT_MS, throwTimeout),
      );
      return rows;
    };
    signal.addEventListener("abort", end);
    try {
      await query(BEGIN_LOAD);
      const [row] = await query(READ_HEAD, [this.#contentHash]);
      const served = row && headOf(JSON.parse(row.state) as StateJson);
      const head = generation === undefined || served?.generation === generation ? served : nextOf(served, generation);
      if (head === undefined) return await use(undefined);
      return await use({
        head,
        contracts: readAll(query, "contracts", head, (one) => ({
          contract: this.#decoder.decode(one),
          size: sizeOf(one),
        })),
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
      this.database.read<BodyRow>(bodiesStatement, [this.#contentHash, [...contractIds], generation]),
    );
    const bodies = new Map<string, BodyTexts>();
    for (const { contract_id, payload, views, created_event_blob } of rows) {
      if (contract_id !== null) bodies.set(contract_id, { payload, views, createdEventBlob: created_event_blob });
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
    const session = await orUnavailable(this.database.openSession());
    try {
      // A session that is lost ends, too.
      const ended = once(session, "end", { signal }).catch(() => undefined);
      session.on("notification", ({ channel, payload = "" }) => {
        // Other contents of the database have mirrors of their own.
        if (!payload.startsWith(this.#contentHash)) return;
        if (channel === channels.caughtUp) caughtUp(payload.slice(this.#contentHash.length + 1));
        else committed();
      });
      const listens = session.query(`LISTEN ${channels.stateChanged}; LISTEN ${channels.caughtUp}`);
      await orUnavailable(withSessionTimeout(listens));
      listening();
      await ended;
    } finally {
      await endSession(session);
    }
  }

  async requestCatchUp(id: string): Promise<void> {
    await orUnavailable(this.database.read(REQUEST_CATCH_UP, [`${this.#contentHash} ${id}`]));
  }
}

const REQUEST_CATCH_UP: Statement = {
  name: "request-catch-up",
  text: `SELECT pg_notify('${channels.catchUpRequested}', $1)`,
};

/** The head of content $1, and the bodies of the contracts with ids $2 of generation $3: one row at least if there is a state. */
export const bodiesStatement: Statement = {
  name: "bodies",
  text: `
SELECT s.generation, s.ledger_offset, s.update_id, b.contract_id, b.payload, b.views, b.created_event_blob
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
  readonly views: string;
  readonly created_event_blob: string;
}

/** Rows of one answer while a state is loaded: some milliseconds of work. */
const FETCH_ROWS = 1_000;
/** For one answer while a state is loaded. */
const FETCH_TIMEOUT_MS = 30_000;

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
  sums: "SELECT m.sum_hash, m.amount, m.tally AS parsed FROM offledger.log_sums m WHERE m.generation = $1::bigint AND m.amount <> 0",
};

/** A row of a query of a load, which has the columns that it asks for. */
type LoadRow = ContractRow & TombstoneRow & SumRow & { readonly state: string };

type Query = (text: string, values?: unknown[]) => Promise<LoadRow[]>;

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
