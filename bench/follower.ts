/** A follower of many contracts in PostgreSQL: how long until it is ready, its memory, and its pauses while it loads. */
import { BuiltService } from "../test/fixtures/built-service.js";
import { createDatabase } from "./postgres.js";
import { secondsUntilReady } from "./mirror.js";
import { type Keep, withResources } from "./processes.js";
import { FIXED_CONTRACTS, generateTransfers, writeSnapshot } from "./registry.js";
import type { Row } from "./table.js";

const SMALL = 1_000;
const TIMEOUT_MS = 900_000;
const FLAGS = ["--max-old-space-size=4000"];

export const measureFollower = (size: number): Promise<Row[]> =>
  withResources(async (keep) => {
    const small = await startFollower(keep, SMALL);
    const large = await startFollower(keep, size);
    const name = `${size.toLocaleString("en-US")} contracts`;
    return [
      { title: `${name}: written by the mirror`, unit: "contracts/s", values: [size / large.written] },
      { title: `${name}: a follower is ready`, unit: "s", values: [large.ready] },
      {
        title: `${name}: heap, more than with ${SMALL.toLocaleString("en-US")}`,
        unit: "MB",
        values: [(large.heap - small.heap) / 1e6],
      },
      { title: `${name}: pauses while it loads, p99`, unit: "ms", values: [large.pauses.p99] },
      { title: `${name}: pauses while it loads, longest`, unit: "ms", values: [large.pauses.longest] },
    ];
  });

async function startFollower(keep: Keep, size: number) {
  const database = await keep(createDatabase(keep));
  const snapshot = await keep(writeSnapshot(generateTransfers(Math.ceil((size - FIXED_CONTRACTS) / 2))));
  const settings = { OFFLEDGER_SNAPSHOT: snapshot.path, OFFLEDGER_DATABASE_URL: database.url };
  const start = async (command: string) => {
    const startedAt = performance.now();
    const service = await keep(BuiltService.start({ settings, command, flags: FLAGS, timeoutMs: TIMEOUT_MS }));
    return { service, seconds: await secondsUntilReady(service, startedAt, TIMEOUT_MS) };
  };
  const mirror = await start("mirror");
  const { service, seconds } = await start("api");
  // Before the collections of the next one.
  const { pauses } = await service.usage(false);
  const { heapUsed, external } = await service.usage();
  return { written: mirror.seconds, ready: seconds, heap: heapUsed + external, pauses };
}
