/** The service's memory at the end of a soak, compared with that after the warm-up. */

export interface Memory {
  /** In bytes, after a garbage collection: the heap and the buffers that it references. */
  readonly heap: number;
  readonly rss: number;
}

export interface Growth {
  readonly before: Memory;
  readonly after: Memory;
}

/** Allowed growth, as a share of the memory after the warm-up. */
export const MAX_GROWTH = 0.1;
const SAMPLES = 5;

export function computeGrowth(samples: readonly Memory[]): Growth | undefined {
  if (samples.length < 2 * SAMPLES) return undefined;
  const medians = (part: readonly Memory[]): Memory => ({
    heap: median(part.map(({ heap }) => heap)),
    rss: median(part.map(({ rss }) => rss)),
  });
  return { before: medians(samples.slice(0, SAMPLES)), after: medians(samples.slice(-SAMPLES)) };
}

export function findExcessGrowth({ before, after }: Growth): string[] {
  return (["heap", "rss"] as const)
    .filter((which) => after[which] > before[which] * (1 + MAX_GROWTH))
    .map((which) => `${which} grew from ${formatMegabytes(before[which])} to ${formatMegabytes(after[which])}`);
}

export const formatMegabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MB`;

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}
