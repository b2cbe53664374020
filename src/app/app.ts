/** The composition root: picks the source, wires the parts, opens the listener. */
import { pino } from "pino";
import { openApi, packageVersion } from "./package-files.js";
import { ShutdownSequence } from "./shutdown-sequence.js";
import { createAuth } from "../auth/create-auth.js";
import type { Config } from "../config/config.js";
import { readInstruments } from "../config/instruments-file.js";
import { Decoder } from "../ledger/decode.js";
import { parseSnapshot, type Snapshot } from "../ledger/file/snapshot.js";
import { QueryExecutor } from "../registry/executor.js";
import type { Inventory } from "../registry/sdk/registry.js";
import { loadRegistry } from "./load-registry.js";
import { serverOptions } from "./server-options.js";
import { sourceOptions } from "./source-options.js";
import { services } from "../service/services.js";
import { health } from "../service/health.js";
import type { Roles } from "../ingest/source/database-source.js";
import { createSource } from "../ingest/source/create-source.js";
import { standardServices } from "../transport/connect/standard-services.js";
import { startTelemetry } from "../telemetry/telemetry.js";
import { MemoryStore } from "../store/memory/memory-store.js";
import { Database } from "../store/postgres/database.js";
import { migrate, type Migrated } from "../store/postgres/migrate.js";
import { avoidNextTickDeoptimisation } from "../transport/fast-path/next-tick-workaround.js";
import { createServer } from "../transport/server.js";

/** A running service. */
export interface App {
  /** Where it answers, without a trailing slash. */
  readonly url: string;
  /** Where its contracts come from: a path or a URL. */
  readonly source: string;
  /** Why it was not ready yet when it had started; undefined where it was. */
  readonly notReadyReason: string | undefined;
  /** What it served when it started; undefined where it is not all in this process. */
  readonly inventory: Inventory | undefined;
  /** Where metrics are; undefined where none are served. */
  readonly metricsUrl: string | undefined;
  /** Takes no more requests, ends those under way, and lets go of everything. */
  close(): Promise<void>;
}

/** What the last traces have to be sent where the requests have taken all of the grace, in milliseconds. */
const TRACE_FLUSH_MS = 250;

/** A process by itself, which does all that there is to do. */
const STANDALONE: Roles = { mirrors: true, answers: true };

/**
 * Starts the service, or on a database the part of it that `roles` say: a process
 * that only mirrors has no operations but those that tell whether it is well.
 * Throws SnapshotError where the file cannot be served,
 * SettingError where another that the configuration names cannot be used,
 * DatabaseError where the database cannot be used and will not be better by
 * itself, and the system's error where the address cannot be listened on; then nothing is
 * left running. `now` gives milliseconds since 1970.
 */
export async function startApp(config: Config, now: () => number = Date.now, roles: Roles = STANDALONE): Promise<App> {
  avoidNextTickDeoptimisation();
  const shutdown = new ShutdownSequence(config.graceSeconds * 1000);
  try {
    return await start(config, now, roles, shutdown);
  } catch (error) {
    await shutdown.run();
    throw error;
  }
}

async function start(config: Config, now: () => number, roles: Roles, shutdown: ShutdownSequence): Promise<App> {
  const registry = await loadRegistry(config);
  const overrides = await readInstruments(config.instruments);
  const options = await serverOptions(config, openApi);
  const source = createSource(await sourceOptions(config), roles, registry.templates, now);
  shutdown.add(() => source.close());
  const notReadyReason = () => source.notReadyReason();
  const executor = new QueryExecutor(registry, source.reader, source, now, source.history);
  const bindings = roles.answers
    ? services(executor, { overrides, countsHoldings: config.totalSupply, openApi, notReadyReason })
    : health(notReadyReason);
  const guards = roles.answers ? createAuth(config, bindings, now) : [];
  const log = pino({ level: config.logLevel }, process.stderr);
  const telemetry = await startTelemetry(config, log, {
    version: packageVersion(),
    notReadyReason,
    status: () => source.status(),
    templateCounts: source.isInMemory ? () => source.reader.read((view) => view.templateCounts()) : undefined,
  });
  shutdown.add((graceMs) => telemetry.close(Math.max(TRACE_FLUSH_MS, graceMs)));
  const served = bindings.map(({ service }) => service);
  const server = await createServer(bindings, {
    ...options,
    log,
    guards,
    observers: telemetry.observers,
    plugin: (report) => standardServices({ services: served, notReadyReason, reflects: config.reflection, report }),
  });
  shutdown.add((graceMs) => server.close(graceMs));
  await source.start(log);
  // What is at hand is not waited for.
  const isKnown = source.isInMemory && source.staleReason() === undefined;
  const inventory = isKnown ? await source.reader.read((view) => registry.inventory(view)) : undefined;
  const url = await server.listen(config.host, config.port);
  const { metricsUrl } = telemetry;
  return {
    url,
    source: source.name,
    notReadyReason: notReadyReason(),
    inventory,
    metricsUrl,
    close: () => shutdown.run(),
  };
}

/** Brings the schema of a database up to date. Throws DatabaseError. */
export async function migrateDatabase(url: URL): Promise<Migrated> {
  const database = new Database(url.href, 1);
  try {
    return await migrate(database);
  } finally {
    await database.close();
  }
}

/** What a snapshot file would serve, and what in it is wrong. */
export interface Check {
  readonly snapshot: Snapshot;
  /** Undefined where the file has problems. */
  readonly inventory: Inventory | undefined;
}

export async function checkSnapshot(config: Config, content: string): Promise<Check> {
  const registry = await loadRegistry(config);
  await readInstruments(config.instruments);
  const snapshot = parseSnapshot(content, new Decoder(registry.templates, config.totalSupply));
  if (snapshot.problems.length > 0) return { snapshot, inventory: undefined };
  const store = new MemoryStore();
  await store.replace(snapshot.contracts, snapshot.offset);
  return { snapshot, inventory: store.read((view) => registry.inventory(view)) };
}
