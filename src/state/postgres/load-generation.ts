import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { from as copyFrom } from "pg-copy-streams";
import type { StoredContract, CountedOnly } from "../../domain/contract.js";
import type { Contracts } from "../port.js";
import { UnstorableContract } from "./contract-json.js";
import { type Database, endSession } from "./database.js";
import { asDatabaseError } from "./errors.js";
import { type Copy, logTables } from "./log-tables.js";

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
    for (const { statement, rowsOf } of logTables.copies) {
      const rows = Readable.from(copyText(generation, batch, offset, rowsOf));
      await pipeline(rows, session.query(copyFrom(statement)), { signal }).catch(throwCopyError);
    }
  };
  try {
    let batch: (StoredContract | CountedOnly)[] = [];
    for await (const contract of contracts) {
      if (batch.push(contract) < BATCH) continue;
      await copy(batch);
      batch = [];
    }
    await copy(batch);
    await logTables.complete(session, generation, offset).catch((error: unknown) => {
      throw asDatabaseError(error);
    });
    const { rows } = await session.query<{ contract_id: string }>(logTables.countedTwice, [generation]);
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
