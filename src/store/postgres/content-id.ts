import type { Template } from "../../domain/template.js";

/** Raise this when parsed fields, index keys, supply or lookup hashes change. The mirror then takes a new snapshot. */
const CONTENT_VERSION = 6;

/** Identifies what a store holds and how it is read. Processes with different content ids cannot share a database. */
export function contentId(templates: readonly Template[], countsSupply: boolean, keepsOptional = false): string {
  const names = templates
    .map(({ packageName, qualifiedName, revision }) =>
      [`${packageName}#${qualifiedName}`, ...(revision === undefined ? [] : [revision])].join("@"),
    )
    .toSorted((a, b) => (a < b ? -1 : 1));
  return JSON.stringify({ version: CONTENT_VERSION, countsSupply, keepsOptional, templates: names });
}
