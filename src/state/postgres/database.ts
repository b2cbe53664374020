import { readFile } from "node:fs/promises";
import pg from "pg";
import { parse, toClientConfig } from "pg-connection-string";
import { Notifier, withTimeout } from "../../util/async.js";
import { asDatabaseError, DatabaseError } from "./errors.js";
import { endSession, inTransaction, withSessionTimeout } from "./sessions.js";

/** Notification channels between the processes on one database. A notification may be lost. */
export const channels = {
  /** The store has moved to another offset or another snapshot, or is confirmed. The payload is the content's hash. */
  stateChanged: "offledger_state_changed",
  /** A follower asks the mirror to catch up with the ledger. The payload is the id of the request, after the content's hash. */
  catchUpRequested: "offledger_catch_up_requested",
  /** The mirror has reached the ledger's end, as it was after the request. The payload is the id of the request. */
  caughtUp: "offledger_caught_up",
} as const;

/** Prepared once per connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

const DEFAULT_TIMEOUTS = { connectMs: 3_000, statementMs: 5_000 };
/** The client's timeout is later than that of the server, which cancels the statement. */
const QUERY_MARGIN_MS = 1_000;
/** How often a further connection is tried while the server gives none. */
const FURTHER_CONNECTION_MS = 1_000;
/** Those that are released are noticed at once; this is for the others. */
const LOOK_MS = 100;

/**
 * Pins plans that use indexes, whatever the statistics. A process stalled in a transaction must not hold its locks.
 * Statements, because a pooler rejects startup parameters.
 */
const SESSION_SETTINGS = [
  "SET plan_cache_mode = force_generic_plan",
  "SET enable_hashjoin = off",
  "SET enable_mergejoin = off",
  "SET enable_seqscan = off",
  "SET jit = off",
  "SET idle_in_transaction_session_timeout = '3s'",
].join("; ");

interface Refusal {
  readonly at: number;
  readonly failure: DatabaseError;
  /**
   * Whether there was no other connection to wait for. Why there was no further one, for instance for a password in rotation,
   * is no reason why there will be none at all.
   */
  readonly isOfFirst: boolean;
}

/** Where a database is, and how it is used. */
export interface DatabaseAccess {
  readonly url: string;
  /** File with the password, instead of that of the URL; read again for each connection. */
  readonly passwordFile?: string | undefined;
  /** Bounds the pool; sessions come on top. */
  readonly maxConnections: number;
  /** For tests on a loaded machine. */
  readonly timeouts?: typeof DEFAULT_TIMEOUTS;
  /** Called when the server gives no further connection although others are open, and with undefined when it does again. */
  readonly onShortage?: (error: DatabaseError | undefined) => void;
}

/**
 * A pool for queries, and separate sessions for what lasts. While the server gives no further connection, queries wait for
 * those that are open, as long as for any connection. Every method throws DatabaseError.
 */
export class Database {
  readonly #config: pg.PoolConfig;
  readonly #pool: pg.Pool;
  readonly #maxConnections: number;
  readonly #connectMs: number;
  readonly #onShortage: (error: DatabaseError | undefined) => void;
  /** Connections of the pool that are open. */
  #open = 0;
  /** The last refusal of a connection; undefined since the server has given one. */
  #refusal: Refusal | undefined;
  /** The most connections that were open when the server refused a further one; undefined while it gives more. */
  #shortAt: number | undefined;
  readonly #released = new Notifier();
  /** Ends with the last of those who wait. */
  #queue: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #isOpening = false;

