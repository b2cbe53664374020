/** With a million contracts, every statement uses indexes only, also with plans made for empty tables. */
import { createHash } from "node:crypto";
import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contentHash } from "../../../src/state/lookup-hash.js";
import { sampleStatement } from "../../../src/state/postgres/content-id.js";
import type { Statement } from "../../../src/state/postgres/database.js";
import { fetchStatement, idsStatement } from "../../../src/state/postgres/fetch.js";
import { bodiesStatement, progressStatement } from "../../../src/state/postgres/log.js";
import { applyToLogStatement } from "../../../src/state/postgres/log-tables.js";
import { applyStatement } from "../../../src/state/postgres/lookup-tables.js";
import { packageIdsStatement } from "../../../src/state/postgres/packages.js";
import { planOf, type Work, workOf } from "../../fixtures/postgres-plans.js";
import { CONTENT, freshSchema, type Schema, tables } from "../../fixtures/postgres-schema.js";

/** The served generation; rows of an older one remain. */
const GENERATION = 2;
const OFFSET = 1_000_000;
/** Bounds for one statement. A sequential scan of any table exceeds them by far. */
const MAX_ROWS = 1_000;
const MAX_PAGES = 10_000;

/**
 * Two contracts share each index key. The first ten contracts have a template of their own. Rows are inserted in index
 * order, which is faster.
 */
const FILL = [
  `INSERT INTO offledger.contracts
   SELECT g, 'id-' || to_char(n, 'FM000000'), md5('template ' || (n > 10))::uuid, 'pkg-1:M:E', '{}', 'AAAA', '2026-01-05T09:00:00Z', n, 'sync', 0,
     'USD'::bytea, 1
   FROM (VALUES (1, 100000), (${GENERATION}, 900000)) v (g, count), generate_series(1, count) n`,
  `INSERT INTO offledger.index_keys
   SELECT g, md5('key ' || (n % 450000))::uuid, 'id-' || to_char(n, 'FM000000')
   FROM (VALUES (1, 100000), (${GENERATION}, 900000)) v (g, count), generate_series(1, count) n ORDER BY 2`,
  `INSERT INTO offledger.counted_only SELECT ${GENERATION}, 'counted-' || n, md5('sum 0')::uuid, 1 FROM generate_series(1, 100000) n`,
  `INSERT INTO offledger.sums SELECT ${GENERATION}, md5('sum ' || n)::uuid, n FROM generate_series(0, 10000) n`,
  `INSERT INTO offledger.template_counts SELECT g, md5('template ' || n)::uuid, 'pkg-1', 1
   FROM generate_series(1, 2) g, generate_series(1, 20) n`,
  `INSERT INTO offledger.archived_contracts
   SELECT ${GENERATION}, 'archived-' || n, ${OFFSET} - n FROM generate_series(1, 100000) n`,
  `INSERT INTO offledger.invalidations
   SELECT ${GENERATION}, ${OFFSET} - n, ARRAY[md5('key ' || n)::uuid] FROM generate_series(0, 19999) n`,
  `INSERT INTO offledger.log_contracts
   SELECT g, 'id-' || to_char(n, 'FM000000'), CASE WHEN n <= 100 THEN ${OFFSET} - n ELSE 5 END, md5('template')::uuid, 'pkg-1:M:E',
     '2026-01-05T09:00:00Z', n, 'sync', 0, '{"fields":{},"indexKeys":[]}', md5('sum 0')::uuid, 1, md5('registrar')::uuid,
     ARRAY['12345678']
   FROM (VALUES (1, 100000), (${GENERATION}, 900000)) v (g, count), generate_series(1, count) n`,
  `INSERT INTO offledger.log_bodies SELECT g, 'id-' || to_char(n, 'FM000000'), '{}', 'AAAA'
   FROM (VALUES (1, 100000), (${GENERATION}, 900000)) v (g, count), generate_series(1, count) n`,
  `INSERT INTO offledger.log_counted_only SELECT ${GENERATION}, 'counted-' || n, md5('sum 0')::uuid, 1 FROM generate_series(1, 100000) n`,
  `INSERT INTO offledger.log_sums
   SELECT ${GENERATION}, md5('sum ' || n)::uuid, ${OFFSET} - n, n FROM generate_series(0, 10000) n`,
  `INSERT INTO offledger.log_tombstones
   SELECT ${GENERATION}, 'archived-' || n, ${OFFSET} - n, NULL, ARRAY['12345678'], false
   FROM generate_series(0, 99999) n`,
  `INSERT INTO offledger.log_commits SELECT ${GENERATION}, ${OFFSET} - n, 'update-' || n FROM generate_series(0, 19999) n`,
  `UPDATE offledger.state SET generation = ${GENERATION}, ledger_offset = ${OFFSET}, epoch = 1`,
];

const hashOf = (text: string): string => createHash("md5").update(text).digest("hex");
const idOf = (n: number): string => `id-${String(n).padStart(6, "0")}`;
const range = <T>(from: number, count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(from + index));

