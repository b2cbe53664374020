/** A replica that serves from PostgreSQL, next to a process that holds all contracts in memory. */
import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import { migrateDatabase } from "../src/cli/migrate.js";
import { BuiltService } from "../test/fixtures/built-service.js";
import { PostgresServer } from "../test/fixtures/postgres-server.js";
import { type Load, loadHttp1 } from "./load.js";
import { CONTRACTS, measureUpdates, OFFERS, secondsUntilReady, SETTLE_MS, startParticipant } from "./mirror.js";
import { type Keep, withResources } from "./processes.js";
import { encodeAccept } from "./registry.js";
import { compare, measureRounds, type Row } from "./table.js";

const ROUNDS = 7;
const SECONDS = 0.5;
const MAX_COLD = 2_000;
const WARM = 500;
/** Coprime to the number of offers, so that steps of it reach each once. */
const STEP = 7_919;

export async function measurePostgres(): Promise<Row[]> {
  return withResources(async (keep) => {
    const database = await keep(createDatabase(keep));
    const participant = await keep(startParticipant());
    const withDatabase = {
      ...participant.settings,
      OFFLEDGER_DATABASE_URL: database.url,
    };

    let startedAt = performance.now();
    const memory = await keep(BuiltService.start({ settings: participant.settings }));
    const memorySeconds = await secondsUntilReady(memory, startedAt);
    const fromMemory = await measureUpdates(participant, memory.url);

    startedAt = performance.now();
    await keep(BuiltService.start({ settings: withDatabase, command: "mirror" }));
    const replica = await keep(BuiltService.start({ settings: withDatabase, command: "api" }));
    const seconds = await secondsUntilReady(replica, startedAt);
    const { rss } = await replica.usage();

    const reads = await measureReads(memory.url, replica.url);
    await memory.stop();
    const fromDatabase = await measureUpdates(participant, replica.url);
    const inMemory = (row: Row, index: number) => compare(row, "memory", fromMemory[index]?.values ?? []);
    const snapshot: Row = { title: "snapshot", unit: "contracts/s", values: [CONTRACTS / seconds] };
    return [
      compare(snapshot, "memory", [CONTRACTS / memorySeconds]),
      { title: "resident set of a replica", unit: "MB", values: [rss / 1e6] },
      ...reads,
      ...fromDatabase.map(inMemory),
    ];
  });
}

const loadOffers = (count: number): Load => {
  let next = 0;
  return loadHttp1(() => encodeAccept((next++ * STEP) % count));
};

/** Measures requests per second. */
const rateOf = (url: string, load: Load, max?: number) => async () => {
  const { requests, seconds } = await load(url, SECONDS, max);
  return requests / seconds;
};

/** Cold: each offer once. Warm: some offers in turn, again and again. */
async function measureReads(memory: string, replica: string): Promise<Row[]> {
  await delay(SETTLE_MS);
  for (const url of [memory, replica]) await loadOffers(WARM)(url, 4);
  const unit = "requests/s";
  return measureRounds(ROUNDS, [
    {
      title: "REST, transfer accept, cold",
      unit,
      measure: rateOf(replica, loadOffers(OFFERS), MAX_COLD),
      baseline: { title: "memory", measure: rateOf(memory, loadOffers(OFFERS), MAX_COLD) },
    },
    {
      title: "REST, transfer accept, warm",
      unit,
      measure: rateOf(replica, loadOffers(WARM)),
      baseline: { title: "memory", measure: rateOf(memory, loadOffers(WARM)) },
    },
  ]);
}

/** On the server of OFFLEDGER_TEST_DATABASE_URL, or on one of its own, which does not sync to disk. */
export async function createDatabase(keep: Keep) {
  const configured = process.env["OFFLEDGER_TEST_DATABASE_URL"];
  const server = configured ?? (await keep(startServer())).url;
  const name = `bench_${randomBytes(8).toString("hex")}`;
  const execute = async (statement: string) => {
    const client = new Client({ connectionString: server });
    await client.connect();
    try {
      await client.query(statement);
    } finally {
      await client.end();
    }
  };
  await execute(`CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = name;
  await migrateDatabase(url.href);
  return { url: url.href, stop: () => execute(`DROP DATABASE ${name} WITH (FORCE)`) };
}

async function startServer() {
  const server = await PostgresServer.create();
  return { url: server.url, stop: () => server.remove() };
}
