/** The total supply that the service reports for a changing scripted participant or file. */
import { rename, stat, utimes, writeFile } from "node:fs/promises";
import { afterEach, describe, expect, test } from "vitest";
import { type App, startApp } from "../../../src/app/app.js";
import type { Config } from "../../../src/config/config.js";
import type { JsonObject } from "../../../src/domain/json.js";
import { element, parties, payload } from "../../fixtures/elements.js";
import { serving } from "../../fixtures/registries.js";
import { quiet, registry } from "../../fixtures/run-service.js";
import { until } from "../../fixtures/wait.js";
import { type Creation, ScriptedLedger, type Step } from "../../scripted-participant/ledger.js";
import type { Participant } from "../../scripted-participant/participant.js";
import { participantOn } from "./run-mirror.js";

const { operator } = parties;
const B = "sync-B::1220";
const C = "sync-C::1220";
const BOUND_MS = 10_000;

function creation(packageName: string, entity: string, contractId: string, argument: JsonObject): Creation {
  return {
    contractId,
    packageName,
    templateId: `pkg:${entity}`,
    payload: argument,
    createdEventBlob: Buffer.from(contractId).toString("base64"),
    signatories: [operator],
  };
}

const factory = creation(
  "utility-registry-app-v0",
  "Utility.Registry.App.V0.Service.AllocationFactory:AllocationFactory",
  "factory",
  payload.service(),
);
const configuration = (id: string, ...further: readonly string[]): Creation =>
  creation(
    "utility-registry-v0",
    "Utility.Registry.V0.Configuration.Instrument:InstrumentConfiguration",
    `configuration of ${id}`,
    payload.configuration(id, {
      additionalIdentifiers: further.map((one) => ({ source: "further", id: one, scheme: "Further" })),
    }),
  );

interface Kept {
  readonly instrument?: string;
  readonly locked?: boolean;
  /** Adds or replaces fields of the payload. */
  readonly more?: JsonObject;
}

/** A holding; by default of USD and unlocked. */
const holding = (
  contractId: string,
  amount: string,
  { instrument = "USD", locked = false, more }: Kept = {},
): Creation =>
  creation(
    "utility-registry-holding-v0",
    "Utility.Registry.Holding.V0.Holding:Holding",
    contractId,
    payload.lockedHolding("alice", instrument, { amount, ...(!locked && { lock: null }), ...more }),
  );

const creations = (...contracts: readonly Creation[]): Step[] => contracts.map((create) => ({ create }));

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

async function participantWith(options: Parameters<typeof Participant.start>[0] = {}): Promise<Participant> {
  const participant = await participantOn({ checkpointMs: 20, ...options });
  stops.push(() => participant.stop());
  return participant;
}

async function serviceOn(url: string, config: Partial<Config> = {}): Promise<App> {
  const settings = { ledgerUrl: new URL(url), ledgerParties: [operator], graceSeconds: 2, totalSupply: true };
  const service = await startApp({ ...quiet(), ...settings, ...config });
  stops.push(() => service.close());
  await until("the service is ready", async () => (await fetch(`${service.url}/readyz`)).status === 200, BOUND_MS);
  return service;
}

interface InstrumentSupply {
  readonly id: string;
  readonly totalSupply?: string;
  readonly totalSupplyAsOf?: string;
}

const metadata = `${registry()}/metadata/v1/instruments`;

async function fetchInstrument(url: string, id: string): Promise<InstrumentSupply> {
  const response = await fetch(`${url}${metadata}/${encodeURIComponent(id)}`);
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as InstrumentSupply;
}

/** The supply of every instrument by its id, and their common time. */
async function supplies(url: string) {
  const response = await fetch(`${url}${metadata}`);
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  const { instruments } = (await response.json()) as { readonly instruments: readonly InstrumentSupply[] };
  const times = new Set(instruments.map(({ totalSupplyAsOf }) => totalSupplyAsOf));
  if (times.size !== 1) throw new Error(`the instruments have more times than one: ${[...times].join(", ")}`);
  return {
    asOf: [...times][0],
    of: Object.fromEntries(instruments.map(({ id, totalSupply }) => [id, totalSupply])),
  };
}

/** The recordTime of an update: the scripted ledger's clock goes a second on with each offset. */
const timeAt = (offset: number): string =>
  new Date(Date.UTC(2026, 0, 5, 9) + offset * 1000).toISOString().replace("Z", "417Z");

