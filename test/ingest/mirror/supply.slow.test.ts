/** The total supply that the service reports for a changing scripted participant or file. The sums: test/state/conformance. */
import { rename, stat, utimes, writeFile } from "node:fs/promises";
import { expect, onTestFinished, test } from "vitest";
import { type App, startApp } from "../../../src/app/app.js";
import type { AppConfig } from "../../../src/config/limits.js";
import type { JsonObject } from "../../../src/util/json.js";
import { element, parties, payload } from "../../fixtures/elements.js";
import { serving } from "../../fixtures/registries.js";
import { quiet, registry } from "../../fixtures/run-service.js";
import { until } from "../../fixtures/wait.js";
import type { Creation, Step } from "../../scripted-participant/ledger.js";
import type { Participant } from "../../scripted-participant/participant.js";
import { participantOn } from "./run-mirror.js";
import { creation } from "../../simulation/script.js";

const { operator } = parties;
const B = "sync-B::1220";
const C = "sync-C::1220";

const factory = creation("AllocationFactory", "factory", payload.service());
const configuration = (id: string, ...further: readonly string[]): Creation => {
  const additionalIdentifiers = further.map((one) => ({ source: "further", id: one, scheme: "Further" }));
  return creation("InstrumentConfiguration", `of ${id}`, payload.configuration(id, { additionalIdentifiers }));
};
/** A holding; by default of USD and unlocked. */
const holding = (id: string, amount: string, instrument = "USD", more: JsonObject = { lock: null }): Creation =>
  creation("Holding", id, payload.lockedHolding("alice", instrument, { amount, ...more }));
const unseen = (one: Creation): Creation => ({ ...one, signatories: ["somebody::1220"] });
const LOCKED: JsonObject = {};
const creations = (...contracts: readonly Creation[]): Step[] => contracts.map((create) => ({ create }));

async function participantWith(options: Parameters<typeof Participant.start>[0]): Promise<Participant> {
  const participant = await participantOn({ checkpointMs: 20, ...options });
  onTestFinished(() => participant.stop());
  return participant;
}

async function serviceOn(url: string, config: Partial<AppConfig> = {}): Promise<App> {
  const settings = { ledgerUrl: new URL(url), ledgerParties: [operator], graceSeconds: 2, totalSupply: true };
  const service = await startApp({ ...quiet(), ...settings, ...config });
  onTestFinished(() => service.close());
  await until("the service is ready", async () => (await fetch(`${service.url}/readyz`)).status === 200);
  return service;
}

interface InstrumentSupply {
  readonly id: string;
  readonly totalSupply?: string;
  readonly totalSupplyAsOf?: string;
}

/** The supply of every instrument by its id, and their common time. */
async function supplies(url: string) {
  const response = await fetch(`${url}${registry()}/metadata/v1/instruments`);
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  const { instruments } = (await response.json()) as { readonly instruments: readonly InstrumentSupply[] };
  const [asOf, ...others] = new Set(instruments.map(({ totalSupplyAsOf }) => totalSupplyAsOf));
  expect(others).toEqual([]);
  return { asOf, of: Object.fromEntries(instruments.map(({ id, totalSupply }) => [id, totalSupply])), instruments };
}

/** The recordTime of an update: the scripted ledger's clock goes a second on with each offset. */
const timeAt = (offset: number): string =>
  new Date(Date.UTC(2026, 0, 5, 9) + offset * 1000).toISOString().replace("Z", "417Z");

/** Waits until the update at an offset is applied, and returns the supplies of that state. */
async function suppliesAt(service: App, offset: number): Promise<Record<string, string | undefined>> {
  let found = await supplies(service.url);
  await until(`the supply is as of offset ${offset}`, async () => {
    found = await supplies(service.url);
    return found.asOf === timeAt(offset);
  });
  return found.of;
}

/** A ledger with the instruments USD and EUR, and a service that follows it. */
async function following(config: Partial<AppConfig> = {}, ...before: readonly Creation[]) {
  const participant = await participantWith({});
  const { ledger } = participant;
  ledger.transact(creations(factory, configuration("EUR"), configuration("USD", "ISIN", "FIGI"), ...before));
  const service = await serviceOn(participant.url, config);
  await until("the updates are followed", () => participant.streams === 1);
  return { participant, ledger, service };
}

