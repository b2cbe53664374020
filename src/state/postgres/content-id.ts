/** Whether a store holds what this process would write into it, under the keys by which it looks. */
import type { JsonObject } from "../../domain/json.js";
import type { Template } from "../../domain/template.js";
import { indexKeyHash, type LookupHash, templateHash } from "../lookup-hash.js";
import type { Database, Statement } from "./database.js";

/** Raise these when parsed fields, index keys, supply or lookup hashes change. The mirror then takes a new snapshot. */
const LOOKUP_VERSION = 6;
const LOG_VERSION = 8;

/** Identifies what a store holds and how it is read. Processes with different content ids cannot share a database. */
export const contentId = (templates: readonly Template[], countsSupply: boolean, keepsOptional = false): string =>
  identify(LOOKUP_VERSION, templates, countsSupply, keepsOptional);

/**
 * As contentId, for a log. It holds what `parse` gave, so the content id is all that says which parser it was: this version
 * for the templates of this program, the revision for others.
 */
export const logContentId = (templates: readonly Template[], countsSupply: boolean, keepsOptional = false): string =>
  identify(LOG_VERSION, templates, countsSupply, keepsOptional);

function identify(version: number, templates: readonly Template[], countsSupply: boolean, keepsOptional: boolean) {
  const names = templates
    .map(({ packageName, qualifiedName, revision }) =>
      [`${packageName}#${qualifiedName}`, ...(revision === undefined ? [] : [revision])].join("@"),
    )
    .toSorted((a, b) => (a < b ? -1 : 1));
  return JSON.stringify({ version, countsSupply, keepsOptional, templates: names });
}

/** Contracts of each template whose keys are compared: what a change of the keys means shows in most of them. */
const MAX_SAMPLE = 20;

/** $1 generation, $2 template hashes, $3 contracts of each. */
export const sampleStatement: Statement = {
  name: "sample-index-keys",
  text: `
SELECT c.template_hash, c.payload,
  ARRAY(
    SELECT k.index_key_hash::text FROM offledger.index_keys k
    WHERE k.generation = c.generation AND k.contract_id = c.contract_id
  ) AS keys
FROM unnest($2::uuid[]) t (hash)
CROSS JOIN LATERAL (
  SELECT * FROM offledger.contracts c WHERE c.generation = $1::bigint AND c.template_hash = t.hash OFFSET 0
  LIMIT $3::bigint
) c`,
};

interface SampleRow {
  readonly template_hash: LookupHash;
  readonly payload: string;
  readonly keys: readonly LookupHash[];
}

/**
 * Whether a sample of the contracts is stored under the keys that the templates give them now. A module may have changed
 * them without another `revision`, and would find nothing. Throws DatabaseError.
 */
export async function hasSameKeys(
  database: Database,
  generation: number,
  templates: readonly Template[],
): Promise<boolean> {
  const byHash = new Map(templates.map((template) => [templateHash(template), template]));
  const rows = await database.read<SampleRow>(sampleStatement, [generation, [...byHash.keys()], MAX_SAMPLE]);
  return rows.every(({ template_hash, payload, keys }) => {
    const now = byHash.get(template_hash);
    return now === undefined || isSameSet(keysOf(now, payload), keys);
  });
}

/** Undefined if the template does not want the contract any more, or cannot read it. */
function keysOf(template: Template, payload: string): readonly LookupHash[] | undefined {
  try {
    // The writer stores JSON objects only.
    return template.parse(JSON.parse(payload) as JsonObject)?.indexKeys.map(indexKeyHash);
  } catch {
    return undefined;
  }
}

function isSameSet(some: readonly LookupHash[] | undefined, stored: readonly LookupHash[]): boolean {
  const keys = new Set(some);
  return some !== undefined && keys.size === stored.length && stored.every((key) => keys.has(key));
}
