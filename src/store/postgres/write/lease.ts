import type { Client } from "pg";
import { channels } from "../channels.js";
import { type Database, endSession, withSessionTimeout, SESSION_TIMEOUT_MS } from "../database.js";
import { asDatabaseError, DatabaseError } from "../errors.js";

/** Key of the advisory lock; migrations have another. */
const LEASE_LOCK = 7_220_411_002n;
const ACQUIRE_INTERVAL_MS = 500;
const HEARTBEAT_MS = 1_000;
/** The server ends a session that is silent for this long, which frees the lease. */
const IDLE_SESSION_TIMEOUT = "3s";

export interface LeaseOptions {
  readonly database: Database;
  /** Waits for some milliseconds, or until the end. Never throws. */
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly signal: AbortSignal;
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
      session.query<{ epoch: string }>("UPDATE offledger.state SET epoch = epoch + 1 RETURNING epoch"),
    );
    const epoch = Number(rows[0]?.epoch);
    const term: LeadershipTerm = {
      epoch,
      signal: ended.signal,
      age: () => undefined,
      onCatchUpRequest: () => undefined,
      end,
    };
    session.on("notification", ({ payload }) => term.onCatchUpRequest(payload ?? ""));
    await withSessionTimeout(session.query(`LISTEN ${channels.catchUpRequested}`));
    // The end of one task ends the other. Wait for both, so that terms of this process never overlap.
    const tasks = [run(term), this.#sendHeartbeats(session, term)].map((task) => task.finally(end));
    await Promise.allSettled(tasks);
    await Promise.all(tasks);
  }

  async #acquire(session: Client, ended: AbortSignal): Promise<boolean> {
    for (let attempt = 1; !ended.aborted; attempt++) {
      const { rows } = await withSessionTimeout(
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
      const values = [term.epoch, term.age() ?? null];
      const { rowCount } = await withSessionTimeout(
        session.query({ name: "heartbeat", text: HEARTBEAT_STATEMENT, values }),
      );
      if (rowCount === 0) throw new DatabaseError("lost", "another process has taken the lease");
      await this.#options.pause(HEARTBEAT_MS);
    }
  }
}

const HEARTBEAT_STATEMENT = `
UPDATE offledger.state
SET confirmed_at = coalesce(clock_timestamp() - $2::double precision * interval '1 millisecond', confirmed_at)
WHERE epoch = $1::bigint`;
