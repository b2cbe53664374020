/** Metrics and warnings of services that mirror a ledger, alone and on a shared database. */
import { describe, expect, onTestFinished, test } from "vitest";
import type { App } from "../../src/app/app.js";
import { migrateDatabase } from "../../src/cli/migrate.js";
import type { AppConfig } from "../../src/config/limits.js";
import { parties } from "../fixtures/elements.js";
import { completeElements } from "../fixtures/operation-calls.js";
import { ownModule } from "../fixtures/own-registry.js";
import { databaseAt, freshDatabase } from "../fixtures/postgres.js";
import { until } from "../fixtures/wait.js";
import { warningsUrl } from "../fixtures/warnings.js";
import { play } from "../scripted-participant/elements.js";
import { ScriptedLedger } from "../scripted-participant/ledger.js";
import { Participant } from "../scripted-participant/participant.js";
import { scrape, start, valueOf } from "./starting.js";

const stakeholders = [parties.operator];

async function onDatabase(): Promise<Partial<AppConfig>> {
  const database = await freshDatabase();
  onTestFinished(() => database.drop());
  await migrateDatabase(database.url);
  return { databaseUrl: databaseAt(database.url) };
}

/** A ledger with a complete registry, and the settings of a service that follows it. */
async function participating() {
  const ledger = new ScriptedLedger({ synchronizerId: "sync-A" });
  play(ledger, completeElements(), { stakeholders });
  const participant = await Participant.start({ ledger, checkpointMs: 20 });
  onTestFinished(() => participant.stop());
  const ledgerUrl = new URL(participant.url);
  const settings = {
    ledgerUrl,
    ledgerParties: stakeholders,
    metricsPort: { host: "127.0.0.1", port: 0 },
    graceSeconds: 2,
  };
  return { ledger, participant, settings };
}

/** The current value of a metric without labels; undefined if it has no sample. */
const now = async ({ metricsUrl }: App, name: string) =>
  valueOf((await scrape(metricsUrl)).samples, `offledger_${name}`);
const shows = (app: App, name: string, expected: number) =>
  until(`${name} is ${expected}`, async () => (await now(app, name)) === expected);

describe("the metrics", () => {
  test("of a mirrored ledger: offset, lag, reconnects, readiness", async () => {
    const { ledger, participant, settings } = await participating();
    const app = await start({ ...settings, unreadySeconds: 1 }, undefined, Date.now);
    await shows(app, "ready", 1);
    await shows(app, "ledger_offset", ledger.end);
    expect(await now(app, "ledger_lag_seconds")).toBeLessThan(1.5);
    expect(await now(app, "ledger_reconnects_total")).toBe(0);
    expect(await now(app, "mirroring")).toBe(1);
    await until("a stream is cut", () => {
      try {
        participant.faults.cut({ streams: "open" });
        return true;
      } catch {
        // There was none.
        return false;
      }
    });
    await shows(app, "ledger_reconnects_total", 1);
    await participant.stop();
    await shows(app, "ready", 0);
    expect(await now(app, "ledger_lag_seconds")).toBeGreaterThan(1);
    expect(await now(app, "ledger_offset")).toBe(ledger.end);
  });

  test("of a shared database: the leader, a standby and a replica", async () => {
    const database = await onDatabase();
    const config = { ...(await participating()).settings, ...database };
    const mirrors = { mirrors: true, answers: false };
    const first = await start(config, mirrors, Date.now);
    await until("the first mirrors", async () => (await now(first, "ledger_offset")) !== undefined);
    const second = await start(config, mirrors, Date.now);
    await shows(second, "ready", 1);
    const replica = await start(
      { ...database, metricsPort: { host: "127.0.0.1", port: 0 } },
      { mirrors: false, answers: true },
      Date.now,
    );
    await shows(replica, "ready", 1);
    expect([await now(first, "mirroring"), await now(second, "mirroring")]).toEqual([1, 0]);
    expect(await now(second, "ledger_offset")).toBeUndefined();
    expect(await now(replica, "mirroring")).toBeUndefined();
    expect(await now(replica, "ledger_reconnects_total")).toBeUndefined();
    expect(await now(replica, "ledger_offset")).toBe(await now(first, "ledger_offset"));
    expect(await now(replica, "ledger_lag_seconds")).toBeLessThan(10);
    const { samples } = await scrape(replica.metricsUrl);
    const connections = samples.filter(({ name }) => name === "offledger_database_connections");
    expect(connections.map(({ labels }) => labels["state"])).toEqual(["in_use", "idle"]);
    expect(connections.reduce((sum, { value }) => sum + value, 0)).toBeGreaterThan(0);
    expect(valueOf(samples, "offledger_database_waiting")).toBe(0);
    // A mirror holds no contracts.
    const counts = ({ name }: { readonly name: string }) => name === "offledger_store_contracts";
    expect([samples.some(counts), (await scrape(first.metricsUrl)).samples.some(counts)]).toEqual([true, false]);
    await first.close();
    await shows(second, "mirroring", 1);
  });
});

describe("the warnings", () => {
  const GAUGE = "offledger_registry_warnings";
  test("are in no metric before there is a snapshot", async () => {
    const ledgerUrl = new URL("http://127.0.0.1:1");
    const app = await start({ ledgerUrl, ledgerParties: stakeholders, metricsPort: { host: "127.0.0.1", port: 0 } });
    expect((await scrape(app.metricsUrl)).text).not.toMatch(/^offledger_registry_(?:warnings|checked)\S* \d/m);
  });

  test("are not served by a process that only mirrors, nor for a registry without checks", async () => {
    const mirror = await start(
      { ...(await onDatabase()), metricsPort: { host: "127.0.0.1", port: 0 } },
      { mirrors: true, answers: false },
    );
    const own = await start({ registry: ownModule, metricsPort: { host: "127.0.0.1", port: 0 } });
    for (const { metricsUrl } of [mirror, own]) {
      expect((await fetch(warningsUrl(metricsUrl))).status).toBe(404);
      expect((await scrape(metricsUrl)).text).not.toContain(GAUGE);
    }
  });
});
