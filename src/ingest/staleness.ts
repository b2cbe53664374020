/** What may be answered from a copy of the ledger, by its age. */

/** In milliseconds. */
export interface StalenessLimits {
  /** From this age on the service is not ready. */
  readonly unreadyAfter: number;
  /** From this age on requests are refused rather than answered from what may be stale. */
  readonly staleAfter: number;
}

/** How a copy stands. */
export interface MirrorAge {
  /** Undefined before the first snapshot. */
  readonly offset: number | undefined;
  /** Milliseconds since it was last known to equal the ledger; undefined where it never was. */
  readonly age: number | undefined;
}

/** Why requests cannot be answered; undefined where they can. */
export function staleReason({ offset, age }: MirrorAge, { staleAfter }: StalenessLimits): string | undefined {
  if (offset === undefined || age === undefined) return "no snapshot of the ledger has been taken yet";
  if (age <= staleAfter) return undefined;
  return `the ledger has not been reached for ${seconds(age)} s; answers from before would be stale`;
}

/** Why the service is not ready; undefined where it is. */
export function notReadyReason(status: MirrorAge, limits: StalenessLimits): string | undefined {
  const { age } = status;
  const refusal = staleReason(status, limits);
  if (refusal !== undefined || age === undefined || age <= limits.unreadyAfter) return refusal;
  return `the ledger has not been reached for ${seconds(age)} s`;
}

const seconds = (milliseconds: number): number => Math.round(milliseconds / 1000);
