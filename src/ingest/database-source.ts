import { abortablePause } from "../util/async.js";
import type { Template } from "../domain/template.js";
import type { CatchUpProgress } from "../domain/ledger.js";
import { Bodies } from "../state/bodies.js";
import { Follower } from "../state/follower.js";
import { type ChangeFeed, type StoreReader, type StoreScan, StoreUnavailable } from "../state/port.js";
import { contentId, logContentId } from "../state/postgres/content-id.js";
import { StateTooLarge } from "../state/state-size.js";
import { checkSessions } from "../state/postgres/check-sessions.js";
import { Database } from "../state/postgres/database.js";
import { asDatabaseError, DatabaseError, type DatabaseErrorKind } from "../state/postgres/errors.js";
import { checkSchema, migrate } from "../state/postgres/migrate.js";
import { StoredPackages, storing } from "../state/postgres/packages.js";
import { ReplicaSync } from "../state/postgres/replica-sync.js";
import { PostgresLog } from "../state/postgres/log.js";
import { logTables } from "../state/postgres/log-tables.js";
import { lookupTables } from "../state/postgres/lookup-tables.js";
import { Replica, type ReplicaStatus } from "../state/postgres/replica.js";
import type { Logger } from "../util/logger.js";
import { Retries, type RetriesOptions } from "../util/retries.js";
import type { DatabaseUrl } from "../util/urls.js";
import { type LagLimits, notReadyReason, staleReason } from "./lag.js";
import { LeaderLoop } from "./leadership.js";
import type { Ingestor, ParticipantConnection, Source } from "./source.js";

/** What a process does on a database. At least one is true. */
export interface Roles {
  /** Writes the database, or is on standby to do so. */
  readonly mirrors: boolean;
  readonly answers: boolean;
}

export interface DatabaseOptions {
  readonly url: DatabaseUrl;
  readonly passwordFile: string | undefined;
  /** Largest number of connections for queries. */
  readonly connections: number;
  readonly cacheBytes: number;
  /** How answers read it: by the lookups of a replica, or from the index of a follower. */
  readonly reader: "lookups" | "index";
}

export interface DatabaseSourceOptions extends DatabaseOptions {
  readonly roles: Roles;
  readonly limits: LagLimits;
  readonly templates: readonly Template[];
  readonly countsSupply: boolean;
  readonly keepsOptional: boolean;
  readonly ingestor: Ingestor;
  /** Undefined without a participant. */
  readonly connection: ParticipantConnection | undefined;
  readonly end: AbortController;
  /** A monotonic clock, in milliseconds. */
  readonly clock: () => number;
}

/** An operator starts the database, or migrates it, while the process waits. */
const MENDS_ITSELF: ReadonlySet<DatabaseErrorKind> = new Set(["unavailable", "unmigrated"]);
const RETRY_MS = 1_000;
/** Time for a catch-up request to reach the leader and come back, in addition to the leader's own wait. */
const ROUND_TRIP_MS = 500;

const NO_STATUS = { offset: undefined, age: undefined };

