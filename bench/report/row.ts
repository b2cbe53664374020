/** Rows of the table that a benchmark prints. */

export interface Row {
  readonly title: string;
  readonly figure: Figure;
  readonly ratio?: Ratio;
  readonly note?: string;
}

export interface Figure {
  readonly value: number;
  readonly unit: string;
}

export interface Ratio {
  readonly value: number;
  readonly target: { readonly atLeast: number } | { readonly atMost: number } | undefined;
}

/** 1 where the ratio is exactly its target, more where it is better; undefined without a target. */
export function scoreRatio({ value, target }: Ratio): number | undefined {
  if (target === undefined) return undefined;
  return "atLeast" in target ? value / target.atLeast : target.atMost / value;
}

export function formatNumber(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString("en-US");
  return value.toFixed(value >= 10 ? 1 : 2);
}

/** The upper of the two middle values where their number is even. */
export const median = (values: readonly number[]): number => percentile(values, 0.5);

/** `part` from 0 to 1. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

export const medianOfRatios = (numerators: readonly number[], denominators: readonly number[]): number =>
  median(numerators.map((value, round) => value / (denominators[round] ?? Number.NaN)));
