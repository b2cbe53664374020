import type { Config } from "../config/config.js";
import type { Log } from "../ledger/log.js";
import { refusalOf, unreadinessOf } from "../ledger/participant/limits.js";
import type { History } from "../registry/history.js";
import { contentsOf } from "../store/postgres/contents.js";
import { Database } from "../store/postgres/database.js";
import { asDatabaseError, DatabaseError } from "../store/postgres/errors.js";
import { migrate } from "../store/postgres/migrate.js";
import { Feed } from "../store/postgres/reading/feed.js";
import { Replica } from "../store/postgres/reading/replica.js";
import type { Kind } from "../store/store.js";
import type { Feeder } from "./feeder.js";
import { Mirroring } from "./mirroring.js";
import { limitsOf, pausing } from "./participant.js";
import type { Source } from "./source.js";

/** What a process on a database does; one of them at the least. */
export interface Roles {
  /** Feeds the database, or stands by to do so. */
  readonly mirrors: boolean;
  /** Answers requests from the database. */
  readonly answers: boolean;
}

/** How often a database that is away is tried while the service starts, in milliseconds. */
const RETRY_MS = 1_000;
/** What a question to the mirror takes besides the mirror's own wait, at the most, in milliseconds. */
const ON_THE_WAY_MS = 500;

/** How a mirror stands that has not begun. */
const NOWHERE = { offset: undefined, age: undefined };

const MEGABYTE = 1_000_000;

const clock = () => performance.now();

/** A store in a database, which any number of processes may share. */
export function inDatabase(
  config: Config,
  url: URL,
  roles: Roles,
  kinds: readonly Kind[],
  feeder: Feeder,
  historyWith: ((log: () => Log | undefined) => History) | undefined,
  end: AbortController,
): Source {
  const { signal } = end;
  const limits = limitsOf(config);
  const pause = pausing(signal);
  const database = new Database(url.href, config.databaseConnections);
  const contents = contentsOf(kinds, config.totalSupply);
  const replica = new Replica(database, { kinds, contents, cacheBytes: config.cacheMegabytes * MEGABYTE, clock });
  let logged: Log | undefined;
  const feed = new Feed({
    database,
    replica,
    pause,
    signal,
    lost: ({ trouble, message }) =>
      logged?.warn(
        { trouble, reason: message },
        "the database cannot be read; what is known is served until it is too old",
      ),
    back: () => logged?.info({}, "the database can be read again"),
  });
  let mirroring: Mirroring | undefined;
  let running: Promise<unknown> = Promise.resolve();

  const run = async (log: Log): Promise<void> => {
    while (!signal.aborted && !(await isPrepared(database, log))) await pause(RETRY_MS);
    if (signal.aborted) return;
    if (roles.mirrors) mirroring = new Mirroring({ database, feeder, contents, log, clock, pause, signal });
    await Promise.all([roles.answers ? feed.run() : undefined, mirroring?.run()]);
  };
  const refusal = (): string | undefined => {
    if (!replica.standing.isOurs) return "the database holds what a service of another configuration has put there";
    return refusalOf(replica.standing, limits);
  };
  return {
    name: roles.mirrors ? `${feeder.name} by way of ${nameOf(url)}` : nameOf(url),
    reader: replica,
    isAtHand: false,
    history: historyWith?.(() => logged),
    async start(log) {
      logged = log;
      // What will not be better by itself ends the start.
      try {
        await migrated(database, log);
      } catch (error) {
        if (!(error instanceof DatabaseError) || error.trouble !== "away") throw error;
        log.warn({ reason: error.message }, "the database cannot be reached; it is tried again");
      }
      running = run(log);
      if (roles.answers) await Promise.race([replica.refresh().catch(() => undefined), pause(RETRY_MS)]);
    },
    refusal,
    unreadiness() {
      if (!roles.answers) return mirroring === undefined ? "the service is starting" : mirroring.unreadiness();
      const { failure } = replica.standing;
      if (failure !== undefined) return `the database cannot be ${failure.trouble === "away" ? "reached" : "read"}`;
      return refusal() ?? unreadinessOf(replica.standing, limits);
    },
    standing() {
      const { offset, age } = roles.answers ? replica.standing : (mirroring?.standing ?? NOWHERE);
      return {
        offset,
        age,
        reconnects: roles.mirrors ? feeder.reconnects() : undefined,
        isMirroring: roles.mirrors ? (mirroring?.isFeeding ?? false) : undefined,
        pool: database.pool,
      };
    },
    catchUp: (offset) => feed.catchUp(offset, limits.readWait + ON_THE_WAY_MS),
    async close() {
      end.abort();
      await running;
      await database.close();
    },
  };
}

async function isPrepared(database: Database, log: Log): Promise<boolean> {
  try {
    await migrated(database, log);
    return true;
  } catch (error) {
    const { trouble, message } = asDatabaseError(error);
    // That it is away was said when it was tried first.
    if (trouble !== "away") log.error({ trouble, reason: message }, "the database cannot be used; it is tried again");
    return false;
  }
}

async function migrated(database: Database, log: Log): Promise<void> {
  const { from, to } = await migrate(database);
  if (from < to) log.info({ from, to }, "the schema of the database has been brought up to date");
}

/** Without what lets one in. */
const nameOf = ({ host, pathname }: URL): string => `postgres://${host}${pathname}`;
