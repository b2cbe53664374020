/** In milliseconds. */
export interface StalenessLimits {
  /** Past this age the service is not ready. */
  readonly unreadyAfter: number;
  /** Past this age requests are rejected. */
  readonly staleAfter: number;
}

export interface MirrorAge {
  /** Undefined before the first snapshot. */
  readonly offset: number | undefined;
  /** Milliseconds since the mirror was last known to equal the ledger; undefined if it never was. */
  readonly age: number | undefined;
}

/** Why requests cannot be answered; undefined if they can. */
export function staleReason({ offset, age }: MirrorAge, { staleAfter }: StalenessLimits): string | undefined {
  if (offset === undefined || age === undefined) return "no snapshot of the ledger has been taken yet";
  if (age <= staleAfter) return undefined;
  return `the ledger has not been reached for ${seconds(age)} s; answers from before would be stale`;
}

/** Why the service is not ready; undefined if it is. */
export function notReadyReason(status: MirrorAge, limits: StalenessLimits): string | undefined {
  const { age } = status;
  const reason = staleReason(status, limits);
  if (reason !== undefined || age === undefined || age <= limits.unreadyAfter) return reason;
  return `the ledger has not been reached for ${seconds(age)} s`;
}

const seconds = (milliseconds: number): number => Math.round(milliseconds / 1000);
