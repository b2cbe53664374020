/** How long answers take at half of the load that the service can bear, next to bare Fastify at the same rate. */
import { ROUNDS, seconds } from "../effort.js";
import { loadHttp1 } from "../load/http1.js";
import { answersTo } from "../load/one.js";
import { loadAtRate } from "../load/open-loop.js";
import { snapshotOf } from "../registries/snapshot.js";
import { OFFERS, transfers } from "../registries/transfers.js";
import { median, medianRatio, percentile, type Row } from "../report/row.js";
import { start, stopping } from "../servers/start.js";
import { inTurn, restAccept } from "./requests.js";

const WARM_SECONDS = seconds(3);
/** Long enough that a collection of garbage, which comes every few seconds, meets every round. */
const SECONDS = seconds(6);

export async function latency(): Promise<Row[]> {
  return stopping(async (keep) => {
    const { settings } = await keep(snapshotOf(transfers(OFFERS)));
    const requests = restAccept();
    const requestOf = inTurn(requests);
    const ours = await keep(start({ server: "offledger", settings }));
    const bare = await keep(start({ server: "fastify", answers: await answersTo(ours.url, requests.slice(0, 2)) }));
    for (const { url } of [bare, ours]) await loadHttp1(url, WARM_SECONDS, requestOf);
    const top = await loadHttp1(ours.url, WARM_SECONDS, requestOf);
    const rate = Math.round(top.requests / top.seconds / 2);
    for (const { url } of [bare, ours]) await loadAtRate(url, rate, WARM_SECONDS, requestOf);
    const [oursTook, bareTook]: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      bareTook.push(percentile(await loadAtRate(bare.url, rate, SECONDS, requestOf), 0.99));
      oursTook.push(percentile(await loadAtRate(ours.url, rate, SECONDS, requestOf), 0.99));
    }
    const note = `${rate} requests/s, half of the most`;
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
