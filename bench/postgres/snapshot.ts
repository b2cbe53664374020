/** How long it takes until a snapshot of the ledger is in a database. */
import { startChild } from "../processes/child.js";
import { SERVER_CORE } from "../processes/pinning.js";
import { withResources } from "../processes/resources.js";
import type { Row } from "../report/row.js";
import { type Server, startServer } from "../servers/start.js";
import { pollUntil } from "../wait.js";
import type { CopyResult } from "./copy-process.js";
import type { Database, PostgresServer } from "./server.js";

const TIMEOUT_MS = 240_000;

export interface SnapshotResult {
  readonly writer: Server;
  readonly rows: readonly Row[];
}

export async function measureSnapshot(
  database: Database,
  settings: Readonly<Record<string, string>>,
  countContracts: () => Promise<number>,
): Promise<SnapshotResult> {
  const startedAt = performance.now();
  const starting = startServer({ server: "offledger", settings, roles: { mirrors: true, answers: false } });
  try {
    let copyStartedAt: number | undefined;
    await pollUntil(TIMEOUT_MS, "the snapshot is in the database", async () => {
      const state = await database.query<{ isCopying: boolean; isComplete: boolean }>(STATE);
      if (state?.isCopying === true) copyStartedAt ??= performance.now();
      return state?.isComplete === true;
    });
    const endedAt = performance.now();
    const writer = await starting;
    const memory = await writer.memory();
    const count = await countContracts();
    const total = (endedAt - startedAt) / 1000;
    const load = (endedAt - (copyStartedAt ?? endedAt)) / 1000;
    const row: Row = {
      title: "snapshot throughput",
      figure: { value: count / total, unit: "contracts/s" },
      note: `${total.toFixed(1)} s: ${(total - load).toFixed(1)} s to start, read and decode, ${load.toFixed(1)} s (${formatPercent(load / total)}) to load; resident set of the writer ${formatMegabytes(memory.rss)}, peak ${formatMegabytes(memory.peak)}`,
    };
    return { writer, rows: [row] };
  } catch (error) {
    await starting.then(
      (writer) => writer.stop(),
      () => undefined,
    );
    throw error;
  }
}

/** The COPY shows that the load has begun; the generation changes when it is complete. */
const STATE = `
SELECT EXISTS (SELECT FROM pg_stat_progress_copy WHERE datname = current_database()) AS "isCopying",
  generation > 0 AS "isComplete"
FROM offledger.state`;

export async function measureCopy(server: PostgresServer, offers: number): Promise<Row> {
  return withResources(async (keep) => {
    const database = await keep(server.createDatabase());
    const child = await keep(
      startChild<"load", CopyResult>({
        script: new URL("copy-process.js", import.meta.url),
        core: SERVER_CORE,
        options: { offers, url: database.url },
        startTimeoutMs: TIMEOUT_MS,
      }),
    );
    const { contracts, seconds, tailSeconds } = await child.ask("load", TIMEOUT_MS);
    const size = await database.query<{ bytes: string }>("SELECT pg_database_size(current_database()) AS bytes");
    return {
      title: "COPY throughput",
      figure: { value: contracts / seconds, unit: "contracts/s" },
      note: `decoded contracts; ${seconds.toFixed(1)} s, ${tailSeconds.toFixed(1)} s of it after the last row (counts, ANALYZE); database size ${formatMegabytes(Number(size?.bytes))}`,
    };
  });
}

export const formatMegabytes = (bytes: number): string => `${Math.round(bytes / 1e6).toLocaleString("en-US")} MB`;
const formatPercent = (value: number): string => `${Math.round(value * 100)}%`;
