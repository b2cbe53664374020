/** 99th percentile latency at half of the service's capacity, next to bare Fastify at the same rate. */
import { loadHttp1 } from "../load/http1.js";
import { loadOpenLoop } from "../load/open-loop.js";
import { withResources } from "../processes/resources.js";
import { writeSnapshot } from "../registries/snapshot.js";
import { generateTransfers, OFFERS } from "../registries/transfers.js";
import { median, medianOfRatios, percentile, type Row } from "../report/row.js";
import { scaleSeconds, SHORT_ROUNDS } from "../scale.js";
import { startServer } from "../servers/start.js";
import { cycle } from "./requests.js";
import { recordResponses, workloads } from "./workloads.js";

const WARM_UP_SECONDS = scaleSeconds(3);
/** More rounds than elsewhere: ratios of 99th percentiles vary the most. */
const LATENCY_ROUNDS = 2 * SHORT_ROUNDS - 1;
const CAPACITY_SECONDS = scaleSeconds(0.4);
const SECONDS = scaleSeconds(1);

export async function measureLatency(): Promise<Row[]> {
  return withResources(async (keep) => {
    const { settings } = await keep(writeSnapshot(generateTransfers(OFFERS)));
    const workload = workloads.restAccept();
    const requestAt = cycle(workload.requests);
    const own = await keep(startServer({ server: "offledger", settings }));
    const bodies = await recordResponses(own.url, workload);
    const baseline = await keep(startServer({ server: "fastify", bodies }));
    for (const { url } of [baseline, own]) await loadHttp1(url, WARM_UP_SECONDS, requestAt);
    const [rates, ownMs, baselineMs]: [number[], number[], number[]] = [[], [], []];
    for (let round = 0; round <= LATENCY_ROUNDS; round++) {
      const capacity = await loadHttp1(own.url, CAPACITY_SECONDS, requestAt);
      const rate = Math.round(capacity.requests / capacity.seconds / 2);
      const baselineP99 = percentile(await loadOpenLoop(baseline.url, rate, SECONDS, requestAt), 0.99);
      const ownP99 = percentile(await loadOpenLoop(own.url, rate, SECONDS, requestAt), 0.99);
      if (round === 0) continue;
      rates.push(rate);
      baselineMs.push(baselineP99);
      ownMs.push(ownP99);
    }
    const note = `at ${Math.round(median(rates))} requests/s, half of capacity`;
    return [
      { title: "baseline: bare Fastify, p99 latency", figure: { value: median(baselineMs), unit: "ms" }, note },
      {
        title: "REST, transfer accept, p99 latency",
        figure: { value: median(ownMs), unit: "ms" },
        ratio: { value: medianOfRatios(ownMs, baselineMs), target: { atMost: 2 } },
        note,
      },
    ];
  });
}
