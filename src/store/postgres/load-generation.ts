import { once } from "node:events";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import type { Client } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { type Contract, type CountedOnly, isStored } from "../../domain/contract.js";
import { indexKeyHash, registrarHashOf, sumHash, templateHash } from "../lookup-hash.js";
import { type Database, endSession } from "./database.js";
import { asDatabaseError, type DatabaseError } from "./errors.js";

const COPY_CONTRACTS =
  "COPY offledger.contracts (generation, contract_id, template_hash, template_id, payload, created_event_blob, " +
  "created_at, created_micros, synchronizer_id, reassignment_counter, supply_sum, supply_amount, registrar_hash) FROM STDIN";
const COPY_INDEX_KEYS = "COPY offledger.index_keys (generation, index_key_hash, contract_id) FROM STDIN";
const COPY_COUNTED_ONLY = "COPY offledger.counted_only (generation, contract_id, sum_hash, amount) FROM STDIN";

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

/**
 * Loads a snapshot by COPY as a generation that no reader sees yet. The caller deletes the loaded rows if this throws:
 * an Error if a contract id appears twice, DatabaseError, whatever the iterable throws, or on abort.
 */
export async function loadGeneration(
  database: Database,
  generation: number,
  contracts: Iterable<Contract | CountedOnly>,
  signal: AbortSignal,
): Promise<void> {
  const clients: Client[] = [];
  try {
    const startCopy = async (statement: string): Promise<CopyStream> => {
      const client = await database.openSession();
      clients.push(client);
      return new CopyStream(client, statement, generation, signal);
    };
    const stored = await startCopy(COPY_CONTRACTS);
    const indexKeys = await startCopy(COPY_INDEX_KEYS);
    const countedOnly = await startCopy(COPY_COUNTED_ONLY);
    const ids = new Set<string>();
    for (const contract of contracts) {
      const { contractId } = contract;
      if (ids.has(contractId)) throw new Error(`contract ${contractId} appears twice`);
      ids.add(contractId);
      if (isStored(contract)) {
        for (const key of new Set(contract.indexKeys)) await indexKeys.write(indexKeyHash(key), contractId);
        await stored.write(...toColumns(contract));
      } else {
        await countedOnly.write(contractId, sumHash(contract.supply.sum), String(contract.supply.amount));
      }
    }
    for (const copy of [stored, indexKeys, countedOnly]) await copy.end();
    const [client] = clients;
    if (client !== undefined) await aggregate(client, generation);
  } finally {
    await Promise.all(clients.map(endSession));
  }
}

async function aggregate(client: Client, generation: number): Promise<void> {
  try {
    for (const statement of AGGREGATE_STATEMENTS) await client.query(statement, [generation]);
    // Without statistics the planner knows nothing about the new rows.
    await client.query("ANALYZE offledger.contracts, offledger.index_keys, offledger.counted_only");
  } catch (error) {
    throw asDatabaseError(error);
  }
}

const toColumns = (contract: Contract): (string | null)[] => [
  contract.contractId,
  templateHash(contract.template),
  contract.templateId,
  contract.payload,
  contract.createdEventBlob,
  contract.createdAt,
  String(contract.createdMicros),
  contract.synchronizerId ?? null,
  String(contract.reassignmentCounter),
  contract.supply === undefined ? null : `\\x${Buffer.from(contract.supply.sum).toString("hex")}`,
  contract.supply?.amount.toString() ?? null,
  registrarHashOf(contract),
];

const CHUNK_LENGTH = 64 * 1024;

/** Writes rows of one generation into a table by COPY, with backpressure. Throws DatabaseError. */
class CopyStream {
  readonly #stream: Writable;
  readonly #generation: number;
  readonly #signal: AbortSignal;
  #buffer = "";
  #failure: DatabaseError | undefined;

  /** `statement` is a COPY statement whose first column is the generation. */
  constructor(client: Client, statement: string, generation: number, signal: AbortSignal) {
    this.#signal = signal;
    this.#stream = client.query(copyFrom(statement));
    this.#generation = generation;
    this.#stream.on("error", (error) => (this.#failure = asDatabaseError(error)));
  }

  async write(...columns: readonly (string | null)[]): Promise<void> {
    this.#buffer += `${this.#generation}`;
    for (const column of columns) this.#buffer += column === null ? "\t\\N" : `\t${escapeColumn(column)}`;
    this.#buffer += "\n";
    if (this.#buffer.length >= CHUNK_LENGTH) await this.#flush();
  }

  async end(): Promise<void> {
    await this.#flush();
    this.#stream.end();
    await finished(this.#stream, { signal: this.#signal }).catch((error: unknown) => {
      throw asDatabaseError(error);
    });
  }

  async #flush(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    const chunk = this.#buffer;
    this.#buffer = "";
    if (chunk !== "" && !this.#stream.write(chunk)) {
      await once(this.#stream, "drain", { signal: this.#signal }).catch((error: unknown) => {
        throw asDatabaseError(error);
      });
    }
  }
}

const SPECIAL = /[\\\t\n\r]/g;
const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };

/** Escapes a value for the text format of COPY; https://www.postgresql.org/docs/current/sql-copy.html */
const escapeColumn = (value: string): string => value.replace(SPECIAL, (character) => ESCAPES[character] ?? character);
