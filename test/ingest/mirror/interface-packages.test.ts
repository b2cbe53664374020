/** Packages of contracts that are read by their interfaces: missing, uploaded later, not vetted. Pauses are in virtual time. */
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../../src/util/json.js";
import { TOKEN_INTERFACES } from "../../../src/domain/token-interfaces.js";
import { ParticipantClient } from "../../../src/ledger/participant/client.js";
import { namedParties } from "../../../src/ledger/participant/parties.js";
import { noToken } from "../../../src/ledger/participant/tokens.js";
import { tableTemplates } from "../../../src/registry/engine/templates.js";
import { MemoryStore } from "../../../src/state/memory-store.js";
import { NotReady, type StoreReader } from "../../../src/state/port.js";
import { read } from "../../fidelity/recordings.js";
import { until } from "../../fixtures/wait.js";
import { creationsOf } from "../../scripted-participant/elements.js";
import { type Creation, ScriptedLedger } from "../../scripted-participant/ledger.js";
import { Participant } from "../../scripted-participant/participant.js";
import { VirtualClock } from "../../simulation/clock.js";
import { mirrorOn } from "./run-mirror.js";

const { testTokenV2 } = read("interface-views-3.5.json") as {
  readonly testTokenV2: { readonly admin: string; readonly active: JsonObject[] };
};
const active = creationsOf(testTokenV2.active);
const TOKEN = active[0]?.packageName ?? "";
const INTERFACES = [...new Set(TOKEN_INTERFACES.map(({ packageName }) => packageName))];
const HOLDINGS = ["splice-api-token-holding-v1", "splice-api-token-holding-v2"];

const templates = [
  ...tableTemplates({
    templates: {
      factory: { implements: "transfer-factory" },
      offer: { implements: "transfer-instruction" },
      allocation: { implements: "allocation" },
      settlement: { implements: "settlement-factory" },
      holding: { implements: "holding" },
    },
  }).values(),
];

const LATER = "later-token";
/** With one of a package that is uploaded later, whose contracts implement no interface. */
const withNamed = [
  ...templates,
  ...tableTemplates({ templates: { config: { package: LATER, name: "Later:Config", registrar: "admin" } } }).values(),
];

/** The mirror looks for packages so often. */
const SEARCH_MS = 30_000;
/** Until what a package brings is served. */
const SERVED_MS = 35_000;

/** None before the first snapshot. */
function idsIn(reader: StoreReader): readonly string[] {
  try {
    const held = reader.read((view) => withNamed.flatMap((template) => view.all(template)));
    return [...new Set(held.map(({ contractId }) => contractId))].toSorted();
  } catch (error) {
    if (error instanceof NotReady) return [];
    throw error;
  }
}

interface Setup {
  readonly participant: Participant;
  readonly ledger: ScriptedLedger;
  readonly logged: readonly string[];
  /** How many snapshots were asked for. */
  snapshots(): number;
  held(): readonly string[];
  /** Waits until the store has these contracts, without virtual time. */
  holds(creations: readonly Creation[]): Promise<void>;
  /** Within SERVED_MS the store has the contracts of `after`; until then those of `before`. */
  becomes(before: readonly Creation[], after: readonly Creation[]): Promise<void>;
  /** Ends the pause before the next attempt, if there is one. */
  retry(): Promise<void>;
  /** Until the mirror pauses before its next attempt; then that pause ends. */
  retries(): Promise<void>;
}

const idsOf = (creations: readonly Creation[]): readonly string[] =>
  creations.map(({ contractId }) => contractId).toSorted();

