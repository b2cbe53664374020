import { h, svg } from "./dom.js";
import { clock } from "./format.js";

export interface ChartPoint {
  readonly time: string;
  /** Undefined where it is not known: the line has a gap. */
  readonly value: number | undefined;
}

export interface Chart {
  readonly title: string;
  /** What the graph says, for those who do not see it. */
  readonly summary: string;
  readonly points: readonly ChartPoint[];
  readonly label: (value: number) => string;
  /** Whether the axis begins at 0. */
  readonly fromZero: boolean;
}

const WIDTH = 1_000;
const HEIGHT = 100;

/** A line over time. The labels are HTML, so that they keep their size on every screen. */
export function chart({ title, summary, points, label, fromZero }: Chart): HTMLElement {
  const known = points.flatMap(({ value }) => (value === undefined ? [] : [value]));
  const min = fromZero ? 0 : Math.min(...known);
  const max = Math.max(...known);
  const path = known.length === 0 ? "" : pathOf(points, min, max === min ? min + 1 : max);
  return h(
    "figure",
    { class: "chart" },
    h("figcaption", {}, h("span", { class: "chart-title" }, title), " ", h("span", { class: "muted" }, summary)),
    h(
      "div",
      { class: "axis" },
      // A constant is drawn at the bottom.
      h("span", {}, known.length === 0 || max === min ? "" : label(max)),
      h("span", {}, known.length === 0 ? "" : label(min)),
    ),
    svg(
      "svg",
      {
        viewBox: `0 -4 ${WIDTH} ${HEIGHT + 8}`,
        preserveAspectRatio: "none",
        role: "img",
        "aria-label": `${title}: ${summary}`,
      },
      svg("path", { d: `M0 ${HEIGHT}H${WIDTH}M0 0H${WIDTH}`, class: "grid" }),
      svg("path", { d: path, class: "line" }),
    ),
    h(
      "div",
      { class: "axis times" },
      h("span", {}, clock(points[0]?.time ?? "")),
      h("span", {}, clock(points.at(-1)?.time ?? "")),
    ),
  );
}

function pathOf(points: readonly ChartPoint[], min: number, max: number): string {
  const start = Date.parse(points[0]?.time ?? "");
  const span = Math.max(1, Date.parse(points.at(-1)?.time ?? "") - start);
  let isDrawing = false;
  return points
    .map(({ time, value }) => {
      if (value === undefined) {
        isDrawing = false;
        return "";
      }
      const x = (((Date.parse(time) - start) / span) * WIDTH).toFixed(1);
      const y = (HEIGHT - ((value - min) / (max - min)) * HEIGHT).toFixed(1);
      const command = isDrawing ? "L" : `M${x} ${y}L`;
      isDrawing = true;
      return `${command}${x} ${y}`;
    })
    .join("");
}
