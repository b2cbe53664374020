/**
 * Which process writes a content of the database. The states of each, and what leads from one to the next:
 * - Connecting -> standby: its session is open, and another process holds the advisory lock, for which it asks again.
 * - Connecting, standby -> leader: it gets the lock. The epoch grows, so that the writes of earlier leaders have no effect.
 * - Leader: it ingests, a heartbeat keeps the session and stores the age, and followers have it catch up.
 * - Leader -> connecting: the session ends, another epoch has begun, a write fails, or the contracts cannot be read.
 * - Any -> connecting: the database fails; after a pause that grows.
 * A process that exits or freezes loses its session, and with it the lock. When it resumes, its epoch is outdated.
 */
import { channels, type Database, type Statement } from "../state/postgres/database.js";
import { asDatabaseError, type DatabaseError } from "../state/postgres/errors.js";
import { PostgresWriter } from "../state/postgres/writer.js";
import { abortablePause, backoffMs } from "../util/async.js";
import { errorMessage, type Logger } from "../util/logger.js";
import { Retries, type RetriesOptions } from "../util/retries.js";
import type { MirrorAge } from "./lag.js";
import { type LeadershipTerm, Lease } from "./lease.js";
import type { Ingestion, Ingestor } from "./source.js";

const BACKOFF = { firstMs: 200, maxMs: 5_000 };
/** How often rows that no reader needs are deleted. */
const CLEANUP_MS = 60_000;
const CHECK_MS = 1_000;

const NOTIFY_CAUGHT_UP: Statement = { name: "notify_caught_up", text: `SELECT pg_notify('${channels.caughtUp}', $1)` };

export interface LeaderLoopOptions extends RetriesOptions {
  readonly database: Database;
  readonly ingestor: Ingestor;
  /** Identifies what the database holds; see contentId. */
  readonly contentId: string;
  readonly log: Logger;
}

/** Writes a database while this process holds the lease, and is on standby while another does. */
export class LeaderLoop {
  #ingestion: Ingestion | undefined;
  /** Whether it has held the lease, or seen that another process holds it. */
  #knowsLeader = false;
  #failure: DatabaseError | undefined;
  #ingestionFailure: string | undefined;

  constructor(private readonly options: LeaderLoopOptions) {}

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
    const { log } = this.options;
    const lease = new Lease({
      ...this.options,
      onStandby: () => {
        this.#failure = undefined;
        this.#ingestionFailure = undefined;
        this.#knowsLeader = true;
        log.info({}, "on standby: another process writes the database");
      },
    });
    await new Retries(this.options).run(
      () => lease.hold((term) => this.#lead(term)),
      (failures, error) => {
        if (error !== undefined) this.#databaseFailed(asDatabaseError(error));
        return backoffMs(failures, BACKOFF);
      },
    );
  }

  async #lead(term: LeadershipTerm): Promise<void> {
    const { database, ingestor, contentId, log, clock } = this.options;
    const { epoch, signal } = term;
    const writer = await PostgresWriter.begin(database, {
      epoch,
      contentId,
      origin: () => ingestor.origin,
      onLost: (error) => {
        this.#databaseFailed(error);
        term.end();
      },
      clock,
      pause: abortablePause(signal),
      signal,
    });
    this.#failure = undefined;
    log.info({ epoch, offset: writer.checkpoint?.offset }, "leader: this process writes the database");
    const ingestion = ingestor.start(writer, signal);
    this.#ingestion = ingestion;
    this.#knowsLeader = true;
    term.followed = ingestion;
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
      for await (const progress of ingestion.catchUp?.() ?? ["reached"]) {
        if (progress === "reached") await this.options.database.query(NOTIFY_CAUGHT_UP, [request]);
      }
    } catch {
      // The wait of the other process is bounded.
    }
  }

  async #cleanUp(writer: PostgresWriter, signal: AbortSignal): Promise<void> {
    const { pause, clock } = this.options;
    let cleanedAt = clock();
    let failure: DatabaseError | undefined;
    // The pause does not end with the term, so it is short.
    for (; !signal.aborted; await pause(CHECK_MS)) {
      if (clock() - cleanedAt < CLEANUP_MS) continue;
      cleanedAt = clock();
      const failed = await writer.cleanUp().then(() => undefined, asDatabaseError);
      // It leads all the same: what goes on to be written says whether the database can be written.
      if (failed !== undefined && failed.message !== failure?.message) this.#warn(failed);
      failure = failed;
    }
  }

  #ingestionFailed(reason: string): void {
    if (reason !== this.#ingestionFailure) {
      this.options.log.error({ reason }, "contracts not readable; retrying");
    }
    this.#ingestionFailure = reason;
  }

  #databaseFailed(error: DatabaseError): void {
    this.#warn(error);
    this.#failure = error;
  }

  #warn(error: DatabaseError): void {
    const { log, signal } = this.options;
    if (this.#failure?.message === error.message || signal.aborted) return;
    const { kind, message } = error;
    log.warn({ kind, reason: message }, "database not writable; retrying");
  }
}
