/** With a million contracts, every statement uses indexes only, also with plans made for empty tables. */
import { createHash } from "node:crypto";
import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contentHash } from "../../../src/state/lookup-hash.js";
import type { Statement } from "../../../src/state/postgres/database.js";
import { bodiesStatement } from "../../../src/state/postgres/log.js";
import { progressStatement } from "../../../src/state/postgres/progress.js";
import { applyStatement } from "../../../src/state/postgres/apply-update.js";
import { trimBodiesStatement, trimStatement } from "../../../src/state/postgres/cleanup.js";
import { packageIdsStatement } from "../../../src/state/postgres/packages.js";
import { planOf, type Work, workOf } from "../../fixtures/postgres-plans.js";
import { CONTENT, freshSchema, type Schema, tables } from "../../fixtures/postgres-schema.js";

/** The served generation; rows of an older one remain. */
const GENERATION = 2;
const OFFSET = 1_000_000;
/** Bounds for one statement. A sequential scan of any table exceeds them by far. */
const MAX_ROWS = 1_000;
const MAX_PAGES = 10_000;

const FILL = [
  `INSERT INTO offledger.log_contracts
   SELECT g, 'id-' || to_char(n, 'FM000000'), CASE WHEN n <= 100 THEN ${OFFSET} - n ELSE 5 END, md5('template')::uuid, 'pkg-1:M:E',
     '2026-01-05T09:00:00Z', n, 'sync', 0, '{"fields":{},"indexKeys":[]}', md5('sum 0')::uuid, 1, md5('registrar')::uuid,
     ARRAY['12345678']
   FROM (VALUES (1, 100000), (${GENERATION}, 900000)) v (g, count), generate_series(1, count) n`,
  `INSERT INTO offledger.log_bodies SELECT g, 'id-' || to_char(n, 'FM000000'), '{}', '', 'AAAA'
   FROM (VALUES (1, 100000), (${GENERATION}, 900000)) v (g, count), generate_series(1, count) n`,
  `INSERT INTO offledger.log_counted_only SELECT ${GENERATION}, 'counted-' || n, md5('sum 0')::uuid, 1 FROM generate_series(1, 100000) n`,
  `INSERT INTO offledger.log_sums
   SELECT ${GENERATION}, md5('sum ' || n)::uuid, ${OFFSET} - n, n FROM generate_series(0, 10000) n`,
  `INSERT INTO offledger.log_tombstones
   SELECT ${GENERATION}, 'archived-' || n, ${OFFSET} - n, NULL, ARRAY['12345678'], n % 50 = 0
   FROM generate_series(0, 99999) n`,
  `INSERT INTO offledger.log_commits SELECT ${GENERATION}, ${OFFSET} - n, 'update-' || n FROM generate_series(0, 19999) n`,
  `UPDATE offledger.state SET generation = ${GENERATION}, ledger_offset = ${OFFSET}, epoch = 1`,
];

const hashOf = (text: string): string => createHash("md5").update(text).digest("hex");
const idOf = (n: number): string => `id-${String(n).padStart(6, "0")}`;
const range = <T>(from: number, count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(from + index));

/** Archives 20 stored and 5 counted-only contracts, unassigns 20, assigns 20, creates 20 and counts 5. */
const applyParameters: unknown[] = [
  1,
  GENERATION,
  OFFSET,
  OFFSET + 1,
  7,
  "update",
  [...range(1_000, 20, idOf), ...range(1, 5, (n) => `counted-${n}`)],
  range(0, 25, () => "12345678"),
  range(2_000, 20, idOf),
  range(2_000, 20, () => 1),
  [...range(3_000, 20, idOf), ...range(0, 20, (n) => `new-${n}`)],
  range(0, 40, () => hashOf("template")),
  range(0, 40, () => "pkg-1:M:E"),
  range(0, 40, () => "2026-01-05T09:00:00Z"),
  range(0, 40, () => 1),
  range(0, 40, () => "sync-2"),
  range(0, 40, () => 1),
  range(0, 40, () => "{}"),
  range(0, 40, () => hashOf("sum 3")),
  range(0, 40, () => 5),
  range(0, 40, () => hashOf("registrar")),
  range(0, 40, () => "{12345678}"),
  range(0, 40, () => "{}"),
  range(0, 40, () => ""),
  range(0, 40, () => "AAAA"),
  range(0, 5, (n) => `new-counted-${n}`),
  range(0, 5, () => hashOf("sum 4")),
  range(0, 5, () => 1),
  range(0, 5, () => '["group","name"]'),
];

