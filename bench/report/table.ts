/** Rows as text, for a terminal. */
import { described, type Machine } from "./machine.js";
import { type Ratio, type Row, shown } from "./row.js";

export function table(rows: readonly Row[], on: Machine): string {
  const lines = [["what", "figure", "ratio", "wanted", ""], ...rows.map(cells)];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const text = lines.map((line) =>
    line
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
  return [described(on), "", ...text, ""].join("\n");
}

function cells({ what, figure, ratio, note = "" }: Row): string[] {
  const reached = ratio === undefined ? "" : shown(ratio.reached);
  return [what, `${shown(figure.value)} ${figure.unit}`, reached, ratio === undefined ? "" : wanted(ratio), note];
}

export function wanted({ wanted: bound }: Ratio): string {
  if (bound === undefined) return "";
  return "atLeast" in bound ? `≥ ${shown(bound.atLeast)}` : `≤ ${shown(bound.atMost)}`;
}
