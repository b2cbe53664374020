/**
 * Which process writes a content of the database. The states of each, and what leads from one to the next:
 * - Connecting -> standby: its session is open, and another process holds the advisory lock, for which it asks again.
 * - Connecting, standby -> leader: it gets the lock. The epoch grows, so that the writes of earlier leaders have no effect.
 * - Leader: it ingests, a heartbeat keeps the session and stores the age, and replicas have it catch up.
 * - Leader -> connecting: the session ends, another epoch has begun, a write fails, or the contracts cannot be read.
 * - Any -> connecting: the database fails; after a pause that grows.
 * A process that exits or freezes loses its session, and with it the lock. When it resumes, its epoch is outdated.
 */
import type { Client } from "pg";
import { channels, type Database, type Statement } from "../state/postgres/database.js";
import { endSession, SESSION_TIMEOUT_MS, withSessionTimeout } from "../state/postgres/sessions.js";
import { contentHash } from "../state/lookup-hash.js";
import { asDatabaseError, DatabaseError } from "../state/postgres/errors.js";
import { type ContentIdentity, PostgresWriter } from "../state/postgres/writer.js";
import { abortablePause, backoffMs, withTimeout } from "../util/async.js";
import { errorMessage, type Logger } from "../util/logger.js";
import { Retries, type RetriesOptions } from "../util/retries.js";
import type { MirrorAge } from "./lag.js";
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
  readonly contents: string;
  readonly log: Logger;
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
    const { log } = this.#options;
    const lease = new Lease({
      ...this.#options,
      contentId: this.#options.contents,
      onStandby: () => {
        this.#failure = undefined;
        this.#ingestionFailure = undefined;
        this.#knowsLeader = true;
        log.info({}, "on standby: another process writes the database");
      },
    });
    await new Retries(this.#options).run(
      () => lease.hold((term) => this.#lead(term)),
      (failures, error) => {
        if (error !== undefined) this.#databaseFailed(asDatabaseError(error));
        return backoffMs(failures, BACKOFF);
      },
    );
  }

  async #lead(term: LeadershipTerm): Promise<void> {
    const { database, ingestor, contents, log, clock } = this.#options;
    const { epoch, signal } = term;
    const written: ContentIdentity = {
      contentId: contents,
      get origin() {
        return ingestor.origin;
      },
    };
    const waiting = { clock, pause: abortablePause(signal) };
    const lost = (error: DatabaseError) => {
      this.#databaseFailed(error);
      term.end();
    };
    const writer = await PostgresWriter.begin(database, epoch, written, lost, signal, waiting);
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
      for await (const progress of ingestion.catchUp?.() ?? ["reached"]) {
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

/** First key of the advisory lock; migrations have another. The second is the content. */
const LEASE_LOCK = 722_041_102;
const ACQUIRE_INTERVAL_MS = 500;
const HEARTBEAT_MS = 1_000;
/** The server ends a session that is silent for this long, which frees the lease. */
const IDLE_SESSION_TIMEOUT = "3s";
/** Three times what a writer takes to stop: its queries and calls end with the term, or time out. */
const TERM_END_MS = 30_000;

export interface LeaseOptions extends Omit<RetriesOptions, "clock"> {
  readonly database: Database;
  /** Each content of a database has a lease of its own. */
  readonly contentId: string;
  /** Called once for each `hold` if another process has the lease. */
  readonly onStandby: () => void;
}

/** The time during which a process has the lease. */
export interface LeadershipTerm {
  /** Grows with each term. */
  readonly epoch: number;
  /** Aborted when the lease is lost or everything ends. */
  readonly signal: AbortSignal;
  /** Milliseconds since the store was last known to equal the ledger; undefined if unknown. The heartbeat stores it. */
  age: () => number | undefined;
  /** Why the ledger has another history than the store; undefined if it is not known to. The heartbeat stores it. */
  otherHistory: () => string | undefined;
  /** Called with the id of each request of a replica of the same content. */
  onCatchUpRequest: (requestId: string) => void;
  /** Ends the term. Writes in progress may or may not be stored. */
  end(): void;
}

/** An advisory lock on a session that a heartbeat keeps alive. */
export class Lease {
  readonly #options: LeaseOptions;
  readonly #contentHash: string;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#contentHash = contentHash(options.contentId);
  }

  /** Waits for the lease and runs one term. Throws DatabaseError if the lease cannot be acquired or is lost. */
  async hold(run: (term: LeadershipTerm) => Promise<void>): Promise<void> {
    const { database, signal } = this.#options;
    const session = await database.openSession();
    const ended = new AbortController();
    const end = () => ended.abort();
    let failure: Error | undefined;
    session.on("error", (error) => {
      failure ??= error;
      end();
    });
    session.on("end", end);
    signal.addEventListener("abort", end);
    try {
      if (signal.aborted) return;
      await withSessionTimeout(session.query(`SET idle_session_timeout = '${IDLE_SESSION_TIMEOUT}'`));
      await withSessionTimeout(session.query(`SET statement_timeout = '${SESSION_TIMEOUT_MS}'`));
      if (await this.#acquire(session, ended.signal)) await this.#runTerm(session, ended, run);
      if (failure !== undefined) throw failure;
    } catch (error) {
      if (signal.aborted) return;
      throw asDatabaseError(failure ?? error);
    } finally {
      signal.removeEventListener("abort", end);
      await endSession(session);
    }
  }

  async #runTerm(session: Client, ended: AbortController, run: (term: LeadershipTerm) => Promise<void>): Promise<void> {
    const end = () => ended.abort();
    const { rows } = await withSessionTimeout(
      session.query<{ epoch: string }>(BEGIN_EPOCH, [this.#contentHash, this.#options.contentId]),
    );
    const epoch = Number(rows[0]?.epoch);
    const term: LeadershipTerm = {
      epoch,
      signal: ended.signal,
      age: () => undefined,
      otherHistory: () => undefined,
      onCatchUpRequest: () => undefined,
      end,
    };
    session.on("notification", ({ payload = "" }) => {
      if (payload.startsWith(this.#contentHash)) term.onCatchUpRequest(payload);
    });
    await withSessionTimeout(session.query(`LISTEN ${channels.catchUpRequested}`));
    // The end of one task ends the other. Wait for both, so that terms of this process never overlap.
    const tasks = [run(term), this.#sendHeartbeats(session, term)].map((task) => task.finally(end));
    const settled = Promise.allSettled(tasks);
    await aborted(ended.signal);
    // A writer that hangs must not keep this process from the next term: its epoch is outdated.
    await withTimeout<unknown>(settled, TERM_END_MS, () => {
      throw new DatabaseError("defect", `the writer has not stopped ${TERM_END_MS} ms after the end of its term`);
    });
    await Promise.all(tasks);
  }

  async #acquire(session: Client, ended: AbortSignal): Promise<boolean> {
    for (let attempt = 1; !ended.aborted; attempt++) {
      const { rows } = await withSessionTimeout(
        session.query<{ acquired: boolean }>("SELECT pg_try_advisory_lock($1, hashtext($2)) AS acquired", [
          LEASE_LOCK,
          this.#contentHash,
        ]),
      );
      if (rows[0]?.acquired === true) return true;
      if (attempt === 1) this.#options.onStandby();
      await this.#options.pause(ACQUIRE_INTERVAL_MS);
    }
    return false;
  }

  async #sendHeartbeats(session: Client, term: LeadershipTerm): Promise<void> {
    while (!term.signal.aborted) {
      const values = [term.epoch, term.age() ?? null, term.otherHistory() ?? null, this.#contentHash];
      const { rowCount } = await withSessionTimeout(
        session.query({ name: "heartbeat", text: HEARTBEAT_STATEMENT, values }),
      );
      if (rowCount === 0) throw new DatabaseError("lost", "another process has taken the lease");
      await this.#options.pause(HEARTBEAT_MS);
    }
  }
}

const BEGIN_EPOCH = `
INSERT INTO offledger.state AS s (content_hash, content_id, epoch) VALUES ($1::uuid, $2::text, 1)
ON CONFLICT (content_hash) DO UPDATE SET epoch = s.epoch + 1, led_at = clock_timestamp()
RETURNING epoch`;

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/**
 * While a term has not yet reached the ledger, its age is unknown, and what an earlier term has found still holds. The
 * replicas are told: on a quiet ledger nothing else tells them that the store is still current. `confirmed_at` and `led_at` come
 * from one reading of the database's clock, so that their difference is the age, whatever becomes of that clock.
 */
export const HEARTBEAT_STATEMENT = `
WITH state AS (
  UPDATE offledger.state
  SET confirmed_at = coalesce(statement_timestamp() - $2::double precision * interval '1 millisecond', confirmed_at),
    other_history = CASE WHEN $2::double precision IS NULL THEN coalesce($3::text, other_history) ELSE $3::text END,
    led_at = statement_timestamp(), heartbeats = heartbeats + 1
  WHERE epoch = $1::bigint AND content_hash = $4::uuid
  RETURNING content_hash
)
SELECT pg_notify('${channels.stateChanged}', content_hash::text) FROM state`;