let schema: Schema;

async function prepared(): Promise<Client> {
  const client = await schema.database.openSession();
  const read = [progressStatement, bodiesStatement, packageIdsStatement];
  const statements = [...read, applyStatement, trimBodiesStatement, trimStatement];
  for (const { name, text } of statements) await client.query(`PREPARE "${name}" AS ${text}`);
  await client.query("SET statement_timeout = '3s'");
  return client;
}

/** Of a statement that no request waits for: it walks the commits and tombstones that are kept, and no other table. */
const TRIM_BOUNDS = { rows: 300_000, pages: 20_000 };

/** Statements, their parameters, the number of rows returned, and bounds where they are others. */
const cases: readonly [string, Statement, readonly unknown[], results: number, bounds?: typeof TRIM_BOUNDS][] = [
  ["a step", progressStatement, [contentHash(CONTENT), GENERATION, OFFSET - 50, "update-50"], 1 + 49 + 50 + 50],
  ["a step to where it begins", progressStatement, [contentHash(CONTENT), GENERATION, OFFSET, "update-0"], 1],
  ["bodies", bodiesStatement, [contentHash(CONTENT), [...range(1_000, 400, idOf), "unknown"], GENERATION], 400],
  ["package ids", packageIdsStatement, [contentHash(CONTENT)], 1],
  ["an update", applyStatement, applyParameters, 1],
  ["trimming bodies", trimBodiesStatement, [GENERATION, 1], 1_000, TRIM_BOUNDS],
  ["trimming the log", trimStatement, [GENERATION, 1], 0, TRIM_BOUNDS],
];

const whens = [
  "planned before the first ANALYZE",
  "planned on empty tables, and again after a snapshot",
  "planned with current statistics",
] as const;
/** The work of each case; undefined if it timed out. */
const done = new Map<string, Work | undefined>();

/** Runs all cases and rolls back. */
const runAll = async (client: Client, when: string): Promise<void> => {
  for (const [what, statement, values] of cases) {
    const plan = await planOf(client, statement, values).catch(() => undefined);
    await client.query("ROLLBACK");
    done.set(`${when}: ${what}`, plan === undefined ? undefined : workOf(plan));
  }
};

beforeAll(async () => {
  schema = await freshSchema();
  const analyze = (which: readonly string[]) =>
    schema.sql(`ANALYZE ${which.map((table) => `offledger.${table}`).join(", ")}`);
  // Autovacuum would analyze at any time.
  for (const table of tables) await schema.sql(`ALTER TABLE offledger.${table} SET (autovacuum_enabled = false)`);
  const early = await prepared();
  await runAll(early, "on empty tables");
  await Promise.all(FILL.map((fill) => schema.sql(fill)));
  const late = await prepared();
  await runAll(late, whens[0]);
  // As after loading a snapshot.
  await analyze(["log_contracts", "log_counted_only"]);
  await runAll(early, whens[1]);
  await analyze(tables);
  await runAll(late, whens[2]);
  await Promise.all([early.end(), late.end()]);
}, 120_000);
afterAll(() => schema.drop());

describe.each(whens)("%s", (when) => {
  test.each(cases)("%s", (what, _statement, _values, results, bounds = { rows: MAX_ROWS, pages: MAX_PAGES }) => {
    const work = done.get(`${when}: ${what}`);
    expect(work?.results).toBe(results);
    expect(work?.sequentialScans).toEqual([]);
    expect(work?.rows).toBeLessThan(bounds.rows);
    expect(work?.pages).toBeLessThan(bounds.pages);
  });
});
