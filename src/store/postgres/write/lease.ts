import type { Client } from "pg";
import type { Logger } from "../../../util/logger.js";
import { watch } from "../../../util/watchdog.js";
import { channels, type Database, endSession, SESSION_TIMEOUT_MS, withSessionTimeout } from "../database.js";
import { asDatabaseError, DatabaseError } from "../errors.js";

/** Key of the advisory lock; migrations have another. */
const LEASE_LOCK = 7_220_411_002n;
const ACQUIRE_INTERVAL_MS = 500;
const HEARTBEAT_MS = 1_000;
/** The server ends a session that is silent for this long, which frees the lease. */
const IDLE_SESSION_TIMEOUT = "3s";
/** A writer stops within this time after the end of its term: its queries and calls end with the term, or time out. */
const TERM_END_MS = 10_000;

export interface LeaseOptions {
  readonly database: Database;
  /** Waits for some milliseconds, or until the end. Never throws. */
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly signal: AbortSignal;
  readonly log: Logger;
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
  /** Called with the id of each request of a replica. */
  onCatchUpRequest: (requestId: string) => void;
  /** Ends the term. Writes in progress may or may not be stored. */
  end(): void;
}

/**
 * Elects the one process that writes: the holder of an advisory lock on a session that a heartbeat keeps alive. A
 * process that exits or freezes loses both. If it resumes, its epoch is outdated and its writes have no effect.
 */
export class Lease {
  readonly #options: LeaseOptions;

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /** Waits for the lease and runs one term. Throws DatabaseError if the lease cannot be acquired or is lost. */
  async hold(run: (term: LeadershipTerm) => Promise<void>): Promise<void> {
    const { database, signal } = this.#options;
    const session = await this.#openSession(database);
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
      await this.#answer("the setup", session.query(`SET idle_session_timeout = '${IDLE_SESSION_TIMEOUT}'`));
      await this.#answer("the setup", session.query(`SET statement_timeout = '${SESSION_TIMEOUT_MS}'`));
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
    const { rows } = await this.#answer(
      "the acquisition",
      session.query<{ epoch: string }>("UPDATE offledger.state SET epoch = epoch + 1 RETURNING epoch"),
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
    session.on("notification", ({ payload }) => term.onCatchUpRequest(payload ?? ""));
    await this.#answer("the acquisition", session.query(`LISTEN ${channels.catchUpRequested}`));
    // The end of one task ends the other. Wait for both, so that terms of this process never overlap.
    const tasks = [run(term), this.#sendHeartbeats(session, term)].map((task) => task.finally(end));
    const settled = Promise.allSettled(tasks);
    await aborted(ended.signal);
    // A writer that hangs must not keep this process from the next term: its epoch is outdated.
    await watch(this.#options.log, "the end of a leadership term", TERM_END_MS, settled);
    await Promise.all(tasks);
  }

  async #acquire(session: Client, ended: AbortSignal): Promise<boolean> {
    for (let attempt = 1; !ended.aborted; attempt++) {
      const { rows } = await this.#answer(
        "the acquisition",
        session.query<{ acquired: boolean }>("SELECT pg_try_advisory_lock($1) AS acquired", [LEASE_LOCK]),
      );
      if (rows[0]?.acquired === true) return true;
      if (attempt === 1) this.#options.onStandby();
      await this.#options.pause(ACQUIRE_INTERVAL_MS);
    }
    return false;
  }

  async #sendHeartbeats(session: Client, term: LeadershipTerm): Promise<void> {
    while (!term.signal.aborted) {
      const values = [term.epoch, term.age() ?? null, term.otherHistory() ?? null];
      const { rowCount } = await this.#answer(
        "the heartbeat",
        session.query({ name: "heartbeat", text: HEARTBEAT_STATEMENT, values }),
      );
      if (rowCount === 0) throw new DatabaseError("lost", "another process has taken the lease");
      await this.#options.pause(HEARTBEAT_MS);
    }
  }

  async #openSession(database: Database): Promise<Client> {
    try {
      const session = database.openSession();
      return await watch(this.#options.log, "the session of the lease", SESSION_TIMEOUT_MS, session, endLate);
    } catch (error) {
      throw asDatabaseError(error);
    }
  }

  /** The timeout of a session ends a wait; the watchdog ends one whose timeout is lost. */
  #answer<T>(step: string, answer: Promise<T>): Promise<T> {
    return watch(this.#options.log, `${step} of the lease`, SESSION_TIMEOUT_MS, withSessionTimeout(answer));
  }
}

const endLate = (session: Client): void => void endSession(session);

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/**
 * While a term has not yet reached the ledger, its age is unknown, and what an earlier term has found still holds. The
 * replicas are told: on a quiet ledger nothing else tells them that the store is still current.
 */
const HEARTBEAT_STATEMENT = `
WITH state AS (
  UPDATE offledger.state
  SET confirmed_at = coalesce(clock_timestamp() - $2::double precision * interval '1 millisecond', confirmed_at),
    other_history = CASE WHEN $2::double precision IS NULL THEN coalesce($3::text, other_history) ELSE $3::text END
  WHERE epoch = $1::bigint
  RETURNING epoch
)
SELECT pg_notify('${channels.stateChanged}', '') FROM state`;
