import { randomUUID } from "node:crypto";
import type { Client } from "pg";
import { backoffMs } from "../../../util/backoff.js";
import { SingleFlight } from "../../../util/single-flight.js";
import { withTimeout } from "../../../util/timeout.js";
import { channels } from "../channels.js";
import { type Database, endSession, type Statement } from "../database.js";
import { asDatabaseError, type DatabaseError } from "../errors.js";
import type { Replica } from "./replica.js";

/** A replica polls at this interval besides the notifications, because one may be lost. */
const POLL_MS = 1_000;
const RECONNECT_BACKOFF = { firstMs: 100, maxMs: 5_000 };

export interface ReplicaSyncOptions {
  readonly database: Database;
  readonly replica: Replica;
  /** Waits for some milliseconds, or until the end. Never throws. */
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly signal: AbortSignal;
  /** Called once when the database becomes unreadable. */
  readonly onLost: (error: DatabaseError) => void;
  readonly onRecovered: () => void;
}

const REQUEST_CATCH_UP: Statement = {
  name: "request-catch-up",
  text: `SELECT pg_notify('${channels.catchUpRequested}', $1)`,
};

/** Keeps a replica at the state of the database, by notifications and by polling. */
export class ReplicaSync {
  readonly #options: ReplicaSyncOptions;
  readonly #pendingRequests = new Map<string, () => void>();
  readonly #mirrorCatchUp = new SingleFlight((timeoutMs: number) => this.#requestCatchUp(timeoutMs));
  #isLost = false;

  constructor(options: ReplicaSyncOptions) {
    this.#options = options;
  }

  /** Ends when the signal is aborted. */
  async run(): Promise<void> {
    await Promise.all([this.#keepListening(), this.#keepPolling()]);
  }

  /** Lets the mirror catch up, for at most `timeoutMs`. Returns whether the replica is past `offset`. Never throws. */
  async catchUp(offset: number, timeoutMs: number): Promise<boolean> {
    // A caller that joins the next request waits for the current one too, within the same limit.
    await withTimeout(this.#mirrorCatchUp.run(timeoutMs), timeoutMs, () => undefined);
    await this.#refresh();
    return (this.#options.replica.status.offset ?? -1) > offset;
  }

  async #requestCatchUp(timeoutMs: number): Promise<void> {
    const requestId = randomUUID();
    const replied = new Promise<void>((resolve) => this.#pendingRequests.set(requestId, resolve));
    const repliedOrTimeout = withTimeout(replied, timeoutMs, () => undefined);
    try {
      await this.#options.database.query(REQUEST_CATCH_UP, [requestId]);
      await repliedOrTimeout;
    } catch {
      // #refresh reports that the database is unavailable.
    } finally {
      // Also stops the timer if the query has failed.
      this.#pendingRequests.get(requestId)?.();
      this.#pendingRequests.delete(requestId);
    }
  }

  async #keepPolling(): Promise<void> {
    const { pause, signal } = this.#options;
    while (!signal.aborted) {
      await this.#refresh();
      await pause(POLL_MS);
    }
  }

  async #refresh(): Promise<void> {
    try {
      await this.#options.replica.refresh();
      if (this.#isLost) this.#options.onRecovered();
      this.#isLost = false;
    } catch (error) {
      if (!this.#isLost && !this.#options.signal.aborted) this.#options.onLost(asDatabaseError(error));
      this.#isLost = true;
    }
  }

  async #keepListening(): Promise<void> {
    const { pause, signal } = this.#options;
    for (let attempt = 1; !signal.aborted; await pause(backoffMs(attempt, RECONNECT_BACKOFF))) {
      try {
        await this.#listen();
        attempt = 1;
      } catch {
        attempt++;
      }
    }
  }

  async #listen(): Promise<void> {
    const { database, signal } = this.#options;
    const session = await database.openSession();
    try {
      const ended = endOf(session, signal);
      session.on("notification", ({ channel, payload }) => {
        if (channel === channels.caughtUp) this.#pendingRequests.get(payload ?? "")?.();
        else void this.#refresh();
      });
      await session.query(`LISTEN ${channels.stateChanged}; LISTEN ${channels.caughtUp}`);
      // Notifications sent before are lost.
      await this.#refresh();
      await ended;
    } finally {
      await endSession(session);
    }
  }
}

function endOf(session: Client, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    session.on("error", () => resolve()).on("end", resolve);
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
