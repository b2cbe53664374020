/** Runs the service under load, with ledger changes, faults and slow clients, and checks each response against a model. */
import { setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { LIMITS } from "../../src/config/limits.js";
import { BuiltService } from "../fixtures/built-service.js";
import { parties } from "../fixtures/elements.js";
import { until } from "../fixtures/wait.js";
import { Random } from "../ingest/database/random.js";
import { Participant } from "../scripted-participant/participant.js";
import { CachedClients } from "./cached-clients.js";
import { FaultInjector, Network } from "./faults.js";
import { Oracle, OutageLog } from "./oracle.js";
import { randomQuery } from "./queries.js";
import { computeGrowth, formatMegabytes, type Memory, type Report } from "./report.js";
import { RequestLoad } from "./request-load.js";
import { SlowClients } from "./slow-clients.js";
import { LedgerWorkload } from "./workload.js";
import { World } from "./world.js";

export interface SoakOptions {
  readonly seed: number;
  readonly milliseconds: number;
  /** The part of it before memory is sampled. */
  readonly warmUpMs: number;
  readonly rate: number;
  readonly faultIntervalMs: number;
  readonly maxSilenceMs: number;
  /** Archivals during the warm-up. The service remembers the last 100,000. */
  readonly archivals: number;
  /** Allowed growth of memory, as a share of that after the warm-up. */
  readonly maxGrowth: number;
  /** Makes the model differ from the ledger, to test that the oracle reports it. */
  readonly isModelWrong?: boolean;
  readonly print: (line: string) => void;
}

/** Shorter than the longest silence, so that some requests are rejected as stale. */
const bounds = { staleMs: 15_000, readWaitMs: LIMITS.readWaitMs };
const READY_TIMEOUT_MS = 30_000;

/** Runs until its time is over or the signal is aborted. Stops everything that it has started. */
export async function soak(options: SoakOptions, signal: AbortSignal): Promise<Report> {
  const startedAt = performance.now();
  const random = (offset: number) => new Random(options.seed + offset);
  const world = new World(options.isModelWrong);
  const workload = new LedgerWorkload(world, random(1));
  const participant = await Participant.start({ ledger: world.ledger, checkpointMs: 100 });
  const network = await Network.to(participant.url);
  const outages = new OutageLog();
  const oracle = new Oracle(world, outages, bounds);
  const load = new RequestLoad(world, oracle, random(2));
  const { maxSilenceMs, faultIntervalMs: intervalMs } = options;
  const faultInjector = new FaultInjector({
    world,
    participant,
    network,
    outages,
    random: random(3),
    intervalMs,
    maxSilenceMs,
  });
  const samples: Memory[] = [];
  const errors: string[] = [];
  let service: BuiltService | undefined;
  let slowClients: SlowClients | undefined;
  let cachedClients: CachedClients | undefined;
  const end = new AbortController();
  const over = end.signal;
  setMaxListeners(0, over);
  const stop = () => end.abort();
  signal.addEventListener("abort", stop, { once: true });
  try {
    service = await BuiltService.start({
      settings: {
        OFFLEDGER_LEDGER_URL: network.url,
        OFFLEDGER_LEDGER_PARTIES: parties.operator,
        OFFLEDGER_STALE_SECONDS: String(bounds.staleMs / 1_000),
      },
    });
    const { url } = service;
    const started = service;
    await until("the service is ready", () => started.isReady(), READY_TIMEOUT_MS);
    const queryRandom = random(4);
    slowClients = new SlowClients({
      url,
      random: random(5),
      oracle,
      createQuery: () => randomQuery(world, queryRandom),
      record: load.record.bind(load),
      signal: over,
    });
    const cachedRandom = random(7);
    cachedClients = new CachedClients({
      url,
      random: random(6),
      oracle,
      createQuery: () => randomQuery(world, cachedRandom),
      fail: load.fail.bind(load),
      signal: over,
    });
    const tasks = [
      load.run(url, options.rate, over),
      workload.run(over),
      faultInjector.run(over),
      slowClients.run(),
      cachedClients.run(),
      measureDelays(url, oracle, over),
      sampleMemory({ service, options, faultInjector, workload, samples, startedAt, signal: over }),
    ];
    const all = Promise.all(tasks);
    const time = delay(options.milliseconds, undefined, { signal: over }).catch(() => undefined);
    try {
      // A task that rejects ends the soak early.
      await Promise.race([all, time]);
    } finally {
      end.abort();
      await Promise.allSettled(tasks);
    }
    await all;
  } catch (error) {
    errors.push(String(error));
  } finally {
    end.abort();
    signal.removeEventListener("abort", stop);
    const stopError = await service?.stop();
    if (stopError !== undefined) errors.push(stopError);
    await network.close();
    await participant.stop();
  }
  return {
    seed: options.seed,
    seconds: (performance.now() - startedAt) / 1_000,
    requests: load.byProtocol,
    responses: load.byStatus,
    ledgerChanges: workload.counts,
    faults: faultInjector.counts,
    slowClients: slowClients?.counts ?? {},
    cachedClients: cachedClients?.counts ?? {},
    contracts: world.ledger.contracts.size,
    wrongResponses: load.wrongResponses,
    wrongResponseMessages: load.messages,
    medianMs: load.latencies.percentile(50) / 1_000,
    p99Ms: load.latencies.percentile(99) / 1_000,
    growth: computeGrowth(samples, options.maxGrowth),
    errors,
    log: service?.log ?? [],
    wasInterrupted: signal.aborted,
  };
}

const DELAY_INTERVAL_MS = 500;

async function measureDelays(url: string, oracle: Oracle, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const startedAt = performance.now();
    const response = await fetch(`${url}/livez`);
    await response.arrayBuffer();
    oracle.recordDelay(performance.now() - startedAt);
    await delay(DELAY_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
  }
}

const SAMPLES = 50;
const MIN_INTERVAL_MS = 1_500;

interface SamplerOptions {
  readonly service: BuiltService;
  readonly options: SoakOptions;
  readonly faultInjector: FaultInjector;
  readonly workload: LedgerWorkload;
  readonly samples: Memory[];
  readonly startedAt: number;
  readonly signal: AbortSignal;
}

/** During the warm-up makes the service take a new snapshot and fills its memory of archivals; samples memory after it. */
export async function sampleMemory(sampler: SamplerOptions): Promise<void> {
  const { service, options, faultInjector, workload, samples, startedAt, signal } = sampler;
  const { milliseconds, warmUpMs, archivals, print } = options;
  const pause = (ms: number) => delay(ms, undefined, { signal }).catch(() => undefined);
  await pause(warmUpMs / 8);
  // A new snapshot clears the memory of archivals, so it comes first.
  if (!signal.aborted) faultInjector.prune();
  await pause(warmUpMs / 4);
  await workload.fillArchivals(archivals, signal);
  await pause(Math.max(0, startedAt + warmUpMs - performance.now()));
  const intervalMs = Math.max((milliseconds - warmUpMs) / SAMPLES, MIN_INTERVAL_MS);
  while (!signal.aborted) {
    const { heapUsed, external, rss } = await service.usage();
    const heap = heapUsed + external;
    samples.push({ heap, rss });
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
    print(`${seconds} s: heap ${formatMegabytes(heap)}, resident set ${formatMegabytes(rss)}`);
    await pause(intervalMs);
  }
}
