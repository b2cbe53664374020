import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { from as copyFrom } from "pg-copy-streams";
import { type StoredContract, type CountedOnly, isStored } from "../../domain/contract.js";
import { indexKeyHash, registrarHashOf, sumHash, templateHash } from "../lookup-hash.js";
import type { Contracts } from "../port.js";
import { type Database, endSession } from "./database.js";
import { asDatabaseError } from "./errors.js";

type Columns = readonly (string | null)[];

/** A COPY statement, and what it writes of a contract: rows without their first column, the generation. */
interface Copy {
  readonly statement: string;
  readonly rowsOf: (contract: StoredContract | CountedOnly) => readonly Columns[];
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

/** Of this many contracts the rows of a table are copied, then those of the next: few are in memory. */
const BATCH = 250;

/**
 * Loads a snapshot by COPY as a generation that no reader sees yet. The caller deletes the loaded rows if this throws:
 * an Error if a contract id appears twice, DatabaseError, whatever the contracts throw, or on abort.
 */
export async function loadGeneration(
  database: Database,
  generation: number,
  contracts: Contracts,
  signal: AbortSignal,
): Promise<void> {
  const session = await database.openSession();
  const copy = async (batch: readonly (StoredContract | CountedOnly)[]): Promise<void> => {
    for (const { statement, rowsOf } of COPIES) {
      const rows = Readable.from(copyText(generation, batch, rowsOf));
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
    try {
      for (const statement of AGGREGATE_STATEMENTS) await session.query(statement, [generation]);
      // Without statistics the planner knows nothing about the new rows.
      await session.query("ANALYZE offledger.contracts, offledger.index_keys, offledger.counted_only");
    } catch (error) {
      throw asDatabaseError(error);
    }
    const { rows } = await session.query<{ contract_id: string }>(COUNTED_TWICE, [generation]);
    if (rows[0] !== undefined) throw new Error(`contract ${rows[0].contract_id} appears twice`);
  } finally {
    await endSession(session);
  }
}

const COUNTED_TWICE = `
SELECT c.contract_id FROM offledger.counted_only o JOIN offledger.contracts c USING (generation, contract_id)
WHERE generation = $1 LIMIT 1`;

/** The primary key of a table: of its generation, and the contract id. */
const DUPLICATE = /^Key \(generation, contract_id\)=\(\d+, (.*)\) already exists\.$/s;

function throwCopyError(error: unknown): never {
  const detail = error instanceof Error && "detail" in error ? String(error.detail) : "";
  const [, contractId] = DUPLICATE.exec(detail) ?? [];
  throw contractId === undefined ? asDatabaseError(error) : new Error(`contract ${contractId} appears twice`);
}

const CHUNK_LENGTH = 64 * 1024;

/** Rows in the text format of COPY; https://www.postgresql.org/docs/current/sql-copy.html */
function* copyText(
  generation: number,
  contracts: Iterable<StoredContract | CountedOnly>,
  rowsOf: Copy["rowsOf"],
): Generator<string> {
  let chunk = "";
  for (const contract of contracts) {
    for (const columns of rowsOf(contract)) {
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