/** Waits until the update at an offset is applied, and returns the supplies of that state. */
async function suppliesAt(service: App, offset: number): Promise<Record<string, string | undefined>> {
  let found = await supplies(service.url);
  const isThere = async () => {
    found = await supplies(service.url);
    return found.asOf === timeAt(offset);
  };
  await until(`the supply is as of offset ${offset}, ${timeAt(offset)}`, isThere, BOUND_MS);
  return found.of;
}

/** A ledger with the instruments USD and EUR, and a service that follows it. */
async function following(config: Partial<Config> = {}, ...before: readonly Creation[]) {
  const participant = await participantWith();
  const { ledger } = participant;
  ledger.transact(creations(factory, configuration("EUR"), configuration("USD"), ...before));
  const service = await serviceOn(participant.url, config);
  await until("the updates are followed", () => participant.streams === 1, BOUND_MS);
  return { participant, ledger, service };
}

describe("on a participant", () => {
  test("the initial holdings are counted, as of the snapshot request", async () => {
    const begun = Date.now();
    const { service } = await following(
      {},
      holding("free", "1.5000000000"),
      holding("locked", "2.2500000000", { locked: true }),
      holding("euro", "0.0000000001", { instrument: "EUR" }),
      { ...holding("unseen", "1000.0000000000"), signatories: ["somebody::1220"] },
      holding("other", "1000.0000000000", { instrument: "GBP" }),
      holding("of another registrar", "1000.0000000000", { more: { registrar: "other::1220" } }),
    );
    const { of, asOf } = await supplies(service.url);
    expect(of).toEqual({ EUR: "0.0000000001", USD: "3.7500000000" });
    expect(asOf).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z$/);
    expect(Date.parse(asOf ?? "")).toBeGreaterThanOrEqual(begun);
    expect(Date.parse(asOf ?? "")).toBeLessThanOrEqual(Date.now());
    const usd = await fetchInstrument(service.url, "USD");
    expect(usd).toMatchObject({ id: "USD", totalSupply: "3.7500000000", totalSupplyAsOf: asOf });
  });

  test("holdings that are made, split, locked, moved and burned are followed, as of the time of each update", async () => {
    const { ledger, service } = await following();
    const { of } = await supplies(service.url);
    expect(of).toEqual({ EUR: "0.0000000000", USD: "0.0000000000" });

    const minted = ledger.transact(creations(holding("a", "100.0000000000"), holding("b", "0.0000000001")));
    expect(await suppliesAt(service, minted)).toEqual({ EUR: "0.0000000000", USD: "100.0000000001" });

    const split = ledger.transact([
      { archive: "a" },
      ...creations(holding("a1", "30.2500000000", { locked: true }), holding("a2", "69.7500000000")),
    ]);
    expect(await suppliesAt(service, split)).toEqual({ EUR: "0.0000000000", USD: "100.0000000001" });

    const euro = ledger.transact(creations(holding("e", "9007199254740993.1000000000", { instrument: "EUR" })));
    expect(await suppliesAt(service, euro)).toEqual({ EUR: "9007199254740993.1000000000", USD: "100.0000000001" });

    const left = ledger.unassign(["a1", "a2"], B);
    expect(await suppliesAt(service, left)).toEqual({ EUR: "9007199254740993.1000000000", USD: "100.0000000001" });
    const arrived = ledger.assign(["a1", "a2"]);
    expect(await suppliesAt(service, arrived)).toEqual({ EUR: "9007199254740993.1000000000", USD: "100.0000000001" });
    // Assigned before the unassignment.
    const early = ledger.assignEarly("a2", C);
    expect(await suppliesAt(service, early)).toEqual({ EUR: "9007199254740993.1000000000", USD: "100.0000000001" });
    const late = ledger.unassignLate("a2");
    expect(await suppliesAt(service, late)).toEqual({ EUR: "9007199254740993.1000000000", USD: "100.0000000001" });
    const entered = ledger.enter(holding("from afar", "5.0000000000"), C, B);
    expect(await suppliesAt(service, entered)).toEqual({ EUR: "9007199254740993.1000000000", USD: "105.0000000001" });

    const burned = ledger.transact([{ archive: "a1" }], { synchronizerId: B });
    expect(await suppliesAt(service, burned)).toEqual({ EUR: "9007199254740993.1000000000", USD: "74.7500000001" });
    ledger.transact([{ archive: "b" }, { archive: "e" }]);
    ledger.transact([{ archive: "from afar" }]);
    const last = ledger.transact([{ archive: "a2" }]);
    expect(await suppliesAt(service, last)).toEqual({ EUR: "0.0000000000", USD: "0.0000000000" });
  });

  test("an update of other contracts moves the time, and one that is not for us does not", async () => {
    const { ledger, service } = await following({}, holding("a", "1.0000000000"));
    const other = ledger.transact(creations(configuration("GBP")));
    expect(await suppliesAt(service, other)).toEqual({
      EUR: "0.0000000000",
      GBP: "0.0000000000",
      USD: "1.0000000000",
    });
    ledger.transact(creations({ ...holding("unseen", "1000.0000000000"), signatories: ["somebody::1220"] }));
    ledger.topology("somebody::1220");
    ledger.checkpoint();
    const { end } = ledger;
    // A question for a contract that is not there waits until the mirror has reached the ledger's end.
    const path = `${registry()}/transfer-instruction/v2/nowhere/choice-contexts/reject`;
    expect((await fetch(service.url + path, { method: "POST" })).status).toBe(404);
    expect((await supplies(service.url)).asOf).toBe(timeAt(other));
    expect(end).toBeGreaterThan(other);
  });

  test("holdings that name a further id of an instrument are its own", async () => {
    const participant = await participantWith();
    const { ledger } = participant;
    ledger.transact(creations(factory, configuration("USD", "ISIN", "FIGI")));
    const service = await serviceOn(participant.url);
    await until("the updates are followed", () => participant.streams === 1, BOUND_MS);
    const offset = ledger.transact(
      creations(
        holding("a", "1.0000000000"),
        holding("b", "0.2000000000", { instrument: "ISIN" }),
        holding("c", "0.0300000000", { instrument: "FIGI", locked: true }),
        holding("d", "0.0040000000", { instrument: "CUSIP" }),
      ),
    );
    expect(await suppliesAt(service, offset)).toEqual({ USD: "1.2300000000" });
    expect(await fetchInstrument(service.url, "ISIN")).toMatchObject({ id: "USD", totalSupply: "1.2300000000" });
  });

  test("a holding that cannot be decoded is omitted, and the others count", async () => {
    const { ledger, service } = await following({}, holding("a", "1.0000000000"), holding("broken", "lots"));
    expect((await supplies(service.url)).of).toMatchObject({ USD: "1.0000000000" });
    const offset = ledger.transact(
      creations(holding("b", "2.0000000000"), holding("c", "1e3"), holding("d", "1.0", { more: { instrument: null } })),
    );
    expect(await suppliesAt(service, offset)).toMatchObject({ USD: "3.0000000000" });
    const gone = ledger.transact([{ archive: "broken" }, { archive: "c" }, { archive: "a" }]);
    expect(await suppliesAt(service, gone)).toMatchObject({ USD: "2.0000000000" });
  });

  test("duplicates, cuts, pruning and restores do not count a holding twice", async () => {
    const first = await participantWith();
    const { ledger, port } = first;
    ledger.transact(creations(factory, configuration("USD")));
    const service = await serviceOn(first.url);
    await until("the updates are followed", () => first.streams === 1, BOUND_MS);
    first.faults.duplicate(3);
    ledger.transact(creations(holding("a", "1.0000000000")));
    ledger.transact([{ archive: "a" }, ...creations(holding("b", "2.0000000000"))]);
    const repeated = ledger.transact(creations(holding("c", "4.0000000000", { locked: true })));
    expect(await suppliesAt(service, repeated)).toEqual({ USD: "6.0000000000" });

    first.faults.cut({ after: 0, streams: "open", path: "/v2/updates" });
    ledger.transact(creations(holding("d", "8.0000000000")));
    const resumed = ledger.transact([{ archive: "b" }]);
    expect(await suppliesAt(service, resumed)).toEqual({ USD: "12.0000000000" });

    await first.stop();
    ledger.transact([{ archive: "d" }, ...creations(holding("e", "16.0000000000"))]);
    ledger.prune(ledger.end);
    const second = await participantWith({ port, ledger });
    const equals = (usd: string) =>
      until(`the supply is ${usd}`, async () => (await supplies(service.url)).of.USD === usd, 2 * BOUND_MS);
    await equals("20.0000000000");

    await second.stop();
    const restored = new ScriptedLedger();
    restored.transact(creations(factory, configuration("USD"), holding("a", "1.0000000000")));
    const third = await participantWith({ port, ledger: restored });
    await equals("1.0000000000");
    await until("the updates are followed", () => third.streams === 1, BOUND_MS);
    const after = restored.transact(creations(holding("z", "0.5000000000")));
    expect(await suppliesAt(service, after)).toEqual({ USD: "1.5000000000" });
  });

  test("it is absent if holdings are not counted", async () => {
    const { ledger, service } = await following({ totalSupply: false }, holding("a", "1.0000000000"));
    ledger.transact(creations(holding("b", "2.0000000000", { locked: true }), configuration("GBP")));
    await until("the update is applied", async () => (await instrumentIds(service)).includes("GBP"), BOUND_MS);
    for (const id of ["EUR", "GBP", "USD"]) {
      const response = await fetchInstrument(service.url, id);
      expect(response).toMatchObject({ id });
      expect(response).not.toHaveProperty("totalSupply");
      expect(response).not.toHaveProperty("totalSupplyAsOf");
    }
    expect((await supplies(service.url)).of).toEqual({ EUR: undefined, GBP: undefined, USD: undefined });
  });
});

