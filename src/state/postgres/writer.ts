import type { Change } from "../../domain/contract.js";
import { type Checkpoint, type Contracts, NotReady, type StoreWriter } from "../port.js";
import { contentHash } from "../lookup-hash.js";
import { batchChanges } from "./batches.js";
import { channels, type Database, type Statement } from "./database.js";
import { DatabaseError } from "./errors.js";
import { abortablePause } from "../../util/async.js";
import type { RetriesOptions } from "../../util/retries.js";
import { loadGeneration } from "./load-generation.js";
import { logTables } from "./log-tables.js";

/** Identifies what a writer stores. It resumes only where a writer with the same identity stopped. */
export interface ContentIdentity {
  /** Which contracts are stored and how they are read; see content-id.ts. */
  readonly contentId: string;
  /** Which ledger they come from, as an opaque string. Read for each snapshot. */
  readonly origin: string;
}

interface WriterScope {
  readonly epoch: number;
  readonly content: ContentIdentity;
  readonly onLost: (error: DatabaseError) => void;
  readonly signal: AbortSignal;
  readonly waiting: Waiting;
}

type Waiting = Pick<RetriesOptions, "clock" | "pause">;

/** The most that followers get to load a generation before it is served. */
const MAX_PREPARING_MS = 10_000;

interface StorePosition {
  readonly generation: number;
  readonly offset: number;
  readonly updateId: string | undefined;
}

/**
 * Writes the store during one leadership term. Its states, and what leads from one to the next:
 * - Without a position: the store is empty, or holds other content.
 * - Any -> at a position: `replace` fills a generation beside the one that is served, gives followers time to load it, and
 *   swaps it in.
 * - At a position: `apply` moves it, from offset to offset, if no other process has moved it.
 * - Any -> failed: a write fails, which may be stored or not. It refuses everything; another writer resumes.
 */
export class PostgresWriter implements StoreWriter {
  readonly #database: Database;
  readonly #scope: WriterScope;
  #position: StorePosition | undefined;
  #failure: DatabaseError | undefined;
  #replacing: Promise<void> = Promise.resolve();

  private constructor(database: Database, scope: WriterScope) {
    this.#database = database;
    this.#scope = scope;
  }

