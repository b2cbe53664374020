/** Warnings of a running service, on its metrics port: they appear and go away with the contracts. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { App } from "../../src/app/app.js";
import type { Config } from "../../src/config/config.js";
import type { JsonObject } from "../../src/domain/json.js";
import { creationsOf, play } from "../scripted-participant/elements.js";
import { ScriptedLedger } from "../scripted-participant/ledger.js";
import { Participant } from "../scripted-participant/participant.js";
import { element, type Options, parties, payload } from "../fixtures/elements.js";
import { completeElements } from "../fixtures/operation-calls.js";
import { ownModule } from "../fixtures/own-registry.js";
import { freshDatabase } from "../fixtures/postgres.js";
import { until } from "../fixtures/wait.js";
import { listWarnings, warningsUrl } from "../fixtures/warnings.js";
import { scrape, valueOf } from "./exposition.js";
import { start } from "./starting.js";

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
const GAUGE = "offledger_registry_warnings";
const CHECKED = "offledger_registry_checked_timestamp_seconds";

async function inMemory(): Promise<Partial<Config>> {
  return {};
}

async function onDatabase(): Promise<Partial<Config>> {
  const database = await freshDatabase();
  onTestFinished(() => database.drop());
  return { databaseUrl: new URL(database.url) };
}

/** A service that mirrors a ledger, at a time that the test moves. */
async function mirroring(store: Partial<Config>) {
  const clock = { now: Date.parse("2026-06-01T00:00:00Z") };
  const ledger = new ScriptedLedger({ synchronizerId: "sync-A", clock: () => new Date(clock.now) });
  const stakeholders = [parties.operator];
  play(ledger, completeElements(), { stakeholders });
  const participant = await Participant.start({ ledger, checkpointMs: 20 });
  onTestFinished(() => participant.stop());
  const ledgerUrl = new URL(participant.url);
  const settings = {
    ledgerUrl,
    ledgerParties: stakeholders,
    metricsPort: 0,
    staleSeconds: 86_400,
    unreadySeconds: 86_400,
  };
  const app = await start({ ...store, ...settings }, undefined, () => clock.now);
  await until("the service is ready", async () => (await fetch(`${app.url}/readyz`)).ok);
  const create = (...elements: readonly JsonObject[]) =>
    ledger.transact(creationsOf(elements).map((creation) => ({ create: { ...creation, signatories: stakeholders } })));
  return { app, ledger, clock, create };
}

const offset = async ({ metricsUrl }: App) => valueOf((await scrape(metricsUrl)).samples, "offledger_ledger_offset");

/** The kinds of the warnings once the service has an offset, at a later time. */
async function kindsAt(app: App, clock: { now: number }, after: number, passes = MINUTE): Promise<string[]> {
  await until("the service has the update", async () => ((await offset(app)) ?? 0) >= after);
  clock.now += passes;
  let checkedAt = "";
  let kinds: string[] = [];
  await until("the registry is checked again", async () => {
    const list = await listWarnings(app.metricsUrl);
    checkedAt = list.checkedAt;
    kinds = list.warnings.map(({ kind }) => kind);
    return checkedAt === new Date(clock.now).toISOString();
  });
  return kinds;
}

const configuration = (id: string, more: JsonObject = {}, options: Options = {}) =>
  element("InstrumentConfiguration", id, payload.configuration("EUR", more), options);

