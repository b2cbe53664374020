import type { Log } from "../ledger/log.js";
import type { MirrorAge } from "./staleness.js";
import { channels } from "../store/postgres/channels.js";
import type { Database } from "../store/postgres/database.js";
import { asDatabaseError, type DatabaseError } from "../store/postgres/errors.js";
import { Lease, type LeadershipTerm } from "../store/postgres/write/lease.js";
import { PostgresWriter, type ContentIdentity } from "../store/postgres/write/postgres-writer.js";
import type { Ingestor, Ingestion } from "./ingestor.js";

/** How long to wait before the lease is tried for again, the first time and at most, in milliseconds. */
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;
/** A term that lasted this long was no failure, however it ended. */
const STEADY_MS = 30_000;
/** How often what nobody asks for any more is taken away, in milliseconds. */
const CLEAR_MS = 60_000;

/** How often it is looked whether it is time for that, and whether the term is over, in milliseconds. */
const LOOK_MS = 1_000;

const TOLD = { name: "told", text: `SELECT pg_notify('${channels.caughtUp}', $1)` };

export interface LeaderLoopOptions {
  readonly database: Database;
  readonly feeder: Ingestor;
  readonly contents: string;
  readonly log: Log;
  /** Milliseconds since any moment, and never backwards. */
  readonly clock: () => number;
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Feeds a database whenever this process has the lease, and stands by where another has it. */
export class LeaderLoop {
  readonly #parts: LeaderLoopOptions;
  #ingestion: Ingestion | undefined;
  /** Whether it has had the lease, or seen that another has it. */
  #isPlaced = false;
  #failure: DatabaseError | undefined;
  /** Why the contracts could not be had when it was tried last; undefined where they could. */
  #missing: string | undefined;

  constructor(parts: LeaderLoopOptions) {
    this.#parts = parts;
  }

  /** Why it does not do its part; undefined where it does, or stands by. */
  notReadyReason(): string | undefined {
    if (this.#failure !== undefined) return "the database cannot be written";
    if (this.#missing !== undefined) return "the contracts cannot be read";
    if (!this.#isPlaced) return "the service is starting";
    return this.#ingestion?.notReadyReason();
  }

  /** Whether it has the lease, and feeds the database. */
  get isLeader(): boolean {
    return this.#ingestion !== undefined;
  }

  /** How far the database is, as far as this process knows: only while it feeds it. */
  get status(): MirrorAge {
    return { offset: this.#ingestion?.offset(), age: this.#ingestion?.age() };
  }

  /** Ends when the signal is aborted, and not before. */
  async run(): Promise<void> {
    const { database, pause, signal, clock, log } = this.#parts;
    const lease = new Lease({
      database,
      pause,
      signal,
      onStandby: () => {
        this.#failure = undefined;
        this.#missing = undefined;
        this.#isPlaced = true;
        log.info({}, "another process writes the database; this one stands by");
      },
    });
    let pauseMs = FIRST_PAUSE_MS;
    while (!signal.aborted) {
      const begun = clock();
      try {
        await lease.hold((term) => this.#serve(term));
      } catch (error) {
        this.#fail(asDatabaseError(error));
      }
      pauseMs = clock() - begun > STEADY_MS ? FIRST_PAUSE_MS : Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      await pause(pauseMs);
    }
  }

  /** Feeds the store for one term. */
  async #serve(term: LeadershipTerm): Promise<void> {
    const { database, feeder, contents, log } = this.#parts;
    const written: ContentIdentity = { contentId: contents, origin: feeder.origin };
    const { epoch, signal } = term;
    const lost = (error: DatabaseError) => {
      this.#fail(error);
      term.end();
    };
    const writer = await PostgresWriter.begin(database, epoch, written, lost, signal);
    this.#failure = undefined;
    log.info({ epoch, offset: writer.checkpoint?.offset }, "this process writes the database now");
    const ingestion = feeder.start(writer, log, signal);
    this.#ingestion = ingestion;
    this.#isPlaced = true;
    term.age = () => ingestion.age();
    term.onCatchUpRequest = (question) => void this.#answer(ingestion, question);
    ingestion.started.then(
      () => {
        this.#missing = undefined;
      },
      (error: unknown) => {
        this.#miss(error instanceof Error ? error.message : String(error));
        term.end();
      },
    );
    try {
      await Promise.all([ingestion.ended, this.#keepClearing(writer, signal)]);
    } finally {
      if (this.#ingestion === ingestion) this.#ingestion = undefined;
      log.info({ epoch }, "this process does not write the database any more");
    }
  }

  /** Catches up with the ledger for another process, and tells it when that is done. */
  async #answer(ingestion: Ingestion, question: string): Promise<void> {
    try {
      await ingestion.catchUp(Number.MAX_SAFE_INTEGER);
      await this.#parts.database.query(TOLD, [question]);
    } catch {
      // Whoever asked waits no longer than a request may.
    }
  }

  async #keepClearing(writer: PostgresWriter, signal: AbortSignal): Promise<void> {
    const { pause, clock } = this.#parts;
    let cleared = clock();
    // The pause does not end with the term.
    for (; !signal.aborted; await pause(LOOK_MS)) {
      if (clock() - cleared < CLEAR_MS) continue;
      cleared = clock();
      await writer.cleanUp().catch((error: unknown) => this.#fail(asDatabaseError(error)));
    }
  }

  #miss(reason: string): void {
    if (reason !== this.#missing) {
      this.#parts.log.error({ reason }, "the contracts cannot be read; it is tried again");
    }
    this.#missing = reason;
  }

  #fail(error: DatabaseError): void {
    const { log, signal } = this.#parts;
    const isNew = this.#failure?.message !== error.message;
    this.#failure = error;
    if (!isNew || signal.aborted) return;
    const { kind, message } = error;
    log.warn({ kind, reason: message }, "the database cannot be written; it is tried again");
  }
}
