/** The figures of a benchmark: measured in rounds, compared with a baseline, and printed as one table. */
import { cpus, release, totalmem, type as system } from "node:os";

export interface Row {
  readonly title: string;
  readonly unit: string;
  /** A value of each round. The figure is their median. */
  readonly values: readonly number[];
  /** The same of something else, in the same rounds. */
  readonly baseline?: { readonly title: string; readonly values: readonly number[] };
}

export interface Case {
  readonly title: string;
  readonly unit: string;
  measure(): Promise<number>;
  readonly baseline?: { readonly title: string; measure(): Promise<number> } | undefined;
}

/** Each round measures every case and its baseline once, so that a disturbance affects all alike. */
export async function measureRounds(rounds: number, cases: readonly Case[]): Promise<Row[]> {
  const measured = cases.map((one) => ({ ...one, values: [] as number[], baselineValues: [] as number[] }));
  for (let round = 0; round < rounds; round++) {
    for (const { measure, baseline, values, baselineValues } of measured) {
      if (baseline !== undefined) baselineValues.push(await baseline.measure());
      values.push(await measure());
    }
  }
  return measured.map(({ title, unit, values, baseline, baselineValues }) => ({
    title,
    unit,
    values,
    ...(baseline !== undefined && { baseline: { title: baseline.title, values: baselineValues } }),
  }));
}

/** `part` from 0 to 1; the upper of two middle values. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

const HEAD = ["", "figure", "unit", "baseline", "ratio", "spread"];

/** The ratio is the median of the rounds' ratios; the spread is the half of rounds around it, or around a lone figure. */
export function renderTable(suites: ReadonlyMap<string, readonly Row[]>): string {
  const lines = [HEAD];
  for (const [suite, rows] of suites) lines.push([suite], ...rows.map(cellsOf));
  const widths = HEAD.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const text = lines.map((line) =>
    line.map((cell, column) =>
      (column % 2 === 0 && column < 4 ? cell.padEnd : cell.padStart).call(cell, widths[column] ?? 0),
    ),
  );
  return `${text.map((cells) => cells.join("  ").trimEnd()).join("\n")}\n`;
}

function cellsOf({ title, unit, values, baseline }: Row): string[] {
  const ratios = baseline?.values.map((value, round) => (values[round] ?? Number.NaN) / value);
  return [
    `  ${title}`,
    formatNumber(quantile(values, 0.5)),
    unit,
    baseline === undefined ? "" : `${baseline.title}: ${formatNumber(quantile(baseline.values, 0.5))}`,
    ratios === undefined ? "" : formatNumber(quantile(ratios, 0.5)),
    formatSpread(ratios ?? values),
  ];
}

function formatSpread(values: readonly number[]): string {
  if (values.length < 2) return "";
  return `${formatNumber(quantile(values, 0.25))} to ${formatNumber(quantile(values, 0.75))}`;
}

function formatNumber(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString("en-US");
  return value.toFixed(value >= 10 ? 1 : 2);
}

export function describeMachine(): string {
  const cpu = `${cpus().length} cores of ${cpus()[0]?.model.trim() ?? "unknown"}`;
  const date = new Date().toISOString().slice(0, 16).replace("T", " ");
  const memory = `${Math.round(totalmem() / 1024 ** 3)} GiB`;
  return `${date} UTC, ${cpu}, ${memory}, ${system()} ${release()}, Node.js ${process.version}`;
}
