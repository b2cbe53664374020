import type { Config } from "../../config/config.js";
import type { Log } from "../../ledger/log.js";
import { staleReason, notReadyReason } from "../staleness.js";
import type { History } from "../../registry/sdk/history.js";
import { contentId } from "../../store/postgres/content-id.js";
import { Database } from "../../store/postgres/database.js";
import { asDatabaseError, DatabaseError } from "../../store/postgres/errors.js";
import { migrate } from "../../store/postgres/migrate.js";
import { ReplicaSync } from "../../store/postgres/read/replica-sync.js";
import { Replica } from "../../store/postgres/read/replica.js";
import type { Template } from "../../domain/template.js";
import type { Ingestor } from "../ingestor.js";
import { LeaderLoop } from "../leader-loop.js";
import { lagLimits, abortablePause } from "../mirror/participant-ingestor.js";
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
export function databaseSource(
  config: Config,
  url: URL,
  roles: Roles,
  templates: readonly Template[],
  ingestor: Ingestor,
  historyWith: ((log: () => Log | undefined) => History) | undefined,
  end: AbortController,
): Source {
  const { signal } = end;
  const limits = lagLimits(config);
  const pause = abortablePause(signal);
  const database = new Database(url.href, config.databaseConnections);
  const contents = contentId(templates, config.totalSupply);
  const replica = new Replica(database, {
    templates,
    contentId: contents,
    cacheBytes: config.cacheMegabytes * MEGABYTE,
    clock,
  });
  let logged: Log | undefined;
  const replicaSync = new ReplicaSync({
    database,
    replica,
    pause,
    signal,
    onLost: ({ kind, message }) =>
      logged?.warn(
        { kind, reason: message },
        "the database cannot be read; what is known is served until it is too old",
      ),
    onRecovered: () => logged?.info({}, "the database can be read again"),
  });
  let leaderLoop: LeaderLoop | undefined;
  let running: Promise<unknown> = Promise.resolve();

  const run = async (log: Log): Promise<void> => {
    while (!signal.aborted && !(await isPrepared(database, log))) await pause(RETRY_MS);
    if (signal.aborted) return;
    if (roles.mirrors) leaderLoop = new LeaderLoop({ database, feeder: ingestor, contents, log, clock, pause, signal });
    await Promise.all([roles.answers ? replicaSync.run() : undefined, leaderLoop?.run()]);
  };
  const refusal = (): string | undefined => {
    if (!replica.status.isOurs) return "the database holds what a service of another configuration has put there";
    return staleReason(replica.status, limits);
  };
  return {
    name: roles.mirrors ? `${ingestor.name} by way of ${nameOf(url)}` : nameOf(url),
    reader: replica,
    isInMemory: false,
    history: historyWith?.(() => logged),
    async start(log) {
      logged = log;
      // What will not be better by itself ends the start.
      try {
        await migrated(database, log);
      } catch (error) {
        if (!(error instanceof DatabaseError) || error.kind !== "unavailable") throw error;
        log.warn({ reason: error.message }, "the database cannot be reached; it is tried again");
      }
      running = run(log);
      if (roles.answers) await Promise.race([replica.refresh().catch(() => undefined), pause(RETRY_MS)]);
    },
    staleReason: refusal,
    notReadyReason() {
      if (!roles.answers) return leaderLoop === undefined ? "the service is starting" : leaderLoop.notReadyReason();
      const { failure } = replica.status;
      if (failure !== undefined) return `the database cannot be ${failure.kind === "unavailable" ? "reached" : "read"}`;
      return refusal() ?? notReadyReason(replica.status, limits);
    },
    status() {
      const { offset, age } = roles.answers ? replica.status : (leaderLoop?.status ?? NOWHERE);
      return {
        offset,
        age,
        reconnects: roles.mirrors ? ingestor.reconnects() : undefined,
        isLeader: roles.mirrors ? (leaderLoop?.isLeader ?? false) : undefined,
        pool: database.pool,
      };
    },
    catchUp: (offset) => replicaSync.catchUp(offset, limits.readWait + ON_THE_WAY_MS),
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
    const { kind, message } = asDatabaseError(error);
    // That it is away was said when it was tried first.
    if (kind !== "unavailable") log.error({ kind, reason: message }, "the database cannot be used; it is tried again");
    return false;
  }
}

async function migrated(database: Database, log: Log): Promise<void> {
  const { from, to } = await migrate(database);
  if (from < to) log.info({ from, to }, "the schema of the database has been brought up to date");
}

/** Without what lets one in. */
const nameOf = ({ host, pathname }: URL): string => `postgres://${host}${pathname}`;
