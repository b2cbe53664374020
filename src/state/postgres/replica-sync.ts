import { randomUUID } from "node:crypto";
import type { Client } from "pg";
import { backoffMs, Notifier, SingleFlight } from "../../util/async.js";
import type { CatchUpProgress } from "../../domain/ledger.js";
import { Retries, type RetriesOptions } from "../../util/retries.js";
import { contentHash } from "../lookup-hash.js";
import { channels, type Database, endSession, type Statement } from "./database.js";
import { asDatabaseError, type DatabaseError } from "./errors.js";
import type { Replica } from "./replica.js";

const POLL_MS = 1_000;
const RECONNECT_BACKOFF = { firstMs: 100, maxMs: 5_000 };

export interface ReplicaSyncOptions extends RetriesOptions {
  readonly database: Database;
  readonly replica: Replica;
  /** Of the mirror that is asked to catch up. */
  readonly contentId: string;
  /** Called once when the database becomes unreadable. */
  readonly onLost: (error: DatabaseError) => void;
  readonly onRecovered: () => void;
}

const REQUEST_CATCH_UP: Statement = {
  name: "request-catch-up",
  text: `SELECT pg_notify('${channels.catchUpRequested}', $1)`,
};

/**
 * Keeps a replica at the state of the database. A session listens, and is opened again when it ends: each notification
 * refreshes the replica. Since one may be lost, it is also refreshed each second, whether the session is open or not.
 */
export class ReplicaSync {
  readonly #options: ReplicaSyncOptions;
  readonly #retries: Retries;
  readonly #onCaughtUp = new Map<string, () => void>();
  readonly #moved = new Notifier();
  /** The state at the last notice of a move. */
  #known = "";
  /** All that come while a request is being sent share the next. */
  readonly #request = new SingleFlight((timeoutMs: number) => this.#requestCatchUp(timeoutMs));
  #isLost = false;

  constructor(options: ReplicaSyncOptions) {
    this.#options = options;
    this.#retries = new Retries(options);
  }

  /** Ends when the signal is aborted. */
  async run(): Promise<void> {
    const listening = this.#retries.run(
      () => this.#listen(),
      (failures) => backoffMs(failures, RECONNECT_BACKOFF),
    );
    await Promise.all([listening, this.#keepPolling()]);
  }

  /** See Freshness. Lets the mirror catch up, and gives up after `timeoutMs`. */
  async *catchUp(timeoutMs: number): AsyncGenerator<CatchUpProgress> {
    let timer: NodeJS.Timeout | undefined;
    const expired = new Promise<"gave up">((resolve) => {
      timer = setTimeout(resolve, timeoutMs, "gave up");
    });
    try {
      let moved = this.#moved.next;
      const reached = this.#request.run(timeoutMs).then(
        ({ caughtUp }) => caughtUp.then(() => "reached" as const),
        // The poll reports that the database is unavailable.
        () => "gave up" as const,
      );
      for (;;) {
        const progress = await Promise.race([reached, expired, moved.then(() => "advanced" as const)]);
        // What moves it while the caller looks at the store ends the next wait.
        moved = this.#moved.next;
        if (progress === "gave up") return;
        if (progress === "reached") break;
        yield "advanced";
      }
      // The mirror has stored what it has reached.
      if (await this.#refresh()) yield "reached";
    } finally {
      clearTimeout(timer);
    }
  }

  async #requestCatchUp(timeoutMs: number): Promise<{ readonly caughtUp: Promise<void> }> {
    const id = `${contentHash(this.#options.contentId)} ${randomUUID()}`;
    const forget = () => {
      clearTimeout(timer);
      this.#onCaughtUp.delete(id);
    };
    const timer = setTimeout(forget, timeoutMs).unref();
    const caughtUp = new Promise<void>((resolve) => {
      this.#onCaughtUp.set(id, () => {
        forget();
        resolve();
      });
    });
    await this.#options.database.read(REQUEST_CATCH_UP, [id]);
    return { caughtUp };
  }

  async #keepPolling(): Promise<void> {
    const { pause, signal } = this.#options;
    while (!signal.aborted) {
      await this.#refresh();
      await pause(POLL_MS);
    }
  }

  /** Returns whether the database could be read. */
  async #refresh(): Promise<boolean> {
    const { replica, signal, onLost, onRecovered } = this.#options;
    try {
      await replica.refresh();
      if (this.#isLost) onRecovered();
      this.#isLost = false;
    } catch (error) {
      if (!this.#isLost && !signal.aborted) onLost(asDatabaseError(error));
      this.#isLost = true;
    }
    // Reads of requests move the replica, too.
    if (replica.version !== this.#known) this.#moved.notify();
    this.#known = replica.version;
    return !this.#isLost;
  }

  async #listen(): Promise<void> {
    const { database, signal } = this.#options;
    const session = await database.openSession();
    try {
      const ended = endOf(session, signal);
      session.on("notification", ({ channel, payload }) => {
        if (channel === channels.caughtUp) this.#onCaughtUp.get(payload ?? "")?.();
        else void this.#refresh();
      });
      await session.query(`LISTEN ${channels.stateChanged}; LISTEN ${channels.caughtUp}`);
      this.#retries.recovered();
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