/** 150 ids, 20 index keys and some of the rest; the reader knows a part of them as of an earlier state. */
const fetchParameters = (since: { generation: number; offset: number }): unknown[] => [
  since.generation,
  since.offset,
  range(1_000, 130, (n) => (n < 1_010 ? `archived-${n}` : idOf(n))),
  range(0, 20, (n) => hashOf(`id name ${n}`)),
  range(100_000, 15, (n) => hashOf(`key ${n}`)),
  range(0, 5, (n) => hashOf(`key ${n}`)),
  [hashOf("template false")],
  [hashOf("template none")],
  range(0, 5, (n) => hashOf(`sum ${n}`)),
  range(5, 5, (n) => hashOf(`sum ${n}`)),
  range(5_000, 20, idOf),
  true,
  2_000,
  10_001,
  contentHash(CONTENT),
];

/** Archives 20 stored and 5 counted-only contracts, unassigns 20, assigns 20, creates 20 and counts 5. */
const applyParameters: unknown[] = [
  1,
  GENERATION,
  OFFSET,
  OFFSET + 1,
  7,
  "update",
  range(0, 20, (n) => hashOf(`invalidated ${n}`)),
  [...range(1_000, 20, idOf), ...range(1, 5, (n) => `counted-${n}`)],
  range(2_000, 20, idOf),
  range(2_000, 20, () => 1),
  [...range(3_000, 20, idOf), ...range(0, 20, (n) => `new-${n}`)],
  range(0, 40, () => hashOf("template true")),
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
  range(0, 20, (n) => hashOf(`key ${n}`)),
  range(0, 5, (n) => `new-counted-${n}`),
  range(0, 5, () => hashOf("sum 4")),
  range(0, 5, () => 1),
  range(0, 40, () => hashOf("registrar")),
];

/** As applyParameters. */
const applyToLogParameters: unknown[] = [
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
  range(0, 40, () => "AAAA"),
  range(0, 5, (n) => `new-counted-${n}`),
  range(0, 5, () => hashOf("sum 4")),
  range(0, 5, () => 1),
];

let schema: Schema;

async function prepared(): Promise<Client> {
  const client = await schema.database.openSession();
  const statements = [fetchStatement, idsStatement, sampleStatement, applyStatement];
  const ofALog = [progressStatement, bodiesStatement, packageIdsStatement, applyToLogStatement];
  for (const { name, text } of [...statements, ...ofALog]) await client.query(`PREPARE "${name}" AS ${text}`);
  await client.query("SET statement_timeout = '3s'");
  return client;
}

const found = { ids: 120 + 10, indexKeys: 2 * 15, templates: 10, sums: 5, templateCounts: 20, state: 1 };
const unconditional = Object.values(found).reduce((sum, one) => sum + one, 0);

/** Statements, their parameters and the number of rows returned. */
const cases: readonly [string, Statement, readonly unknown[], number][] = [
  [
    // Keys 0 to 99 are invalidated. Five of them are known, with two contracts each.
    "a fetch with recent invalidations",
    fetchStatement,
    fetchParameters({ generation: GENERATION, offset: OFFSET - 100 }),
    unconditional + 100 + 5 + 10,
  ],
  [
    // All known lookups are repeated: 20 ids, 5 keys, a template without contracts, 5 sums.
    "a fetch that repeats every known lookup",
    fetchStatement,
    fetchParameters({ generation: 1, offset: 5 }),
    unconditional + 31 + 20 + 10 + 5,
  ],
  [
    "a fetch without lookups",
    fetchStatement,
    [GENERATION, OFFSET, ...range(0, 9, () => []), false, 2_000, 10_001, contentHash(CONTENT)],
    1,
  ],
  ["the ids of a template with few contracts", idsStatement, [hashOf("template false"), 501, contentHash(CONTENT)], 10],
  [
    "the first ids of a template with many contracts",
    idsStatement,
    [hashOf("template true"), 501, contentHash(CONTENT)],
    501,
  ],
  [
    "the keys of a few contracts of each template",
    sampleStatement,
    [GENERATION, ["false", "true", "none"].map((one) => hashOf(`template ${one}`)), 20],
    10 + 20,
  ],
  ["an update", applyStatement, applyParameters, 1],
  [
    "a step of a log",
    progressStatement,
    [contentHash(CONTENT), GENERATION, OFFSET - 50, "update-50"],
    1 + 49 + 50 + 50,
  ],
  ["a step of a log to where it begins", progressStatement, [contentHash(CONTENT), GENERATION, OFFSET, "update-0"], 1],
  ["bodies", bodiesStatement, [contentHash(CONTENT), [...range(1_000, 400, idOf), "unknown"], GENERATION], 400],
  ["package ids", packageIdsStatement, [contentHash(CONTENT)], 1],
  ["an update of a log", applyToLogStatement, applyToLogParameters, 1],
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
  await analyze(["contracts", "index_keys", "counted_only", "log_contracts", "log_counted_only"]);
  await runAll(early, whens[1]);
  await analyze(tables);
  await runAll(late, whens[2]);
  await Promise.all([early.end(), late.end()]);
}, 120_000);
afterAll(() => schema.drop());

describe.each(whens)("%s", (when) => {
  test.each(cases)("%s", (what, _statement, _values, results) => {
    const work = done.get(`${when}: ${what}`);
    expect(work?.results).toBe(results);
    expect(work?.sequentialScans).toEqual([]);
    expect(work?.rows).toBeLessThan(MAX_ROWS);
    expect(work?.pages).toBeLessThan(MAX_PAGES);
  });
});
