/** The composition root: creates the parts, connects them, starts and stops them. */
import { setTimeout as pause } from "node:timers/promises";
import { pino } from "pino";
import { createAuth } from "../auth/auth.js";
import type { Config } from "../config/config.js";
import { type AppConfig, type Limits, limitsOf } from "../config/limits.js";
import { readInstruments } from "../config/setting-files.js";
import type { ContractSource } from "../domain/ledger.js";
import { createSource } from "../ingest/create-source.js";
import type { ProcessRoles } from "../ingest/database-source.js";
import type { Source } from "../ingest/source.js";
import { RegistrarMonitor } from "../registry/check/registrars.js";
import { type CheckedInventory, firstInventory, scanInventory } from "../registry/check/scan.js";
import { QueryExecutor } from "../service/executor.js";
import { ChangeStreams } from "../service/change-streams.js";
import { health } from "../service/health.js";
import { services } from "../service/services.js";
import { ReadinessLog } from "../telemetry/freshness.js";
import { startTelemetry } from "../telemetry/telemetry.js";
import { standardServices } from "../transport/rpc/standard-services.js";
import type { Budgets } from "../transport/limits.js";
import { createServer } from "../transport/server.js";
import { WatchCalls } from "../transport/watch/watch-calls.js";
import type { Logger } from "../util/logger.js";
import { packageVersion } from "../util/package-files.js";
import { monitorWarnings, operatorServices, type RunningOperator, startOperator } from "./operator.js";
import { openApiDocument, serverOptions, sourceOptions } from "./options.js";
import { followPackageVersions, type VersionSync } from "./package-versions.js";
import { configurationId, loadRegistry } from "./registry.js";
import { rootRegistrarOf } from "./root-registrar.js";

/** A running service. */
export interface App {
  /** The base URL, without a trailing slash. */
  readonly url: string;
  readonly log: Logger;
  /** The origin of the contracts: a path or a URL. */
  readonly source: string;
  /** Why the service was not ready when it had started; undefined if it was. */
  readonly notReadyReason: string | undefined;
  /** What the service served when it had started; undefined unless that was a file. */
  readonly inventory: CheckedInventory | undefined;
  /**
   * What it serves when it is ready for the first time, read beside the requests. Undefined if it is closed before, if
   * the registry fails, and for a process that only mirrors: it serves nothing. Never rejects.
   */
  firstInventory(): Promise<CheckedInventory | undefined>;
  /** Resolves with the error that ends a service after its start: the caller closes it. Undefined if there can be none. */
  readonly failed: Promise<Error> | undefined;
  /** The URL of the metrics; undefined if none are served. */
  readonly metricsUrl: string | undefined;
  /**
   * Accepts no more connections, waits for pending requests within the grace period, and releases all resources. `reason`
   * is why, for the log. With `drains` it serves on before that, and says that it is not ready.
   */
  close(reason?: string, drains?: boolean): Promise<void>;
}

/** Minimum time to send the last traces when requests used up the grace period, in milliseconds. */
const TRACE_FLUSH_MS = 250;

/** What is not stored may be on a ledger that cannot be asked. */
const UNTOLD: ContractSource = {
  contracts: (contractIds) => Promise.resolve(new Map(contractIds.map((id) => [id, "unread"]))),
};

/** The service must not wait for the check of a large file. */
const MAX_CHECKED_AT_START = 1_000;

/** The roles of a process that does not share its work. */
const STANDALONE: ProcessRoles = { mirrors: true, answers: true };

/**
 * Starts the service, or with a database the roles of this process: one that only mirrors serves health operations
 * only. `now` returns milliseconds since 1970, for deadlines and validity; `clock` is monotonic, for ages and waits.
 *
 * Throws SnapshotError if the file cannot be served, SettingError if another resource that the configuration names
 * cannot be used, DatabaseError if the database cannot be used and a retry would not help, StateTooLarge if the heap has no
 * room for its contracts, and the system error if the address cannot be listened on. After an error nothing keeps running.
 */
