/** Runs one scenario of the streams: the service before them, with them, and after them. */
import { setTimeout as delay } from "node:timers/promises";
import type { Figures, PhaseName } from "../attacks/honest/figures.js";
import { startHonest } from "../attacks/honest/start.js";
import { type Service, startService } from "../attacks/service/start.js";
import { withResources } from "../processes/resources.js";
import { plainRequests } from "../serving/requests.js";
import type { LoadFigures } from "./clients/process.js";
import { startClients } from "./clients/start.js";
import { startLedger } from "./ledger/start.js";
import type { WatchOptions } from "./options.js";
import { type WatchScenario, type WatchScenarioName, watchScenarios } from "./scenarios.js";

const QUIET_MS = 5_000;
/** Until what was sent last has arrived. */
const DRAIN_MS = 2_000;
const READ_AGAIN_MS = 4_000;
const SETTLE_MS = 5_000;
const SPARE_CONNECTIONS = 1_000;
const STANDARD_DESCRIPTORS = 1_000;

export interface WatchResult extends WatchScenario {
  readonly name: WatchScenarioName;
  readonly openSeconds: number;
  /** Resident memory in bytes. */
  readonly memory: Readonly<Record<"before" | "open" | "end" | "peak" | "closed", number>>;
  /** CPU time of the service over the time measured. */
  readonly cpu: number;
  /** How long the updates took, which is more than asked for if the machine is too slow for them. */
  readonly elapsedSeconds: number;
  readonly figures: LoadFigures;
  /** What clients that did not read got when they did. */
  readonly afterwards: LoadFigures | undefined;
  readonly caller: Readonly<Record<PhaseName, Figures>> | undefined;
  /** How the service ended before its time. */
  readonly death: string | undefined;
  readonly log: string;
}

export async function runScenario(name: WatchScenarioName, options: WatchOptions): Promise<WatchResult> {
  const scenario = scenarioOf(name, options);
  const { streams, rate, seconds, isFiltered, reads, hasCaller } = scenario;
  const registrars = isFiltered ? streams : 0;
  return withResources(async (keep) => {
    const ledger = await keep(startLedger({ registrars }));
    const service = await keep(
      startService({ ...serviceOptions(options, streams), settings: settingsOf(ledger, streams) }),
    );
    const { url } = service;
    const caller = hasCaller ? await keep(startHonest({ url, requests: plainRequests() })) : undefined;
    const clients = await keep(startClients({ url, streams, registrars, reads }));
    await delay(QUIET_MS);
    const before = memoryOf(service);
    const openSeconds = await clients.open();
    const open = memoryOf(service);
    await caller?.ask("attack");
    await clients.mark();
    const [startedAt, cpuBefore] = [performance.now(), cpuOf(service)];
    const commits = rate === 0 ? await delay(seconds * 1000) : await ledger.commit({ rate, seconds });
    const elapsedSeconds = (performance.now() - startedAt) / 1000;
    const cpu = (cpuOf(service) - cpuBefore) / elapsedSeconds;
    const end = memoryOf(service);
    await caller?.ask("after");
    if (rate > 0) await delay(DRAIN_MS);
    const figures = await clients.measure(reads ? (commits ?? undefined) : undefined);
    const afterwards = reads ? undefined : await readAgain(clients);
    await clients.close();
    await delay(SETTLE_MS);
    const callerFigures = (await caller?.ask("finish")) as WatchResult["caller"];
    const memory = { before, open, end, peak: service.peaks().rss, closed: memoryOf(service) };
    const [death, log] = [service.death(), service.logTail()];
    return {
      name,
      ...scenario,
      openSeconds,
      memory,
      cpu,
      elapsedSeconds,
      figures,
      afterwards,
      caller: callerFigures,
      death,
      log,
    };
  });
}

function scenarioOf(name: WatchScenarioName, { streams, rate, seconds }: WatchOptions): WatchScenario {
  const scenario = watchScenarios[name];
  return {
    ...scenario,
    streams: streams ?? scenario.streams,
    // Without updates the streams are idle, whatever the rate of the other scenarios.
    rate: scenario.rate === 0 ? 0 : (rate ?? scenario.rate),
    seconds: seconds ?? scenario.seconds,
  };
}

const serviceOptions = ({ checkout, memoryMiB }: WatchOptions, streams: number) => ({
  checkout,
  memoryMiB,
  maxDescriptors: streams + STANDARD_DESCRIPTORS,
});

/** All streams come from one address, whose limit is not what is measured. */
function settingsOf(ledger: { readonly settings: Readonly<Record<string, string>> }, streams: number) {
  const max = Math.max(10_000, streams);
  return {
    ...ledger.settings,
    OFFLEDGER_MAX_CONNECTIONS: String(max + SPARE_CONNECTIONS),
    OFFLEDGER_MAX_WATCHES: String(max),
  };
}

async function readAgain(clients: Awaited<ReturnType<typeof startClients>>): Promise<LoadFigures> {
  await clients.resume();
  await delay(READ_AGAIN_MS);
  return clients.measure();
}

const memoryOf = (service: Service): number => service.usage()?.rss ?? 0;
const cpuOf = (service: Service): number => service.usage()?.cpuSeconds ?? 0;
