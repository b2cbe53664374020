/** Whether the service holds more memory at the end than after the warm-up. */

/** In bytes. */
export interface Memory {
  /** In use behind a collection of garbage: the heap, and what the heap holds outside of itself. */
  readonly heap: number;
  /** What the system has given the process. */
  readonly rss: number;
}

/** Medians at both ends of what was measured after the warm-up. */
export interface Growth {
  readonly before: Memory;
  readonly after: Memory;
}

/** What memory may grow by, of what it was. */
export const MOST_GROWTH = 0.1;
/** Samples of which the median is taken, at either end. */
const SAMPLES = 5;

/** Undefined where there are too few samples to tell. */
export function growthOf(samples: readonly Memory[]): Growth | undefined {
  if (samples.length < 2 * SAMPLES) return undefined;
  const of = (some: readonly Memory[]): Memory => ({
    heap: median(some.map(({ heap }) => heap)),
    rss: median(some.map(({ rss }) => rss)),
  });
  return { before: of(samples.slice(0, SAMPLES)), after: of(samples.slice(-SAMPLES)) };
}

/** What has grown too much, in words. */
export function tooMuch({ before, after }: Growth): string[] {
  return (["heap", "rss"] as const)
    .filter((which) => after[which] > before[which] * (1 + MOST_GROWTH))
    .map((which) => `${which} has grown from ${megabytes(before[which])} to ${megabytes(after[which])}`);
}

export const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MB`;

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}