  /**
   * Creates a writer at the position of the store, or without a checkpoint if the store holds other content. `onLost`
   * is called once, after the first failed write: resume with a new writer. `signal` ends long operations, and the
   * pauses of `waiting`. What an earlier writer has filled and not swapped in is given up. Throws DatabaseError.
   */
  static async begin(
    database: Database,
    epoch: number,
    content: ContentIdentity,
    onLost: (error: DatabaseError) => void,
    signal: AbortSignal = new AbortController().signal,
    waiting: Waiting = { clock: () => performance.now(), pause: abortablePause(signal) },
  ): Promise<PostgresWriter> {
    const writer = new PostgresWriter(database, { epoch, content, onLost, signal, waiting });
    const [state] = await database.query<StateRow>(RESUME, [contentHash(content.contentId), epoch]);
    if (state === undefined || state.origin !== content.origin || state.generation === "0") return writer;
    const { generation, ledger_offset, update_id } = state;
    writer.#position = {
      generation: Number(generation),
      offset: Number(ledger_offset),
      updateId: update_id ?? undefined,
    };
    return writer;
  }

  get checkpoint(): Checkpoint | undefined {
    return this.#position;
  }

  async replace(contracts: Contracts, offset: number, asOf?: number): Promise<void> {
    // One at a time: a concurrent call would delete the half-loaded generation as an orphan.
    const replacing = this.#replacing.then(() => this.#replace(contracts, offset, asOf));
    this.#replacing = replacing.catch(() => undefined);
    await replacing;
  }

  async #replace(contracts: Contracts, offset: number, asOf: number | undefined): Promise<void> {
    await this.#write(async () => {
      const { epoch, content, signal, waiting } = this.#scope;
      const { clock, pause } = waiting;
      // Those that were loaded and never served.
      await this.#deleteUnused();
      const contentKey = contentHash(content.contentId);
      const [begun] = await this.#database.query<{ generation: string }>(BEGIN_GENERATION, [epoch, contentKey]);
      if (begun === undefined) throw leaseLost();
      const generation = Number(begun.generation);
      const startedAt = clock();
      await loadGeneration(this.#database, generation, contracts, offset, signal);
      const next = [epoch, generation, contentKey, offset, asOf ?? null, content.origin];
      const [before] = await this.#database.query<{ served: string }>(MARK_NEXT, next);
      if (before === undefined) throw leaseLost();
      // Followers load it some three times as fast.
      if (before.served !== "0") await pause(Math.min(clock() - startedAt, MAX_PREPARING_MS));
      if (signal.aborted)
        throw new DatabaseError("lost", "the term of this process has ended before its snapshot was served");
      const swapped = await this.#database.query(SWAP_GENERATION, [epoch, generation, contentKey]);
      if (swapped.length === 0) throw leaseLost();
      this.#position = { generation, offset, updateId: undefined };
    });
  }

  async apply(changes: readonly Change[], offset: number, asOf?: number, updateId?: string): Promise<void> {
    const position = this.#position;
    if (position === undefined) throw new NotReady();
    if (offset <= position.offset) return;
    await this.#write(async () => {
      const { apply } = logTables;
      // Before the transaction, whose failures are those of the database.
      const updates = batchChanges(changes).map((batch, index) => {
        const expected = index === 0 ? position.offset : offset;
        const common: unknown[] = [
          this.#scope.epoch,
          position.generation,
          expected,
          offset,
          asOf ?? null,
          updateId ?? null,
        ];
        return common.concat(logTables.toParameters(batch));
      });
      const [first, ...more] = updates;
      if (first === undefined) return;
      if (more.length === 0) {
        const applied = await this.#database.query(apply, first);
        if (applied.length === 0) throw leaseLost();
      } else {
        await this.#database.transaction(async (client) => {
          for (const values of updates) {
            const { rowCount } = await client.query({ ...apply, values });
            if (rowCount === 0) throw leaseLost();
          }
        });
      }
      this.#position = { generation: position.generation, offset, updateId };
    });
  }

  /**
   * Deletes, in small steps, the generations that no state uses and that are not retired, and the states of contents that nobody has written for
   * long; trims the logs of the served generation. Throws DatabaseError.
   */
  async cleanUp(): Promise<void> {
    await this.#database.query(DELETE_STATES, [contentHash(this.#scope.content.contentId)]);
    await this.#deleteUnused();
    const parameters = [this.#position?.generation ?? 0, this.#scope.epoch];
    for (const statement of logTables.trims) {
      while (this.#failure === undefined && (await this.#database.query(statement, parameters)).length > 0);
    }
  }

  async #deleteUnused(): Promise<void> {
    await this.#database.query(END_RETIREMENT);
    for (const statement of TABLES.map(deleteUnused)) {
      while (this.#failure === undefined && (await this.#database.query(statement)).length > 0);
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
    this.#scope.onLost(error);
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

/**
 * Reserves a generation, so that nobody deletes its rows while they are loaded. Numbers come from the clock, so that a
 * database restored from a backup does not reuse one. Returns no row if the lease is lost.
 */
const BEGIN_GENERATION: Statement = {
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
const MARK_NEXT: Statement = {
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
const SWAP_GENERATION: Statement = {
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

/** Followers that serve a retired generation for longer are stale, or cannot load the present one. */
const RETIRED_FOR = "10 minutes";

/** A time that is yet to come is of a clock that was set back. */
const END_RETIREMENT: Statement = {
  name: "end-retirement",
  text: `
DELETE FROM offledger.retired_generations
WHERE retired_at NOT BETWEEN clock_timestamp() - interval '${RETIRED_FOR}' AND clock_timestamp()`,
};

const leaseLost = (): DatabaseError =>
  new DatabaseError("lost", "the store is not at the position of this process: another process has written to it");

/** Keeps each statement short, so that it blocks nothing for long. */
const MAX_ROWS = 5_000;

const TABLES = ["log_bodies", "log_commits", "log_contracts", "log_counted_only", "log_sums", "log_tombstones"];

/**
 * Deletes rows of a generation that no state uses, and that is not retired. One that a leader begins later has no row yet that this statement could
 * see. The generations of a table are few: each is found by one step in the index.
 */
const deleteUnused = (table: string): Statement => ({
  name: `delete-unused-${table}`,
  text: `
WITH RECURSIVE present (generation) AS (
  (SELECT generation FROM offledger.${table} ORDER BY generation LIMIT 1)
  UNION ALL
  SELECT (SELECT t.generation FROM offledger.${table} t WHERE t.generation > p.generation ORDER BY t.generation LIMIT 1)
  FROM present p WHERE p.generation IS NOT NULL
),
unused AS (
  SELECT p.generation FROM present p
  WHERE p.generation IS NOT NULL
    AND NOT EXISTS (SELECT FROM offledger.state s WHERE p.generation IN (s.generation, s.loading))
    AND NOT EXISTS (SELECT FROM offledger.retired_generations r WHERE r.generation = p.generation)
  LIMIT 1
)
DELETE FROM offledger.${table}
WHERE ctid = ANY (ARRAY(
  SELECT t.ctid FROM unused u CROSS JOIN LATERAL (
    SELECT t.ctid FROM offledger.${table} t WHERE t.generation = u.generation OFFSET 0 LIMIT ${MAX_ROWS}
  ) t
)) RETURNING 1`,
});

/** A release that is rolled back within this time goes on where it stopped; later it takes a new snapshot. */
const UNLED_AFTER = "1 hour";

/** $1 is the content of this process, which stays. */
const DELETE_STATES: Statement = {
  name: "delete-states",
  text: `
DELETE FROM offledger.state
WHERE content_hash <> $1::uuid AND led_at < clock_timestamp() - interval '${UNLED_AFTER}'`,
};
