/** Throughput of a registry of a million contracts next to a small one, and its memory. */
import { loadHttp1 } from "../load/http1.js";
import { startStreaming } from "../participants/start.js";
import { type Keep, withResources } from "../processes/resources.js";
import { FIXED_CONTRACTS } from "../registries/transfers.js";
import { median, medianOfRatios, type Row } from "../report/row.js";
import { ROUNDS, scaleCount, scaleSeconds, SHORT_ROUNDS } from "../scale.js";
import { LARGEST_SEMI_SPACE_MB, startServer } from "../servers/start.js";
import { encodeAccept } from "./requests.js";

const SMALL = 1_000;
const LARGE = scaleCount(1_000_000);
const WARM_UP_SECONDS = scaleSeconds(3);
/** Long enough for one or two garbage collections of the large registry. */
const SECONDS = scaleSeconds(0.7);
const ONCE_SECONDS = scaleSeconds(1);
const SIZE_ROUNDS = 2 * SHORT_ROUNDS;
/** Coprime to the number of offers in any of the registries, so steps of it reach each offer once. */
const STEP = 7_919;

export async function measureRegistrySize(): Promise<Row[]> {
  return withResources(async (keep) => {
    const small = await startRegistry(keep, SMALL);
    const large = await startRegistry(keep, LARGE);
    for (const { load } of [small, large]) await load(WARM_UP_SECONDS, small.offers);
    const [smallRates, largeRates, onceRates]: [number[], number[], number[]] = [[], [], []];
    for (let round = 0; round < SIZE_ROUNDS; round++) {
      smallRates.push(await small.load(SECONDS, small.offers));
      largeRates.push(await large.load(SECONDS, small.offers));
    }
    for (let round = 0; round < ROUNDS; round++) onceRates.push(await large.load(ONCE_SECONDS, large.offers));
    const afterLoad = await large.server.memory();
    const bytes = large.sent.bytes - small.sent.bytes;
    const growth = (of: "rss" | "heap", to = large.memory) => to[of] - small.memory[of];
    const relative = (value: number): string => `${(value / bytes).toFixed(2)} times`;
    const count = large.sent.contracts.toLocaleString("en-US");
    return [
      {
        title: `throughput, ${small.sent.contracts.toLocaleString("en-US")} contracts`,
        figure: { value: median(smallRates), unit: "requests/s" },
      },
      {
        title: `throughput, ${count} contracts`,
        figure: { value: median(largeRates), unit: "requests/s" },
        ratio: { value: medianOfRatios(largeRates, smallRates), target: { atLeast: 0.9 } },
        note: `as many offers, spread over the registry; ready after ${large.readySeconds.toFixed(0)} s`,
      },
      {
        title: "throughput, each offer once",
        figure: { value: median(onceRates), unit: "requests/s" },
        note: `${(median(onceRates) / median(smallRates)).toFixed(2)} of the small registry; nothing is encoded yet`,
      },
      {
        title: `memory: resident, ${count} contracts`,
        figure: megabytes(growth("rss")),
        ratio: { value: growth("rss") / bytes, target: { atMost: 2.5 } },
        note: `over ${megabytes(bytes).value.toFixed(0)} MB of blobs and payloads`,
      },
      { title: "memory: heap and buffers", figure: megabytes(growth("heap")), note: relative(growth("heap")) },
      {
        title: "memory: heap and buffers, after the load",
        figure: megabytes(growth("heap", afterLoad)),
        note: `${relative(growth("heap", afterLoad))}; resident ${relative(growth("rss", afterLoad))}`,
      },
    ];
  });
}

async function startRegistry(keep: Keep, contracts: number) {
  const offers = Math.ceil((contracts - FIXED_CONTRACTS) / 2);
  const participant = await keep(startStreaming({ offers }));
  const startedAt = performance.now();
  const target = { server: "offledger", settings: participant.settings } as const;
  const server = await keep(startServer(target, { semiSpaceMegabytes: LARGEST_SEMI_SPACE_MB }));
  const readySeconds = (performance.now() - startedAt) / 1000;
  const [sent, memory] = [await participant.sent(), await server.memory()];
  let count = 0;
  /** Requests `distinct` offers that are spread evenly over the registry; returns requests per second. */
  const load = async (duration: number, distinct: number): Promise<number> => {
    const { requests, seconds } = await loadHttp1(server.url, duration, () => {
      count++;
      return encodeAccept(Math.floor(((count * STEP) % distinct) * (offers / distinct)), count % 2 === 1);
    });
    return requests / seconds;
  };
  return { server, offers, readySeconds, sent, memory, load };
}

const megabytes = (bytes: number): Row["figure"] => ({ value: bytes / 1e6, unit: "MB" });
