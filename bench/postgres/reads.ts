/** Accept contexts from a database next to memory: cold (each offer once) and warm (some offers repeatedly). */
import { withResources } from "../processes/resources.js";
import { median, medianOfRatios, percentile, type Row } from "../report/row.js";
import { LARGE_SEMI_SPACE_MB, type Server, startServer } from "../servers/start.js";
import { measureRound, Offers, type Rates, type ReadResult, type Round } from "./read-round.js";
import { formatMegabytes } from "./snapshot.js";

const ROUNDS = 3;
const MAX_WARM = 1_000;
/** From this size on one process in memory serves all rounds: it has enough offers, and starting it is slow. */
const ENOUGH_OFFERS = 200_000;

type Settings = Readonly<Record<string, string>>;

interface ReplicaRound extends Round {
  readonly rssBefore: number;
  readonly rssAfter: number;
}

export async function measureReads(offers: number, memory: Settings, database: Settings): Promise<Row[]> {
  const warm = Math.min(MAX_WARM, Math.floor(offers / 4));
  const replicaRounds: ReplicaRound[] = [];
  const memoryRounds: Round[] = [];
  await withResources(async (keep) => {
    let running: { readonly server: Server; readonly offers: Offers } | undefined;
    for (let round = 0; round < ROUNDS; round++) {
      const replica = await measureReplica(new Offers(offers, warm), database);
      replicaRounds.push(replica);
      if (running === undefined || offers < ENOUGH_OFFERS) {
        await running?.server.stop();
        const target = { server: "offledger", settings: memory } as const;
        const server = await keep(startServer(target, { semiSpaceMegabytes: LARGE_SEMI_SPACE_MB }));
        running = { server, offers: new Offers(offers, warm) };
      }
      const rates: Rates = { cold: replica.cold.rate / 2, warm: replica.warm.rate / 2 };
      memoryRounds.push(await measureRound(running.server, running.offers, rates));
    }
  });
  return [
    ...compareRounds("cold", replicaRounds, memoryRounds, "each offer once"),
    ...compareRounds("warm", replicaRounds, memoryRounds, `${warm} offers in turn`),
    {
      title: "round trips per cold accept",
      figure: { value: median(replicaRounds.map(({ roundTrips }) => roundTrips)), unit: "" },
    },
    {
      title: "resident set of a replica",
      figure: { value: median(replicaRounds.map(({ rssBefore }) => rssBefore)) / 1e6, unit: "MB" },
      note: `after the start; ${formatMegabytes(median(replicaRounds.map(({ rssAfter }) => rssAfter)))} after the load`,
    },
  ];
}

async function measureReplica(offers: Offers, settings: Settings): Promise<ReplicaRound> {
  return withResources(async (keep) => {
    const roles = { mirrors: false, answers: true };
    const replica = await keep(startServer({ server: "offledger", settings, roles }));
    const { rss: rssBefore } = await replica.memory();
    const round = await measureRound(replica, offers);
    const { rss: rssAfter } = await replica.memory();
    return { ...round, rssBefore, rssAfter };
  });
}

const latencyAt = (part: number) => (result: ReadResult) => percentile(result.latencies, part);
const rateOf = (result: ReadResult): number => result.rate;
const cpuOf = (result: ReadResult): number => result.cpu;

function compareRounds(
  kind: "cold" | "warm",
  replica: readonly Round[],
  memory: readonly Round[],
  conditions: string,
): Row[] {
  type Value = (result: ReadResult) => number;
  const values = (rounds: readonly Round[], value: Value) => rounds.map((round) => value(round[kind]));
  const medianOf = (rounds: readonly Round[], value: Value) => median(values(rounds, value));
  const ratio = (value: Value): NonNullable<Row["ratio"]> => ({
    value: medianOfRatios(values(replica, value), values(memory, value)),
    target: undefined,
  });
  const describe = (rounds: readonly Round[]) => `${conditions}; ${Math.round(medianOf(rounds, cpuOf))} µs CPU each`;
  const rate = Math.round(medianOf(replica, rateOf) / 2).toLocaleString("en-US");
  const latencyRow = (part: number, name: string): Row => ({
    title: `accept, ${kind}, ${name} latency`,
    figure: { value: medianOf(replica, latencyAt(part)), unit: "ms" },
    ratio: ratio(latencyAt(part)),
    note: `at ${rate} requests/s; ${medianOf(memory, latencyAt(part)).toFixed(2)} ms from memory`,
  });
  return [
    {
      title: `accept from memory, ${kind}`,
      figure: { value: medianOf(memory, rateOf), unit: "requests/s" },
      note: describe(memory),
    },
    {
      title: `accept, ${kind}`,
      figure: { value: medianOf(replica, rateOf), unit: "requests/s" },
      ratio: ratio(rateOf),
      note: `${describe(replica)}, of the replica`,
    },
    latencyRow(0.5, "median"),
    latencyRow(0.99, "p99"),
  ];
}
