import type { Change, Contract, CountedOnly } from "../../../domain/contract.js";
import type { Template } from "../../../domain/template.js";
import { type Checkpoint, NotReady, type StoreWriter } from "../../port.js";
import { channels } from "../channels.js";
import { hasSameKeys } from "../content-id.js";
import type { Database, Statement } from "../database.js";
import { DatabaseError } from "../errors.js";
import { applyStatement } from "./apply.sql.js";
import { toParameters, type ChangeBatch, batchChanges } from "./change-batches.js";
import { deleteOldGenerations, deleteOrphanGenerations } from "./cleanup.js";
import { loadGeneration } from "./load-generation.js";

/** Identifies what a writer stores. It resumes only where a writer with the same identity stopped. */
export interface ContentIdentity {
  /** Which contracts are stored and how they are read; see content-id.ts. */
  readonly contentId: string;
  /** Which ledger they come from, as an opaque string. */
  readonly origin: string;
  /** The templates whose index keys must be the stored ones; none are compared without it. */
  readonly templates?: readonly Template[];
}

interface WriterScope {
  readonly epoch: number;
  readonly content: ContentIdentity;
  readonly onLost: (error: DatabaseError) => void;
  readonly signal: AbortSignal;
}

interface StorePosition {
  readonly generation: number;
  readonly offset: number;
  readonly updateId: string | undefined;
}

/** Writes the store during one leadership term. Refuses everything after a failed write, which may be stored or not. */
export class PostgresWriter implements StoreWriter {
  readonly #database: Database;
  readonly #scope: WriterScope;
  #position: StorePosition | undefined;
  #failure: DatabaseError | undefined;
  #replacing: Promise<void> = Promise.resolve();
  #servedGeneration = 0;

  private constructor(database: Database, scope: WriterScope) {
    this.#database = database;
    this.#scope = scope;
  }

  /**
   * Creates a writer at the position of the store, or without a checkpoint if the store holds other content. `onLost`
   * is called once, after the first failed write: resume with a new writer. `signal` ends long operations. Throws
   * DatabaseError.
   */
  static async begin(
    database: Database,
    epoch: number,
    content: ContentIdentity,
    onLost: (error: DatabaseError) => void,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<PostgresWriter> {
    const writer = new PostgresWriter(database, { epoch, content, onLost, signal });
    const [state] = await database.query<StateRow>(READ_STATE);
    writer.#servedGeneration = Number(state?.generation);
    const isSameContent = state?.content_id === content.contentId && state.origin === content.origin;
    if (state === undefined || !isSameContent || state.generation === "0") return writer;
    if (await hasSameKeys(database, Number(state.generation), content.templates ?? [])) {
      const { generation, ledger_offset, update_id } = state;
      writer.#position = {
        generation: Number(generation),
        offset: Number(ledger_offset),
        updateId: update_id ?? undefined,
      };
    }
    return writer;
  }

  get checkpoint(): Checkpoint | undefined {
    return this.#position;
  }

  async replace(contracts: Iterable<Contract | CountedOnly>, offset: number, asOf?: number): Promise<void> {
    // One at a time: a concurrent call would delete the half-loaded generation as an orphan.
    const replacing = this.#replacing.then(() => this.#replace(contracts, offset, asOf));
    this.#replacing = replacing.catch(() => undefined);
    await replacing;
  }

  async #replace(contracts: Iterable<Contract | CountedOnly>, offset: number, asOf: number | undefined): Promise<void> {
    await this.#write(async () => {
      const { epoch, content, signal } = this.#scope;
      await deleteOrphanGenerations(this.#database, epoch, this.#servedGeneration);
      const [next] = await this.#database.query<{ generation: string }>(NEXT_GENERATION);
      const generation = Number(next?.generation);
      await loadGeneration(this.#database, generation, contracts, signal);
      const swapped = await this.#database.query(SWAP_GENERATION, [
        epoch,
        generation,
        offset,
        asOf ?? null,
        content.contentId,
        content.origin,
      ]);
      if (swapped.length === 0) throw leaseLost();
      this.#servedGeneration = generation;
      this.#position = { generation, offset, updateId: undefined };
    });
  }

  async apply(changes: readonly Change[], offset: number, asOf?: number, updateId?: string): Promise<void> {
    const position = this.#position;
    if (position === undefined) throw new NotReady();
    if (offset <= position.offset) return;
    const batches = batchChanges(changes);
    await this.#write(async () => {
      const parameters = (batch: ChangeBatch, expectedOffset: number) => [
        this.#scope.epoch,
        position.generation,
        expectedOffset,
        offset,
        asOf ?? null,
        updateId ?? null,
        ...toParameters(batch),
      ];
      const [first, ...more] = batches;
      if (first === undefined) return;
      if (more.length === 0) {
        const applied = await this.#database.query(applyStatement, parameters(first, position.offset));
        if (applied.length === 0) throw leaseLost();
      } else {
        await this.#database.transaction(async (client) => {
          for (const [index, batch] of batches.entries()) {
            const { rowCount } = await client.query({
              ...applyStatement,
              values: parameters(batch, index === 0 ? position.offset : offset),
            });
            if (rowCount === 0) throw leaseLost();
          }
        });
      }
      this.#position = { generation: position.generation, offset, updateId };
    });
  }

  async cleanUp(): Promise<void> {
    const { epoch } = this.#scope;
    await deleteOldGenerations(this.#database, epoch, this.#servedGeneration, () => this.#failure === undefined);
  }

  async #write(write: () => Promise<void>): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      await write();
    } catch (error) {
      // An error in the input has changed nothing.
      if (!(error instanceof DatabaseError)) throw error;
      this.#fail(error);
      throw error;
    }
  }

  /** Reports the first failure; later ones may be its consequences. */
  #fail(error: DatabaseError): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#scope.onLost(error);
  }
}

interface StateRow {
  readonly generation: string;
  readonly ledger_offset: string;
  readonly update_id: string | null;
  readonly content_id: string;
  readonly origin: string;
}

const READ_STATE: Statement = {
  name: "read-state",
  text: "SELECT generation, ledger_offset, update_id, content_id, origin FROM offledger.state",
};

/** Numbers come from the clock, so that a database restored from a backup does not reuse one. */
const NEXT_GENERATION: Statement = {
  name: "next-generation",
  text: `
SELECT greatest((extract(epoch FROM clock_timestamp()) * 1000)::bigint, generation + 1) AS generation
FROM offledger.state`,
};

/** Serves the loaded generation. Returns no row if the lease is lost. */
const SWAP_GENERATION: Statement = {
  name: "swap-generation",
  text: `
WITH swapped AS (
  UPDATE offledger.state
  SET generation = $2::bigint, ledger_offset = $3::bigint, as_of = $4::bigint, update_id = NULL, content_id = $5::text,
    origin = $6::text, invalidations_from = $3::bigint
  WHERE epoch = $1::bigint
  RETURNING generation
)
SELECT pg_notify('${channels.stateChanged}', '') FROM swapped`,
};

const leaseLost = (): DatabaseError =>
  new DatabaseError("lost", "the store is not at the position of this process: another process has written to it");
