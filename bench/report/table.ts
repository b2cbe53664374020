/** Rows as a text table for the terminal. */
import { formatMachine, type Machine } from "./machine.js";
import { formatNumber, type Ratio, type Row } from "./row.js";

export function renderTable(rows: readonly Row[], machine: Machine): string {
  const lines = [["row", "figure", "ratio", "target", ""], ...rows.map(cellsOf)];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const text = lines.map((line) =>
    line
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
  return [formatMachine(machine), "", ...text, ""].join("\n");
}

function cellsOf({ title, figure, ratio, note = "" }: Row): string[] {
  const value = ratio === undefined ? "" : formatNumber(ratio.value);
  const target = ratio === undefined ? "" : formatTarget(ratio);
  return [title, `${formatNumber(figure.value)} ${figure.unit}`, value, target, note];
}

export function formatTarget({ target }: Ratio): string {
  if (target === undefined) return "";
  return "atLeast" in target ? `≥ ${formatNumber(target.atLeast)}` : `≤ ${formatNumber(target.atMost)}`;
}
