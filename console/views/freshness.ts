import { chart } from "../chart.js";
import { h } from "../dom.js";
import { duration, number, seconds, time } from "../format.js";
import { showLive } from "../live.js";
import type { Freshness, FreshnessPoint } from "../messages.js";
import { badge, empty, notice } from "../parts.js";
import { table } from "../table.js";
import type { View } from "../view.js";

export const freshness: View = {
  name: "freshness",
  title: "Freshness",
  intro: "How current the contracts of this process are, over the last hour at most.",
  show: (stage) => void showLive<Freshness>(stage, { path: "console/freshness", render }),
};

function render({ notReadyReason = "", points = [] }: Freshness): readonly Node[] {
  const state =
    notReadyReason === ""
      ? h("p", {}, badge("ready", "good"))
      : notice("warn", h("p", {}, badge("not ready", "bad"), " ", notReadyReason));
  const last = points.at(-1);
  if (last === undefined)
    return [state, empty("Nothing is measured yet: the first values come a few seconds after the start.")];
  return [state, ageChart(points, last), offsetChart(points, last), reconnectChart(points, last), pointTable(points)];
}

const ageOf = ({ age }: FreshnessPoint): number | undefined => (age === undefined ? undefined : seconds(age));

function ageChart(points: readonly FreshnessPoint[], last: FreshnessPoint): HTMLElement {
  const ages = points.flatMap((point) => ageOf(point) ?? []);
  const now = ageOf(last);
  const most = ages.length === 0 ? "" : `, at most ${duration(Math.max(...ages))}`;
  return chart({
    title: "Age of the contracts",
    summary: `${now === undefined ? "not known now" : `${duration(now)} now`}${most}`,
    points: points.map((point) => ({ time: point.time ?? "", value: ageOf(point) })),
    label: duration,
    fromZero: true,
  });
}

function offsetChart(points: readonly FreshnessPoint[], last: FreshnessPoint): HTMLElement {
  // Differences, because offsets may exceed the integers of a number.
  const first = BigInt(points.find(({ offset = "0" }) => offset !== "0")?.offset ?? "0");
  const end = last.offset ?? "0";
  return chart({
    title: "Offset",
    summary:
      end === "0"
        ? "no snapshot yet"
        : `${end} now, ${number((BigInt(end) - first).toString())} more than at the start of the graph`,
    points: points.map(({ time: at = "", offset = "0" }) => {
      const value = offset === "0" ? undefined : Number(BigInt(offset) - first);
      return { time: at, value };
    }),
    label: (value) => (first + BigInt(Math.round(value))).toString(),
    fromZero: false,
  });
}

function reconnectChart(points: readonly FreshnessPoint[], last: FreshnessPoint): HTMLElement {
  return chart({
    title: "Reconnects to the ledger",
    summary: `${number(last.reconnects ?? "0")} since the start`,
    points: points.map(({ time: at = "", reconnects = "0" }) => ({ time: at, value: Number(reconnects) })),
    label: (value) => number(Math.round(value)),
    fromZero: true,
  });
}

/** The same as the graphs, in text: the last point of each minute, newest first. */
function pointTable(points: readonly FreshnessPoint[]): HTMLElement {
  const minutes = new Map(points.map((point) => [(point.time ?? "").slice(0, 16), point]));
  return h(
    "details",
    { "data-key": "table" },
    h("summary", {}, "The values as a table"),
    table(
      "Freshness by minute",
      [
        { title: "Time", cell: ({ time: at = "" }) => time(at) },
        { title: "Age", isNumber: true, cell: (point) => durationOf(point) },
        { title: "Offset", isNumber: true, cell: ({ offset = "0" }) => offset },
        { title: "Reconnects", isNumber: true, cell: ({ reconnects = "0" }) => number(reconnects) },
      ],
      [...minutes.values()].toReversed(),
      ({ time: at = "" }) => at.slice(0, 16),
    ),
  );
}

function durationOf(point: FreshnessPoint): string {
  const age = ageOf(point);
  return age === undefined ? "not known" : duration(age);
}
