/** The PostgreSQL benchmark by registry size, in the order of the table. */
import { startStreaming } from "../participants/start.js";
import { withResources } from "../processes/resources.js";
import { FIXED_CONTRACTS } from "../registries/transfers.js";
import type { Row } from "../report/row.js";
import { scaleCount } from "../scale.js";
import { measureReads } from "./reads.js";
import type { Database, PostgresServer } from "./server.js";
import { measureCopy, measureSnapshot } from "./snapshot.js";
import { measureUpdates } from "./updates.js";

const sizes = { "10k": 10_000, "100k": 100_000, "1m": 1_000_000 } as const;

export const sizeNames: readonly string[] = Object.keys(sizes);

export const createSuite = (server: PostgresServer): Readonly<Record<string, () => Promise<Row[]>>> =>
  Object.fromEntries(
    Object.entries(sizes).map(([name, contracts]) => [name, () => measureSize(server, scaleCount(contracts))]),
  );

async function measureSize(server: PostgresServer, contracts: number): Promise<Row[]> {
  const offers = Math.ceil((contracts - FIXED_CONTRACTS) / 2);
  const copy = await attempt(async () => [await measureCopy(server, offers)]);
  const rows = await withResources(async (keep) => {
    const participant = await keep(startStreaming({ offers }));
    const database = await keep(server.createDatabase());
    const settings = { ...participant.settings, OFFLEDGER_DATABASE_URL: database.url };
    const snapshot = await measureSnapshot(database, settings, async () => (await participant.sent()).contracts);
    await keep(Promise.resolve(snapshot.writer));
    return [
      ...snapshot.rows,
      ...copy,
      ...(await attempt(() => measureReads(offers, participant.settings, settings))),
      ...(await attempt(() => measureUpdates(participant, database, settings))),
      ...(await attempt(() => countTerms(database))),
    ];
  });
  const count = (2 * offers + FIXED_CONTRACTS).toLocaleString("en-US");
  return rows.map((row) => Object.assign({}, row, { title: `${count}: ${row.title}` }));
}

async function attempt(measure: () => Promise<Row[]>): Promise<Row[]> {
  try {
    return await measure();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    process.exitCode = 1;
    return [];
  }
}

/** More than one leadership term means that the writer restarted, which affects the other figures. */
async function countTerms(database: Database): Promise<Row[]> {
  const state = await database.query<{ epoch: string }>("SELECT epoch FROM offledger.state");
  return [{ title: "leadership terms", figure: { value: Number(state?.epoch), unit: "" }, note: "1 without restarts" }];
}
