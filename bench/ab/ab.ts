/** Compares the CPU time per request of this build with that of another checkout, in alternating rounds. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type Keep, withResources } from "../processes/resources.js";
import { generateSettlements } from "../registries/settlements.js";
import { writeSnapshot } from "../registries/snapshot.js";
import { generateTransfers, OFFERS } from "../registries/transfers.js";
import { median, medianOfRatios, type Row } from "../report/row.js";
import { type Server, startServer } from "../servers/start.js";
import { measureCpu, WARM_UP_SECONDS } from "../serving/cpu.js";
import { type Workload, workloads } from "../serving/workloads.js";

const ROUNDS = 10;
const BUILD = "bench/build/bench/servers/main.js";

interface Pair {
  readonly own: Server;
  readonly other: Server;
}

/** `checkout` is the folder of the other build. Its bench is built with `npx tsc -p bench/tsconfig.json`. */
export async function compareBuilds(checkout: string): Promise<Row[]> {
  const folder = resolve(checkout);
  if (!existsSync(resolve(folder, BUILD))) {
    throw new Error(`${folder} has no ${BUILD}: run npx tsc -p bench/tsconfig.json there`);
  }
  const rows: Row[] = [];
  // One process serves HTTP/1.1 and another gRPC: a process that serves both answers HTTP/1.1 more slowly.
  await withPair(folder, generateTransfers(OFFERS), async (pair) => {
    rows.push(await compare("REST, transfer accept", pair, workloads.restAccept()));
    rows.push(await compare("REST, transfer-factory", pair, workloads.restTransfer()));
    rows.push(await compare("Connect JSON", pair, workloads.connectJson()));
    rows.push(await compare("Connect binary", pair, workloads.connectBinary()));
  });
  await withPair(folder, generateTransfers(OFFERS), async (pair) => {
    rows.push(await compare("gRPC", pair, workloads.grpc()));
  });
  await withPair(folder, generateSettlements(), async (pair) => {
    rows.push(await compare("REST, settlement-factory, 25 legs", pair, workloads.settlement()));
  });
  return rows;
}

async function withPair(
  checkout: string,
  registry: Parameters<typeof writeSnapshot>[0],
  use: (pair: Pair) => Promise<void>,
): Promise<void> {
  await withResources(async (keep: Keep) => {
    const { settings } = await keep(writeSnapshot(registry));
    const own = await keep(startServer({ server: "offledger", settings }));
    const other = await keep(startServer({ server: "offledger", settings }, { checkout }));
    await use({ own, other });
  });
}

/** The ratio is this build over the other: below 1 this build is faster. */
async function compare(title: string, { own, other }: Pair, workload: Workload): Promise<Row> {
  await warnIfDifferent(title, { own, other }, workload);
  const { load } = workload;
  for (const { url } of [own, other]) await load(url, WARM_UP_SECONDS);
  const [ownCosts, otherCosts]: [number[], number[]] = [[], []];
  const measureOwn = async () => void ownCosts.push(await measureCpu({ server: own, load }));
  const measureOther = async () => void otherCosts.push(await measureCpu({ server: other, load }));
  for (let round = 0; round < ROUNDS; round++) {
    const turns = round % 2 === 0 ? [measureOwn, measureOther] : [measureOther, measureOwn];
    for (const measure of turns) await measure();
  }
  return {
    title,
    figure: { value: median(ownCosts), unit: "µs" },
    ratio: { value: medianOfRatios(ownCosts, otherCosts), target: undefined },
    note: `${median(otherCosts).toFixed(1)} µs for the other build; CPU per request, median of ${ROUNDS} rounds`,
  };
}

/** Builds may differ on purpose, so a difference does not end the comparison. */
async function warnIfDifferent(title: string, { own, other }: Pair, { requests, fetch: send }: Workload) {
  for (const request of requests.slice(0, 4)) {
    const [ownBody, otherBody] = await Promise.all([own, other].map(({ url }) => send(url, request)));
    if (ownBody === undefined || otherBody === undefined || ownBody.equals(otherBody)) continue;
    process.stderr.write(`${title}: the builds send different responses\n`);
    return;
  }
}