export async function startApp(
  config: AppConfig,
  now: () => number = Date.now,
  roles: ProcessRoles = STANDALONE,
  clock: () => number = () => performance.now(),
): Promise<App> {
  const limits = limitsOf(config);
  const shutdown = new ShutdownSequence(limits.graceSeconds * 1000);
  try {
    return await start(config, limits, { now, clock }, roles, shutdown);
  } catch (error) {
    await shutdown.run();
    throw error;
  }
}

async function start(
  config: Config,
  limits: Limits,
  { now, clock }: { readonly now: () => number; readonly clock: () => number },
  roles: ProcessRoles,
  shutdown: ShutdownSequence,
): Promise<App> {
  const registry = await loadRegistry(config);
  const overrides = await readInstruments(config.instruments);
  const openApi = openApiDocument(config);
  const options = await serverOptions(config, openApi);
  const { budgets } = options;
  const log = pino({ level: config.logLevel }, process.stderr);
  const source = createSource(await sourceOptions(config), roles, registry.templates, now, clock, log);
  shutdown.add(() => source.close());
  let isDraining = false;
  let versions: VersionSync | undefined;
  // Answers say what the packages can do. A mirror gives none, and a replica finds in the database what its mirror has asked.
  const waitsForVersions = roles.answers && config.ledgerUrl !== undefined && registry.learnPackages !== undefined;
  const notReadyReason = () => {
    if (isDraining) return "the service is stopping";
    const reason = source.notReadyReason();
    if (reason !== undefined || !waitsForVersions || versions?.isSettled === true) return reason;
    return "the participant has not said yet which versions the packages of the contracts have";
  };
  const configuration = await configurationId(config, overrides);
  const readById = registry.readById?.templates ?? [];
  // A replica without a participant: a mirror that has one stores none of them.
  const isUntold = !roles.mirrors && !config.keepHoldings && readById.some((one) => one.isReadById === true);
  const ledger = source.contracts?.(readById) ?? (isUntold ? UNTOLD : undefined);
  const executor = new QueryExecutor(registry, source.reader, source, now, source.history, ledger, configuration);
  const watch = roles.answers
    ? createWatch(source, configuration, limits.maxWatches, budgets, log, shutdown)
    : undefined;
  log.info(
    {
      version: packageVersion(),
      node: process.version,
      source: source.name,
      parties: config.ledgerParties,
      registry: config.registry,
      host: config.host,
      port: config.port,
    },
    "offledger starts",
  );
  const registrars = roles.answers ? new RegistrarMonitor({ registry, source, now, clock, log }) : undefined;
  if (registrars !== undefined) shutdown.add(() => registrars.close());
  const standing = () => registrars?.warnings() ?? [];
  const warnings = roles.answers
    ? monitorWarnings(config, limits.credentialDays, registry, source, { now, clock, standing }, log)
    : undefined;
  if (warnings !== undefined) shutdown.add(() => warnings.close());
  const telemetry = await startTelemetry(config, log, {
    version: packageVersion(),
    notReadyReason,
    status: () => source.status(),
    templateCounts: () => source.reader.read((view) => view.templateCounts()),
    budgets: {
      body_bytes: budgets.bodies,
      response_bytes: budgets.responses,
      requests: budgets.requests,
      streams: budgets.streams,
    },
    warnings,
    watch,
  });
  let operator: RunningOperator | undefined;
  // After the traces: metrics stay readable until the end.
  shutdown.add(async (graceMs) => operator?.close(graceMs));
  shutdown.add((graceMs) => telemetry.close(Math.max(TRACE_FLUSH_MS, graceMs)));
  const rootRegistrar = rootRegistrarOf(config, registry, source, now, clock);
  const serviceOptions = { overrides, countsHoldings: config.totalSupply, openApi, notReadyReason };
  const { metrics, requests } = telemetry;
  const bindings = roles.answers
    ? services(executor, { ...serviceOptions, transfers: metrics?.transfers })
    : [health(notReadyReason)];
  const guarded = [...bindings.map(({ service }) => service), ...(watch === undefined ? [] : [watch.service])];
  const plugins = roles.answers ? createAuth(config, guarded, now, clock) : [];
  if (metrics !== undefined && requests !== undefined) {
    const shared = { config, registry, executor, source, warnings, requests, now, log, rootRegistrar };
    const parts = { ...shared, limits: options.arguments };
    const own = roles.answers
      ? await operatorServices({ ...parts, bindings: services(executor, serviceOptions) })
      : undefined;
    if (own !== undefined) shutdown.add(async () => own.close());
    const shown = { bindings: own?.bindings ?? [], health: health(notReadyReason), exposition: metrics };
    operator = await startOperator(config, options, shown, log);
  }
  const server = await createServer(bindings, {
    ...options,
    rootRegistrar,
    log,
    plugins,
    observers: telemetry.observers,
    onRefused: metrics?.requests.countRefused,
    watch,
    standard: standardServices({ services: guarded, notReadyReason }),
  });
  shutdown.add((graceMs) => server.close(graceMs));
  const { credentialDays } = limits;
  const checked = { credentialDays, maxContracts: MAX_CHECKED_AT_START };
  const firstEnd = new AbortController();
  const first = { registry, source, ...checked, now, log };
  let running: Promise<CheckedInventory | undefined> | undefined;
  const readFirst = () => (running ??= firstInventory(first, firstEnd.signal));
  shutdown.add(async () => {
    firstEnd.abort();
    await running;
  });
  await source.start();
  const readiness = new ReadinessLog(() => source.notReadyReason(), log);
  shutdown.add(async () => readiness.close());
  if (source.packages !== undefined && registry.learnPackages !== undefined) {
    // A process that only mirrors has no state that could be stale.
    const isCurrent = () => (roles.answers ? source.staleReason() : source.notReadyReason()) === undefined;
    const following = followPackageVersions(registry, source.packages, isCurrent, log);
    versions = following;
    shutdown.add(async () => following.close());
  }
  // A file has been read.
  const isFile = config.ledgerUrl === undefined && config.databaseUrl === undefined;
  const inventory = isFile ? await scanInventory(source.reader, registry, { ...checked, now }) : undefined;
  const url = await server.listen(config.host, config.port);
  return {
    url,
    log,
    source: source.name,
    notReadyReason: notReadyReason(),
    inventory,
    firstInventory: async () => inventory ?? (roles.answers ? readFirst() : undefined),
    failed: source.failed,
    metricsUrl: operator?.metricsUrl,
    async close(reason = "closed by its caller", drains = false) {
      const { drainSeconds } = config;
      const { graceSeconds } = limits;
      if (drains && drainSeconds > 0) {
        log.info({ reason, drainSeconds }, "the service drains: it serves, but is not ready");
        isDraining = true;
        server.drain();
        await pause(drainSeconds * 1_000);
      }
      log.info({ reason, graceSeconds }, "the service stops");
      await shutdown.run();
    },
  };
}