async function instrumentIds({ url }: App): Promise<string[]> {
  return Object.keys((await supplies(url)).of);
}

/** Deterministic integers below a bound, by mulberry32. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** One holding of the model; the amount is in units of the tenth decimal place. */
interface Modelled {
  readonly instrument: "EUR" | "USD";
  readonly amount: bigint;
  readonly isSeen: boolean;
}

/** A ledger, and the expected supply of each instrument by plain arithmetic. */
class Script {
  readonly ledger: ScriptedLedger;
  readonly model = new Map<string, Modelled>();
  /** The latest update that the service can see. */
  seen = 0;
  readonly #below: (bound: number) => number;
  #made = 0;

  constructor(ledger: ScriptedLedger, seed: number) {
    this.ledger = ledger;
    this.#below = random(seed);
  }

  step(): void {
    const settled = [...this.model.keys()].filter((id) => this.ledger.contracts.get(id)?.synchronizerId !== undefined);
    const id = settled[this.#below(Math.max(settled.length, 1))];
    const leaving = [...this.model.keys()].find((one) => this.ledger.contracts.get(one)?.synchronizerId === undefined);
    const choice = this.#below(10);
    if (leaving !== undefined && choice < 3) return this.#see(leaving, this.ledger.assign(leaving));
    if (id === undefined || choice < 5) return this.#mint();
    if (choice < 6) return this.#replace(id);
    if (choice < 8) return this.#split(id);
    const here = this.ledger.contracts.get(id)?.synchronizerId;
    const target = here === B ? C : B;
    if (choice < 9) return this.#see(id, this.ledger.unassign(id, target));
    this.#see(id, this.ledger.assignEarly(id, target));
    this.#see(id, this.ledger.unassignLate(id));
  }

  /** The sum of the visible holdings, with ten decimal places. */
  total(of: "EUR" | "USD"): string {
    const units = [...this.model.values()]
      .filter(({ instrument: one, isSeen }) => one === of && isSeen)
      .reduce((sum, { amount }) => sum + amount, 0n);
    return text(units);
  }

  #mint(): void {
    const made = Array.from({ length: 1 + this.#below(3) }, () =>
      this.#new({
        instrument: this.#below(3) === 0 ? "EUR" : "USD",
        amount: BigInt(this.#below(1_000_000_000)) * BigInt(1 + this.#below(1_000_000_000)),
        isSeen: this.#below(6) !== 0,
      }),
    );
    const offset = this.ledger.transact(creations(...made));
    for (const { contractId } of made) this.#see(contractId, offset);
  }

