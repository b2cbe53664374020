/** Throughput next to a pass-through registry, which queries the participant for each request. */
import { isDeepStrictEqual } from "node:util";
import { loadHttp1 } from "../load/http1.js";
import { fetchBody } from "../load/single-request.js";
import { startScripted } from "../participants/start.js";
import { withResources } from "../processes/resources.js";
import { OFFERS } from "../registries/transfers.js";
import { median, medianOfRatios, type Row } from "../report/row.js";
import { ROUNDS, scaleSeconds } from "../scale.js";
import { type Server, startServer } from "../servers/start.js";
import { cycle, restAcceptRequests } from "./requests.js";

const WARM_UP_SECONDS = scaleSeconds(2);
const SECONDS = scaleSeconds(1.5);
const target = { atLeast: 20 };

export async function measurePassthrough(): Promise<Row[]> {
  return withResources(async (keep) => {
    const participant = await keep(startScripted({ offers: OFFERS }));
    const own = await keep(startServer({ server: "offledger", settings: participant.settings }));
    const startPassthrough = (byId: boolean) =>
      keep(startServer({ server: "passthrough", participant: participant.url, byId }));
    const byId = await startPassthrough(true);
    const byTemplate = await startPassthrough(false);
    const requests = restAcceptRequests();
    for (const server of [byId, byTemplate]) await assertSameResponses(own, server, requests.slice(0, 4));
    const servers = [own, byId, byTemplate];
    for (const { url } of servers) await loadHttp1(url, WARM_UP_SECONDS, cycle(requests));
    const rates = servers.map((): number[] => []);
    for (let round = 0; round < ROUNDS; round++) {
      for (const [index, { url }] of servers.entries()) {
        const load = await loadHttp1(url, SECONDS, cycle(requests));
        rates[index]?.push(load.requests / load.seconds);
      }
    }
    const [ownRates = [], byIdRates = [], byTemplateRates = []] = rates;
    const note = "ratio is ours over this";
    return [
      { title: "throughput, mirrored ledger", figure: throughput(ownRates) },
      {
        title: "throughput, pass-through by id and template",
        figure: throughput(byIdRates),
        ratio: { value: medianOfRatios(ownRates, byIdRates), target },
        note,
      },
      {
        title: "throughput, pass-through by template",
        figure: throughput(byTemplateRates),
        ratio: { value: medianOfRatios(ownRates, byTemplateRates), target },
        note,
      },
    ];
  });
}

const throughput = (rates: readonly number[]): Row["figure"] => ({ value: median(rates), unit: "requests/s" });

async function assertSameResponses(own: Server, passthrough: Server, requests: readonly Buffer[]): Promise<void> {
  for (const request of requests) {
    const bodies = await Promise.all([own, passthrough].map(({ url }) => fetchBody(url, request)));
    const [ownBody, otherBody] = bodies.map((body) => JSON.parse(body.toString()) as unknown);
    if (!isDeepStrictEqual(ownBody, otherBody)) throw new Error("the pass-through registry sends another response");
  }
}
