/** Registries of different sizes from a snapshot file: start, CPU time per request, memory. */
import { BuiltService } from "../test/fixtures/built-service.js";
import { until } from "../test/fixtures/wait.js";
import { cpuPerRequest, type Effort, loadHttp1 } from "./load.js";
import { type Keep, withResources } from "./processes.js";
import { encodeAccept, FIXED_CONTRACTS, generateTransfers, writeSnapshot } from "./registry.js";
import { type Case, measureRounds, type Row } from "./table.js";

const SMALL = 1_000;
const READY_TIMEOUT_MS = 180_000;
/** As docs/performance.md recommends. */
const FLAGS = ["--max-old-space-size=12000", "--min-semi-space-size=256", "--max-semi-space-size=256"];
/** Coprime to the number of offers, so that steps of it spread over a registry. */
const STEP = 7_919;

export async function measureScale(effort: Effort, ...sizes: readonly number[]): Promise<Row[]> {
  return withResources(async (keep) => {
    const small = await startRegistry(keep, effort, SMALL);
    const rows: Row[] = [];
    const cases: Case[] = [];
    for (const size of sizes) {
      const large = await startRegistry(keep, effort, size);
      const name = `${size.toLocaleString("en-US")} contracts`;
      rows.push(
        { title: `${name}: start`, unit: "contracts/s", values: [size / large.seconds] },
        {
          title: `${name}: heap and buffers`,
          unit: "MB",
          values: [(large.heap - small.heap) / 1e6],
          baseline: { title: "snapshot file", values: [(large.bytes - small.bytes) / 1e6] },
        },
      );
      const baseline = { title: `${SMALL.toLocaleString("en-US")} contracts`, measure: small.measure };
      cases.push({ title: `${name}: REST, transfer accept`, unit: "µs CPU", measure: large.measure, baseline });
    }
    return [...rows, ...(await measureRounds(effort.rounds, cases))];
  });
}

async function startRegistry(keep: Keep, effort: Effort, contracts: number) {
  const offers = Math.ceil((contracts - FIXED_CONTRACTS) / 2);
  const { path, bytes, stop } = await writeSnapshot(generateTransfers(offers));
  try {
    const settings = { OFFLEDGER_SNAPSHOT: path };
    const startedAt = performance.now();
    const service = await keep(BuiltService.start({ settings, flags: FLAGS, timeoutMs: READY_TIMEOUT_MS }));
    await until("the registry is served", () => service.isReady(), READY_TIMEOUT_MS);
    const seconds = (performance.now() - startedAt) / 1000;
    const { heapUsed, external } = await service.usage();
    // As many different requests for each size, spread over the registry.
    const distinct = SMALL / 2;
    const requests = Array.from({ length: distinct }, (_, index) => encodeAccept((index * STEP) % offers));
    const load = loadHttp1((index) => requests[index % distinct] ?? Buffer.alloc(0));
    return { bytes, seconds, heap: heapUsed + external, measure: cpuPerRequest(service, load, effort) };
  } finally {
    await stop();
  }
}
