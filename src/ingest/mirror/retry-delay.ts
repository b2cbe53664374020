import type { LedgerErrorKind } from "../../ledger/participant/errors.js";

/** Pauses between attempts, in milliseconds: the first, and the longest. */
const pauses: Readonly<Record<LedgerErrorKind, readonly [first: number, longest: number]>> = {
  pruned: [0, 10_000],
  ahead: [0, 10_000],
  denied: [0, 60_000],
  busy: [200, 10_000],
  lost: [100, 10_000],
  unreadable: [500, 30_000],
  refused: [1_000, 60_000],
};

/**
 * How long to wait after the nth failure in a row, counted from 1: twice as long
 * each time, and between half of that and all of it, so that many mirrors do not
 * come back at once. `random` gives numbers from 0 to 1.
 */
export function retryDelay(kind: LedgerErrorKind, failures: number, random: () => number): number {
  const [first, longest] = pauses[kind];
  // What is tried again at once the first time still has to slow down.
  const base = failures === 1 ? first : Math.max(first, 100) * 2 ** Math.min(failures - 1, 20);
  return Math.min(base, longest) * (0.5 + random() / 2);
}
