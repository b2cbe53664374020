/** Why candidates are passed over, as predicates. */
import type { Contract } from "../../domain/contract.js";

/** As many contracts as a person can read. */
export const MAX_CANDIDATES = 50;

export function whyNot(contract: Contract, chosen: Contract | undefined, synchronizer: string | undefined): string {
  return whyElsewhere(contract, synchronizer) ?? (chosen === undefined ? "does not serve" : "a newer one is chosen");
}

export function whyElsewhere({ synchronizerId }: Contract, synchronizer: string | undefined): string | undefined {
  if (synchronizerId === undefined) return "is between synchronizers";
  return synchronizer === undefined || synchronizerId === synchronizer
    ? undefined
    : `is on synchronizer ${synchronizerId}`;
}

/** At most `MAX_CANDIDATES`. The chosen one is always among them. */
export const listed = (candidates: readonly Contract[], chosen: Contract | undefined): readonly Contract[] =>
  chosen === undefined || candidates.length <= MAX_CANDIDATES
    ? candidates.slice(0, MAX_CANDIDATES)
    : [chosen, ...candidates.filter((candidate) => candidate !== chosen)].slice(0, MAX_CANDIDATES);

/** How many are beyond those that are listed. */
export const omitted = ({ length }: readonly Contract[]): number => Math.max(0, length - MAX_CANDIDATES);
