/** Reads the whole state of a log, in one transaction. */
import { withTimeout } from "../../util/async.js";
import type { LoggedState, LogHead } from "../log.js";
import type { LookupHash } from "../lookup-hash.js";
import { MAX_ARCHIVED_IDS, StoreUnavailable } from "../port.js";
import type { ContractDecoder, ContractRow } from "./contract-json.js";
import type { Database } from "./database.js";
import { DatabaseError, orUnavailable } from "./errors.js";
import {
  CONTRACT,
  HEAD,
  headOf,
  nextOf,
  type StateJson,
  type SumRow,
  sumOf,
  type TombstoneRow,
  tombstoneOf,
} from "./progress.js";
import { endSession } from "./sessions.js";

/** Rows of one answer while a state is loaded: some milliseconds of work. */
const FETCH_ROWS = 1_000;
/** For one answer while a state is loaded. */
const FETCH_TIMEOUT_MS = 30_000;

/** As StateLog. */
export async function loadLogged<T>(
  database: Database,
  contentHash: LookupHash,
  decoder: ContractDecoder,
  use: (state: LoggedState | undefined) => Promise<T>,
  signal: AbortSignal,
  generation?: number,
): Promise<T> {
  const session = await orUnavailable(database.openSession());
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
    const [row] = await query(READ_HEAD, [contentHash]);
    const served = row && headOf(JSON.parse(row.state) as StateJson);
    const head = generation === undefined || served?.generation === generation ? served : nextOf(served, generation);
    if (head === undefined) return await use(undefined);
    const decode = (one: LoadRow) => ({ contract: decoder.decode(one), size: sizeOf(one) });
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
