/** Connections to a database: a pool for questions, and sessions of their own for what lasts. */
import pg from "pg";
import { asDatabaseError, DatabaseError } from "./errors.js";

/** A statement that the server prepares once for each connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** How long a connection is used, in seconds: what was planned on it for small tables is not used for large ones for long. */
const LIFETIME_S = 60;
/** How long to wait for a connection, and for an answer on it, in milliseconds. */
const CONNECT_MS = 3_000;
const STATEMENT_MS = 5_000;
/** The server ends its statement first, where it still can. */
const ANSWER_MS = STATEMENT_MS + 1_000;

/**
 * Settings of every session. The plan of a look-up must not change with what the
 * server believes of the sizes of tables: each goes by an index. A session that
 * stops in the middle of a transaction must not hold its locks.
 */
const SETTINGS = [
  "-c plan_cache_mode=force_generic_plan",
  "-c enable_hashjoin=off",
  "-c enable_mergejoin=off",
  "-c enable_seqscan=off",
  "-c jit=off",
  "-c idle_in_transaction_session_timeout=3s",
].join(" ");

export class Database {
  readonly #config: pg.PoolConfig;
  readonly #pool: pg.Pool;

  /** `connections`: most of the pool, besides sessions. */
  constructor(url: string, connections: number) {
    const [connectionString, ownOptions] = withoutOptions(url);
    this.#config = {
      connectionString,
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
      application_name: "offledger",
      options: `${SETTINGS} ${ownOptions}`,
    };
    this.#pool = new pg.Pool({
      ...this.#config,
      max: connections,
      maxLifetimeSeconds: LIFETIME_S,
      statement_timeout: STATEMENT_MS,
      query_timeout: ANSWER_MS,
    });
    // A connection that is lost while nobody uses it is nobody's failure; the next question opens another.
    this.#pool.on("error", () => undefined);
    // Nor is one that is lost between two questions of a transaction: the next of them tells.
    this.#pool.on("connect", (client) => void client.on("error", () => undefined));
  }

  /** How the pool stands, for whoever watches. */
  get pool(): { readonly inUse: number; readonly idle: number; readonly waiting: number } {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { inUse: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  /** Throws DatabaseError, as everything here does. */
  async query<R extends pg.QueryResultRow>(statement: Statement, values: unknown[] = []): Promise<R[]> {
    try {
      const { rows } = await this.#pool.query<R>({ ...statement, values });
      return rows;
    } catch (error) {
      throw asDatabaseError(error);
    }
  }

  /** Runs `use` in one transaction, and takes back all of it where `use` throws. */
  async transaction<T>(use: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    let client: pg.PoolClient;
    try {
      client = await this.#pool.connect();
    } catch (error) {
      throw asDatabaseError(error);
    }
    try {
      const made = await inTransaction(client, use);
      client.release();
      return made;
    } catch (error) {
      // Whatever state the connection is in, to end it takes everything back.
      client.release(true);
      throw asDatabaseError(error);
    }
  }

  /**
   * Opens a connection outside the pool, for what takes long. Whoever opens it
   * listens to its errors and ends it.
   */
  async session(): Promise<pg.Client> {
    let client: pg.Client;
    try {
      // It reads the certificates that the URL names.
      client = new pg.Client(this.#config);
    } catch (error) {
      throw asDatabaseError(error);
    }
    // Before anybody listens: the failure comes by the promise as well.
    client.on("error", () => undefined);
    try {
      await client.connect();
      return client;
    } catch (error) {
      await endSession(client);
      throw asDatabaseError(error);
    }
  }

  /** Waits for questions under way. */
  async close(): Promise<void> {
    await this.#pool.end();
  }
}

/** A URL without the options for the server that it may have, which would stand in the place of ours; and those. */
function withoutOptions(url: string): [url: string, options: string] {
  const parsed = new URL(url);
  const options = parsed.searchParams.get("options") ?? "";
  parsed.searchParams.delete("options");
  return [parsed.href, options];
}

/** How long an answer on a session may take that comes at once where all is well, in milliseconds. */
export const SESSION_TIMEOUT_MS = 3_000;

/** Throws where an answer does not come in that time. */
export async function withSessionTimeout<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new DatabaseError("away", "the database does not answer")), SESSION_TIMEOUT_MS);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Ends a session. One that does not answer any more is left to the system. */
export async function endSession(session: pg.Client): Promise<void> {
  await withSessionTimeout(session.end()).catch(() => undefined);
}

export async function inTransaction<C extends pg.ClientBase, T>(client: C, use: (client: C) => Promise<T>): Promise<T> {
  await client.query("BEGIN");
  const made = await use(client);
  await client.query("COMMIT");
  return made;
}