  /** Splits one holding into two. */
  #split(id: string): void {
    const whole = this.model.get(id);
    if (whole === undefined) return;
    const part = whole.amount === 0n ? 0n : (whole.amount * BigInt(1 + this.#below(98))) / 100n;
    const made = [part, whole.amount - part].map((amount) => this.#new({ ...whole, amount }));
    this.#replace(id, ...made);
  }

  #replace(id: string, ...made: readonly Creation[]): void {
    this.#see(id, this.ledger.transact([{ archive: id }, ...creations(...made)]));
    this.model.delete(id);
  }

  /** Adds a holding to the model. */
  #new(modelled: Modelled): Creation {
    const contractId = `holding-${this.#made++}`;
    this.model.set(contractId, modelled);
    const { instrument: of, amount, isSeen } = modelled;
    const created = holding(contractId, text(amount), { instrument: of, locked: this.#below(2) === 0 });
    return isSeen ? created : { ...created, signatories: ["somebody::1220"] };
  }

  #see(id: string, offset: number): void {
    if (this.model.get(id)?.isSeen === true) this.seen = offset;
  }
}

/** Formats units of the tenth decimal place as the ledger does. */
function text(units: bigint): string {
  const unit = 10n ** 10n;
  return `${units / unit}.${String(units % unit).padStart(10, "0")}`;
}

test.each([1, 2, 3])("after each of 50 random steps the supply equals a plain sum: seed %i", async (seed) => {
  const { participant, ledger, service } = await following();
  const script = new Script(ledger, seed);
  for (let step = 0; step < 50; step++) {
    script.step();
    if (script.seen === 0) continue;
    expect({ step, ...(await suppliesAt(service, script.seen)) }).toEqual({
      step,
      EUR: script.total("EUR"),
      USD: script.total("USD"),
    });
  }
  expect(script.model.size).toBeGreaterThan(5);
  // A service that starts later has the same supply from its snapshot.
  const later = await serviceOn(participant.url);
  expect((await supplies(later.url)).of).toEqual({ EUR: script.total("EUR"), USD: script.total("USD") });
});

const elements = (...holdings: readonly JsonObject[]): JsonObject[] => [
  element("AllocationFactory", "factory", payload.service()),
  element("InstrumentConfiguration", "usd", payload.configuration("USD")),
  ...holdings,
];
const free = (id: string, amount: string) =>
  element("Holding", id, payload.lockedHolding("alice", "USD", { amount, lock: null }));
const locked = (id: string, amount: string) =>
  element("Holding", id, payload.lockedHolding("alice", "USD", { amount }));
const moving = element(
  "Holding",
  "moving",
  payload.lockedHolding("alice", "USD", { amount: "0.0100000000", lock: null }),
  {
    moving: "unassigned",
  },
);

describe("in a file", () => {
  test("the holdings count as of when the file was written", async () => {
    const written = elements(free("a", "1.0000000000"), locked("b", "0.2000000000"), moving);
    const running = await serving(written, { config: { totalSupply: true } });
    const { mtimeMs } = await stat(running.path);
    const { of, asOf } = await supplies(running.url);
    expect(of).toEqual({ USD: "1.2100000000" });
    expect(asOf).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z$/);
    expect(Date.parse(asOf ?? "")).toBe(Math.floor(mtimeMs));
  });

  test("they are counted again as of the new time when the file changes", async () => {
    const running = await serving(elements(free("a", "1.0000000000")), { config: { totalSupply: true } });
    const next = `${running.path}.next`;
    const changed = elements(free("b", "0.5000000000"), locked("c", "0.2500000000"));
    await writeFile(next, changed.map((one) => `${JSON.stringify(one)}\n`).join(""));
    const time = new Date("2026-03-04T05:06:07.890Z");
    await utimes(next, time, time);
    await rename(next, running.path);
    await until("the change is served", async () => (await supplies(running.url)).of.USD === "0.7500000000", BOUND_MS);
    expect(Date.parse((await supplies(running.url)).asOf ?? "")).toBe(time.getTime());
  });

  test("the supply is absent if they are not counted", async () => {
    const running = await serving(elements(free("a", "1.0000000000"), locked("b", "0.2000000000")));
    const response = await fetchInstrument(running.url, "USD");
    expect(response).not.toHaveProperty("totalSupply");
    expect(response).not.toHaveProperty("totalSupplyAsOf");
  });

  test("another registrar's holdings are not counted", async () => {
    const foreign = element("Holding", "x", payload.lockedHolding("alice", "USD", { registrar: "other::1220" }));
    const running = await serving(elements(foreign), { config: { totalSupply: true } });
    expect((await supplies(running.url)).of).toEqual({ USD: "0.0000000000" });
  });
});
