import type { Ledger } from "../../ledger/participant/client.js";
import type { Logger } from "../../util/logger.js";
import type { LagTracker } from "./lag-tracker.js";
import type { StoreApplier } from "./store-applier.js";

export interface MissingPackagesOptions {
  readonly ledger: Ledger;
  readonly log: Logger;
  readonly lag: LagTracker;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Waits. Resolves early, and never rejects, when the signal is aborted. */
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly signal: AbortSignal;
}

export const SEARCH_INTERVAL_MS = 30_000;

/**
 * Looks for the packages that the participant lacked. Once it has one, a new snapshot reads its contracts: they may be
 * older than the store's offset. While the search fails the store ages. Runs until the signal is aborted. Never rejects.
 */
export async function findMissingPackages(
  applier: StoreApplier,
  { ledger, log, lag, now, pause, signal }: MissingPackagesOptions,
): Promise<void> {
  const isStopped = () => signal.aborted;
  while (!isStopped()) {
    await pause(SEARCH_INTERVAL_MS);
    if (isStopped() || ledger.missing.length === 0) continue;
    try {
      const startedAt = now();
      const found = await ledger.findMissing();
      lag.incompleteAfter(startedAt + SEARCH_INTERVAL_MS);
      if (found.length === 0) continue;
      log.info({ found }, "the participant has packages that it lacked; a new snapshot is taken");
      ledger.include(found);
      applier.requireSnapshot();
      applier.leave();
    } catch {
      // The mirror meets the same failure on its stream, and logs it.
    }
  }
}