  constructor({ url, passwordFile, maxConnections, timeouts = DEFAULT_TIMEOUTS, onShortage }: DatabaseAccess) {
    this.#config = {
      connectionString: url,
      connectionTimeoutMillis: timeouts.connectMs,
      keepAlive: true,
      application_name: "offledger",
      ...(passwordFile !== undefined && { password: () => readPassword(passwordFile) }),
    };
    this.#maxConnections = maxConnections;
    this.#connectMs = timeouts.connectMs;
    this.#onShortage = onShortage ?? (() => undefined);
    this.#pool = new pg.Pool({
      ...this.#config,
      Client: Connection,
      max: maxConnections,
      query_timeout: timeouts.statementMs + QUERY_MARGIN_MS,
    });
    this.#pool.on("error", () => undefined);
    this.#pool.on("connect", (client) => {
      // Without listeners a lost connection would end the process. The next query reconnects or fails.
      client.on("error", () => undefined);
      // Sent before the query for which it was opened; a connection on which this fails fails that query, too.
      client.query(`${SESSION_SETTINGS}; SET statement_timeout = ${timeouts.statementMs}`).catch(() => undefined);
      this.#open++;
      this.#refusal = undefined;
      // One in place of one that was closed or lost is no further one.
      if (this.#shortAt === undefined || this.#open <= this.#shortAt) return;
      this.#shortAt = undefined;
      this.#onShortage(undefined);
    });
    this.#pool.on("remove", () => void this.#open--);
    // By then it is idle.
    this.#pool.on("release", () => setImmediate(() => this.#released.notify()));
  }

  get pool(): { readonly inUse: number; readonly idle: number; readonly waiting: number } {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { inUse: totalCount - idleCount, idle: idleCount, waiting: waitingCount + this.#waiting };
  }

  async query<R extends pg.QueryResultRow>(statement: Statement, values: unknown[] = []): Promise<R[]> {
    const client = await this.#connect();
    let failure: unknown;
    try {
      const { rows } = await client.query<R>({ ...statement, values });
      return rows;
    } catch (error) {
      failure = error;
      throw asDatabaseError(error);
    } finally {
      // As the pool's own query does: what has failed may have a statement under way.
      client.release(failure !== undefined);
    }
  }

  /**
   * A query that may run twice: it is sent again if its connection is lost, as several may be at once. Once at the least:
   * a process that stalls learns late of the loss.
   */
  async read<R extends pg.QueryResultRow>(statement: Statement, values: unknown[] = []): Promise<R[]> {
    const deadline = performance.now() + this.#connectMs;
    for (let isFirst = true; ; isFirst = false) {
      try {
        return await this.query<R>(statement, values);
      } catch (error) {
        const failure = asDatabaseError(error);
        if (failure.recovery !== "repeat" || (!isFirst && performance.now() >= deadline)) throw failure;
      }
    }
  }

  /** Runs `use` in one transaction. Rolls back if `use` throws. */
  async transaction<T>(use: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    try {
      const result = await inTransaction(client, use);
      client.release();
      return result;
    } catch (error) {
      // Closing the connection rolls back, whatever state it is in.
      client.release(true);
      throw asDatabaseError(error);
    }
  }

  /** An idle connection, or a new one; or what others release, in turn, since the server may give no further one. */
  async #connect(): Promise<pg.PoolClient> {
    if (this.#refusal === undefined || !this.#mayWait(this.#refusal.failure)) {
      const client = await this.#take();
      if (client !== undefined) return client;
    }
    const deadline = performance.now() + this.#connectMs;
    this.#waiting++;
    const turn = this.#queue.then(() => this.#takeIdle(deadline)).finally(() => this.#waiting--);
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  /** Waits for an idle connection. Throws DatabaseError at the deadline, or if there is nothing to wait for. */
  async #takeIdle(deadline: number): Promise<pg.PoolClient> {
    while (performance.now() < deadline) {
      if (this.#pool.idleCount > this.#pool.waitingCount) return this.#pool.connect().catch(throwDatabaseError);
      if (this.#refusal?.isOfFirst === true) throw this.#refusal.failure;
      this.#openFurther();
      await withTimeout(this.#released.next, LOOK_MS, () => undefined);
    }
    throw new DatabaseError("unavailable", "the database gives no further connection, and none became free in time");
  }

  /** Opens a further connection for those who wait, beside those that are released: it may take long. */
  #openFurther(): void {
    const isTooEarly = this.#refusal !== undefined && performance.now() - this.#refusal.at < FURTHER_CONNECTION_MS;
    if (this.#isOpening || isTooEarly) return;
    this.#isOpening = true;
    const opened = this.#take().then(
      (client) => client?.release(),
      // Why is kept for those who wait.
      () => undefined,
    );
    void opened.finally(() => (this.#isOpening = false));
  }

  /** A connection of the pool, or undefined if there is something to wait for. Throws DatabaseError. */
  async #take(): Promise<pg.PoolClient | undefined> {
    const isFull = this.#pool.totalCount >= this.#maxConnections;
    const hadOthers = this.#mayWait();
    try {
      return await this.#pool.connect();
    } catch (error) {
      const failure = asDatabaseError(error);
      const isOfFirst = !hadOthers && !this.#mayWait(failure);
      this.#refusal = { at: performance.now(), failure, isOfFirst };
      if (isOfFirst) throw failure;
      // It waited for one in use. Whether the server gives a further one, the next attempt tells.
      if (isFull) return undefined;
      const wasShort = this.#shortAt !== undefined;
      this.#shortAt = Math.max(this.#shortAt ?? 0, this.#open);
      if (!wasShort) this.#onShortage(failure);
      return undefined;
    }
  }

  /** Without a connection there is nothing to wait for, unless the server has just none to give. */
  #mayWait(failure?: DatabaseError): boolean {
    // While the network tells nothing of its end, one that the pool has given up counts as open.
    return (this.#open > 0 && this.#pool.totalCount > 0) || failure?.recovery === "wait";
  }

  /** Opens a connection outside the pool, whose statements have no time limits. The caller listens to its errors and ends it. */
  async openSession(): Promise<pg.Client> {
    let client: pg.Client;
    try {
      // The constructor reads the certificates that the URL names.
      client = new Connection(this.#config);
    } catch (error) {
      throw asDatabaseError(error);
    }
    // A failure to connect rejects the promise too.
    client.on("error", () => undefined);
    try {
      await client.connect();
      await withSessionTimeout(client.query(SESSION_SETTINGS));
      return client;
    } catch (error) {
      await endSession(client);
      throw asDatabaseError(error);
    }
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}

/** Reads the URL, with the certificates that it names, for each connection; the driver would let it replace the password. */
class Connection extends pg.Client {
  constructor({ connectionString = "", password, ...others }: pg.ClientConfig = {}) {
    const ofUrl = toClientConfig(parse(connectionString));
    // By its name: in the options of a pool the password is not enumerable.
    super({ ...ofUrl, ...others, ...(password !== undefined && { password }) });
  }
}

function throwDatabaseError(error: unknown): never {
  throw asDatabaseError(error);
}

async function readPassword(path: string): Promise<string> {
  return (await readFile(path, "utf8")).trimEnd();
}
