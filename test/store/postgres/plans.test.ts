/**
 * On a million contracts, what is asked and written goes by indexes alone: also
 * where the server has planned it for tables that were empty, and still does so.
 */
import { createHash } from "node:crypto";
import { type Client, escapeLiteral } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Statement } from "../../../src/store/postgres/database.js";
import { fetchStatement } from "../../../src/store/postgres/read/fetch.sql.js";
import { applyStatement } from "../../../src/store/postgres/write/apply.sql.js";
import { freshSchema, type Schema, tables } from "../../fixtures/postgres-store.js";

/** What is served is of this generation; another is left behind. */
const GENERATION = 2;
const OFFSET = 1_000_000;
/** Of the tables one statement may see so many rows, and so many pages; a pass over any would see far more. */
const MOST_ROWS = 1_000;
const MOST_PAGES = 10_000;

/**
 * Contract n of a generation has the key n % 450,000, which two have. The first
 * ten are of a kind of their own. Rows in the order of an index come faster.
 */
const FILL = [
  `INSERT INTO offledger.contracts
   SELECT g, 'id-' || to_char(n, 'FM000000'), md5('kind ' || (n > 10))::uuid, 'pkg-1:M:E', '{}', 'AAAA', '2026-01-05T09:00:00Z', n, 'sync', 0,
     'USD'::bytea, 1
   FROM (VALUES (1, 100000), (${GENERATION}, 900000)) v (g, count), generate_series(1, count) n`,
  `INSERT INTO offledger.index_keys
   SELECT g, md5('key ' || (n % 450000))::uuid, 'id-' || to_char(n, 'FM000000')
   FROM (VALUES (1, 100000), (${GENERATION}, 900000)) v (g, count), generate_series(1, count) n ORDER BY 2`,
  `INSERT INTO offledger.counted_only SELECT ${GENERATION}, 'counted-' || n, md5('sum 0')::uuid, 1 FROM generate_series(1, 100000) n`,
  `INSERT INTO offledger.sums SELECT ${GENERATION}, md5('sum ' || n)::uuid, n FROM generate_series(0, 10000) n`,
  `INSERT INTO offledger.template_counts SELECT g, md5('kind ' || n)::uuid, 'pkg-1', 1
   FROM generate_series(1, 2) g, generate_series(1, 20) n`,
  `INSERT INTO offledger.archived_contracts
   SELECT ${GENERATION}, 'archived-' || n, ${OFFSET} - n FROM generate_series(1, 100000) n`,
  `INSERT INTO offledger.invalidations
   SELECT ${GENERATION}, ${OFFSET} - n, ARRAY[md5('key ' || n)::uuid] FROM generate_series(0, 19999) n`,
  `UPDATE offledger.state SET generation = ${GENERATION}, ledger_offset = ${OFFSET}, epoch = 1`,
];

const named = (text: string): string => createHash("md5").update(text).digest("hex");
const idOf = (n: number): string => `id-${String(n).padStart(6, "0")}`;
const range = <T>(from: number, count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(from + index));

/** 150 ids, 20 keys and some of the rest, of which a reader has some already that saw the state some updates ago. */
const asked = (since: { generation: number; offset: number }): unknown[] => [
  since.generation,
  since.offset,
  range(1_000, 130, (n) => (n < 1_010 ? `archived-${n}` : idOf(n))),
  range(0, 20, (n) => named(`id name ${n}`)),
  range(100_000, 15, (n) => named(`key ${n}`)),
  range(0, 5, (n) => named(`key ${n}`)),
  [named("kind false")],
  [named("kind none")],
  range(0, 5, (n) => named(`sum ${n}`)),
  range(5, 5, (n) => named(`sum ${n}`)),
  range(5_000, 20, idOf),
  true,
  2_000,
];

/** Archives 20 contracts and 5 that are only counted, moves 20 away and 20 to where they go, makes 20, counts 5. */
const written: unknown[] = [
  1,
  GENERATION,
  OFFSET,
  OFFSET + 1,
  7,
  "update",
  range(0, 20, (n) => named(`touched ${n}`)),
  [...range(1_000, 20, idOf), ...range(1, 5, (n) => `counted-${n}`)],
  range(2_000, 20, idOf),
  range(2_000, 20, () => 1),
  [...range(3_000, 20, idOf), ...range(0, 20, (n) => `new-${n}`)],
  range(0, 40, () => named("kind true")),
  range(0, 40, () => "pkg-1:M:E"),
  range(0, 40, () => "{}"),
  range(0, 40, () => "AAAA"),
  range(0, 40, () => "2026-01-05T09:00:00Z"),
  range(0, 40, () => 1),
  range(0, 40, () => "sync-2"),
  range(0, 40, () => 1),
  range(0, 40, () => String.raw`\x555344`),
  range(0, 40, () => 5),
  range(0, 20, (n) => `new-${n}`),
  range(0, 20, (n) => named(`key ${n}`)),
  range(0, 5, (n) => `new-counted-${n}`),
  range(0, 5, () => named("sum 4")),
  range(0, 5, () => 1),
];

function literal(value: unknown): string {
  if (!Array.isArray(value)) return escapeLiteral(String(value));
  return escapeLiteral(`{${value.map((one) => JSON.stringify(String(one))).join(",")}}`);
}

