import type { Statement } from "../database.js";

/** The ids of at most $2 contracts of the template with hash $1. No order: that would read them all. */
export const idsStatement: Statement = {
  name: "ids",
  text: `
SELECT c.contract_id
FROM offledger.state s
CROSS JOIN LATERAL (
  SELECT c.contract_id FROM offledger.contracts c
  WHERE c.generation = s.generation AND c.template_hash = $1::uuid OFFSET 0 LIMIT $2::bigint
) c`,
};
