/** Acceptances from a database, next to the same ones from memory: of offers that nobody has asked for, and of some again and again. */
import { CONNECTIONS, seconds } from "../scale.js";
import { loadHttp1 } from "../load/http1.js";
import { loadAtRate } from "../load/open-loop.js";
import { median, medianRatio, percentile, type Row } from "../report/row.js";
import { LARGE_YOUNG_MB, type Server, start, stopping } from "../servers/start.js";
import { accept } from "../serving/requests.js";
import { megabytes } from "./snapshot.js";

const ROUNDS = 3;
const SECONDS = seconds(1.5);
/** How many offers are asked for again and again, at the most. */
const WARM = 1_000;
/** How often all of these are asked for before anything is measured, and how long that may take. */
const WARM_UP = 5;
const WARM_UP_SECONDS = 20;
/** So many offers are enough for all rounds: one process in memory serves them, which takes long to start. */
const ENOUGH = 200_000;
/** No registry has a multiple of it in offers, so that steps of this reach each offer before any comes again. */
const STEP = 7_919;

type Settings = Readonly<Record<string, string>>;

/** What one kind of asking comes to. */
interface Asked {
  readonly rate: number;
  /** CPU time of the server for each request, in microseconds. */
  readonly cpu: number;
  readonly latencies: readonly number[];
}

interface Round {
  readonly cold: Asked;
  readonly warm: Asked;
}

interface ReplicaRound extends Round {
  readonly trips: number;
  readonly rssBefore: number;
  readonly rssAfter: number;
}

export async function asking(offers: number, memory: Settings, database: Settings): Promise<Row[]> {
  const warm = Math.min(WARM, Math.floor(offers / 4));
  const inDatabase: ReplicaRound[] = [];
  const inMemory: Round[] = [];
  await stopping(async (keep) => {
    let kept: { readonly server: Server; readonly numbers: Offers } | undefined;
    for (let round = 0; round < ROUNDS; round++) {
      const found = await askReplica(new Offers(offers, warm), database);
      inDatabase.push(found);
      if (kept === undefined || offers < ENOUGH) {
        await kept?.server.stop();
        const server = await keep(start({ server: "offledger", settings: memory }, LARGE_YOUNG_MB));
        kept = { server, numbers: new Offers(offers, warm) };
      }
      inMemory.push(await askAll(kept.server, kept.numbers, { cold: found.cold.rate / 2, warm: found.warm.rate / 2 }));
    }
  });
  return [
    ...compared("cold", inDatabase, inMemory, "each offer once"),
    ...compared("warm", inDatabase, inMemory, `${warm} offers in turn`),
    {
      what: "round trips of a cold acceptance",
      figure: { value: median(inDatabase.map(({ trips }) => trips)), unit: "" },
    },
    {
      what: "resident set of a replica",
      figure: { value: median(inDatabase.map(({ rssBefore }) => rssBefore)) / 1e6, unit: "MB" },
      note: `after its start; ${megabytes(median(inDatabase.map(({ rssAfter }) => rssAfter)))} after the load`,
    },
  ];
}

/** A round on a replica that has just been started. */
async function askReplica(numbers: Offers, settings: Settings): Promise<ReplicaRound> {
  return stopping(async (keep) => {
    const roles = { mirrors: false, answers: true };
    const replica = await keep(start({ server: "offledger", settings, roles }));
    const { rss: rssBefore } = await replica.memory();
    const found = await askAll(replica, numbers);
    const { rss: rssAfter } = await replica.memory();
    return { ...found, rssBefore, rssAfter };
  });
}

/** At which latency is measured; half of what the server can bear where it is not said. */
interface Rates {
  readonly cold: number;
  readonly warm: number;
}

/** Numbers of offers: some that come again and again, and the others, each once until all have come. */
class Offers {
  readonly #offers: number;
  readonly #warm: number;
  #cold = 0;
  #turn = 0;

  constructor(offers: number, warm: number) {
    this.#offers = offers;
    this.#warm = warm;
  }