test("the initial holdings are counted, as of the snapshot request; those of others, or unreadable, are not", async () => {
  const begun = Date.now();
  const { service, ledger } = await following(
    {},
    holding("free", "1.5000000000"),
    holding("locked", "2.2500000000", "USD", LOCKED),
    holding("euro", "0.0000000001", "EUR"),
    holding("further", "0.0400000000", "ISIN"),
    holding("further too", "0.0050000000", "FIGI", LOCKED),
    holding("other", "1000.0000000000", "GBP"),
    holding("of another registrar", "1000.0000000000", "USD", { registrar: "other::1220" }),
    holding("broken", "lots"),
    unseen(holding("unseen", "1000.0000000000")),
  );
  const { of, asOf = "" } = await supplies(service.url);
  expect(of).toEqual({ EUR: "0.0000000001", USD: "3.7950000000" });
  expect(asOf).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z$/);
  expect(Date.parse(asOf)).toBeGreaterThanOrEqual(begun);
  expect(Date.parse(asOf)).toBeLessThanOrEqual(Date.now());
  const found = await fetch(`${service.url}${registry()}/metadata/v1/instruments/ISIN`);
  expect(await found.json()).toMatchObject({ id: "USD", totalSupply: "3.7950000000", totalSupplyAsOf: asOf });

  const later = ledger.transact(creations(holding("b", "2.0000000000"), holding("c", "1e3")));
  expect(await suppliesAt(service, later)).toMatchObject({ USD: "5.7950000000" });
  const gone = ledger.transact([{ archive: "broken" }, { archive: "c" }, { archive: "locked" }]);
  expect(await suppliesAt(service, gone)).toMatchObject({ USD: "3.5450000000" });
});

test("holdings that are made, split, locked, moved and burned are followed, as of the time of each update", async () => {
  const { participant, ledger, service } = await following();
  const large = "9007199254740993.1000000000";
  const steps: readonly [() => number, usd: string, eur?: string][] = [
    [() => ledger.transact(creations(holding("a", "100.0000000000"), holding("b", "0.0000000001"))), "100.0000000001"],
    [
      () => {
        const parts = creations(holding("a1", "30.2500000000", "USD", LOCKED), holding("a2", "69.7500000000"));
        return ledger.transact([{ archive: "a" }, ...parts]);
      },
      "100.0000000001",
    ],
    [() => ledger.transact(creations(holding("e", large, "EUR"))), "100.0000000001", large],
    [() => ledger.unassign(["a1", "a2"], B), "100.0000000001", large],
    [() => ledger.assign(["a1", "a2"]), "100.0000000001", large],
    // Assigned before the unassignment.
    [() => ledger.assignEarly("a2", C), "100.0000000001", large],
    [() => ledger.unassignLate("a2"), "100.0000000001", large],
    [() => ledger.enter(holding("from afar", "5.0000000000"), C, B), "105.0000000001", large],
    [() => ledger.transact([{ archive: "a1" }], { synchronizerId: B }), "74.7500000001", large],
    [() => ledger.transact([{ archive: "b" }, { archive: "e" }]), "74.7500000000"],
  ];
  for (const [does, usd, eur = "0.0000000000"] of steps) {
    expect(await suppliesAt(service, does())).toEqual({ EUR: eur, USD: usd });
  }
  // A service that starts later has the same supply from its snapshot.
  const later = await serviceOn(participant.url);
  expect((await supplies(later.url)).of).toEqual({ EUR: "0.0000000000", USD: "74.7500000000" });
});

test("it is absent if holdings are not counted", async () => {
  const { ledger, service } = await following({ totalSupply: false }, holding("a", "1.0000000000"));
  ledger.transact(creations(holding("b", "2.0000000000", "USD", LOCKED), configuration("GBP")));
  const isApplied = async () => "GBP" in (await supplies(service.url)).of;
  await until("the update is applied", isApplied);
  for (const instrument of (await supplies(service.url)).instruments) {
    expect(Object.keys(instrument)).not.toContain("totalSupply");
    expect(Object.keys(instrument)).not.toContain("totalSupplyAsOf");
  }
});

const usd = (id: string, more: JsonObject) => element("Holding", id, payload.lockedHolding("alice", "USD", more));

test("in a file they count as of when it was written, and again when it changes", async () => {
  const file = [
    element("AllocationFactory", "factory", payload.service()),
    element("InstrumentConfiguration", "usd", payload.configuration("USD")),
    usd("a", { amount: "1.0000000000", lock: null }),
    usd("foreign", { amount: "1.0000000000", registrar: "other::1220" }),
  ];
  const moving = payload.lockedHolding("alice", "USD", { amount: "0.0100000000", lock: null });
  const first = [
    ...file,
    usd("b", { amount: "0.2000000000" }),
    element("Holding", "c", moving, { moving: "unassigned" }),
  ];
  const running = await serving(first, { config: { totalSupply: true } });
  const { of, asOf } = await supplies(running.url);
  expect(of).toEqual({ USD: "1.2100000000" });
  expect(Date.parse(asOf ?? "")).toBe(Math.floor((await stat(running.path)).mtimeMs));

  const next = `${running.path}.next`;
  await writeFile(next, file.map((one) => `${JSON.stringify(one)}\n`).join(""));
  const time = new Date("2026-03-04T05:06:07.890Z");
  await utimes(next, time, time);
  await rename(next, running.path);
  await until("the change is served", async () => (await supplies(running.url)).of.USD === "1.0000000000");
  expect(Date.parse((await supplies(running.url)).asOf ?? "")).toBe(time.getTime());
});
