/** Latency of accepted and rejected settlements at three times the service's capacity. */
import { settings as allSettings } from "../../src/config/settings.js";
import { loadHttp1 } from "../load/http1.js";
import { loadOverCapacity, type OverloadResult } from "../load/overload.js";
import { withResources } from "../processes/resources.js";
import { generateSettlements } from "../registries/settlements.js";
import { writeSnapshot } from "../registries/snapshot.js";
import { median, medianOfRatios, percentile, type Row } from "../report/row.js";
import { ROUNDS, scaleSeconds } from "../scale.js";
import { startServer } from "../servers/start.js";
import { cycle, settlementRequests } from "./requests.js";

const WARM_UP_SECONDS = scaleSeconds(3);
const SECONDS = scaleSeconds(3);
const FACTOR = 3;
/**
 * Skipped before the steady state. Accepting 1,000 connections delays the first requests by 30 to 60 ms, and the service
 * works off the start of an overload like a burst.
 */
const START_SECONDS = scaleSeconds(2);

export async function measureOverload(): Promise<Row[]> {
  return withResources(async (keep) => {
    const { settings } = await keep(writeSnapshot(generateSettlements()));
    const requestAt = cycle(settlementRequests());
    const start = (maxDelayMs: number) =>
      keep(startServer({ server: "offledger", settings: { ...settings, OFFLEDGER_MAX_DELAY_MS: String(maxDelayMs) } }));
    const shedding = await start(allSettings.maxDelayMs.default);
    const unlimited = await start(0);
    await loadHttp1(unlimited.url, 2 * WARM_UP_SECONDS, requestAt);
    const capacity = await loadHttp1(unlimited.url, WARM_UP_SECONDS, requestAt);
    const rate = capacity.requests / capacity.seconds;
    await loadOverCapacity(shedding.url, rate / 2, WARM_UP_SECONDS, requestAt);
    const half: OverloadResult[] = [];
    const burst: OverloadResult[] = [];
    const steady: OverloadResult[] = [];
    const withoutShedding: OverloadResult[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      half.push(await loadOverCapacity(shedding.url, rate / 2, SECONDS, requestAt, START_SECONDS));
      burst.push(await loadOverCapacity(shedding.url, rate * FACTOR, 1, requestAt));
      steady.push(await loadOverCapacity(shedding.url, rate * FACTOR, SECONDS, requestAt, START_SECONDS));
      withoutShedding.push(await loadOverCapacity(unlimited.url, rate * FACTOR, SECONDS, requestAt, START_SECONDS));
    }
    const overHalf = (rounds: readonly OverloadResult[]) =>
      medianOfRatios(p99(rounds, "answered"), p99(half, "answered"));
    return [
      {
        title: "settlements at half of capacity, p99",
        figure: { value: median(p99(half, "answered")), unit: "ms" },
        note: `${perSecond(half, "answered")} settlements/s; capacity ${Math.round(rate)}`,
      },
      {
        title: `settlements, overload at ${FACTOR}× capacity, p99`,
        figure: { value: median(p99(steady, "answered")), unit: "ms" },
        ratio: { value: overHalf(steady), target: { atMost: 2 } },
        note: `${perSecond(steady, "answered")} settlements/s answered, ${perSecond(steady, "rejected")} rejected`,
      },
      { title: "overload: rejections (503), p99", figure: { value: median(p99(steady, "rejected")), unit: "ms" } },
      {
        title: "overload: first second, p99",
        figure: { value: median(p99(burst, "answered")), unit: "ms" },
        ratio: { value: overHalf(burst), target: undefined },
        note: `${perSecond(burst, "answered")} settlements/s answered, ${perSecond(burst, "rejected")} rejected`,
      },
      {
        title: "overload without load shedding, p99",
        figure: { value: median(p99(withoutShedding, "answered")), unit: "ms" },
        ratio: { value: overHalf(withoutShedding), target: undefined },
        note: `${perSecond(withoutShedding, "answered")} settlements/s answered, at most 1,000 requests waiting`,
      },
    ];
  });
}

type Outcome = "answered" | "rejected";
const p99 = (rounds: readonly OverloadResult[], outcome: Outcome) =>
  rounds.map((round) => percentile(round[outcome], 0.99));
const perSecond = (rounds: readonly OverloadResult[], outcome: Outcome) =>
  Math.round(median(rounds.map((round) => round[outcome].length / round.seconds)));
