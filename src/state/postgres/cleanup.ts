/** Deletes what no reader needs, in small steps: generations, states of contents, and the tails of logs. */
import { MAX_ARCHIVED_IDS } from "../port.js";
import type { Statement } from "./database.js";

/** Followers that serve a retired generation for longer are stale, or cannot load the present one. */
const RETIRED_FOR = "10 minutes";

/** A time that is yet to come is of a clock that was set back. */
export const endRetirement: Statement = {
  name: "end-retirement",
  text: `
DELETE FROM offledger.retired_generations
WHERE retired_at NOT BETWEEN clock_timestamp() - interval '${RETIRED_FOR}' AND clock_timestamp()`,
};

/** Keeps each statement short, so that it blocks nothing for long. */
const MAX_ROWS = 5_000;

/**
 * Deletes rows of a generation that no state uses, and that is not retired. One that a leader begins later has no row yet that
 * this statement could see. The generations of a table are few: each is found by one step in the index.
 */
const deleteUnusedOf = (table: string): Statement => ({
  name: `delete-unused-${table}`,
  text: `
WITH RECURSIVE present (generation) AS (
  (SELECT generation FROM offledger.${table} ORDER BY generation LIMIT 1)
  UNION ALL
  SELECT (SELECT t.generation FROM offledger.${table} t WHERE t.generation > p.generation ORDER BY t.generation LIMIT 1)
  FROM present p WHERE p.generation IS NOT NULL
),
unused AS (
  SELECT p.generation FROM present p
  WHERE p.generation IS NOT NULL
    AND NOT EXISTS (SELECT FROM offledger.state s WHERE p.generation IN (s.generation, s.loading))
    AND NOT EXISTS (SELECT FROM offledger.retired_generations r WHERE r.generation = p.generation)
  LIMIT 1
)
DELETE FROM offledger.${table}
WHERE ctid = ANY (ARRAY(
  SELECT t.ctid FROM unused u CROSS JOIN LATERAL (
    SELECT t.ctid FROM offledger.${table} t WHERE t.generation = u.generation OFFSET 0 LIMIT ${MAX_ROWS}
  ) t
)) RETURNING 1`,
});

/** Those that return rows are run again. */
export const deleteUnused = [
  "log_bodies",
  "log_commits",
  "log_contracts",
  "log_counted_only",
  "log_sums",
  "log_tombstones",
].map(deleteUnusedOf);

/** A release that is rolled back within this time goes on where it stopped; later it takes a new snapshot. */
const UNLED_AFTER = "1 hour";

/** $1 is the content of this process, which stays. */
export const deleteStates: Statement = {
  name: "delete-states",
  text: `
DELETE FROM offledger.state
WHERE content_hash <> $1::uuid AND led_at < clock_timestamp() - interval '${UNLED_AFTER}'`,
};

/** A request that has disclosed a contract still gets its body if fewer commits have followed its archival. */
const COMMITS_WITH_BODIES = 1_000;
/** Keeps the statement short. */
const MAX_TRIMMED = 1_000;

/**
 * Deletes bodies of archived contracts. By their places: a row that is written meanwhile, since the contract is active again or
 * archived once more, has another.
 */
export const trimBodiesStatement: Statement = {
  name: "trim-bodies",
  text: `
WITH oldest AS MATERIALIZED (
  SELECT s.generation,
    (SELECT ledger_offset FROM offledger.log_commits c WHERE c.generation = s.generation
     ORDER BY ledger_offset DESC OFFSET ${COMMITS_WITH_BODIES - 1} LIMIT 1) AS committed
  FROM offledger.state s WHERE s.generation = $1::bigint AND s.epoch = $2::bigint
),
trimmed AS MATERIALIZED (
  SELECT t.* FROM oldest o CROSS JOIN LATERAL (
    SELECT t.ctid AS place, t.generation, t.contract_id FROM offledger.log_tombstones t
    WHERE t.has_body AND t.generation = o.generation AND t.ledger_offset < o.committed
    ORDER BY t.generation, t.ledger_offset LIMIT ${MAX_TRIMMED}
  ) t
),
deleted AS (
  DELETE FROM offledger.log_bodies WHERE ctid = ANY (ARRAY(
    SELECT b.ctid FROM trimmed t JOIN offledger.log_bodies b USING (generation, contract_id)
    WHERE NOT EXISTS (
      SELECT FROM offledger.log_contracts c WHERE c.generation = t.generation AND c.contract_id = t.contract_id
    )
  ))
)
UPDATE offledger.log_tombstones SET has_body = false WHERE ctid = ANY (ARRAY(SELECT place FROM trimmed))
RETURNING 1`,
};

/** A follower that was paused for fewer goes on by a step. */
const MAX_COMMITS = 20_000;

/**
 * A commit from which a step would lack a tombstone goes with it, in one statement: a position is known if its commit is.
 */
export const trimStatement: Statement = {
  name: "trim-log",
  text: `
WITH fence AS (
  SELECT s.generation FROM offledger.state s WHERE s.generation = $1::bigint AND s.epoch = $2::bigint
),
oldest AS MATERIALIZED (
  SELECT f.generation,
    (SELECT ledger_offset FROM offledger.log_commits c WHERE c.generation = f.generation
     ORDER BY ledger_offset DESC OFFSET ${MAX_COMMITS - 1} LIMIT 1) AS committed,
    (SELECT ledger_offset FROM offledger.log_tombstones t WHERE t.generation = f.generation
     ORDER BY ledger_offset DESC OFFSET ${MAX_ARCHIVED_IDS - 1} LIMIT 1) AS archived
  FROM fence f
),
deleted_commits AS (
  DELETE FROM offledger.log_commits c USING oldest o
  WHERE c.generation = o.generation AND c.ledger_offset < greatest(o.committed, o.archived)
)
DELETE FROM offledger.log_tombstones t USING oldest o
WHERE t.generation = o.generation AND t.ledger_offset < o.archived AND NOT t.has_body`,
};

/** Delete what no reader needs of generation $1, unless another epoch than $2 has begun. Those that return rows are run again. */
export const trims = [trimBodiesStatement, trimStatement];