async function mirrored(
  creations: readonly Creation[],
  packageNames: readonly string[],
  prepare: (participant: Participant) => void = () => undefined,
  asked = templates,
): Promise<Setup> {
  const ledger = new ScriptedLedger();
  for (const create of creations) ledger.transact([{ create }]);
  const participant = await Participant.start({ ledger, packageNames });
  prepare(participant);
  const store = new MemoryStore();
  const held = () => idsIn(store);
  const clock = new VirtualClock();
  const end = new AbortController();
  const { signal } = end;
  /** How long each pause under way is. */
  const pauses: number[] = [];
  const pause = async (ms: number) => {
    pauses.push(ms);
    await clock.pause(ms, signal);
    pauses.splice(pauses.indexOf(ms), 1);
  };
  const client = new ParticipantClient(
    { url: new URL(participant.url), ca: undefined, token: noToken, signal, timeouts: {} },
    namedParties([testTokenV2.admin]),
    asked,
  );
  const logged: string[] = [];
  const now = () => clock.now;
  const options = { writer: store, readWait: 1_000, now, clock: now, random: () => 0.5, pause, signal };
  const limits = { unreadyAfter: 60_000, staleAfter: 300_000 };
  const { running } = mirrorOn(client, asked, limits, options, (line) => void logged.push(line));
  onTestFinished(async () => {
    end.abort();
    await running;
    await participant.stop();
  });
  const advance = (ms: number) => clock.advance(ms, () => undefined);
  /** Neither the poll of the ledger's end nor the search for packages. */
  const retry = () => pauses.find((ms) => ms !== 1_000 && ms !== SEARCH_MS);
  const holds = (wanted: readonly Creation[]) =>
    until("the contracts are served", async () => String(held()) === String(idsOf(wanted)));
  return {
    participant,
    ledger,
    logged,
    snapshots: () => participant.requests.filter(({ path }) => path.startsWith("/v2/state/active-contracts")).length,
    held,
    holds,
    async becomes(before, after) {
      await until("the mirror waits for its next search", () => pauses.includes(SEARCH_MS));
      const begun = clock.now;
      await advance(SEARCH_MS);
      await until("the contracts are served", async () => {
        const ids = String(held());
        if (ids === String(idsOf(after))) return true;
        expect(ids).toBe(String(idsOf(before)));
        await advance(retry() ?? 0);
        await delay(10);
        return false;
      });
      expect(clock.now - begun).toBeLessThan(SERVED_MS);
    },
    retry: () => advance(retry() ?? 0),
    async retries() {
      await until("the mirror pauses before its next attempt", () => retry() !== undefined);
      await advance(retry() ?? 0);
    },
  };
}

/** Whether a contract implements an interface of a package. */
const isOf =
  (...packages: readonly string[]) =>
  ({ views = [] }: Creation): boolean =>
    views.some(({ packageName }) => packages.includes(packageName));

const lines = ({ logged }: Setup, text: string): readonly string[] => logged.filter((line) => line.includes(text));
const LEFT_OUT = "contract skipped";
const REOPENED = "the participant cannot compute views of contracts";

test("interfaces whose packages are missing are left out, and read once they are uploaded", async () => {
  const present = INTERFACES.filter((name) => !HOLDINGS.includes(name));
  const before = active.filter(isOf(...present));
  expect([before.length, active.length]).toEqual([6, 70]);
  const setup = await mirrored(active, [TOKEN, ...present]);
  await setup.holds(before);
  await until("it is reported", () => lines(setup, "the participant lacks packages").length > 0);
  expect(lines(setup, "the participant lacks packages")).toEqual([
    expect.stringContaining(`"missing":${JSON.stringify(HOLDINGS)}`),
  ]);
  for (const name of HOLDINGS) setup.participant.upload(name);
  await setup.becomes(before, active);
  expect(lines(setup, LEFT_OUT)).toEqual([]);
});

test("contracts that implement an interface by a package that is uploaded later are read then", async () => {
  const others = active.map((one) => ({ ...one, contractId: `${one.contractId}00`, packageName: "later-token" }));
  const setup = await mirrored([...active, ...others], [TOKEN, ...INTERFACES]);
  await setup.holds(active);
  setup.participant.upload("later-token");
  await setup.becomes(active, [...active, ...others]);
  // What is created from now on comes by the stream.
  const created = { ...others[0], contractId: "00later" } as Creation;
  setup.ledger.transact([{ create: created }]);
  await setup.holds([...active, ...others, created]);
  expect(lines(setup, LEFT_OUT)).toEqual([]);
});

