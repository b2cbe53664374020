/** A snapshot becomes a generation: begun, filled beside the one that is served, next, and served. */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ClientBase } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { type CountedOnly, isStored, type StoredContract } from "../../domain/contract.js";
import { type LookupHash, sumHash } from "../lookup-hash.js";
import type { Contracts } from "../port.js";
import { type Columns, CONTRACT_COLUMNS, contractColumns, tallyText } from "./apply-update.js";
import { UnstorableContract } from "./contract-json.js";
import { channels, type Database, type Statement } from "./database.js";
import { endSession } from "./sessions.js";
import { asDatabaseError } from "./errors.js";

/**
 * Reserves a generation, so that nobody deletes its rows while they are loaded. Numbers come from the clock, so that a
 * database restored from a backup does not reuse one. Returns no row if the lease is lost.
 */
export const beginGeneration: Statement = {
  name: "begin-generation",
  text: `
UPDATE offledger.state
SET loading = greatest(
  (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
  (SELECT max(greatest(generation, loading)) + 1 FROM offledger.state)
)
WHERE epoch = $1::bigint AND content_hash = $2::uuid
RETURNING loading AS generation`,
};

/** Lets followers load the filled generation. Returns no row if the lease is lost, and "0" as served if none is. */
export const markNext: Statement = {
  name: "mark-next",
  text: `
WITH marked AS (
  UPDATE offledger.state
  SET next_generation = $2::bigint, next_offset = $4::bigint, next_as_of = $5::bigint, next_origin = $6::text
  WHERE epoch = $1::bigint AND content_hash = $3::uuid AND loading = $2::bigint
  RETURNING generation, content_hash
)
SELECT generation AS served, pg_notify('${channels.stateChanged}', content_hash::text) FROM marked`,
};

/** Serves the next generation, and retires the one before. Returns no row if the lease is lost. */
export const swapGeneration: Statement = {
  name: "swap-generation",
  text: `
WITH served AS (
  SELECT generation FROM offledger.state WHERE content_hash = $3::uuid AND generation > 0
),
swapped AS (
  UPDATE offledger.state
  SET generation = next_generation, ledger_offset = next_offset, as_of = next_as_of, update_id = NULL, origin = next_origin
  WHERE epoch = $1::bigint AND content_hash = $3::uuid AND loading = $2::bigint AND next_generation = $2::bigint
  RETURNING content_hash
),
retired AS (
  INSERT INTO offledger.retired_generations (generation, retired_at)
  SELECT served.generation, clock_timestamp() FROM served CROSS JOIN swapped
  ON CONFLICT (generation) DO UPDATE SET retired_at = excluded.retired_at
)
SELECT pg_notify('${channels.stateChanged}', content_hash::text) FROM swapped`,
};

/** Of this many contracts the rows of a table are copied, then those of the next: 20 MB or so are in memory. */
const BATCH = 4_000;

/**
 * Loads a snapshot by COPY as a generation that no reader sees yet. The caller deletes the loaded rows if this throws:
 * an Error if a contract id appears twice, UnstorableContract, DatabaseError, whatever the contracts throw, or on abort.
 */
export async function loadGeneration(
  database: Database,
  generation: number,
  contracts: Contracts,
  offset: number,
  signal: AbortSignal,
): Promise<void> {
  const session = await database.openSession();
  const copy = async (batch: readonly (StoredContract | CountedOnly)[]): Promise<void> => {
    for (const { statement, rowsOf } of COPIES) {
      const rows = Readable.from(copyText(generation, batch, offset, rowsOf));
      await pipeline(rows, session.query(copyFrom(statement)), { signal }).catch(throwCopyError);
    }
  };
  try {
    let batch: (StoredContract | CountedOnly)[] = [];
    const tallies = new Map<string, LookupHash>();
    for await (const contract of contracts) {
      const tally = isStored(contract) ? null : tallyText(contract.supply);
      if (tally !== null && contract.supply !== undefined) tallies.set(tally, sumHash(contract.supply.sum));
      if (batch.push(contract) < BATCH) continue;
      await copy(batch);
      batch = [];
    }
    await copy(batch);
    await complete(session, generation, offset, tallies).catch((error: unknown) => {
      throw asDatabaseError(error);
    });
    const { rows } = await session.query<{ contract_id: string }>(COUNTED_TWICE, [generation]);
    if (rows[0] !== undefined) throw new Error(`contract ${rows[0].contract_id} appears twice`);
  } finally {
    await endSession(session);
  }
}

/** The primary key of a table: of its generation, and the contract id. */
const DUPLICATE = /^Key \(generation, contract_id\)=\(\d+, (.*)\) already exists\.$/s;

function throwCopyError(error: unknown): never {
  if (error instanceof UnstorableContract) throw error;
  const detail = error instanceof Error && "detail" in error ? String(error.detail) : "";
  const [, contractId] = DUPLICATE.exec(detail) ?? [];
  throw contractId === undefined ? asDatabaseError(error) : new Error(`contract ${contractId} appears twice`);
}

const CHUNK_LENGTH = 64 * 1024;

/** Rows in the text format of COPY; https://www.postgresql.org/docs/current/sql-copy.html */
function* copyText(
  generation: number,
  contracts: Iterable<StoredContract | CountedOnly>,
  offset: number,
  rowsOf: Copy["rowsOf"],
): Generator<string> {
  let chunk = "";
  for (const contract of contracts) {
    for (const columns of rowsOf(contract, offset)) {
      chunk += [String(generation), ...columns].map((column) => (column === null ? "\\N" : escaped(column))).join("\t");
      chunk += "\n";
    }
    if (chunk.length < CHUNK_LENGTH) continue;
    yield chunk;
    chunk = "";
  }
  if (chunk !== "") yield chunk;
}

const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };

const escaped = (value: string): string => value.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? character);

/** A COPY statement, and what it writes of a contract: rows without their first column, the generation. */
interface Copy {
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
    statement: "COPY offledger.log_bodies (generation, contract_id, payload, views, created_event_blob) FROM STDIN",
    rowsOf(contract) {
      if (!isStored(contract)) return [];
      const { payload, views, createdEventBlob } = contract.body;
      return [[contract.contractId, payload, views, createdEventBlob]];
    },
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

/** $1 generation, $2 hashes of sums, $3 their tallies. */
const TALLIES = `
UPDATE offledger.log_sums m SET tally = u.tally FROM unnest($2::uuid[], $3::text[]) u (hash, tally)
WHERE m.generation = $1::bigint AND m.sum_hash = u.hash`;

/** Of a snapshot of which all rows were copied. */
async function complete(
  session: ClientBase,
  generation: number,
  offset: number,
  tallies: ReadonlyMap<string, LookupHash>,
): Promise<void> {
  for (const statement of COMPLETING_STATEMENTS) await session.query(statement, [generation, offset]);
  await session.query(TALLIES, [generation, [...tallies.values()], [...tallies.keys()]]);
  // Without statistics the planner knows nothing about the new rows.
  await session.query("ANALYZE offledger.log_contracts, offledger.log_counted_only");
}

/** Finds a contract of generation $1 that is stored and counted only. */
const COUNTED_TWICE = `
SELECT c.contract_id FROM offledger.log_counted_only o JOIN offledger.log_contracts c USING (generation, contract_id)
WHERE generation = $1 LIMIT 1`;
