import type { Client } from "pg";
import { channels } from "../channels.js";
import { type Database, endSession, withSessionTimeout, SESSION_TIMEOUT_MS } from "../database.js";
import { asDatabaseError, DatabaseError } from "../errors.js";

/** Any number that is ours alone; the migrations have another. */
const LOCK = 7_220_411_002n;
/** How often one that waits looks whether the lease is free, in milliseconds. */
const TRY_MS = 500;
/** How often the one that has it says that it lives, in milliseconds. */
const BEAT_MS = 1_000;
/** After so long without a word the server ends the session, and with it the lease. */
const SILENCE = "3s";

export interface LeaseOptions {
  readonly database: Database;
  /** Waits for some milliseconds, or until the end. Never throws. */
  readonly pause: (milliseconds: number) => Promise<void>;
  /** Ends it, whoever has the lease. */
  readonly signal: AbortSignal;
  /** Told, each time it is tried for, when another process turns out to have it. */
  readonly onStandby: () => void;
}

/** What goes on while a process has the lease. */
export interface LeadershipTerm {
  /** Grows with each term of any process. */
  readonly epoch: number;
  /** Aborted when the lease is lost, or everything ends. */
  readonly signal: AbortSignal;
  /** Milliseconds since the store was last known to equal the ledger; undefined where that is not known yet. */
  age: () => number | undefined;
  /** Called for each question of another process. */
  onCatchUpRequest: (question: string) => void;
  /** Ends the term: what is written is not sure to be there. */
  end(): void;
}

/**
 * One process writes: the one that has an advisory lock, on a session of its own,
 * which says again and again that it lives. One that is gone, or stopped, loses
 * the session and with it the lock; should it come back, its epoch has passed.
 */
export class Lease {
  readonly #parts: LeaseOptions;

  constructor(parts: LeaseOptions) {
    this.#parts = parts;
  }

  /**
   * Waits for the lease, runs a term, and returns when the term has ended. Throws
   * DatabaseError where the lease could not be had; then whoever wants to waits
   * and tries again.
   */
  async hold(run: (term: LeadershipTerm) => Promise<void>): Promise<void> {
    const { database, signal } = this.#parts;
    const session = await database.session();
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
      // While the session was opened.
      if (signal.aborted) return;
      await withSessionTimeout(session.query(`SET idle_session_timeout = '${SILENCE}'`));
      await withSessionTimeout(session.query(`SET statement_timeout = '${SESSION_TIMEOUT_MS}'`));
      if (await this.#acquired(session, ended.signal)) await this.#serve(session, ended, run);
      if (failure !== undefined) throw failure;
    } catch (error) {
      if (signal.aborted) return;
      throw asDatabaseError(failure ?? error);
    } finally {
      signal.removeEventListener("abort", end);
      await endSession(session);
    }
  }

  async #serve(session: Client, ended: AbortController, run: (term: LeadershipTerm) => Promise<void>): Promise<void> {
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
    // Whichever ends takes the other with it; what the term has begun is over before another can begin.
    const parts = [run(term), this.#beat(session, term)].map((part) => part.finally(end));
    await Promise.allSettled(parts);
    await Promise.all(parts);
  }

  /** Whether it was acquired before the end. */
  async #acquired(session: Client, ended: AbortSignal): Promise<boolean> {
    for (let tries = 0; !ended.aborted; tries++) {
      const { rows } = await withSessionTimeout(
        session.query<{ held: boolean }>("SELECT pg_try_advisory_lock($1) AS held", [LOCK]),
      );
      if (rows[0]?.held === true) return true;
      if (tries === 0) this.#parts.onStandby();
      await this.#parts.pause(TRY_MS);
    }
    return false;
  }

  async #beat(session: Client, term: LeadershipTerm): Promise<void> {
    while (!term.signal.aborted) {
      const age = term.age();
      const { rowCount } = await withSessionTimeout(
        session.query({ name: "beat", text: BEAT, values: [term.epoch, age ?? null] }),
      );
      if (rowCount === 0) throw new DatabaseError("lost", "another process has taken the lease");
      await this.#parts.pause(BEAT_MS);
    }
  }
}

const BEAT = `
UPDATE offledger.state
SET confirmed_at = coalesce(clock_timestamp() - $2::double precision * interval '1 millisecond', confirmed_at)
WHERE epoch = $1::bigint`;