/** A store in a database, which any number of processes may share. */
export function databaseSource({
  url,
  passwordFile,
  connections,
  cacheBytes,
  reader,
  roles,
  limits,
  templates,
  countsSupply,
  keepsOptional,
  ingestor,
  connection,
  end,
  clock,
}: DatabaseSourceOptions): Source {
  const { signal } = end;
  const pause = abortablePause(signal);
  let logger: Logger | undefined;
  const database = new Database({
    url: url.secret,
    passwordFile,
    maxConnections: connections,
    onShortage: (error) =>
      error === undefined
        ? logger?.info({}, "the database gives further connections again")
        : logger?.warn(
            { reason: error.message },
            "the database gives no further connection; requests wait for those that are open",
          ),
  });
  const isIndexed = reader === "index";
  const contents = (isIndexed ? logContentId : contentId)(templates, countsSupply, keepsOptional);
  const storedPackages = new StoredPackages(database);
  let fail: ((error: StateTooLarge) => void) | undefined;
  const failed = new Promise<StateTooLarge>((resolve) => (fail = resolve));
  const store = (isIndexed ? indexOf : lookupsOf)({
    database,
    templates,
    contentId: contents,
    cacheBytes,
    clock,
    pause,
    signal,
    log: () => logger,
    onUnservable: (error) => fail?.(error),
  });
  let hasSessions = false;
  let leaderLoop: LeaderLoop | undefined;
  let running: Promise<unknown> = Promise.resolve();

  const retries = { clock, pause, signal };
  const prepareSchema = async (log: Logger): Promise<void> => {
    if (!hasSessions) await checkSessions(database);
    hasSessions = true;
    // Where roles have processes of their own, an operator decides when: `offledger migrate`.
    if (!roles.mirrors || !roles.answers) return checkSchema(database);
    const { from, to } = await migrate(database);
    if (from < to) log.info({ from, to }, "database schema migrated");
  };
  const run = async (log: Logger): Promise<void> => {
    await prepareSchema(log);
    if (roles.mirrors)
      leaderLoop = new LeaderLoop({
        ...retries,
        database,
        ingestor,
        contents,
        // A log is of the parser that its content names.
        templates: isIndexed ? [] : templates,
        tables: isIndexed ? logTables : lookupTables,
        log,
      });
    await Promise.all([roles.answers ? store.run() : undefined, leaderLoop?.run()]);
  };
  const storeStaleReason = (): string | undefined => {
    if (!store.status().isOurs) {
      return "no mirror of this release and configuration has filled the database: start one, or wait for its snapshot";
    }
    return staleReason(store.status(), limits);
  };
  return {
    name: roles.mirrors ? `${ingestor.name} by way of ${url.name}` : url.name,
    reader: store.reader,
    changes: store.changes,
    openScan: store.openScan,
    isInMemory: false,
    history: connection?.history(() => logger),
    holdings: connection && ((template) => connection.holdings(template, () => logger)),
    packages: {
      catalog: connection === undefined ? storedPackages : storing(connection.packages, storedPackages),
      ids: store.packageIds ?? (() => storedPackages.ids()),
    },
    async start(log) {
      logger = log;
      // Fail the start only for errors that a retry cannot mend.
      try {
        await prepareSchema(log);
      } catch (error) {
        if (!(error instanceof DatabaseError) || !MENDS_ITSELF.has(error.kind)) throw error;
        log.warn({ reason: error.message }, "database not usable yet; retrying");
      }
      running = new Retries(retries).run(
        () => run(log),
        (_failures, error) => {
          const { kind, message } = asDatabaseError(error);
          // The start has already logged it.
          if (!MENDS_ITSELF.has(kind)) log.error({ kind, reason: message }, "database not usable; retrying");
          return RETRY_MS;
        },
      );
      if (roles.answers) await Promise.race([store.refresh().catch(throwTooLarge), pause(RETRY_MS)]);
    },
    failed,
    staleReason: storeStaleReason,
    notReadyReason() {
      if (!roles.answers) return leaderLoop === undefined ? "the service is starting" : leaderLoop.notReadyReason();
      const { failure, tooLarge } = store.status();
      if (tooLarge !== undefined) return tooLarge;
      if (failure !== undefined) return `the database cannot be ${failure.kind === "unavailable" ? "reached" : "read"}`;
      const reason = storeStaleReason() ?? store.status().otherHistory ?? notReadyReason(store.status(), limits);
      // Only the leader knows why.
      if (reason === undefined || !store.status().isOurs) return reason;
      if (leaderLoop?.isLeader === true) return leaderLoop.notReadyReason() ?? reason;
      return `${reason}; /readyz and the log of the process that mirrors say why`;
    },
    status() {
      const { offset, age } = roles.answers ? store.status() : (leaderLoop?.status ?? NO_STATUS);
      return {
        offset,
        age,
        reconnects: roles.mirrors ? ingestor.reconnects() : undefined,
        isLeader: roles.mirrors ? (leaderLoop?.isLeader ?? false) : undefined,
        pool: database.pool,
        heapShare: store.status().heapShare,
      };
    },
    catchUp: limits.readWait === 0 ? undefined : () => store.catchUp(limits.readWait + ROUND_TRIP_MS),
    async close() {
      end.abort();
      await running;
      await database.close();
    },
  };
}

