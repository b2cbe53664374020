/** Whether a registry of a million contracts is served as fast as a small one, and what memory it takes. */
import { ROUNDS, seconds, SHORT_ROUNDS, size } from "../scale.js";
import { loadHttp1 } from "../load/http1.js";
import { startStreaming } from "../participants/start.js";
import { BESIDES } from "../registries/transfers.js";
import { median, medianRatio, type Row } from "../report/row.js";
import { LARGEST_YOUNG_MB, start, stopping } from "../servers/start.js";
import { accept } from "./requests.js";

const SMALL = 1_000;
const LARGE = size(1_000_000);
const WARM_SECONDS = seconds(3);
/** The large registry has its garbage collected once in it, or twice. */
const SECONDS = seconds(0.7);
const FIRST_SECONDS = seconds(1);
/** A round differs from the next by a fifth where the machine has busy neighbours. */
const SIZE_ROUNDS = 2 * SHORT_ROUNDS;
/** No registry has a multiple of it in offers, so that steps of this reach each offer before any comes again. */
const STEP = 7_919;

export async function registrySize(): Promise<Row[]> {
  return stopping(async (keep) => {
    const follow = async (contracts: number) => {
      const offers = Math.ceil((contracts - BESIDES) / 2);
      const participant = await keep(startStreaming({ offers }));
      const begun = performance.now();
      const server = await keep(start({ server: "offledger", settings: participant.settings }, LARGEST_YOUNG_MB));
      const filled = (performance.now() - begun) / 1000;
      const [sent, memory] = [await participant.sent(), await server.memory()];
      let asked = 0;
      // `among`: how many offers are asked for, which lie evenly over the whole registry.
      const load = async (time: number, among: number) => {
        const { requests, seconds: took } = await loadHttp1(server.url, time, () => {
          asked++;
          return accept(Math.floor(((asked * STEP) % among) * (offers / among)), asked % 2 === 1);
        });
        return requests / took;
      };
      return { server, offers, filled, sent, memory, load };
    };
    const small = await follow(SMALL);
    const large = await follow(LARGE);
    for (const { load } of [small, large]) await load(WARM_SECONDS, small.offers);
    const [few, many, first]: [number[], number[], number[]] = [[], [], []];
    for (let round = 0; round < SIZE_ROUNDS; round++) {
      few.push(await small.load(SECONDS, small.offers));
      many.push(await large.load(SECONDS, small.offers));
    }
    for (let round = 0; round < ROUNDS; round++) first.push(await large.load(FIRST_SECONDS, large.offers));
    const asked = await large.server.memory();
    const bytes = large.sent.bytes - small.sent.bytes;
    const grown = (by: "rss" | "heap", to = large.memory) => to[by] - small.memory[by];
    const count = large.sent.contracts.toLocaleString("en-US");
    const ofBytes = `of ${megabytes(bytes).value.toFixed(0)} MB of blobs and payloads`;
    return [
      { what: `accept, ${small.sent.contracts} contracts`, figure: { value: median(few), unit: "requests/s" } },
      {
        what: `accept, ${count} contracts`,
        figure: { value: median(many), unit: "requests/s" },
        ratio: { reached: medianRatio(many, few), wanted: { atLeast: 0.9 } },
        note: `as many offers, all over the registry, which was there after ${large.filled.toFixed(0)} s`,
      },
      {
        what: "the same, each offer once",
        figure: { value: median(first), unit: "requests/s" },
        note: `${(median(first) / median(few)).toFixed(2)} of it: what was asked for has not been written before`,
      },
      {
        what: `resident memory, ${count} contracts`,
        figure: megabytes(grown("rss")),
        ratio: { reached: grown("rss") / bytes, wanted: { atMost: 2.5 } },
        note: ofBytes,
      },
      {
        what: "the same in use, heap and buffers",
        figure: megabytes(grown("heap")),
        note: times(grown("heap"), bytes),
      },
      {
        what: "the same after the load",
        figure: megabytes(grown("heap", asked)),
        note: `${times(grown("heap", asked), bytes)}; resident ${times(grown("rss", asked), bytes)}`,
      },
    ];
  });
}

const megabytes = (bytes: number): Row["figure"] => ({ value: bytes / 1e6, unit: "MB" });
const times = (value: number, of: number): string => `${(value / of).toFixed(2)} times of it`;
