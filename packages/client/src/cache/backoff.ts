const MIN_DELAY_MS = 250;
const MAX_DELAY_MS = 10_000;
/** The longest time that a service may ask for. */
const MAX_RETRY_AFTER_MS = 60_000;

/**
 * The time before the next attempt, after a number of attempts that failed one after the other. Random, so that the
 * clients of a service that restarts do not come back together. `retryAfter` is a header in seconds.
 */
export function retryDelay(failures: number, retryAfter: string | null): number {
  const delay = Math.min(MAX_DELAY_MS, MIN_DELAY_MS * 2 ** Math.min(failures, 16));
  const requested = Math.min(MAX_RETRY_AFTER_MS, (Number(retryAfter) || 0) * 1000);
  return Math.max(delay, requested) * (1 + Math.random() / 2);
}
