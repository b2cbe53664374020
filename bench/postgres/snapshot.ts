/** How soon a snapshot of the ledger stands in a database. */
import { startChild } from "../processes/child.js";
import { SERVER_CORE } from "../processes/pinning.js";
import type { Row } from "../report/row.js";
import { type Server, start, stopping } from "../servers/start.js";
import { reached } from "../wait.js";
import type { Loaded } from "./copy-process.js";
import type { Database, PostgresServer } from "./server.js";

/** Longest wait for the largest registry, in milliseconds. */
const PATIENCE_MS = 240_000;

export interface Mirrored {
  readonly mirror: Server;
  readonly rows: readonly Row[];
}

/** Starts a mirror, and gives it when the state stands in the database. */
export async function mirrorInto(
  database: Database,
  settings: Readonly<Record<string, string>>,
  contracts: () => Promise<number>,
): Promise<Mirrored> {
  const begun = performance.now();
  const starting = start({ server: "offledger", settings, roles: { mirrors: true, answers: false } });
  try {
    let loads: number | undefined;
    await reached(PATIENCE_MS, "a snapshot in the database", async () => {
      const state = await database.query<{ isLoading: boolean; isThere: boolean }>(STATE);
      if (state?.isLoading === true) loads ??= performance.now();
      return state?.isThere === true;
    });
    const end = performance.now();
    const mirror = await starting;
    const memory = await mirror.memory();
    const count = await contracts();
    const took = (end - begun) / 1000;
    const loading = (end - (loads ?? end)) / 1000;
    const row: Row = {
      what: "snapshot",
      figure: { value: count / took, unit: "contracts/s" },
      note: `in ${took.toFixed(1)} s: ${(took - loading).toFixed(1)} s to start, read and decode, ${loading.toFixed(1)} s (${percent(loading / took)}) to load; resident set of the mirror ${megabytes(memory.rss)}, ${megabytes(memory.peak)} at its largest`,
    };
    return { mirror, rows: [row] };
  } catch (error) {
    await starting.then(
      (mirror) => mirror.stop(),
      () => undefined,
    );
    throw error;
  }
}

/** A load is seen by its COPY; what is loaded shows when all of it is there. */
const STATE = `
SELECT EXISTS (SELECT FROM pg_stat_progress_copy WHERE datname = current_database()) AS "isLoading",
  generation > 0 AS "isThere"
FROM offledger.state`;

/** Loading by itself, of contracts that are decoded already. */
export async function loadAlone(server: PostgresServer, offers: number): Promise<Row> {
  return stopping(async (keep) => {
    const database = await keep(server.fresh());
    const script = new URL("copy-process.js", import.meta.url);
    const toBe = { offers, url: database.url };
    const loader = await keep(startChild<"load", Loaded>(script, SERVER_CORE, toBe, PATIENCE_MS));
    const { contracts, took, tail } = await loader.ask("load", PATIENCE_MS);
    const size = await database.query<{ bytes: string }>("SELECT pg_database_size(current_database()) AS bytes");
    return {
      what: "loading alone",
      figure: { value: contracts / took, unit: "contracts/s" },
      note: `decoded contracts, in ${took.toFixed(1)} s, of which ${tail.toFixed(1)} s behind the last row (counting, ANALYZE); the database then has ${megabytes(Number(size?.bytes))}`,
    };
  });
}

export const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6).toLocaleString("en-US")} MB`;
const percent = (share: number): string => `${Math.round(share * 100)}%`;
