import type { StoreScan } from "../../store/port.js";
import type { Inventory, Registry } from "../sdk/registry.js";
import { type ScanOptions, scanWarnings } from "./scan-warnings.js";

export interface InventoryScanOptions extends ScanOptions {
  readonly maxContracts: number;
}

/**
 * The inventory of a store beside its requests: the summary in one read, then the checks in short steps, of at most
 * `maxContracts` of each template. `Registry.inventory` alone would check all of them in one run, and would read whole
 * templates of a large database. A registry that does not limit its inventory is read at once. Throws what a read
 * throws, and stops early on an abort.
 */
export async function scanInventory(
  scan: StoreScan,
  registry: Registry,
  options: InventoryScanOptions,
): Promise<Inventory> {
  const { credentialDays } = options;
  const now = options.now();
  const summary = await scan.read((view) => registry.inventory(view, { now, credentialDays, maxContracts: 0 }));
  // A registry without limit has checked everything.
  if (summary.unchecked === undefined || registry.checks === undefined) return summary;
  const { found, checked, isComplete } = await scanWarnings(scan, registry.checks, options);
  return {
    ...summary,
    warnings: [...summary.warnings, ...found.warnings()],
    warningCounts: found.counts,
    // The number is approximate: contracts may have been created or archived between the reads.
    unchecked: isComplete ? undefined : Math.max(1, summary.unchecked - checked),
  };
}
