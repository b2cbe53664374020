/** One round of cold and warm accept contexts on a server. */
import { loadHttp1 } from "../load/http1.js";
import { loadOpenLoop } from "../load/open-loop.js";
import { CONNECTIONS, scaleSeconds } from "../scale.js";
import type { Server } from "../servers/start.js";
import { encodeAccept } from "../serving/requests.js";

const SECONDS = scaleSeconds(1.5);
/** How often each warm offer is requested before the measurement, and for how long at most. */
const WARM_UP_REPEATS = 5;
const MAX_WARM_UP_SECONDS = 20;
/** Coprime to the number of offers in any of the registries, so steps of it reach each offer once. */
const STEP = 7_919;

export interface ReadResult {
  readonly rate: number;
  readonly cpu: number;
  readonly latencies: readonly number[];
}

export interface Round {
  readonly cold: ReadResult;
  readonly warm: ReadResult;
  readonly roundTrips: number;
}

export interface Rates {
  readonly cold: number;
  readonly warm: number;
}

/** Encodes requests: for the warm offers in turn, and for the others each once before any repeats. */
export class Offers {
  readonly warmCount: number;
  readonly coldCount: number;
  readonly #offers: number;
  #nextCold = 0;
  #nextWarm = 0;

  constructor(offers: number, warm: number) {
    this.#offers = offers;
    this.warmCount = warm;
    this.coldCount = offers - warm;
  }

  readonly warm = (): Buffer => this.#encode(this.#nextWarm++ % this.warmCount);
  readonly cold = (): Buffer => this.#encode(this.warmCount + (this.#nextCold++ % this.coldCount));

  #encode(index: number): Buffer {
    return encodeAccept((index * STEP) % this.#offers, index % 2 === 1);
  }
}

/** The cold offers must not have been requested from this server. Without `rates`, latency is measured at half of its capacity. */
export async function measureRound(server: Server, offers: Offers, rates?: Rates): Promise<Round> {
  await loadHttp1(server.url, MAX_WARM_UP_SECONDS, offers.warm, WARM_UP_REPEATS * offers.warmCount);
  const eighth = Math.floor(offers.coldCount / 8);
  await loadHttp1(server.url, SECONDS / 2, offers.cold, eighth);
  const before = await server.roundTrips();
  const cold = await measureLoad(server, offers.cold, 3 * eighth, rates?.cold);
  const roundTrips = ((await server.roundTrips()) - before) / cold.requests;
  await loadHttp1(server.url, MAX_WARM_UP_SECONDS, offers.warm, offers.warmCount);
  const warm = await measureLoad(server, offers.warm, Number.POSITIVE_INFINITY, rates?.warm);
  return { cold, warm, roundTrips };
}

/** Sends at most `max` requests for the throughput, and `max` for the latencies. */
async function measureLoad(
  server: Server,
  requestAt: () => Buffer,
  max: number,
  latencyRate?: number,
): Promise<ReadResult & { readonly requests: number }> {
  const before = await server.cpu();
  const { requests, seconds } = await loadHttp1(server.url, SECONDS, requestAt, max);
  const cpu = ((await server.cpu()) - before) / requests;
  const rate = requests / seconds;
  const openLoopRate = Math.max(1, latencyRate ?? rate / 2);
  const latencies = await loadOpenLoop(server.url, openLoopRate, Math.min(SECONDS, max / openLoopRate), requestAt);
  // The open-loop load also sends one request per connection beforehand.
  return { rate, cpu, latencies, requests: requests + CONNECTIONS + latencies.length };
}
