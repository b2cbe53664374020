import type { LedgerErrorKind } from "../../ledger/participant/errors.js";
import { backoffMs, type BackoffOptions, withJitter } from "../../util/backoff.js";

/** A new snapshot or a new token is tried at once. */
const IMMEDIATE: ReadonlySet<LedgerErrorKind> = new Set(["pruned", "ahead", "denied"]);

const backoffs: Readonly<Record<LedgerErrorKind, BackoffOptions>> = {
  pruned: { firstMs: 100, maxMs: 10_000 },
  ahead: { firstMs: 100, maxMs: 10_000 },
  denied: { firstMs: 100, maxMs: 60_000 },
  busy: { firstMs: 200, maxMs: 10_000 },
  internal: { firstMs: 2_000, maxMs: 60_000 },
  lost: { firstMs: 100, maxMs: 10_000 },
  unreadable: { firstMs: 500, maxMs: 30_000 },
  incomplete: { firstMs: 1_000, maxMs: 60_000 },
  refused: { firstMs: 1_000, maxMs: 60_000 },
};

/** Milliseconds to wait after the nth failure in a row, n counted from 1. `random` is in [0, 1). */
export function retryDelay(kind: LedgerErrorKind, failures: number, random: () => number): number {
  if (failures === 1 && IMMEDIATE.has(kind)) return 0;
  return withJitter(backoffMs(failures, backoffs[kind]), random);
}
