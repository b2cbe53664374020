/** Rows as a picture: a bar for each ratio, against what is wanted of it. Readable on light and on dark. */
import { described, type Machine } from "./machine.js";
import { type Ratio, type Row, share, shown } from "./row.js";
import { wanted } from "./table.js";

const WIDTH = 960;
const LINE = 26;
const TOP = 64;
const LEFT = 320;
/** What is wanted stands here, and bars end where twice of it is reached. */
const GOAL = 550;
const END = LEFT + 2 * (GOAL - LEFT);

const style = `
text { font: 13px system-ui, sans-serif; fill: #24292f }
.small { font-size: 11px; fill: #57606a }
.reached { fill: #2da44e }
.short { fill: #bf8700 }
.goal { stroke: #57606a; stroke-dasharray: 4 3 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .small { fill: #9198a1 }
  .goal { stroke: #9198a1 }
}`;

export function picture(rows: readonly Row[], on: Machine): string {
  const compared = rows.flatMap(({ what, ratio }) => (ratio?.wanted === undefined ? [] : [{ what, ratio }]));
  const height = TOP + compared.length * LINE + 16;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="Ratios reached and wanted">`,
    `<style>${style}\n</style>`,
    text(8, 20, "Ratios reached, against those wanted (dashed); a longer bar is better"),
    text(8, 40, described(on), "small"),
    ...compared.map(({ what, ratio }, index) => bar(what, ratio, TOP + index * LINE)),
    `<line class="goal" x1="${GOAL}" x2="${GOAL}" y1="${TOP - 8}" y2="${height - 12}"/>`,
    "</svg>\n",
  ].join("\n");
}

function bar(what: string, ratio: Ratio, y: number): string {
  const near = share(ratio) ?? 0;
  const length = Math.max(1, Math.min(near * (GOAL - LEFT), END - LEFT));
  return [
    text(8, y + 13, what),
    `<rect class="${near >= 1 ? "reached" : "short"}" x="${LEFT}" y="${y}" width="${length.toFixed(1)}" height="18" rx="2"/>`,
    text(END + 10, y + 13, shown(ratio.reached)),
    text(END + 66, y + 13, wanted(ratio), "small"),
  ].join("");
}

function text(x: number, y: number, content: string, style_?: string): string {
  const escaped = content.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<text x="${x}" y="${y}"${style_ === undefined ? "" : ` class="${style_}"`}>${escaped}</text>`;
}
