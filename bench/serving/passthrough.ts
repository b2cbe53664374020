/** The service next to a registry that has no mirror, and asks the participant for each request. */
import { isDeepStrictEqual } from "node:util";
import { ROUNDS, seconds } from "../scale.js";
import { loadHttp1 } from "../load/http1.js";
import { bodyOf } from "../load/single-request.js";
import { startScripted } from "../participants/start.js";
import { OFFERS } from "../registries/transfers.js";
import { median, medianRatio, type Row } from "../report/row.js";
import { type Server, start, stopping } from "../servers/start.js";
import { inTurn, restAccept } from "./requests.js";

const WARM_SECONDS = seconds(2);
const SECONDS = seconds(1.5);
const wanted = { atLeast: 20 };

export async function querying(): Promise<Row[]> {
  return stopping(async (keep) => {
    const participant = await keep(startScripted({ offers: OFFERS }));
    const ours = await keep(start({ server: "offledger", settings: participant.settings }));
    const byId = await keep(start({ server: "querying", participant: participant.url, byId: true }));
    const byTemplate = await keep(start({ server: "querying", participant: participant.url, byId: false }));
    const requests = restAccept();
    for (const server of [byId, byTemplate]) await checkAlike(ours, server, requests.slice(0, 4));
    const servers = [ours, byId, byTemplate];
    for (const { url } of servers) await loadHttp1(url, WARM_SECONDS, inTurn(requests));
    const rates = servers.map((): number[] => []);
    for (let round = 0; round < ROUNDS; round++) {
      for (const [index, { url }] of servers.entries()) {
        const load = await loadHttp1(url, SECONDS, inTurn(requests));
        rates[index]?.push(load.requests / load.seconds);
      }
    }
    const [our = [], ids = [], templates = []] = rates;
    return [
      { what: "accept, from the mirror", figure: rate(our) },
      {
        what: "without a mirror, by id and template",
        figure: rate(ids),
        ratio: { reached: medianRatio(our, ids), wanted },
        note: "the ratio is ours over this",
      },
      {
        what: "without a mirror, by template alone",
        figure: rate(templates),
        ratio: { reached: medianRatio(our, templates), wanted },
        note: "the ratio is ours over this",
      },
    ];
  });
}

const rate = (values: readonly number[]): Row["figure"] => ({ value: median(values), unit: "requests/s" });

/** A comparison is one of those who answer the same. */
async function checkAlike(ours: Server, theirs: Server, requests: readonly Buffer[]): Promise<void> {
  for (const request of requests) {
    const answers = await Promise.all([ours, theirs].map(({ url }) => bodyOf(url, request)));
    const [our, their] = answers.map((body) => JSON.parse(body.toString()) as unknown);
    if (!isDeepStrictEqual(our, their)) throw new Error("the registry without a mirror answers something else");
  }
}
