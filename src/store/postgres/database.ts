import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { parse, toClientConfig } from "pg-connection-string";
import { withTimeout } from "../../util/async.js";
import { asDatabaseError, DatabaseError } from "./errors.js";

/** Notification channels between the processes on one database. A notification may be lost. */
export const channels = {
  /** The store has moved to another offset or another snapshot. */
  stateChanged: "offledger_state_changed",
  /** A replica asks the mirror to catch up with the ledger. The payload is the id of the request, after the content's hash. */
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
/** For statements on a session that take no time on a healthy server. */
export const SESSION_TIMEOUT_MS = 3_000;
/** How often a further connection is tried while the server gives none, and how often requests look for an idle one. */
const FURTHER_CONNECTION_MS = 1_000;
const IDLE_CONNECTION_MS = 10;

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
  readonly #connectMs: number;
  readonly #onShortage: (error: DatabaseError | undefined) => void;
  /** Connections of the pool that are open. */
  #open = 0;
  /** When the server refused a further connection; undefined while it refuses none. */
  #refusedAt: number | undefined;
  #isShort = false;

  constructor({ url, passwordFile, maxConnections, timeouts = DEFAULT_TIMEOUTS, onShortage }: DatabaseAccess) {
    this.#config = {
      connectionString: url,
      connectionTimeoutMillis: timeouts.connectMs,
      keepAlive: true,
      application_name: "offledger",
      ...(passwordFile !== undefined && { password: () => readPassword(passwordFile) }),
    };
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
      this.#refusedAt = undefined;
      this.#setShort(undefined);
    });
    this.#pool.on("remove", () => void this.#open--);
  }

  get pool(): { readonly inUse: number; readonly idle: number; readonly waiting: number } {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { inUse: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
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

  /** An idle connection, a new one, or what others release: the server may give no further one. */
  async #connect(): Promise<pg.PoolClient> {
    const deadline = performance.now() + this.#connectMs;
    for (;;) {
      if (this.#mayConnect()) {
        try {
          return await this.#pool.connect();
        } catch (error) {
          const failure = asDatabaseError(error);
          // Without a connection there is nothing to wait for.
          if (this.#open === 0 || performance.now() >= deadline) throw failure;
          this.#refusedAt = performance.now();
          this.#setShort(failure);
        }
      }
      if (performance.now() >= deadline) {
        throw new DatabaseError(
          "unavailable",
          "the database gives no further connection, and none became free in time",
        );
      }
      await pause(IDLE_CONNECTION_MS);
    }
  }

  /** While the server refuses connections, one request at a time tries another. */
  #mayConnect(): boolean {
    if (this.#refusedAt === undefined || this.#open === 0 || this.#pool.idleCount > 0) return true;
    if (performance.now() - this.#refusedAt < FURTHER_CONNECTION_MS) return false;
    this.#refusedAt = performance.now();
    return true;
  }

  #setShort(error: DatabaseError | undefined): void {
    const isShort = error !== undefined;
    if (isShort !== this.#isShort) this.#onShortage(error);
    this.#isShort = isShort;
  }

  /** Opens a connection outside the pool, without time limits. The caller listens to its errors and ends it. */
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
      await client.query(SESSION_SETTINGS);
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
  constructor({ connectionString = "", ...others }: pg.ClientConfig = {}) {
    super({ ...toClientConfig(parse(connectionString)), ...others });
  }
}

async function readPassword(path: string): Promise<string> {
  return (await readFile(path, "utf8")).trimEnd();
}

/** Throws DatabaseError if a session does not answer in time. */
export function withSessionTimeout<T>(answer: Promise<T>): Promise<T> {
  return withTimeout(answer, SESSION_TIMEOUT_MS, () => {
    throw new DatabaseError("unavailable", `the database has not answered for ${SESSION_TIMEOUT_MS} ms`);
  });
}

/** Ends a session. A session that does not answer is left to the operating system. */
export async function endSession(session: pg.Client): Promise<void> {
  await withSessionTimeout(session.end()).catch(() => undefined);
}

/**
 * Throws DatabaseError if a pooler in transaction mode is in between: it gives one session of the server to several
 * clients, so that locks, LISTEN and settings do not last.
 */
export async function checkSessions(database: Database): Promise<void> {
  const one = await database.openSession();
  try {
    const other = await database.openSession();
    try {
      const mark = randomUUID();
      await withSessionTimeout(one.query("SELECT set_config('offledger.session', $1, false)", [mark]));
      await withSessionTimeout(other.query("BEGIN"));
      // The other client has the session of the first, or the first has another one now.
      if ((await markOf(other)) !== mark && (await markOf(one)) === mark) return;
    } finally {
      await endSession(other);
    }
  } catch (error) {
    throw asDatabaseError(error);
  } finally {
    await endSession(one);
  }
  throw new DatabaseError(
    "denied",
    "the database is behind a pooler in transaction mode: use its session mode, or the address of the server itself",
  );
}

async function markOf(session: pg.Client): Promise<string | null> {
  const text = "SELECT current_setting('offledger.session', true) AS mark";
  const { rows } = await withSessionTimeout(session.query<{ mark: string | null }>(text));
  return rows[0]?.mark ?? null;
}

/** Commits what `use` does. The caller rolls back, by ending the connection, if it throws. */
export async function inTransaction<C extends pg.ClientBase, T>(client: C, use: (client: C) => Promise<T>): Promise<T> {
  await client.query("BEGIN");
  const result = await use(client);
  await client.query("COMMIT");
  return result;
}
