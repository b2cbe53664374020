import { abortablePause } from "../util/async.js";
import type { KeptContracts } from "../domain/ledger.js";
import type { Template } from "../domain/template.js";
import { Bodies } from "../state/bodies.js";
import { Follower } from "../state/follower.js";
import { StoreUnavailable } from "../state/port.js";
import { contentId } from "../state/postgres/content-id.js";
import { StateTooLarge } from "../state/load-state.js";
import { Database } from "../state/postgres/database.js";
import { checkSessions } from "../state/postgres/sessions.js";
import { asDatabaseError, DatabaseError, type DatabaseErrorKind } from "../state/postgres/errors.js";
import { checkSchema, migrate } from "../state/postgres/migrate.js";
import { StoredPackages, storing } from "../state/postgres/packages.js";
import { PostgresLog } from "../state/postgres/log.js";
import type { Logger } from "../util/logger.js";
import { Retries } from "../util/retries.js";
import type { DatabaseUrl } from "../util/urls.js";
import { type LagLimits, notReadyReason, staleReason } from "./lag.js";
import { LeaderLoop } from "./leadership.js";
import type { Ingestor, ParticipantConnection, Source } from "./source.js";

/** What a process does on a database. At least one is true. */
export interface ProcessRoles {
  /** Writes the database, or is on standby to do so. */
  readonly mirrors: boolean;
  readonly answers: boolean;
}

export interface DatabaseOptions {
  readonly url: DatabaseUrl;
  readonly passwordFile: string | undefined;
  /** Largest number of connections for queries. */
  readonly connections: number;
  /** Of the bodies that are kept. */
  readonly cacheBytes: number;
}

