/** Metrics of a mirrored ledger and of a shared database. */
import { expect, onTestFinished, test } from "vitest";
import type { Config } from "../../src/config/config.js";
import { freshDatabase } from "../fixtures/postgres.js";
import { until } from "../fixtures/wait.js";
import { Pairs } from "../ingest/database/pairs.js";
import { Participant } from "../scripted-participant/participant.js";
import { main, run } from "../fixtures/program.js";
import { parties } from "../fixtures/elements.js";
import { scrape, valueOf } from "./exposition.js";
import { start } from "./starting.js";

async function participant(): Promise<Participant> {
  const { ledger } = new Pairs(3);
  const made = await Participant.start({ ledger, checkpointMs: 20 });
  onTestFinished(() => made.stop());
  return made;
}

async function database(): Promise<URL> {
  const made = await freshDatabase();
  onTestFinished(() => made.drop());
  return new URL(made.url);
}

const following = ({ url }: Participant): Partial<Config> => ({
  ledgerUrl: new URL(url),
  ledgerParties: [parties.operator],
  metricsPort: 0,
  graceSeconds: 2,
});

/** The current value of a metric without labels; undefined if it has no sample. */
const now = async (url: string | undefined, name: string) => valueOf((await scrape(url)).samples, `offledger_${name}`);

/** Cuts the open streams; false if there were none. */
function cuts({ faults }: Participant): boolean {
  try {
    faults.cut({ streams: "open" });
    return true;
  } catch {
    return false;
  }
}

test("a mirrored ledger: offset, lag, reconnects, readiness", async () => {
  const ledger = await participant();
  const app = await start({ ...following(ledger), unreadySeconds: 1 }, undefined, Date.now);
  await until("it is ready", async () => (await now(app.metricsUrl, "ready")) === 1);
  const { end } = ledger.ledger;
  await until("it has reached the ledger end", async () => (await now(app.metricsUrl, "ledger_offset")) === end);
  expect(await now(app.metricsUrl, "ledger_lag_seconds")).toBeLessThan(1.5);
  expect(await now(app.metricsUrl, "ledger_reconnects_total")).toBe(0);
  expect(await now(app.metricsUrl, "mirroring")).toBe(1);
  expect(await now(app.metricsUrl, "database_waiting")).toBeUndefined();
  for (const times of [1, 2]) {
    await until("a stream is cut", () => cuts(ledger));
    await until("the cut is counted", async () => (await now(app.metricsUrl, "ledger_reconnects_total")) === times);
  }
  await ledger.stop();
  await until("it is not ready", async () => (await now(app.metricsUrl, "ready")) === 0);
  expect(await now(app.metricsUrl, "ledger_lag_seconds")).toBeGreaterThan(1);
  expect(await now(app.metricsUrl, "ledger_offset")).toBe(end);
});

test("a shared database: the leader, a standby and a replica", async () => {
  const databaseUrl = await database();
  const config = { ...following(await participant()), databaseUrl };
  const mirrors = { mirrors: true, answers: false };
  const first = await start(config, mirrors, Date.now);
  await until("the first mirrors", async () => (await now(first.metricsUrl, "ledger_offset")) !== undefined);
  const second = await start(config, mirrors, Date.now);
  await until("the second is on standby", async () => (await now(second.metricsUrl, "ready")) === 1);
  const replica = await start({ databaseUrl, metricsPort: 0 }, { mirrors: false, answers: true }, Date.now);
  await until("the replica is ready", async () => (await now(replica.metricsUrl, "ready")) === 1);
  expect(await now(first.metricsUrl, "mirroring")).toBe(1);
  expect(await now(second.metricsUrl, "mirroring")).toBe(0);
  expect(await now(second.metricsUrl, "ledger_offset")).toBeUndefined();
  expect(await now(replica.metricsUrl, "mirroring")).toBeUndefined();
  expect(await now(replica.metricsUrl, "ledger_reconnects_total")).toBeUndefined();
  expect(await now(replica.metricsUrl, "ledger_offset")).toBe(await now(first.metricsUrl, "ledger_offset"));
  expect(await now(replica.metricsUrl, "ledger_lag_seconds")).toBeLessThan(10);
  const { samples } = await scrape(replica.metricsUrl);
  const connections = samples.filter(({ name }) => name === "offledger_database_connections");
  expect(connections.map(({ labels }) => labels.state)).toEqual(["in_use", "idle"]);
  expect(connections.reduce((sum, { value }) => sum + value, 0)).toBeGreaterThan(0);
  expect(valueOf(samples, "offledger_database_waiting")).toBe(0);
  // Contracts in a database are not counted on a scrape.
  expect(samples.some(({ name }) => name === "offledger_store_contracts")).toBe(false);
  await first.close();
  await until("the second mirrors", async () => (await now(second.metricsUrl, "mirroring")) === 1);
});

test("a metrics port in use stops the program, which names the setting", async () => {
  const app = await start({ metricsPort: 0 });
  const { port } = new URL(app.metricsUrl ?? "");
  const env = { OFFLEDGER_PORT: "0", OFFLEDGER_METRICS_PORT: port };
  const { code, err } = await run(process.execPath, [main, "serve"], { cwd: process.cwd(), env });
  expect(code).toBe(2);
  expect(err).toMatch(/^offledger: OFFLEDGER_METRICS_PORT.* EADDRINUSE/m);
});
