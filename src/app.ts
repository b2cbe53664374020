/** The composition root: picks the source, wires the parts, opens the listener. */
import { pino } from "pino";
import { openApi, packageVersion } from "./contents.js";
import { Ends } from "./ends.js";
import { accessOf } from "./access/access.js";
import type { Config } from "./config/config.js";
import { readInstruments } from "./config/instruments-file.js";
import { Decoder } from "./ledger/decode.js";
import { readSnapshot, type Snapshot } from "./ledger/file/snapshot.js";
import { Engine } from "./registry/engine.js";
import type { Inventory } from "./registry/registry.js";
import { registryOf } from "./registries.js";
import { serverOptions } from "./server-options.js";
import { services } from "./service/services.js";
import { health } from "./service/health.js";
import type { Roles } from "./source/in-database.js";
import { sourceOf } from "./source/source-of.js";
import { standard } from "./standard/standard.js";
import { startTelemetry } from "./telemetry/telemetry.js";
import { MemoryStore } from "./store/memory.js";
import { Database } from "./store/postgres/database.js";
import { migrate, type Migrated } from "./store/postgres/migrate.js";
import { keepTicksQuick } from "./wire/quick-ticks.js";
import { createServer } from "./wire/server.js";

/** A running service. */
export interface App {
  /** Where it answers, without a trailing slash. */
  readonly url: string;
  /** Where its contracts come from: a path or a URL. */
  readonly source: string;
  /** Why it was not ready yet when it had started; undefined where it was. */
  readonly unreadiness: string | undefined;
  /** What it served when it started; undefined where it is not all in this process. */
  readonly inventory: Inventory | undefined;
  /** Where metrics are; undefined where none are served. */
  readonly metricsUrl: string | undefined;
  /** Takes no more requests, ends those under way, and lets go of everything. */
  close(): Promise<void>;
}

/** What the last traces have to be sent where the requests have taken all of the grace, in milliseconds. */
const LAST_WORDS_MS = 250;

/** A process by itself, which does all that there is to do. */
const ALONE: Roles = { mirrors: true, answers: true };

/**
 * Starts the service, or on a database the part of it that `roles` say: a process
 * that only mirrors has no operations but those that tell whether it is well.
 * Throws SnapshotError where the file cannot be served,
 * SettingError where another that the configuration names cannot be used,
 * DatabaseError where the database cannot be used and will not be better by
 * itself, and the system's error where the address cannot be listened on; then nothing is
 * left running. `now` gives milliseconds since 1970.
 */
export async function startApp(config: Config, now: () => number = Date.now, roles: Roles = ALONE): Promise<App> {
  keepTicksQuick();
  const ends = new Ends(config.graceSeconds * 1000);
  try {
    return await start(config, now, roles, ends);
  } catch (error) {
    await ends.all();
    throw error;
  }
}

async function start(config: Config, now: () => number, roles: Roles, ends: Ends): Promise<App> {
  const registry = await registryOf(config);
  const words = await readInstruments(config.instruments);
  const options = await serverOptions(config, openApi);
  const source = await sourceOf(config, roles, registry.kinds, now);
  ends.add(() => source.close());
  const unreadiness = () => source.unreadiness();
  const engine = new Engine(registry, source.reader, source, now, source.history);
  const offered = roles.answers
    ? services(engine, { words, countsHoldings: config.totalSupply, openApi, unreadiness })
    : health(unreadiness);
  const guards = roles.answers ? accessOf(config, offered, now) : [];
  const log = pino({ level: config.logLevel }, process.stderr);
  const telemetry = await startTelemetry(config, log, {
    version: packageVersion(),
    unreadiness,
    standing: () => source.standing(),
    census: source.isAtHand ? () => source.reader.read((view) => view.census()) : undefined,
  });
  ends.add((graceMs) => telemetry.close(Math.max(LAST_WORDS_MS, graceMs)));
  const served = offered.map(({ service }) => service);
  const server = await createServer(offered, {
    ...options,
    log,
    guards,
    watchers: telemetry.watchers,
    beside: (report) => standard({ services: served, unreadiness, reflects: config.reflection, report }),
  });
  ends.add((graceMs) => server.close(graceMs));
  await source.start(log);
  // What is at hand is not waited for.
  const isKnown = source.isAtHand && source.refusal() === undefined;
  const inventory = isKnown ? await source.reader.read((view) => registry.inventory(view)) : undefined;
  const url = await server.listen(config.host, config.port);
  const { metricsUrl } = telemetry;
  return { url, source: source.name, unreadiness: unreadiness(), inventory, metricsUrl, close: () => ends.all() };
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
  const registry = await registryOf(config);
  await readInstruments(config.instruments);
  const snapshot = readSnapshot(content, new Decoder(registry.kinds, config.totalSupply));
  if (snapshot.problems.length > 0) return { snapshot, inventory: undefined };
  const store = new MemoryStore();
  await store.replace(snapshot.contracts, snapshot.offset);
  return { snapshot, inventory: store.read((view) => registry.inventory(view)) };
}