interface Plan {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly Plans?: readonly Plan[];
}

/** A node, and all below it. */
const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** What a statement does to the tables, the one row of state left out. */
interface Done {
  /** The tables that it goes through from beginning to end. */
  readonly passes: string[];
  /** Of the tables, found or thrown away. */
  readonly rows: number;
  /** Of tables and indexes, looked into; one that is looked into again counts again. */
  readonly pages: number;
  /** That it gives back. */
  readonly answers: number;
}

function doneBy(plan: Plan): Done {
  const scans = nodesOf(plan).filter(
    (node) =>
      node["Node Type"].endsWith("Scan") &&
      node["Relation Name"] !== "state" &&
      (node["Relation Name"] !== undefined || node["Index Name"] !== undefined),
  );
  const rowsOf = (node: Plan): number =>
    (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Index Recheck"] ?? 0)) *
    node["Actual Loops"];
  return {
    passes: scans.filter((node) => node["Node Type"] === "Seq Scan").map((node) => node["Relation Name"] ?? ""),
    rows: Math.round(scans.reduce((sum, node) => sum + rowsOf(node), 0)),
    pages: scans.reduce((sum, node) => sum + node["Shared Hit Blocks"] + node["Shared Read Blocks"], 0),
    answers: plan["Actual Rows"],
  };
}

let schema: Schema;

async function prepared(): Promise<Client> {
  const client = await schema.database.openSession();
  for (const { name, text } of [fetchStatement, applyStatement]) await client.query(`PREPARE "${name}" AS ${text}`);
  await client.query("SET statement_timeout = '3s'");
  return client;
}

/** Runs a statement in a transaction, which is to be taken back. It is planned when it runs first, and whenever ANALYZE has run. */
async function planOf(client: Client, { name }: Statement, values: readonly unknown[]): Promise<Plan> {
  await client.query("BEGIN");
  const { rows } = await client.query<{ "QUERY PLAN": [{ Plan: Plan }] }>(
    `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) EXECUTE "${name}" (${values.map(literal).join(", ")})`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("there is no plan");
  return row["QUERY PLAN"][0].Plan;
}

const found = { ids: 120 + 10, keys: 2 * 15, kinds: 10, sums: 5, census: 20, state: 1 };
const unconditional = Object.values(found).reduce((sum, one) => sum + one, 0);

/** What is run, and how many rows come back. */
const cases: readonly [string, Statement, readonly unknown[], number][] = [
  [
    // Touched are the keys 0 to 99, and of what was known five of these, with two contracts each.
    "a reading, with what changed lately",
    fetchStatement,
    asked({ generation: GENERATION, offset: OFFSET - 100 }),
    unconditional + 100 + 5 + 10,
  ],
  [
    // All that was known has to be told again: 20 ids, 5 keys, a kind of which there are none, 5 sums.
    "a reading for which all may have changed",
    fetchStatement,
    asked({ generation: 1, offset: 5 }),
    unconditional + 31 + 20 + 10 + 5,
  ],
  ["a reading of nothing", fetchStatement, [GENERATION, OFFSET, ...range(0, 9, () => []), false, 2_000], 1],
  ["an update", applyStatement, written, 1],
];

const whens = [
  "planned before the server has looked at the tables",
  "planned on empty tables, and again behind the loading of a state",
  "planned for the tables as they are",
] as const;
/** What each case has done; where it had to be broken off, undefined. */
const done = new Map<string, Done | undefined>();

/** Runs all of them, and takes back what they do. */
const runAll = async (client: Client, when: string): Promise<void> => {
  for (const [what, statement, values] of cases) {
    const plan = await planOf(client, statement, values).catch(() => undefined);
    await client.query("ROLLBACK");
    done.set(`${when}: ${what}`, plan === undefined ? undefined : doneBy(plan));
  }
};

beforeAll(async () => {
  schema = await freshSchema();
  const analyze = (which: readonly string[]) =>
    schema.sql(`ANALYZE ${which.map((table) => `offledger.${table}`).join(", ")}`);
  // The server would look at them by itself, at any time.
  for (const table of tables) await schema.sql(`ALTER TABLE offledger.${table} SET (autovacuum_enabled = false)`);
  const early = await prepared();
  await runAll(early, "on empty tables");
  await Promise.all(FILL.map((fill) => schema.sql(fill)));
  const late = await prepared();
  await runAll(late, whens[0]);
  // As whatever has loaded a state does.
  await analyze(["contracts", "index_keys", "counted_only"]);
  await runAll(early, whens[1]);
  await analyze(tables);
  await runAll(late, whens[2]);
  await Promise.all([early.end(), late.end()]);
}, 120_000);
afterAll(() => schema.drop());

describe.each(whens)("%s", (when) => {
  test.each(cases)("%s", (what, _statement, _values, answers) => {
    const it = done.get(`${when}: ${what}`);
    expect(it?.answers).toBe(answers);
    expect(it?.passes).toEqual([]);
    expect(it?.rows).toBeLessThan(MOST_ROWS);
    expect(it?.pages).toBeLessThan(MOST_PAGES);
  });
});