  /** How many there are that come again and again. */
  get again(): number {
    return this.#warm;
  }

  /** How many there are that are asked for once. */
  get once(): number {
    return this.#offers - this.#warm;
  }

  readonly warm = (): Buffer => this.#request(this.#turn++ % this.#warm);
  readonly cold = (): Buffer => this.#request(this.#warm + (this.#cold++ % this.once));

  #request(index: number): Buffer {
    return accept((index * STEP) % this.#offers, index % 2 === 1);
  }
}

/** Everything of a round, on a server that has been asked for nothing yet, or for none of the offers that come. */
async function askAll(server: Server, numbers: Offers, at?: Rates): Promise<Round & { readonly trips: number }> {
  // Code is compiled as it is used, which is no cost of a request.
  await loadHttp1(server.url, WARM_UP_SECONDS, numbers.warm, WARM_UP * numbers.again);
  const share = Math.floor(numbers.once / 8);
  await loadHttp1(server.url, SECONDS / 2, numbers.cold, share);
  const before = await server.trips();
  const cold = await load(server, numbers.cold, 3 * share, at?.cold);
  const trips = ((await server.trips()) - before) / cold.requests;
  await loadHttp1(server.url, WARM_UP_SECONDS, numbers.warm, numbers.again);
  const warm = await load(server, numbers.warm, Number.POSITIVE_INFINITY, at?.warm);
  return { cold, warm, trips };
}

async function load(
  server: Server,
  requestOf: () => Buffer,
  max: number,
  at?: number,
): Promise<Asked & { readonly requests: number }> {
  const before = await server.cpu();
  const { requests, seconds: took } = await loadHttp1(server.url, SECONDS, requestOf, max);
  const cpu = ((await server.cpu()) - before) / requests;
  const rate = requests / took;
  const due = Math.max(1, at ?? rate / 2);
  const latencies = await loadAtRate(server.url, due, Math.min(SECONDS, max / due), requestOf);
  // Each connection of the load at a rate has been used once before it.
  return { rate, cpu, latencies, requests: requests + CONNECTIONS + latencies.length };
}

/** The value below which a share of the latencies lies. */
const below = (share: number) => (asked: Asked) => percentile(asked.latencies, share);
const rateOf = (asked: Asked): number => asked.rate;
const cpuOf = (asked: Asked): number => asked.cpu;

function compared(which: "cold" | "warm", ours: readonly Round[], theirs: readonly Round[], how: string): Row[] {
  const each = (rounds: readonly Round[], of: (asked: Asked) => number) => rounds.map((round) => of(round[which]));
  const middle = (rounds: readonly Round[], of: (asked: Asked) => number) => median(each(rounds, of));
  const ratio = (of: (asked: Asked) => number): NonNullable<Row["ratio"]> => ({
    reached: medianRatio(each(ours, of), each(theirs, of)),
    wanted: undefined,
  });
  const cpu = (rounds: readonly Round[]) => `${how}; ${Math.round(middle(rounds, cpuOf))} µs of CPU each`;
  const due = Math.round(middle(ours, rateOf) / 2).toLocaleString("en-US");
  const latency = (share: number, name: string): Row => ({
    what: `accept, ${which}, ${name}`,
    figure: { value: middle(ours, below(share)), unit: "ms" },
    ratio: ratio(below(share)),
    note: `at ${due} requests/s; ${middle(theirs, below(share)).toFixed(2)} ms from memory`,
  });
  return [
    {
      what: `accept from memory, ${which}`,
      figure: { value: middle(theirs, rateOf), unit: "requests/s" },
      note: cpu(theirs),
    },
    {
      what: `accept, ${which}`,
      figure: { value: middle(ours, rateOf), unit: "requests/s" },
      ratio: ratio(rateOf),
      note: `${cpu(ours)}, of the replica`,
    },
    latency(0.5, "median"),
    latency(0.99, "99th percentile"),
  ];
}
