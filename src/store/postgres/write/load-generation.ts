/** Loads a whole state beside the one that is served, by COPY. */
import { once } from "node:events";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import type { Client } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { type Contract, type CountedOnly, isStored } from "../../../domain/contract.js";
import { type Database, endSession } from "../database.js";
import { asDatabaseError, type DatabaseError } from "../errors.js";
import { keyHash, templateHash, sumHash } from "../lookup-hash.js";

const CONTRACTS =
  "COPY offledger.contracts (generation, contract_id, kind, template_id, payload, created_event_blob, created_at, " +
  "created_micros, synchronizer_id, reassignment_counter, share_sum, share_amount) FROM STDIN";
const KEYS = "COPY offledger.contract_keys (generation, key, contract_id) FROM STDIN";
const COUNTED = "COPY offledger.counted (generation, contract_id, sum, amount) FROM STDIN";

/** What is held is counted by kind and package, and what has a share is summed. */
const TALLIES = [
  `INSERT INTO offledger.census (generation, kind, package_id, count)
   SELECT generation, kind, split_part(template_id, ':', 1), count(*) FROM offledger.contracts
   WHERE generation = $1 GROUP BY 1, 2, 3`,
  `INSERT INTO offledger.sums (generation, sum, amount)
   SELECT $1, sum, sum(amount) FROM (
     SELECT encode(substring(sha256('sum '::bytea || share_sum) FROM 1 FOR 16), 'hex')::uuid AS sum, share_amount AS amount
     FROM offledger.contracts WHERE generation = $1 AND share_sum IS NOT NULL
     UNION ALL SELECT sum, amount FROM offledger.counted WHERE generation = $1
   ) shares GROUP BY 2`,
];

/**
 * Loads contracts as a generation that nobody reads yet. Throws where a contract
 * id appears twice, and whatever the iterable throws; what was loaded by then is
 * left to be cleared away. Ends early, and throws, when the signal is aborted.
 */
export async function loadGeneration(
  database: Database,
  generation: number,
  contracts: Iterable<Contract | CountedOnly>,
  signal: AbortSignal,
): Promise<void> {
  const clients: Client[] = [];
  try {
    const copy = async (text: string): Promise<Copy> => {
      const client = await database.session();
      clients.push(client);
      return new Copy(client, text, generation, signal);
    };
    const [held, keys, counted] = [await copy(CONTRACTS), await copy(KEYS), await copy(COUNTED)];
    const ids = new Set<string>();
    for (const contract of contracts) {
      const { contractId, supply } = contract;
      if (ids.has(contractId)) throw new Error(`contract ${contractId} appears twice`);
      ids.add(contractId);
      if (isStored(contract)) {
        for (const key of new Set(contract.indexKeys)) await keys.row(keyHash(key), contractId);
        await held.row(...columnsOf(contract));
      } else {
        await counted.row(contractId, sumHash(contract.supply.sum), String(supply?.amount));
      }
    }
    for (const one of [held, keys, counted]) await one.end();
    const [client] = clients;
    if (client !== undefined) await tally(client, generation);
  } finally {
    await Promise.all(clients.map(endSession));
  }
}

async function tally(client: Client, generation: number): Promise<void> {
  try {
    for (const text of TALLIES) await client.query(text, [generation]);
    // The server plans by what it knows of a table, and of a new one it knows nothing.
    await client.query("ANALYZE offledger.contracts, offledger.contract_keys, offledger.counted");
  } catch (error) {
    throw asDatabaseError(error);
  }
}

const columnsOf = (contract: Contract): (string | null)[] => [
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
];

/** How many characters of rows are handed on at a time. */
const CHUNK = 64 * 1024;

/** Rows on their way into a table; each waits until the connection takes more. */
class Copy {
  readonly #stream: Writable;
  readonly #generation: number;
  readonly #signal: AbortSignal;
  #text = "";
  #failure: DatabaseError | undefined;

  constructor(client: Client, text: string, generation: number, signal: AbortSignal) {
    this.#signal = signal;
    this.#stream = client.query(copyFrom(text));
    this.#generation = generation;
    this.#stream.on("error", (error) => (this.#failure = asDatabaseError(error)));
  }

  async row(...columns: readonly (string | null)[]): Promise<void> {
    this.#text += `${this.#generation}`;
    for (const column of columns) this.#text += column === null ? "\t\\N" : `\t${escaped(column)}`;
    this.#text += "\n";
    if (this.#text.length >= CHUNK) await this.#flush();
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
    const text = this.#text;
    this.#text = "";
    if (text !== "" && !this.#stream.write(text)) {
      await once(this.#stream, "drain", { signal: this.#signal }).catch((error: unknown) => {
        throw asDatabaseError(error);
      });
    }
  }
}

const special = /[\\\t\n\r]/g;
const escapes: Readonly<Record<string, string>> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };

/** A value in the text format of COPY; https://www.postgresql.org/docs/current/sql-copy.html has it. */
const escaped = (value: string): string => value.replace(special, (character) => escapes[character] ?? character);
