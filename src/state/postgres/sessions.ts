/** Connections that last: with one session of the server each. */
import { randomUUID } from "node:crypto";
import type pg from "pg";
import { withTimeout } from "../../util/async.js";
import type { Database } from "./database.js";
import { asDatabaseError, DatabaseError } from "./errors.js";

/** For statements on a session that take no time on a healthy server. */
export const SESSION_TIMEOUT_MS = 3_000;

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

/**
 * Throws DatabaseError if a pooler in transaction mode is in between: it gives one session of the server to several
 * clients, so that locks, LISTEN and settings do not last.
 */
export async function checkSessions(database: Pick<Database, "openSession">): Promise<void> {
  const one = await database.openSession();
  try {
    const other = await database.openSession();
    try {
      const mark = randomUUID();
      await withSessionTimeout(one.query("SELECT set_config('offledger.session', $1, false)", [mark]));
      // A pooler that gives its sessions in turn has another one for the first client already.
      const isKept = (await markOf(one)) === mark;
      await withSessionTimeout(other.query("BEGIN"));
      // The other client has the session of the first, or the first has another one now.
      if (isKept && (await markOf(other)) !== mark && (await markOf(one)) === mark) return;
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