describe.each([
  ["in memory", inMemory],
  ["on PostgreSQL", onDatabase],
])("%s", (_name, store) => {
  test("a warning appears, and goes away, as contracts change", async () => {
    const { app, ledger, clock, create } = await mirroring(await store());
    const first = await listWarnings(app.metricsUrl);
    expect(first).toMatchObject({ complete: true, total: 0, warnings: [], checkedAt: "2026-06-01T00:00:00.000Z" });
    expect(new Set(Object.values(first.counts))).toEqual(new Set([0]));
    const { samples } = await scrape(app.metricsUrl);
    expect(valueOf(samples, GAUGE, { kind: "no-rule" })).toBe(0);
    expect(valueOf(samples, CHECKED)).toBe(clock.now / 1_000);

    const archived = ledger.transact([{ archive: "rule" }]);
    await until("the service has the update", async () => ((await offset(app)) ?? 0) >= archived);
    // Not again within the minute.
    expect((await listWarnings(app.metricsUrl)).checkedAt).toBe(first.checkedAt);
    expect(await kindsAt(app, clock, archived)).toEqual(["no-rule"]);
    const after = await listWarnings(app.metricsUrl);
    expect(after).toMatchObject({ total: 1, offset: archived, counts: { "no-rule": 1, "no-factory": 0 } });
    expect(after.warnings).toEqual([
      {
        kind: "no-rule",
        registrar: "registrar::1220",
        operations: expect.arrayContaining(["settlement-factory", "transfer-instruction/accept"]) as string[],
        status: 404,
        message: expect.stringMatching(
          /^the TransferRule of registrar registrar::1220 does not exist\. Answered 404: .*settlement-factory.*\. Create a TransferRule/,
        ) as string,
      },
    ]);
    expect(valueOf((await scrape(app.metricsUrl)).samples, GAUGE, { kind: "no-rule" })).toBe(1);

    expect(await kindsAt(app, clock, create(element("TransferRule", "rule-2", payload.service())))).toEqual([]);
    expect(valueOf((await scrape(app.metricsUrl)).samples, GAUGE, { kind: "no-rule" })).toBe(0);
  });

  test("of every kind that changes of the ledger make", async () => {
    const { app, ledger, clock, create } = await mirroring(await store());
    const toB = (id: string) => ledger.unassign(id, "sync-B");

    expect(await kindsAt(app, clock, create(configuration("eur", { checkBlocklist: true })))).toEqual([
      "blocklist-not-configured",
    ]);
    ledger.transact([{ archive: "eur" }]);
    expect(await kindsAt(app, clock, create(configuration("eur-2")))).toEqual([]);
    expect(await kindsAt(app, clock, toB("eur-2"))).toEqual([
      "configuration-in-reassignment",
      "configuration-in-reassignment",
    ]);
    expect(await kindsAt(app, clock, ledger.assign("eur-2"))).toEqual(["no-common-synchronizer"]);
    ledger.unassign("eur-2", "sync-A");
    expect(await kindsAt(app, clock, ledger.assign("eur-2"))).toEqual([]);

    expect(await kindsAt(app, clock, toB("rule"))).toEqual(["contract-in-reassignment"]);
    ledger.assign("rule");
    ledger.unassign("rule", "sync-A");
    expect(await kindsAt(app, clock, ledger.assign("rule"))).toEqual([]);

    expect(await kindsAt(app, clock, toB("offer"))).toEqual(["instruction-in-reassignment"]);
    ledger.assign("offer");
    expect(await kindsAt(app, clock, ledger.transact([{ archive: "offer" }]))).toEqual([]);

    expect(await kindsAt(app, clock, ledger.transact([{ archive: "locked" }]))).toEqual([
      "holding-missing",
      "holding-missing",
    ]);
    expect(await kindsAt(app, clock, ledger.transact([{ archive: "allocation" }, { archive: "request" }]))).toEqual([]);

    const pending = element("TransferOffer", "offer-2", payload.offer("alice", "dora", "USD", "held"));
    const held = element("Holding", "held", payload.lockedHolding("alice", "USD"));
    expect(await kindsAt(app, clock, create(pending, held))).toEqual(["credentials-missing"]);
    expect(await kindsAt(app, clock, ledger.transact([{ archive: "offer-2" }]))).toEqual([]);

    const more = element("MintOffer", "mint-gbp", payload.mint("alice", "GBP"));
    expect(await kindsAt(app, clock, create(more))).toEqual(["no-configuration"]);
    expect(await kindsAt(app, clock, ledger.transact([{ archive: "mint-gbp" }]))).toEqual([]);

    expect(await kindsAt(app, clock, ledger.transact([{ archive: "factory" }]))).toEqual(["no-factory"]);
  });

  test("of credentials as the time passes", async () => {
    const { app, ledger, clock, create } = await mirroring(await store());
    ledger.transact([{ archive: "bob-holds" }]);
    const validUntil = new Date(clock.now + 40 * DAY).toISOString();
    const limited = element("Credential", "limited", payload.credential("bob", ["holds=USD"], { validUntil }));
    const created = create(limited);
    expect(await kindsAt(app, clock, created)).toEqual([]);
    // 30 days before its end.
    expect(await kindsAt(app, clock, created, 10 * DAY)).toEqual(["credential-expires"]);
    // Then the offer and the allocation lack it.
    expect(await kindsAt(app, clock, created, 31 * DAY)).toEqual(["credentials-missing", "credentials-missing"]);
  });
});

