/** Whether a database holds what this process would write into it. */
import type { KeptContracts } from "../../domain/ledger.js";
import type { Template } from "../../domain/template.js";

/** Raise it when parsed fields, index keys, supply or lookup hashes change. The mirror then takes a new snapshot. */
const VERSION = 9;

/**
 * Identifies what a log holds. It holds what `parse` gave, so the content id is all that says which parser it was: this version
 * for the templates of this program, the revision for others. Processes with different content ids cannot share a log.
 */
export function contentId(
  templates: readonly Template[],
  { countsSupply = false, keepsOptional = false, registrars = [] }: KeptContracts = {},
): string {
  const names = templates
    .map(({ packageName, qualifiedName, revision }) =>
      [`${packageName}#${qualifiedName}`, ...(revision === undefined ? [] : [revision])].join("@"),
    )
    .toSorted((a, b) => (a < b ? -1 : 1));
  return JSON.stringify({
    version: VERSION,
    countsSupply,
    keepsOptional,
    registrars: registrars.toSorted(),
    templates: names,
  });
}