/** What answers come from. */
interface AnsweringStore {
  readonly reader: StoreReader;
  readonly changes: ChangeFeed;
  readonly openScan: () => StoreScan;
  readonly refresh: () => Promise<void>;
  /** Follows the database until the signal is aborted. */
  readonly run: () => Promise<void>;
  readonly catchUp: (timeoutMs: number) => AsyncIterable<CatchUpProgress>;
  readonly status: () => StoreStatus;
  /** The packages of the contracts; undefined if the database lists them. */
  readonly packageIds?: () => Promise<readonly string[]>;
}

interface StoreStatus extends ReplicaStatus {
  readonly heapShare?: number | undefined;
  /** Why the state that the database serves is not read; undefined if it is. */
  readonly tooLarge?: string | undefined;
}

interface StoreOptions extends RetriesOptions {
  readonly database: Database;
  readonly templates: readonly Template[];
  readonly contentId: string;
  readonly cacheBytes: number;
  readonly log: () => Logger | undefined;
  /** Called if the contracts do not fit, and none are served. */
  readonly onUnservable: (error: StateTooLarge) => void;
}

const lost = (log: Logger | undefined, { kind, message }: DatabaseError, served: string): void =>
  log?.warn({ kind, reason: message }, `database not readable; ${served} served until they are stale`);
const recovered = (log: Logger | undefined): void => log?.info({}, "database readable again");

function lookupsOf(options: StoreOptions): AnsweringStore {
  const { database, log } = options;
  const replica = new Replica(database, options);
  const sync = new ReplicaSync({
    ...options,
    replica,
    onLost: (error) => lost(log(), error, "cached contracts are"),
    onRecovered: () => recovered(log()),
  });
  return {
    reader: replica,
    changes: replica.changes,
    openScan: () => replica.openScan(),
    refresh: () => replica.refresh(),
    run: () => sync.run(),
    catchUp: (timeoutMs) => sync.catchUp(timeoutMs),
    status: () => replica.status,
  };
}

function indexOf(options: StoreOptions): AnsweringStore {
  const { database, cacheBytes, log, onUnservable } = options;
  const stateLog = new PostgresLog(database, options);
  const follower = new Follower({
    ...options,
    log: stateLog,
    onLost: (error) => {
      if (!(error instanceof StateTooLarge)) lost(log(), databaseErrorOf(error), "contracts are");
    },
    onRecovered: () => recovered(log()),
    onTooLarge: (error) => {
      if (follower.status.offset === undefined) return onUnservable(error);
      log()?.error(
        { reason: error.reason },
        "the next contracts do not fit; the present ones are served until they are stale",
      );
    },
    onNearlyFull: (share) =>
      log()?.warn(
        { share, hint: "raise --max-old-space-size" },
        "the contracts take more than 80 % of the heap, with all else",
      ),
  });
  const bodies = new Bodies({
    log: stateLog,
    maxBytes: cacheBytes,
    onMissing: (contractIds) => log()?.error({ contractIds }, "the database lacks the content of active contracts"),
    moveOn: () => follower.refresh(),
  });
  return {
    reader: { read: (use) => follower.read(use), bodies },
    changes: follower.changes,
    openScan: () => follower.openScan(),
    refresh: () => follower.refresh(),
    run: () => follower.run(),
    catchUp: (timeoutMs) => follower.catchUp(timeoutMs),
    status() {
      const { failure, isEmpty, ...status } = follower.status;
      const common = { ...status, isOurs: !isEmpty };
      if (failure instanceof StateTooLarge) return { ...common, failure: undefined, tooLarge: failure.reason };
      return { ...common, failure: failure === undefined ? undefined : databaseErrorOf(failure) };
    },
    packageIds: async () => follower.read((view) => view.templateCounts().map(({ packageId }) => packageId)),
  };
}

function throwTooLarge(error: unknown): void {
  if (error instanceof StateTooLarge) throw error;
}

/** The log's errors are for callers; their causes are for operators. */
const databaseErrorOf = (error: unknown): DatabaseError =>
  asDatabaseError(error instanceof StoreUnavailable ? (error.cause ?? error) : error);
