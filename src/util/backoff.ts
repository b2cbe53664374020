export interface BackoffOptions {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** The delay before the nth attempt after a failure, n counted from 1: it doubles up to the bound. */
export function backoffMs(failures: number, { firstMs, maxMs }: BackoffOptions): number {
  // 2^20 exceeds every bound in use.
  return Math.min(firstMs * 2 ** Math.min(failures - 1, 20), maxMs);
}

/** Spreads a delay over its upper half, so that many processes do not retry at once. `random` is in [0, 1). */
export function withJitter(delayMs: number, random: () => number): number {
  return delayMs * (0.5 + random() / 2);
}
