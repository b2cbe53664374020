import pg from "pg";
import { withTimeout } from "../../util/async.js";
import { asDatabaseError, DatabaseError } from "./errors.js";

/** Notification channels between the processes on one database. A notification may be lost. */
export const channels = {
  /** The store has moved to another offset or another snapshot. */
  stateChanged: "offledger_state_changed",
  /** A replica asks the mirror to catch up with the ledger. The payload is the id of the request. */
  catchUpRequested: "offledger_catch_up_requested",
  /** The mirror has reached the ledger's end, as it was after the request. The payload is the id of the request. */
  caughtUp: "offledger_caught_up",
} as const;

/** Prepared once per connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Short, so that a plan made for small tables is not used for long after they have grown. */
const CONNECTION_LIFETIME_S = 60;
const DEFAULT_TIMEOUTS = { connectMs: 3_000, statementMs: 5_000 };
/** The client's timeout is later than that of the server, which cancels the statement. */
const QUERY_MARGIN_MS = 1_000;
/** For statements on a session that take no time on a healthy server. */
export const SESSION_TIMEOUT_MS = 3_000;

/** Pins plans that use indexes, whatever the statistics. A process stalled in a transaction must not hold its locks. */
const SESSION_OPTIONS = [
  "-c plan_cache_mode=force_generic_plan",
  "-c enable_hashjoin=off",
  "-c enable_mergejoin=off",
  "-c enable_seqscan=off",
  "-c jit=off",
  "-c idle_in_transaction_session_timeout=3s",
].join(" ");

/** A pool for queries, and separate sessions for what lasts. Every method throws DatabaseError. */
export class Database {
  readonly #config: pg.PoolConfig;
  readonly #pool: pg.Pool;

  /** `maxConnections` bounds the pool; sessions come on top. `timeouts` is for tests on a loaded machine. */
  constructor(url: string, maxConnections: number, timeouts: typeof DEFAULT_TIMEOUTS = DEFAULT_TIMEOUTS) {
    const [connectionString, urlOptions] = splitOptions(url);
    this.#config = {
      connectionString,
      connectionTimeoutMillis: timeouts.connectMs,
      keepAlive: true,
      application_name: "offledger",
      options: `${SESSION_OPTIONS} ${urlOptions}`,
    };
    this.#pool = new pg.Pool({
      ...this.#config,
      max: maxConnections,
      maxLifetimeSeconds: CONNECTION_LIFETIME_S,
      statement_timeout: timeouts.statementMs,
      query_timeout: timeouts.statementMs + QUERY_MARGIN_MS,
    });
    // Without listeners a lost connection would end the process. The next query reconnects or fails.
    this.#pool.on("error", () => undefined);
    this.#pool.on("connect", (client) => void client.on("error", () => undefined));
  }

  get pool(): { readonly inUse: number; readonly idle: number; readonly waiting: number } {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { inUse: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  async query<R extends pg.QueryResultRow>(statement: Statement, values: unknown[] = []): Promise<R[]> {
    try {
      const { rows } = await this.#pool.query<R>({ ...statement, values });
      return rows;
    } catch (error) {
      throw asDatabaseError(error);
    }
  }

  /** Runs `use` in one transaction. Rolls back if `use` throws. */
  async transaction<T>(use: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    let client: pg.PoolClient;
    try {
      client = await this.#pool.connect();
    } catch (error) {
      throw asDatabaseError(error);
    }
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

  /** Opens a connection outside the pool, without time limits. The caller listens to its errors and ends it. */
  async openSession(): Promise<pg.Client> {
    let client: pg.Client;
    try {
      // The constructor reads the certificates that the URL names.
      client = new pg.Client(this.#config);
    } catch (error) {
      throw asDatabaseError(error);
    }
    // A failure to connect rejects the promise too.
    client.on("error", () => undefined);
    try {
      await client.connect();
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

/** Splits `options` off a URL, because in the URL they would replace SESSION_OPTIONS. */
function splitOptions(url: string): [url: string, options: string] {
  const parsed = new URL(url);
  const options = parsed.searchParams.get("options") ?? "";
  parsed.searchParams.delete("options");
  return [parsed.href, options];
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

/** Commits what `use` does. The caller rolls back, by ending the connection, if it throws. */
export async function inTransaction<C extends pg.ClientBase, T>(client: C, use: (client: C) => Promise<T>): Promise<T> {
  await client.query("BEGIN");
  const result = await use(client);
  await client.query("COMMIT");
  return result;
}