async function file(elements: readonly JsonObject[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "offledger-warnings-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "registry.ndjson");
  await writeFile(path, elements.map((one) => `${JSON.stringify(one)}\n`).join(""));
  return path;
}

test("a registry of one's own has the warnings that its checks find", async () => {
  const path = (await file([])).replace(".ndjson", ".mjs");
  await writeFile(
    path,
    `const refuse = () => { throw new Error(); };
    const template = { packageName: "gold-v1", qualifiedName: "Gold:Mine", parse: () => ({ fields: null, indexKeys: [] }) };
    const warnings = (context, contracts) => contracts.map(({ contractId }) => ({
      kind: "contract-missing", registrar: "digger", contractId, operations: ["transfer-factory/offer"], problem: "no lamp",
      remedy: "Buy " + context.credentialDays }));
    export default { name: "gold", templates: [template], supportedApis: {}, checks: [{ template, warnings }],
      instruments: refuse, transferFactory: refuse, allocationFactory: refuse, settlementFactory: refuse,
      choiceContext: refuse, inventory: () => ({ registrars: [], counts: [], warnings: [] }) };`,
  );
  const text = JSON.stringify(element("TransferRule", "mine", {}));
  const mine = JSON.parse(
    text
      .replace("utility-registry-v0", "gold-v1")
      .replace("Utility.Registry.V0.Rule.Transfer:TransferRule", "Gold:Mine"),
  ) as JsonObject;
  const snapshot = await file([mine]);
  const app = await start({ registry: path, snapshot, metricsPort: 0, credentialDays: 7 });
  expect((await listWarnings(app.metricsUrl)).warnings).toEqual([
    {
      kind: "contract-missing",
      registrar: "digger",
      contractId: "mine",
      operations: ["transfer-factory/offer"],
      message: "no lamp. Fails on the ledger: transfer-factory/offer. Buy 7.",
    },
  ]);
});

describe("GET /warnings", () => {
  test("is on the metrics port only", async () => {
    const app = await start({ metricsPort: 0 });
    expect((await fetch(`${app.url}/warnings`)).status).toBe(404);
    const response = await fetch(warningsUrl(app.metricsUrl));
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(response.status).toBe(200);
    expect((await fetch(warningsUrl(app.metricsUrl), { method: "POST" })).status).toBe(404);
  });

  test("lists at most 100 warnings of a kind, with their number", async () => {
    const offers = Array.from({ length: 150 }, (_, index) =>
      element("TransferOffer", `offer-${index}`, payload.offer("alice", "bob", "USD", `gone-${index}`)),
    );
    const app = await start({ snapshot: await file(completeElements({ added: offers })), metricsPort: 0 });
    const { total, counts, warnings } = await listWarnings(app.metricsUrl);
    expect({ total, listed: warnings.length }).toEqual({ total: 150, listed: 100 });
    expect(counts["holding-missing"]).toBe(150);
    const { samples } = await scrape(app.metricsUrl);
    expect(valueOf(samples, GAUGE, { kind: "holding-missing" })).toBe(150);
  });

  test("is 503 before there is a snapshot", async () => {
    const ledgerUrl = new URL("http://127.0.0.1:1");
    const app = await start({ ledgerUrl, ledgerParties: [parties.operator], metricsPort: 0 });
    const response = await fetch(warningsUrl(app.metricsUrl));
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("1");
    expect(await response.json()).toEqual({ error: "the first check of the registry is not finished yet" });
    const { samples } = await scrape(app.metricsUrl);
    expect(samples.some(({ name }) => name === GAUGE || name === CHECKED)).toBe(false);
  });

  test("is not served by a process that only mirrors, nor for a registry without checks", async () => {
    const config = { ...(await onDatabase()), metricsPort: 0 };
    const mirror = await start(config, { mirrors: true, answers: false });
    const own = await start({ registry: ownModule, metricsPort: 0 });
    for (const { metricsUrl } of [mirror, own]) {
      expect((await fetch(warningsUrl(metricsUrl))).status).toBe(404);
      expect((await scrape(metricsUrl)).text).not.toContain(GAUGE);
    }
  });
});