test("a contract of a package that was missing is served with all that the package has", async () => {
  const [offer] = active;
  const admin = { admin: testTokenV2.admin };
  const changed = { contractId: "00config", templateId: "c0:Later:Config", packageName: LATER, payload: admin };
  const config = { ...offer, ...changed, views: [] } as unknown as Creation;
  const setup = await mirrored(active, [TOKEN, ...INTERFACES], undefined, withNamed);
  await setup.holds(active);
  setup.participant.upload(LATER);
  setup.ledger.transact([{ create: config }]);
  const created = { ...offer, contractId: "00later", packageName: LATER } as Creation;
  setup.ledger.transact([{ create: created }]);
  const before = String(idsOf(active));
  await until("they are served", async () => {
    const ids = String(setup.held());
    await setup.retry();
    if (ids === before) return false;
    expect(ids).toBe(String(idsOf([...active, config, created])));
    return true;
  });
  expect(lines(setup, "snapshot of the ledger loaded").length).toBe(2);
});

test("a package that is not vetted is asked for again once, then its contracts are left out until it is", async () => {
  const others = active.map((one) => ({ ...one, contractId: `${one.contractId}00`, packageName: "later-token" }));
  const setup = await mirrored(
    [...active, ...others],
    [TOKEN, "later-token", ...INTERFACES],
    ({ unvetted }) => void unvetted.add("later-token"),
  );
  await setup.retries();
  await setup.holds(active);
  expect(setup.snapshots()).toBe(2);
  expect(lines(setup, REOPENED)).toEqual([
    expect.stringContaining("No vetted package for rendering the interface view for package-name 'later-token'"),
  ]);
  expect(lines(setup, LEFT_OUT).length).toBe(others.length);
  // One more is no reason to open the stream again.
  setup.ledger.transact([{ create: { ...others[0], contractId: "00another" } as Creation }]);
  await until("it is left out", () => lines(setup, LEFT_OUT).length === others.length + 1);
  expect(setup.snapshots()).toBe(2);
  setup.participant.unvetted.clear();
  const another = { ...others[0], contractId: "00another" } as Creation;
  await setup.becomes(active, [...active, ...others, another]);
});

test("an update whose view another stream shows is read from that: nothing is left out", async () => {
  const [first, ...rest] = active;
  const begun = rest.slice(1);
  const setup = await mirrored(begun, [TOKEN, ...INTERFACES], ({ unvetted }) => void unvetted.add("later"));
  await setup.holds(begun);
  // From an update the stream is resumed, else a snapshot is taken.
  setup.ledger.transact(rest.slice(0, 1).map((create) => ({ create })));
  await setup.holds(rest);
  const snapshots = setup.snapshots();
  const created = { ...first, packageName: "later" } as Creation;
  setup.participant.upload("later");
  setup.ledger.transact([{ create: created }]);
  await until("the stream is given up", () => lines(setup, REOPENED).length > 0);
  setup.participant.unvetted.clear();
  await setup.retries();
  await setup.holds([...rest, created]);
  expect(lines(setup, LEFT_OUT)).toEqual([]);
  await until("the incident ends", () => lines(setup, "following the ledger again").length === 1);
  expect(setup.snapshots()).toBe(snapshots);
});

test("a view that the template itself refuses is left out at once", async () => {
  const [first, ...rest] = active;
  const setup = await mirrored(rest, [TOKEN, ...INTERFACES]);
  await setup.holds(rest);
  const views = first?.views?.map((view) => ({ ...view, failure: "DAML_FAILURE(9,0af76519): no" }));
  setup.ledger.transact([{ create: { ...first, views } as Creation }]);
  await until("it is reported", () => lines(setup, LEFT_OUT).length > 0);
  expect(lines(setup, LEFT_OUT)).toEqual([expect.stringContaining("DAML_FAILURE(9,0af76519): no")]);
  expect(lines(setup, REOPENED)).toEqual([]);
  await setup.holds(rest);
});
