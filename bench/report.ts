import { cpus, totalmem } from "node:os";

/** What was measured, its figure, and what it was measured on. */
export type Row = readonly [what: string, figure: string, of: string];

/** The middle value; of an even number the upper of the two. */
export const median = (values: readonly number[]): number => percentile(values, 0.5);

/** The value below which that share of the values lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** A table as text, with the machine it was measured on. */
export function report(rows: readonly Row[]): string {
  const [cpu] = cpus();
  const memory = Math.round(totalmem() / 1024 ** 3);
  const machine = `${cpus().length} cores (${cpu?.model ?? "unknown"}), ${memory} GiB, Node.js ${process.version}`;
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  const lines = rows.map(
    ([what, figure, of]) => `${what.padEnd(widths[0] ?? 0)}  ${figure.padStart(widths[1] ?? 0)}  ${of}`,
  );
  return [machine, ...lines, ""].join("\n");
}
