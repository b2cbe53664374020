import type { Change } from "../../../domain/change.js";
import type { Contract, CountedOnly } from "../../../domain/contract.js";
import { type Checkpoint, NotReady, type StoreWriter } from "../../port.js";
import { channels } from "../channels.js";
import { deleteOldGenerations, deleteOrphanGenerations } from "./cleanup.js";
import type { Database, Statement } from "../database.js";
import { DatabaseError } from "../errors.js";
import { applyStatement } from "./apply.sql.js";
import { toColumns, type ChangeBatch, batchChanges } from "./change-batches.js";
import { loadGeneration } from "./load-generation.js";

/** What a writer puts into a store. */
export interface ContentIdentity {
  /** Which contracts, and how they are read; see contentsOf. */
  readonly contents: string;
  /** Where they come from, in any words. */
  readonly origin: string;
}

interface Term {
  readonly epoch: number;
  readonly written: ContentIdentity;
  readonly lost: (error: DatabaseError) => void;
  readonly signal: AbortSignal;
}

/** Where a writer believes the store to stand. */
interface StorePosition {
  readonly generation: number;
  readonly offset: number;
  readonly updateId: string | undefined;
}

/**
 * Writes the store for as long as its epoch lasts. When a write fails it is not
 * known whether it was done: then nothing more can be written, `lost` is called,
 * and whoever goes on begins with a new writer at what the store then has.
 */
export class PostgresWriter implements StoreWriter {
  readonly #database: Database;
  readonly #term: Term;
  #place: StorePosition | undefined;
  #failure: DatabaseError | undefined;
  #replacing: Promise<void> = Promise.resolve();
  /** The one that is served, whoever has put it there. */
  #generation = 0;

  private constructor(database: Database, term: Term) {
    this.#database = database;
    this.#term = term;
  }

  /**
   * A writer at the place where the store stands; at none where that has something
   * else. `lost` is called once, when a write has failed; `signal` ends what takes
   * long. Throws DatabaseError.
   */
  static async begin(
    database: Database,
    epoch: number,
    written: ContentIdentity,
    lost: (error: DatabaseError) => void,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<PostgresWriter> {
    const writer = new PostgresWriter(database, { epoch, written, lost, signal });
    const [state] = await database.query<StateRow>(STATE);
    writer.#generation = Number(state?.generation);
    const isOurs = state?.contents === written.contents && state.origin === written.origin;
    if (state !== undefined && isOurs && state.generation !== "0") {
      const { generation, ledger_offset, update_id } = state;
      writer.#place = {
        generation: Number(generation),
        offset: Number(ledger_offset),
        updateId: update_id ?? undefined,
      };
    }
    return writer;
  }

  get checkpoint(): Checkpoint | undefined {
    return this.#place;
  }

  async replace(contracts: Iterable<Contract | CountedOnly>, offset: number, asOf?: number): Promise<void> {
    // Of two at once the second would take what the first has loaded for something left behind.
    const replacing = this.#replacing.then(() => this.#replace(contracts, offset, asOf));
    this.#replacing = replacing.catch(() => undefined);
    await replacing;
  }

  async #replace(contracts: Iterable<Contract | CountedOnly>, offset: number, asOf: number | undefined): Promise<void> {
    await this.#writing(async () => {
      const { epoch, signal } = this.#term;
      // Of an attempt that did not come to its end.
      await deleteOrphanGenerations(this.#database, epoch, this.#generation);
      const [next] = await this.#database.query<{ generation: string }>(NEXT_GENERATION);
      const generation = Number(next?.generation);
      await loadGeneration(this.#database, generation, contracts, signal);
      const swapped = await this.#database.query(SWAP, [
        epoch,
        generation,
        offset,
        asOf ?? null,
        this.#term.written.contents,
        this.#term.written.origin,
      ]);
      if (swapped.length === 0) throw leaseLost();
      this.#generation = generation;
      this.#place = { generation, offset, updateId: undefined };
    });
  }

  async apply(changes: readonly Change[], offset: number, asOf?: number, updateId?: string): Promise<void> {
    const place = this.#place;
    if (place === undefined) throw new NotReady();
    if (offset <= place.offset) return;
    const batches = batchChanges(changes);
    await this.#writing(async () => {
      const values = (batch: ChangeBatch, before: number) => [
        this.#term.epoch,
        place.generation,
        before,
        offset,
        asOf ?? null,
        updateId ?? null,
        ...toColumns(batch),
      ];
      const [first, ...more] = batches;
      if (first === undefined) return;
      if (more.length === 0) {
        const applied = await this.#database.query(applyStatement, values(first, place.offset));
        if (applied.length === 0) throw leaseLost();
      } else {
        await this.#database.transaction(async (client) => {
          for (const [index, round] of batches.entries()) {
            const { rowCount } = await client.query({
              ...applyStatement,
              values: values(round, index === 0 ? place.offset : offset),
            });
            if (rowCount === 0) throw leaseLost();
          }
        });
      }
      this.#place = { generation: place.generation, offset, updateId };
    });
  }

  /** Takes away what no reader asks for any more. Throws DatabaseError. */
  async clear(): Promise<void> {
    await deleteOldGenerations(this.#database, this.#term.epoch, this.#generation, () => this.#failure === undefined);
  }

  async #writing(write: () => Promise<void>): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      await write();
    } catch (error) {
      // What the given contracts are to blame for has changed nothing.
      if (!(error instanceof DatabaseError)) throw error;
      this.#lose(error);
      throw error;
    }
  }

  /** The first failure counts: others may fail for its sake. */
  #lose(error: DatabaseError): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#term.lost(error);
  }
}

interface StateRow {
  readonly generation: string;
  readonly ledger_offset: string;
  readonly update_id: string | null;
  readonly contents: string;
  readonly origin: string;
}

const STATE: Statement = {
  name: "state",
  text: "SELECT generation, ledger_offset, update_id, contents, origin FROM offledger.state",
};

/** By the clock, so that a database that was restored from a backup does not give a number again. */
const NEXT_GENERATION: Statement = {
  name: "next-generation",
  text: `
SELECT greatest((extract(epoch FROM clock_timestamp()) * 1000)::bigint, generation + 1) AS generation
FROM offledger.state`,
};

/** Puts what was loaded in the place of what is served; no row comes back where the lease is lost. */
const SWAP: Statement = {
  name: "swap",
  text: `
WITH swapped AS (
  UPDATE offledger.state
  SET generation = $2::bigint, ledger_offset = $3::bigint, as_of = $4::bigint, update_id = NULL, contents = $5::text, origin = $6::text,
    log_from = $3::bigint
  WHERE epoch = $1::bigint
  RETURNING generation
)
SELECT pg_notify('${channels.stateChanged}', '') FROM swapped`,
};

const leaseLost = (): DatabaseError =>
  new DatabaseError("lost", "the store does not stand where this process left it: another process writes it now");
