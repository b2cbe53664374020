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
  readonly measure: () => Promise<number>;
  readonly baseline?: { readonly title: string; readonly measure: () => Promise<number> } | undefined;
}

/**
 * Case by case, since V8 drops the compiled code of a process that waits: what is measured stays warm, and the first round,
 * after such a wait, is left out. A round measures the case and its baseline, so that a disturbance affects both alike.
 */
export async function measureRounds(rounds: number, cases: readonly Case[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { title, unit, measure, baseline } of cases) {
    const values: number[] = [];
    const baselines: number[] = [];
    for (let round = 0; round <= rounds; round++) {
      values.push(await measure());
      if (baseline !== undefined) baselines.push(await baseline.measure());
    }
    const row: Row = { title, unit, values: values.slice(1) };
    rows.push(baseline === undefined ? row : compare(row, baseline.title, baselines.slice(1)));
  }
  return rows;
}

export const compare = ({ title, unit, values }: Row, baseline: string, baselines: readonly number[]): Row => ({
  title,
  unit,
  values,
  baseline: { title: baseline, values: baselines },
});

/** `part` from 0 to 1; the upper of two middle values. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

const HEAD = ["", "figure", "unit", "baseline", "ratio", "spread", "inverse"];

/** The ratio is the median of the rounds' ratios; the spread is the half of rounds around it, or around a lone figure. */
export function renderTable(suites: ReadonlyMap<string, readonly Row[]>): string {
  const lines = [HEAD];
  for (const [suite, rows] of suites) lines.push([suite], ...rows.map(cellsOf));
  const widths = HEAD.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const isText = (column: number): boolean => ["", "unit"].includes(HEAD[column] ?? "");
  const pad = (cell: string, column: number): string =>
    isText(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  const text = lines.map((line) => line.map(pad));
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
    ratios === undefined ? "" : formatNumber(1 / quantile(ratios, 0.5)),
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