/** The streams of what changes in a source, which end with it. */
function createWatch(
  source: Source,
  configuration: string,
  maxStreams: number,
  budgets: Budgets,
  log: Logger,
  shutdown: ShutdownSequence,
): WatchCalls {
  const streams = new ChangeStreams({
    changes: source.changes,
    freshness: source,
    age: () => source.status().age,
    configurationId: configuration,
  });
  shutdown.add(async () => streams.close());
  const report = (defect: unknown, rpc?: string) => log.error({ err: defect, rpc }, "request failed");
  return new WatchCalls({ streams, maxStreams, memory: budgets.streams, report });
}

/** Stops a resource. `graceMs` is the remaining time, in milliseconds, at least 0. */
type Stop = (graceMs: number) => Promise<void>;

/** Stops started resources in reverse order, all together within `graceMs`. */
class ShutdownSequence {
  readonly #stops: Stop[] = [];

  constructor(private readonly graceMs: number) {}

  add(stop: Stop): void {
    this.#stops.push(stop);
  }

  /** Runs every stop, even if one fails; throws the first error at the end. Further calls do nothing. */
  async run(): Promise<void> {
    const deadline = performance.now() + this.graceMs;
    const errors: unknown[] = [];
    for (let stop = this.#stops.pop(); stop !== undefined; stop = this.#stops.pop()) {
      try {
        // In sequence: a later resource uses the earlier ones.
        // oxlint-disable-next-line no-await-in-loop
        await stop(Math.max(0, deadline - performance.now()));
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}