export interface DatabaseSourceOptions extends DatabaseOptions {
  readonly roles: ProcessRoles;
  readonly limits: LagLimits;
  readonly templates: readonly Template[];
  readonly kept: KeptContracts;
  readonly ingestor: Ingestor;
  /** Undefined without a participant. */
  readonly connection: ParticipantConnection | undefined;
  readonly end: AbortController;
  /** A monotonic clock, in milliseconds. */
  readonly clock: () => number;
  readonly log: Logger;
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
  roles,
  limits,
  templates,
  kept,
  ingestor,
  connection,
  end,
  clock,
  log,
}: DatabaseSourceOptions): Source {
  const { signal } = end;
  const pause = abortablePause(signal);
  const database = new Database({
    url: url.secret,
    passwordFile,
    maxConnections: connections,
    onShortage(error) {
      if (error === undefined) return log.info({}, "the database gives further connections again");
      const message = "the database gives no further connection; requests wait for those that are open";
      log.warn({ reason: error.message }, message);
    },
  });
  let fail: ((error: StateTooLarge) => void) | undefined;
  const failed = new Promise<StateTooLarge>((resolve) => (fail = resolve));
  const content = contentId(templates, kept);
  const stateLog = new PostgresLog(database, { templates, contentId: content });
  const retries = { clock, pause, signal };
  const follower = new Follower({
    ...retries,
    log: stateLog,
    onLost(error) {
      if (error instanceof StateTooLarge) return;
      const { kind, message } = databaseErrorOf(error);
      log.warn({ kind, reason: message }, "database not readable; contracts are served until they are stale");
    },
    onRecovered: () => log.info({}, "database readable again"),
    onTooLarge(error) {
      if (follower.status.offset === undefined) return fail?.(error);
      const message = "the next contracts do not fit; the present ones are served until they are stale";
      log.error({ reason: error.reason }, message);
    },
    onNearlyFull(share) {
      const message = "the contracts take more than 80 % of the usable heap, with all else";
      log.warn({ share, hint: "raise --max-old-space-size" }, message);
    },
  });
  const bodies = new Bodies({
    log: stateLog,
    maxBytes: cacheBytes,
    onMissing: (contractIds) => log.error({ contractIds }, "the database lacks the content of active contracts"),
    moveOn: () => follower.refresh(),
  });
  const storedPackages = new StoredPackages(database, content);
  let hasSessions = false;
  let leaderLoop: LeaderLoop | undefined;
  let running: Promise<unknown> = Promise.resolve();

  const prepareSchema = async (): Promise<void> => {
    if (!hasSessions) await checkSessions(database);
    hasSessions = true;
    // Where roles have processes of their own, an operator decides when: `offledger migrate`.
    if (!roles.mirrors || !roles.answers) return checkSchema(database);
    const { from, to } = await migrate(database);
    if (from < to) log.info({ from, to }, "database schema migrated");
  };
  const run = async (): Promise<void> => {
    await prepareSchema();
    if (roles.mirrors) leaderLoop = new LeaderLoop({ ...retries, database, ingestor, contentId: content, log });
    await Promise.all([roles.answers ? follower.run() : undefined, leaderLoop?.run()]);
  };
  const storeStaleReason = (): string | undefined =>
    follower.status.isEmpty
      ? "no mirror of this release and configuration has filled the database: start one, or wait for its snapshot"
      : staleReason(follower.status, limits);
  return {
    name: roles.mirrors ? `${ingestor.name} by way of ${url.name}` : url.name,
    reader: { read: (use) => follower.read(use), ids: (template) => follower.ids(template), bodies },
    changes: follower.changes,
    history: connection?.history,
    contracts: connection?.contracts,
    packages: {
      catalog: connection === undefined ? storedPackages : storing(connection.packages, storedPackages),
      ids: async () => (roles.answers ? follower.packageIds() : storedPackages.ids()),
    },
    parties: () => connection?.parties(),
    async start() {
      // Fail the start only for errors that a retry cannot mend.
      try {
        await prepareSchema();
      } catch (error) {
        if (!(error instanceof DatabaseError) || !MENDS_ITSELF.has(error.kind)) throw error;
        log.warn({ reason: error.message }, "database not usable yet; retrying");
      }
      running = new Retries(retries).run(run, (_failures, error) => {
        const { kind, message } = asDatabaseError(error);
        // The start has already logged it.
        if (!MENDS_ITSELF.has(kind)) log.error({ kind, reason: message }, "database not usable; retrying");
        return RETRY_MS;
      });
      if (roles.answers) await Promise.race([follower.refresh().catch(throwTooLarge), pause(RETRY_MS)]);
    },
    failed,
    staleReason: storeStaleReason,
    notReadyReason() {
      if (!roles.answers) return leaderLoop === undefined ? "the service is starting" : leaderLoop.notReadyReason();
      const { failure, otherHistory, isEmpty } = follower.status;
      if (failure instanceof StateTooLarge) return failure.reason;
      if (failure !== undefined) {
        return `the database cannot be ${databaseErrorOf(failure).kind === "unavailable" ? "reached" : "read"}`;
      }
      const reason = storeStaleReason() ?? otherHistory ?? notReadyReason(follower.status, limits);
      if (reason === undefined) return undefined;
      // Only the leader knows why.
      if (leaderLoop?.isLeader === true) return leaderLoop.notReadyReason() ?? reason;
      return isEmpty ? reason : `${reason}; /readyz and the log of the process that mirrors say why`;
    },
    status() {
      const { offset, age } = roles.answers ? follower.status : (leaderLoop?.status ?? NO_STATUS);
      return {
        offset,
        age,
        reconnects: roles.mirrors ? ingestor.reconnects() : undefined,
        foreign: leaderLoop?.isLeader === true ? ingestor.foreign() : undefined,
        isLeader: roles.mirrors ? (leaderLoop?.isLeader ?? false) : undefined,
        pool: database.pool,
        heapShare: follower.heapShare,
      };
    },
    catchUp: limits.readWait === 0 ? undefined : () => follower.catchUp(limits.readWait + ROUND_TRIP_MS),
    async close() {
      end.abort();
      await running;
      await database.close();
    },
  };
}

function throwTooLarge(error: unknown): void {
  if (error instanceof StateTooLarge) throw error;
}

/** The log's errors are for callers; their causes are for operators. */
const databaseErrorOf = (error: unknown): DatabaseError =>
  asDatabaseError(error instanceof StoreUnavailable ? (error.cause ?? error) : error);
