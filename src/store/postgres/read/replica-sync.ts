import { randomUUID } from "node:crypto";
import type { Client } from "pg";
import { channels } from "../channels.js";
import { type Database, endSession } from "../database.js";
import { asDatabaseError, type DatabaseError } from "../errors.js";
import type { Replica } from "./replica.js";

/** How often a replica looks where the store stands, whether it was told or not, in milliseconds. */
const POLL_MS = 1_000;
/** How long to wait before the session is opened again, the first time and at most, in milliseconds. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

export interface ReplicaSyncOptions {
  readonly database: Database;
  readonly replica: Replica;
  /** Waits for some milliseconds, or until the end. Never throws. */
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly signal: AbortSignal;
  /** Told when the database is lost, and when it is back; each once. */
  readonly lost: (error: DatabaseError) => void;
  readonly back: () => void;
}

const ASK = { name: "ask", text: `SELECT pg_notify('${channels.catchUpRequested}', $1)` };

/**
 * Keeps a replica at the state of the database: looks whenever it is told that
 * there is something new, and every second, since a message may be lost.
 */
export class ReplicaSync {
  readonly #parts: ReplicaSyncOptions;
  /** Those who wait for what the mirror says to a question. */
  readonly #waiting = new Map<string, () => void>();
  #asking: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #isLost = false;

  constructor(parts: ReplicaSyncOptions) {
    this.#parts = parts;
  }

  /** Ends when the signal is aborted, and not before. */
  async run(): Promise<void> {
    await Promise.all([this.#keepListening(), this.#keepLooking()]);
  }

  /**
   * Has the mirror catch up with the ledger, waits for it and for the replica,
   * and says whether the store has moved past `offset` by then. Waits for the
   * mirror no longer than `wait` milliseconds. Never throws.
   */
  async catchUp(offset: number, wait: number): Promise<boolean> {
    // Whoever comes while a question is under way waits for the next as well, and no longer for that.
    let timer: NodeJS.Timeout | undefined;
    const waited = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, wait);
    });
    await Promise.race([this.#ask(wait), waited]);
    clearTimeout(timer);
    await this.#look();
    return (this.#parts.replica.status.offset ?? -1) > offset;
  }

  /** Of all who come while a question is under way the next is one: the ledger has to be asked after they came. */
  #ask(wait: number): Promise<void> {
    if (this.#asking === undefined) {
      this.#asking = this.#askNow(wait).finally(() => {
        this.#asking = undefined;
      });
      return this.#asking;
    }
    this.#next ??= this.#asking.then(() => {
      this.#next = undefined;
      return this.#ask(wait);
    });
    return this.#next;
  }

  async #askNow(wait: number): Promise<void> {
    const question = randomUUID();
    let timer: NodeJS.Timeout | undefined;
    const told = new Promise<void>((resolve) => {
      this.#waiting.set(question, resolve);
      timer = setTimeout(resolve, wait);
    });
    try {
      await this.#parts.database.query(ASK, [question]);
      await told;
    } catch {
      // The database is away, which is told by whoever looks.
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(question);
    }
  }

  async #keepLooking(): Promise<void> {
    const { pause, signal } = this.#parts;
    while (!signal.aborted) {
      await this.#look();
      await pause(POLL_MS);
    }
  }

  async #look(): Promise<void> {
    try {
      await this.#parts.replica.refresh();
      if (this.#isLost) this.#parts.back();
      this.#isLost = false;
    } catch (error) {
      if (!this.#isLost && !this.#parts.signal.aborted) this.#parts.lost(asDatabaseError(error));
      this.#isLost = true;
    }
  }

  async #keepListening(): Promise<void> {
    const { pause, signal } = this.#parts;
    let pauseMs = FIRST_PAUSE_MS;
    while (!signal.aborted) {
      try {
        await this.#listen();
        pauseMs = FIRST_PAUSE_MS;
      } catch {
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      }
      await pause(pauseMs);
    }
  }

  /** Listens until the session or everything ends. */
  async #listen(): Promise<void> {
    const { database, signal } = this.#parts;
    const session = await database.session();
    try {
      const over = endOf(session, signal);
      session.on("notification", ({ channel, payload }) => {
        if (channel === channels.caughtUp) this.#waiting.get(payload ?? "")?.();
        else void this.#look();
      });
      await session.query(`LISTEN ${channels.stateChanged}; LISTEN ${channels.caughtUp}`);
      // What was said before is lost.
      await this.#look();
      await over;
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
