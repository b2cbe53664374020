import type { Ledger } from "../../ledger/participant/ledger.js";
import type { Logger } from "../../util/logger.js";
import type { StoreApplier } from "./store-applier.js";

export interface MissingPackagesOptions {
  readonly ledger: Ledger;
  readonly log: Logger;
  /** Waits. Resolves early, and never rejects, when the signal is aborted. */
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly signal: AbortSignal;
}

const INTERVAL_MS = 30_000;

/**
 * Looks for the packages that the participant lacked. Once it has one, a new snapshot reads its contracts: they may be
 * older than the store's offset. Runs until the signal is aborted. Never rejects.
 */
export async function findMissingPackages(
  applier: StoreApplier,
  { ledger, log, pause, signal }: MissingPackagesOptions,
): Promise<void> {
  const isStopped = () => signal.aborted;
  while (!isStopped()) {
    await pause(INTERVAL_MS);
    if (isStopped() || ledger.missing.length === 0) continue;
    try {
      const found = await ledger.findMissing();
      if (found.length === 0) continue;
      log.info({ found }, "the participant has packages that it lacked; a new snapshot is taken");
      ledger.include(found);
      applier.requireSnapshot();
      applier.stream?.close();
    } catch {
      // The mirror meets the same failure on its stream, and logs it.
    }
  }
}
