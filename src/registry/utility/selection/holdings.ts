import type { HoldingFields } from "../../../domain/holdings.js";
import type { RequestContext } from "../../sdk/registry.js";
import { holding } from "../templates/holding.js";

/**
 * The holdings that a request names, from the store, else from the ledger where the source can read it. Those that cannot
 * be read are absent: most holdings are not stored.
 */
export function inputHoldings(
  context: RequestContext,
  contractIds: readonly string[],
): ReadonlyMap<string, HoldingFields | "archived"> {
  const { view } = context;
  const ids = [...new Set(contractIds)];
  const found = new Map<string, HoldingFields | "archived">();
  const unknown: string[] = [];
  // All are looked up before it is asked which are archived.
  for (const [contractId, stored] of ids.map((id) => [id, view.byId(holding, id)] as const)) {
    if (stored !== undefined) found.set(contractId, stored.fields);
    else if (view.wasArchived(contractId)) found.set(contractId, "archived");
    else unknown.push(contractId);
  }
  if (unknown.length > 0) for (const [id, read] of context.readHoldings(unknown)) found.set(id, read);
  return found;
}
