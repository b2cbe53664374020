import type { Change } from "../../domain/contract.js";
import { type Checkpoint, type Contracts, NotReady, type StoreWriter } from "../port.js";
import { contentHash } from "../lookup-hash.js";
import { applyStatement, toParameters } from "./apply-update.js";
import { deleteStates, deleteUnused, endRetirement, trims } from "./cleanup.js";
import type { Database, Statement } from "./database.js";
import { DatabaseError } from "./errors.js";
import type { RetriesOptions } from "../../util/retries.js";
import { beginGeneration, loadGeneration, markNext, swapGeneration } from "./generations.js";

/** A writer resumes only where one with the same content id and origin stopped. `signal` ends long operations. */
export interface WriterOptions extends RetriesOptions {
  readonly epoch: number;
  /** Which contracts are stored and how they are read; see content-id.ts. */
  readonly contentId: string;
  /** Which ledger they come from, as an opaque string. It may change: then the next write has to be a snapshot. */
  readonly origin: () => string;
  /** Called once, after the first failed write: resume with a new writer. */
  readonly onLost: (error: DatabaseError) => void;
}

/** The most that followers get to load a generation before it is served. */
const MAX_PREPARING_MS = 10_000;

interface StorePosition {
  readonly generation: number;
  readonly offset: number;
  readonly updateId: string | undefined;
  readonly origin: string;
}

/**
 * Writes the store during one leadership term. Its states, and what leads from one to the next:
 * - Without a position: the store is empty, or of another origin.
 * - Any -> at a position: `replace` fills a generation beside the one that is served, gives followers time to load it, and
 *   swaps it in.
 * - At a position: `apply` moves it, from offset to offset, if no other process has moved it.
 * - Any -> failed: a write fails, which may be stored or not. It refuses everything; another writer resumes.
 */
export class PostgresWriter implements StoreWriter {
  #position: StorePosition | undefined;
  #failure: DatabaseError | undefined;

  private constructor(
    private readonly database: Database,
    private readonly options: WriterOptions,
  ) {}

  /**
   * Creates a writer at the position of the store, or without a checkpoint if that has another origin. What an earlier writer has
   * filled and not swapped in is given up. Throws DatabaseError.
   */
  static async begin(database: Database, options: WriterOptions): Promise<PostgresWriter> {
    const writer = new PostgresWriter(database, options);
    const [state] = await database.query<StateRow>(RESUME, [contentHash(options.contentId), options.epoch]);
    if (state === undefined || state.generation === "0") return writer;
    const { generation, ledger_offset, update_id, origin } = state;
    writer.#position = {
      generation: Number(generation),
      offset: Number(ledger_offset),
      updateId: update_id ?? undefined,
      origin,
    };
    return writer;
  }

  /** The origin may be known some time after the writer has begun. */
  get checkpoint(): Checkpoint | undefined {
    return this.#position?.origin === this.options.origin() ? this.#position : undefined;
  }

  /** One at a time: a concurrent call would delete the half-loaded generation as an orphan. */
  async replace(contracts: Contracts, offset: number, asOf?: number): Promise<void> {
    await this.#write(async () => {
      const { epoch, contentId, signal, clock, pause } = this.options;
      // Those that were loaded and never served.
      await this.#deleteUnused();
      const contentKey = contentHash(contentId);
      const [begun] = await this.database.query<{ generation: string }>(beginGeneration, [epoch, contentKey]);
      if (begun === undefined) throw leaseLost();
      const generation = Number(begun.generation);
      const startedAt = clock();
      await loadGeneration(this.database, generation, contracts, offset, signal);
      const origin = this.options.origin();
      const next = [epoch, generation, contentKey, offset, asOf ?? null, origin];
      const [before] = await this.database.query<{ served: string }>(markNext, next);
      if (before === undefined) throw leaseLost();
      // Followers load it some three times as fast.
      if (before.served !== "0") await pause(Math.min(clock() - startedAt, MAX_PREPARING_MS));
      if (signal.aborted)
        throw new DatabaseError("lost", "the term of this process has ended before its snapshot was served");
      const swapped = await this.database.query(swapGeneration, [epoch, generation, contentKey]);
      if (swapped.length === 0) throw leaseLost();
      this.#position = { generation, offset, updateId: undefined, origin };
    });
  }

  async apply(changes: readonly Change[], offset: number, asOf?: number, updateId?: string): Promise<void> {
    const position = this.#position;
    if (position === undefined || this.checkpoint === undefined) throw new NotReady();
    if (offset <= position.offset) return;
    const { epoch } = this.options;
    await this.#write(async () => {
      // Before the transaction, whose failures are those of the database.
      const updates = toParameters(changes).map((parameters, index) => {
        const expected = index === 0 ? position.offset : offset;
        const common: unknown[] = [epoch, position.generation, expected, offset, asOf ?? null, updateId ?? null];
        return common.concat(parameters);
      });
      const [first, ...more] = updates;
      if (first === undefined) return;
      if (more.length === 0) {
        const applied = await this.database.query(applyStatement, first);
        if (applied.length === 0) throw leaseLost();
      } else {
        await this.database.transaction(async (client) => {
          for (const values of updates) {
            const { rowCount } = await client.query({ ...applyStatement, values });
            if (rowCount === 0) throw leaseLost();
          }
        });
      }
      this.#position = { ...position, offset, updateId };
    });
  }

  /**
   * Deletes, in small steps, the generations that no state uses and that are not retired, and the states of contents that nobody
   * has written for long; trims the logs of the served generation. Throws DatabaseError.
   */
  async cleanUp(): Promise<void> {
    await this.database.query(deleteStates, [contentHash(this.options.contentId)]);
    await this.#deleteUnused();
    const parameters = [this.#position?.generation ?? 0, this.options.epoch];
    for (const statement of trims) {
      while (this.#failure === undefined && (await this.database.query(statement, parameters)).length > 0);
    }
  }

  async #deleteUnused(): Promise<void> {
    await this.database.query(endRetirement);
    for (const statement of deleteUnused) {
      while (this.#failure === undefined && (await this.database.query(statement)).length > 0);
    }
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
    this.options.onLost(error);
  }
}

interface StateRow {
  readonly generation: string;
  readonly ledger_offset: string;
  readonly update_id: string | null;
  readonly origin: string;
}

const RESUME: Statement = {
  name: "resume",
  text: `
UPDATE offledger.state SET loading = generation WHERE content_hash = $1::uuid AND epoch = $2::bigint
RETURNING generation, ledger_offset, update_id, origin`,
};

const leaseLost = (): DatabaseError =>
  new DatabaseError("lost", "the store is not at the position of this process: another process has written to it");
