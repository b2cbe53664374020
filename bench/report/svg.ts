/** Rows as an SVG: a bar for each ratio relative to its target, for light and dark backgrounds. */
import { formatMachine, type Machine } from "./machine.js";
import { formatNumber, type Ratio, type Row, scoreRatio } from "./row.js";
import { formatTarget } from "./table.js";

const WIDTH = 960;
const LINE_HEIGHT = 26;
const TOP = 64;
const LEFT = 320;
/** The position of the target; a bar ends at twice of it. */
const GOAL = 550;
const END = LEFT + 2 * (GOAL - LEFT);

const STYLE = `
text { font: 13px system-ui, sans-serif; fill: #24292f }
.small { font-size: 11px; fill: #57606a }
.met { fill: #2da44e }
.missed { fill: #bf8700 }
.goal { stroke: #57606a; stroke-dasharray: 4 3 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .small { fill: #9198a1 }
  .goal { stroke: #9198a1 }
}`;

/** Rows whose ratio has no target are left out. */
export function renderSvg(rows: readonly Row[], machine: Machine): string {
  const compared = rows.flatMap(({ title, ratio }) => (ratio?.target === undefined ? [] : [{ title, ratio }]));
  const height = TOP + compared.length * LINE_HEIGHT + 16;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="Ratios and their targets">`,
    `<style>${STYLE}\n</style>`,
    renderText(8, 20, "Ratios relative to their targets (dashed line); longer is better"),
    renderText(8, 40, formatMachine(machine), "small"),
    ...compared.map(({ title, ratio }, index) => renderBar(title, ratio, TOP + index * LINE_HEIGHT)),
    `<line class="goal" x1="${GOAL}" x2="${GOAL}" y1="${TOP - 8}" y2="${height - 12}"/>`,
    "</svg>\n",
  ].join("\n");
}

function renderBar(title: string, ratio: Ratio, y: number): string {
  const score = scoreRatio(ratio) ?? 0;
  const length = Math.max(1, Math.min(score * (GOAL - LEFT), END - LEFT));
  return [
    renderText(8, y + 13, title),
    `<rect class="${score >= 1 ? "met" : "missed"}" x="${LEFT}" y="${y}" width="${length.toFixed(1)}" height="18" rx="2"/>`,
    renderText(END + 10, y + 13, formatNumber(ratio.value)),
    renderText(END + 66, y + 13, formatTarget(ratio), "small"),
  ].join("");
}

function renderText(x: number, y: number, content: string, className?: string): string {
  const escaped = content.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<text x="${x}" y="${y}"${className === undefined ? "" : ` class="${className}"`}>${escaped}</text>`;
}
