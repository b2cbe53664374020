/** Deletes, in small steps, rows that no reader needs. Every function throws DatabaseError. */
import { MAX_ARCHIVED_IDS } from "../../port.js";
import type { Database, Statement } from "../database.js";

/** Keeps each statement short, so that it blocks nothing for long. */
const MAX_ROWS = 5_000;
/** No reader uses more than the latest MAX_UPDATES_BEHIND of them; see read/fetch.ts. */
const MAX_INVALIDATIONS = 20_000;

const TABLES = [
  "contracts",
  "index_keys",
  "counted_only",
  "sums",
  "template_counts",
  "archived_contracts",
  "invalidations",
];

/** $1 is the served generation, $2 the epoch of the writer. A statement that sees later rows sees a later epoch too. */
const deleteRows = (table: string, which: "old" | "orphan"): Statement => ({
  name: `delete-${which}-${table}`,
  text: `
DELETE FROM offledger.${table}
WHERE EXISTS (SELECT FROM offledger.state WHERE generation = $1::bigint AND epoch = $2::bigint) AND ctid = ANY (ARRAY(
  SELECT ctid FROM offledger.${table} WHERE generation ${which === "old" ? "<" : ">"} $1::bigint LIMIT ${MAX_ROWS}
)) RETURNING 1`,
});

const TRIM_STATEMENTS: readonly Statement[] = [
  {
    name: "trim-invalidations",
    text: `
WITH cutoff AS (
  SELECT ledger_offset FROM offledger.invalidations WHERE generation = $1::bigint
  ORDER BY ledger_offset DESC OFFSET ${MAX_INVALIDATIONS} LIMIT 1
),
updated AS (
  UPDATE offledger.state s SET invalidations_from = greatest(s.invalidations_from, cutoff.ledger_offset) FROM cutoff
  WHERE s.generation = $1::bigint AND s.epoch = $2::bigint
  RETURNING s.generation
)
DELETE FROM offledger.invalidations i USING cutoff, updated
WHERE i.generation = updated.generation AND i.ledger_offset <= cutoff.ledger_offset`,
  },
  {
    name: "trim-archived",
    text: `
DELETE FROM offledger.archived_contracts a USING (
  SELECT ledger_offset FROM offledger.archived_contracts WHERE generation = $1::bigint
  ORDER BY ledger_offset DESC OFFSET ${MAX_ARCHIVED_IDS} LIMIT 1
) cutoff
WHERE a.generation = $1::bigint AND a.ledger_offset <= cutoff.ledger_offset
  AND EXISTS (SELECT FROM offledger.state WHERE epoch = $2::bigint)`,
  },
];

/** Deletes the generations before the served one and trims its logs, while `mayContinue` allows it. */
export async function deleteOldGenerations(
  database: Database,
  epoch: number,
  generation: number,
  mayContinue: () => boolean,
): Promise<void> {
  await deleteGenerations(database, "old", [generation, epoch], mayContinue);
  for (const statement of TRIM_STATEMENTS) if (mayContinue()) await database.query(statement, [generation, epoch]);
}

/** Deletes generations that were loaded and never served. Must not run while one is being loaded. */
export async function deleteOrphanGenerations(database: Database, epoch: number, generation: number): Promise<void> {
  await deleteGenerations(database, "orphan", [generation, epoch], () => true);
}

async function deleteGenerations(
  database: Database,
  which: "old" | "orphan",
  parameters: readonly number[],
  mayContinue: () => boolean,
): Promise<void> {
  for (const statement of TABLES.map((table) => deleteRows(table, which))) {
    while (mayContinue() && (await database.query(statement, [...parameters])).length > 0);
  }
}
