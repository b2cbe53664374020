/** How long answers take at half of the load that the service can bear, next to bare Fastify at the same rate. */
import { seconds, SHORT_ROUNDS } from "../scale.js";
import { loadHttp1 } from "../load/http1.js";
import { answersTo } from "../load/single-request.js";
import { loadAtRate } from "../load/open-loop.js";
import { snapshotOf } from "../registries/snapshot.js";
import { OFFERS, transfers } from "../registries/transfers.js";
import { median, medianRatio, percentile, type Row } from "../report/row.js";
import { start, stopping } from "../servers/start.js";
import { inTurn, restAccept } from "./requests.js";

const WARM_SECONDS = seconds(3);
/** More than elsewhere: a ratio of 99th percentiles differs most from round to round. */
const LATENCY_ROUNDS = 2 * SHORT_ROUNDS - 1;
const TOP_SECONDS = seconds(0.4);
/** Some six collections of garbage. */
const SECONDS = seconds(1);

export async function latency(): Promise<Row[]> {
  return stopping(async (keep) => {
    const { settings } = await keep(snapshotOf(transfers(OFFERS)));
    const requests = restAccept();
    const requestOf = inTurn(requests);
    const ours = await keep(start({ server: "offledger", settings }));
    const bare = await keep(start({ server: "fastify", answers: await answersTo(ours.url, requests.slice(0, 2)) }));
    for (const { url } of [bare, ours]) await loadHttp1(url, WARM_SECONDS, requestOf);
    const [rates, oursTook, bareTook]: [number[], number[], number[]] = [[], [], []];
    for (let round = 0; round <= LATENCY_ROUNDS; round++) {
      // What can be borne is asked in each round: half of it in a good moment is all of it in a bad one.
      const top = await loadHttp1(ours.url, TOP_SECONDS, requestOf);
      const rate = Math.round(top.requests / top.seconds / 2);
      const ofBare = percentile(await loadAtRate(bare.url, rate, SECONDS, requestOf), 0.99);
      const ofOurs = percentile(await loadAtRate(ours.url, rate, SECONDS, requestOf), 0.99);
      // The first is to warm up.
      if (round === 0) continue;
      rates.push(rate);
      bareTook.push(ofBare);
      oursTook.push(ofOurs);
    }
    const note = `${Math.round(median(rates))} requests/s, half of the most`;
    return [
      { what: "bare Fastify, 99th percentile", figure: { value: median(bareTook), unit: "ms" }, note },
      {
        what: "REST, transfer accept, 99th percentile",
        figure: { value: median(oursTook), unit: "ms" },
        ratio: { reached: medianRatio(oursTook, bareTook), wanted: { atMost: 2 } },
        note,
      },
    ];
  });
}
