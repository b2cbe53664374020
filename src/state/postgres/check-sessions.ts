import { randomUUID } from "node:crypto";
import type { Client } from "pg";
import { type Database, endSession, withSessionTimeout } from "./database.js";
import { asDatabaseError, DatabaseError } from "./errors.js";

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

async function markOf(session: Client): Promise<string | null> {
  const text = "SELECT current_setting('offledger.session', true) AS mark";
  const { rows } = await withSessionTimeout(session.query<{ mark: string | null }>(text));
  return rows[0]?.mark ?? null;
}
