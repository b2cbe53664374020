import type { Template } from "../../domain/template.js";
import { channels, type Database } from "../../store/postgres/database.js";
import { asDatabaseError, type DatabaseError } from "../../store/postgres/errors.js";
import { Lease, type LeadershipTerm } from "../../store/postgres/write/lease.js";
import { type ContentIdentity, PostgresWriter } from "../../store/postgres/writer.js";
import { backoffMs, type BackoffOptions } from "../../util/async.js";
import { errorMessage, type Logger } from "../../util/logger.js";
import type { Ingestion, Ingestor } from "../ingestor.js";
import type { MirrorAge } from "../staleness.js";

const BACKOFF: BackoffOptions = { firstMs: 200, maxMs: 5_000 };
/** A term that lasted this long resets the backoff. */
const STEADY_MS = 30_000;
/** How often rows that no reader needs are deleted. */
const CLEANUP_MS = 60_000;
const CHECK_MS = 1_000;

const NOTIFY_CAUGHT_UP = { name: "notify_caught_up", text: `SELECT pg_notify('${channels.caughtUp}', $1)` };

export interface LeaderLoopOptions {
  readonly database: Database;
  readonly ingestor: Ingestor;
  /** Identifies what the database holds; see contentId. */
  readonly contents: string;
  readonly templates: readonly Template[];
  readonly log: Logger;
  /** Monotonic, in milliseconds. */
  readonly clock: () => number;
  /** Waits. Resolves early, and never rejects, when the signal is aborted. */
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Writes a database while this process holds the lease, and is on standby while another does. */
export class LeaderLoop {
  readonly #options: LeaderLoopOptions;
  #ingestion: Ingestion | undefined;
  /** Whether it has held the lease, or seen that another process holds it. */
  #knowsLeader = false;
  #failure: DatabaseError | undefined;
  #ingestionFailure: string | undefined;

  constructor(options: LeaderLoopOptions) {
    this.#options = options;
  }

  /** Why this process is neither leader nor standby; undefined if it is. */
  notReadyReason(): string | undefined {
    if (this.#failure !== undefined) return "the database cannot be written";
    if (this.#ingestionFailure !== undefined) return "the contracts cannot be read";
    if (!this.#knowsLeader) return "the service is starting";
    return this.#ingestion?.notReadyReason();
  }

  get isLeader(): boolean {
    return this.#ingestion !== undefined;
  }

  get status(): MirrorAge {
    return { offset: this.#ingestion?.offset(), age: this.#ingestion?.age() };
  }

  /** Runs until the signal is aborted. Never rejects. */
  async run(): Promise<void> {
    const { database, pause, signal, clock, log } = this.#options;
    const lease = new Lease({
      database,
      pause,
      signal,
      log,
      onStandby: () => {
        this.#failure = undefined;
        this.#ingestionFailure = undefined;
        this.#knowsLeader = true;
        log.info({}, "on standby: another process writes the database");
      },
    });
    let shortTerms = 0;
    while (!signal.aborted) {
      const startedAt = clock();
      try {
        await lease.hold((term) => this.#lead(term));
      } catch (error) {
        this.#databaseFailed(asDatabaseError(error));
      }
      shortTerms = clock() - startedAt > STEADY_MS ? 0 : shortTerms + 1;
      await pause(backoffMs(shortTerms + 1, BACKOFF));
    }
  }

  async #lead(term: LeadershipTerm): Promise<void> {
    const { database, ingestor, contents, templates, log } = this.#options;
    const written: ContentIdentity = { contentId: contents, origin: ingestor.origin, templates };
    const { epoch, signal } = term;
    const lost = (error: DatabaseError) => {
      this.#databaseFailed(error);
      term.end();
    };
    const writer = await PostgresWriter.begin(database, epoch, written, lost, signal);
    this.#failure = undefined;
    log.info({ epoch, offset: writer.checkpoint?.offset }, "leader: this process writes the database");
    const ingestion = ingestor.start(writer, log, signal);
    this.#ingestion = ingestion;
    this.#knowsLeader = true;
    term.age = () => ingestion.age();
    term.otherHistory = () => ingestion.otherHistory();
    term.onCatchUpRequest = (request) => void this.#catchUp(ingestion, request);
    ingestion.started.then(
      () => {
        this.#ingestionFailure = undefined;
      },
      (error: unknown) => {
        this.#ingestionFailed(errorMessage(error));
        term.end();
      },
    );
    try {
      await Promise.all([ingestion.ended, this.#cleanUp(writer, signal)]);
    } finally {
      if (this.#ingestion === ingestion) this.#ingestion = undefined;
      log.info({ epoch }, "leadership ended: this process no longer writes the database");
    }
  }

  async #catchUp(ingestion: Ingestion, request: string): Promise<void> {
    try {
      for await (const progress of ingestion.catchUp()) {
        if (progress === "reached") await this.#options.database.query(NOTIFY_CAUGHT_UP, [request]);
      }
    } catch {
      // The wait of the other process is bounded.
    }
  }

  async #cleanUp(writer: PostgresWriter, signal: AbortSignal): Promise<void> {
    const { pause, clock } = this.#options;
    let cleanedAt = clock();
    // The pause does not end with the term, so it is short.
    for (; !signal.aborted; await pause(CHECK_MS)) {
      if (clock() - cleanedAt < CLEANUP_MS) continue;
      cleanedAt = clock();
      await writer.cleanUp().catch((error: unknown) => this.#databaseFailed(asDatabaseError(error)));
    }
  }

  #ingestionFailed(reason: string): void {
    if (reason !== this.#ingestionFailure) {
      this.#options.log.error({ reason }, "contracts not readable; retrying");
    }
    this.#ingestionFailure = reason;
  }

  #databaseFailed(error: DatabaseError): void {
    const { log, signal } = this.#options;
    const isNew = this.#failure?.message !== error.message;
    this.#failure = error;
    if (!isNew || signal.aborted) return;
    const { kind, message } = error;
    log.warn({ kind, reason: message }, "database not writable; retrying");
  }
}
