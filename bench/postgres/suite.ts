/** The benchmarks of a database, by the size of the registry, in the order of the table. */
import { size } from "../scale.js";
import { startStreaming } from "../participants/start.js";
import { BESIDES } from "../registries/transfers.js";
import type { Row } from "../report/row.js";
import { stopping } from "../servers/start.js";
import { asking } from "./reads.js";
import { following } from "./updates.js";
import { loadAlone, mirrorInto } from "./snapshot.js";
import type { Database, PostgresServer } from "./server.js";

const sizes = { "10k": 10_000, "100k": 100_000, "1m": 1_000_000 } as const;

export const partNames: readonly string[] = Object.keys(sizes);

export const partsOn = (server: PostgresServer): Readonly<Record<string, () => Promise<Row[]>>> =>
  Object.fromEntries(Object.entries(sizes).map(([name, contracts]) => [name, () => ofSize(server, size(contracts))]));

async function ofSize(server: PostgresServer, contracts: number): Promise<Row[]> {
  const offers = Math.ceil((contracts - BESIDES) / 2);
  const alone = await attempt(async () => [await loadAlone(server, offers)]);
  const rows = await stopping(async (keep) => {
    const participant = await keep(startStreaming({ offers }));
    const database = await keep(server.fresh());
    const settings = { ...participant.settings, OFFLEDGER_DATABASE_URL: database.url };
    const mirrored = await mirrorInto(database, settings, async () => (await participant.sent()).contracts);
    await keep(Promise.resolve(mirrored.mirror));
    return [
      ...mirrored.rows,
      ...alone,
      ...(await attempt(() => asking(offers, participant.settings, settings))),
      ...(await attempt(() => following(participant, database, settings))),
      ...(await attempt(() => terms(database))),
    ];
  });
  const count = (2 * offers + BESIDES).toLocaleString("en-US");
  return rows.map((row) => Object.assign({}, row, { what: `${count}: ${row.what}` }));
}

/** What does not succeed is told, and the rest is worth having all the same. */
async function attempt(measure: () => Promise<Row[]>): Promise<Row[]> {
  try {
    return await measure();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    process.exitCode = 1;
    return [];
  }
}

/** How often the mirror has begun anew: where it had to, the other figures are of that too. */
async function terms(database: Database): Promise<Row[]> {
  const state = await database.query<{ epoch: string }>("SELECT epoch FROM offledger.state");
  return [
    { what: "terms of the mirror", figure: { value: Number(state?.epoch), unit: "" }, note: "one, if all is well" },
  ];
}
