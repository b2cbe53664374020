import { once } from "node:events";
import type { Client } from "pg";
import { contentHash } from "../state/lookup-hash.js";
import { channels, type Database } from "../state/postgres/database.js";
import { asDatabaseError, DatabaseError } from "../state/postgres/errors.js";
import { endSession, SESSION_TIMEOUT_MS, withSessionTimeout } from "../state/postgres/sessions.js";
import { withTimeout } from "../util/async.js";
import type { RetriesOptions } from "../util/retries.js";
import type { Ingestion } from "./source.js";

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
  /** What the heartbeat stores of the ledger, once it is known. */
  followed: Pick<Ingestion, "age" | "otherHistory"> | undefined;
  /** Called with the id of each request of a follower of the same content. */
  onCatchUpRequest: (requestId: string) => void;
  /** Ends the term. Writes in progress may or may not be stored. */
  end(): void;
}

/** An advisory lock on a session that a heartbeat keeps alive. */
export class Lease {
  readonly #contentHash: string;

  constructor(private readonly options: LeaseOptions) {
    this.#contentHash = contentHash(options.contentId);
  }

  /** Waits for the lease and runs one term. Throws DatabaseError if the lease cannot be acquired or is lost. */
  async hold(run: (term: LeadershipTerm) => Promise<void>): Promise<void> {
    const { database, signal } = this.options;
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
    const values = [this.#contentHash, this.options.contentId];
    const { rows } = await withSessionTimeout(session.query<{ epoch: string }>(BEGIN_EPOCH, values));
    const term: LeadershipTerm = {
      epoch: Number(rows[0]?.epoch),
      signal: ended.signal,
      followed: undefined,
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
    if (!ended.signal.aborted) await once(ended.signal, "abort");
    // A writer that hangs must not keep this process from the next term: its epoch is outdated.
    await withTimeout<unknown>(settled, TERM_END_MS, () => {
      throw new DatabaseError("defect", `the writer has not stopped ${TERM_END_MS} ms after the end of its term`);
    });
    await Promise.all(tasks);
  }

  async #acquire(session: Client, ended: AbortSignal): Promise<boolean> {
    for (let attempt = 1; !ended.aborted; attempt++) {
      const { rows } = await withSessionTimeout(
        session.query<{ acquired: boolean }>(ACQUIRE, [LEASE_LOCK, this.#contentHash]),
      );
      if (rows[0]?.acquired === true) return true;
      if (attempt === 1) this.options.onStandby();
      await this.options.pause(ACQUIRE_INTERVAL_MS);
    }
    return false;
  }

  async #sendHeartbeats(session: Client, term: LeadershipTerm): Promise<void> {
    while (!term.signal.aborted) {
      const { epoch, followed } = term;
      const values = [epoch, followed?.age() ?? null, followed?.otherHistory() ?? null, this.#contentHash];
      const { rowCount } = await withSessionTimeout(
        session.query({ name: "heartbeat", text: HEARTBEAT_STATEMENT, values }),
      );
      if (rowCount === 0) throw new DatabaseError("lost", "another process has taken the lease");
      await this.options.pause(HEARTBEAT_MS);
    }
  }
}

const ACQUIRE = "SELECT pg_try_advisory_lock($1, hashtext($2)) AS acquired";

const BEGIN_EPOCH = `
INSERT INTO offledger.state AS s (content_hash, content_id, epoch) VALUES ($1::uuid, $2::text, 1)
ON CONFLICT (content_hash) DO UPDATE SET epoch = s.epoch + 1, led_at = clock_timestamp()
RETURNING epoch`;

/**
 * While a term has not yet reached the ledger, its age is unknown, and what an earlier term has found still holds. The
 * followers are told: on a quiet ledger nothing else tells them that the store is still current. `confirmed_at` and `led_at` come
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
