/** Takes away, a little at a time, what no reader asks for any more. */
import { MAX_ARCHIVED_IDS } from "../../port.js";
import type { Database, Statement } from "../database.js";

/** How many rows go at a time: no statement holds anything up for long. */
const ROWS = 5_000;
/** How many updates a reader can learn of that was away; one that was away for longer begins anew. */
const CHANGES_KEPT = 20_000;

/**
 * Rows of the generations before the one that is served ($1), or behind it. Only
 * in the epoch of the writer ($2): whoever sees rows of a later writer sees its
 * epoch too, and takes none of them away.
 */
const forget = (table: string, which: "before" | "behind"): Statement => ({
  name: `forget-${which}-${table}`,
  text: `
DELETE FROM offledger.${table}
WHERE EXISTS (SELECT FROM offledger.state WHERE generation = $1::bigint AND epoch = $2::bigint) AND ctid = ANY (ARRAY(
  SELECT ctid FROM offledger.${table} WHERE generation ${which === "before" ? "<" : ">"} $1::bigint LIMIT ${ROWS}
)) RETURNING 1`,
});

const TABLES = ["contracts", "contract_keys", "counted", "sums", "census", "archived", "changes"];

const SHORTEN: readonly Statement[] = [
  {
    name: "shorten-log",
    text: `
WITH cut AS (
  SELECT ledger_offset FROM offledger.changes WHERE generation = $1::bigint
  ORDER BY ledger_offset DESC OFFSET ${CHANGES_KEPT} LIMIT 1
),
told AS (
  UPDATE offledger.state s SET log_from = greatest(s.log_from, cut.ledger_offset) FROM cut
  WHERE s.generation = $1::bigint AND s.epoch = $2::bigint
  RETURNING s.generation
)
DELETE FROM offledger.changes c USING cut, told
WHERE c.generation = told.generation AND c.ledger_offset <= cut.ledger_offset`,
  },
  {
    name: "shorten-archived",
    text: `
DELETE FROM offledger.archived a USING (
  SELECT ledger_offset FROM offledger.archived WHERE generation = $1::bigint
  ORDER BY ledger_offset DESC OFFSET ${MAX_ARCHIVED_IDS} LIMIT 1
) cut
WHERE a.generation = $1::bigint AND a.ledger_offset <= cut.ledger_offset
  AND EXISTS (SELECT FROM offledger.state WHERE epoch = $2::bigint)`,
  },
];

/** Clears away what was served before, while `may` says so. Throws DatabaseError. */
export async function deleteOldGenerations(
  database: Database,
  epoch: number,
  generation: number,
  may: () => boolean,
): Promise<void> {
  await forgetAll(database, "before", [generation, epoch], may);
  for (const statement of SHORTEN) if (may()) await database.query(statement, [generation, epoch]);
}

/** Clears away what was loaded and never served. Not while anything is loaded. Throws DatabaseError. */
export async function deleteOrphanGenerations(database: Database, epoch: number, generation: number): Promise<void> {
  await forgetAll(database, "behind", [generation, epoch], () => true);
}

async function forgetAll(
  database: Database,
  which: "before" | "behind",
  values: readonly number[],
  may: () => boolean,
): Promise<void> {
  for (const statement of TABLES.map((table) => forget(table, which))) {
    while (may() && (await database.query(statement, [...values])).length > 0);
  }
}
