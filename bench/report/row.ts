/** What a benchmark finds. */

/** One thing that was measured. */
export interface Row {
  readonly what: string;
  readonly figure: Figure;
  /** How it compares, and how it should. */
  readonly ratio?: Ratio;
  /** What the figure is of, in few words. */
  readonly note?: string;
}

export interface Figure {
  readonly value: number;
  readonly unit: string;
}

export interface Ratio {
  readonly reached: number;
  /** Undefined where it is only told. */
  readonly wanted: { readonly atLeast: number } | { readonly atMost: number } | undefined;
}

/** How near a ratio has come to what is wanted: 1 where it is just that, more where it is better. */
export function share({ reached, wanted }: Ratio): number | undefined {
  if (wanted === undefined) return undefined;
  return "atLeast" in wanted ? reached / wanted.atLeast : wanted.atMost / reached;
}

/** Whole where it is large, with three digits where it is not. */
export function shown(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString("en-US");
  return value.toFixed(value >= 10 ? 1 : 2);
}

/** The middle value; of an even number the upper of the two. */
export const median = (values: readonly number[]): number => percentile(values, 0.5);

/** The value below which that share of the values lies. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

/** The median of what the ratios of each round are. */
export const medianRatio = (above: readonly number[], below: readonly number[]): number =>
  median(above.map((value, round) => value / (below[round] ?? Number.NaN)));
