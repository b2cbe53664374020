/** Runs the service under load, with ledger changes, faults and slow clients, and checks each response against a model. */
import { setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { Participant } from "../scripted-participant/participant.js";
import { parties } from "../fixtures/elements.js";
import { until } from "../fixtures/wait.js";
import { Random } from "../ingest/database/random.js";
import { FaultInjector } from "./fault-injector.js";
import { LedgerWorkload } from "./ledger-workload.js";
import { CachedClients } from "./cached/cached-clients.js";
import { computeGrowth, type Memory } from "./memory.js";
import { sampleMemory } from "./memory-sampler.js";
import { Oracle } from "./model/oracle.js";
import { OutageLog } from "./model/outages.js";
import { randomQuery } from "./model/queries.js";
import { World } from "./model/world.js";
import { Network } from "./network.js";
import type { SoakOptions } from "./options.js";
import type { Report } from "./report.js";
import { RequestLoad } from "./request-load.js";
import { Service } from "./service.js";
import { SlowClients } from "./slow/clients.js";

/** Shorter than the longest silence, so that some requests are rejected as stale. */
const bounds = { staleMs: 15_000, readWaitMs: 5_000 };
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
  let service: Service | undefined;
  let slowClients: SlowClients | undefined;
  let cachedClients: CachedClients | undefined;
  const end = new AbortController();
  const over = end.signal;
  setMaxListeners(0, over);
  const stop = () => end.abort();
  signal.addEventListener("abort", stop, { once: true });
  try {
    service = await Service.start({
      PORT: 0,
      LEDGER_URL: network.url,
      LEDGER_PARTIES: parties.operator,
      READ_WAIT_MS: bounds.readWaitMs,
      UNREADY_SECONDS: 5,
      STALE_SECONDS: bounds.staleMs / 1_000,
      // The garbage collection of a memory sample takes longer than the default allows requests to wait.
      MAX_DELAY_MS: 0,
    });
    const { url } = service;
    await until("the service is ready", async () => (await fetch(`${url}/readyz`)).ok, READY_TIMEOUT_MS);
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
      fail: load.fail,
      signal: over,
    });
    const tasks = [
      load.run(url, options.rate, over),
      workload.run(over),
      faultInjector.run(over),
      slowClients.run(),
      cachedClients.run(),
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
    medianMs: load.latencies.percentile(0.5),
    p99Ms: load.latencies.percentile(0.99),
    growth: computeGrowth(samples),
    errors,
    log: service?.log ?? [],
    wasInterrupted: signal.aborted,
  };
}
