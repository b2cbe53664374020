/** Versions of the packages, which the ledger does not have and the operator configures. */
import type { LedgerContract } from "./ledger.js";
import type { Settings } from "./settings.js";

/** Whether a contract is of a package version before this one. A package that is not listed counts as current. */
export function isOlder({ packageVersions }: Settings, { packageId }: LedgerContract, before: string): boolean {
  const version = packageVersions.get(packageId);
  if (version === undefined) return false;
  const [numbers, others] = [version.split(".").map(Number), before.split(".").map(Number)];
  const index = numbers.findIndex((number, at) => number !== others[at]);
  return index !== -1 && (numbers[index] ?? 0) < (others[index] ?? 0);
}
