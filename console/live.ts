/** Views that follow the service. */
import { get } from "./api.js";
import { h } from "./dom.js";
import { time } from "./format.js";
import { patch } from "./patch.js";
import type { Stage } from "./view.js";

const EVERY_MS = 5_000;

export interface Live<T> {
  /** Renders again what was read last. */
  readonly render: (value: T) => readonly Node[];
  /** The path of the request. */
  readonly path: string;
}

/**
 * Reads a path now and every few seconds while the page is visible, and shows the result below what `stage.main` has.
 * The user can stop it. Returns a function that renders again, for filters.
 */
export function showLive<T>(stage: Stage, { path, render }: Live<T>): () => void {
  const { main, signal } = stage;
  const region = h("div", { class: "result" }, h("p", { class: "empty" }, "Loading…"));
  const updated = h("span", {});
  const isLive = h("input", { type: "checkbox", id: "live", checked: true });
  main.append(
    h(
      "p",
      { class: "live" },
      isLive,
      h("label", { for: "live" }, `Refresh every ${EVERY_MS / 1_000} seconds`),
      updated,
    ),
    region,
  );
  let value: T | undefined;
  let shown = "";
  let timer: number | undefined;
  let isReading = false;
  const draw = () => {
    if (value !== undefined) patch(region, render(value));
  };
  const report = (error: unknown) => {
    if (!signal.aborted) stage.fail(region, error);
  };
  const read = async () => {
    clearTimeout(timer);
    if (isReading || signal.aborted) return;
    isReading = true;
    try {
      const next = await get<T>(path, signal);
      const text = JSON.stringify(next);
      value = next;
      if (text !== shown) draw();
      shown = text;
      updated.textContent = `Updated ${time(new Date().toISOString())}`;
    } catch (error) {
      shown = "";
      report(error);
    } finally {
      isReading = false;
    }
    plan();
  };
  const isWanted = () => isLive.checked && document.visibilityState === "visible" && !signal.aborted;
  const plan = () => {
    clearTimeout(timer);
    if (isWanted()) timer = setTimeout(() => void read(), EVERY_MS);
  };
  const resume = () => (isWanted() ? void read() : clearTimeout(timer));
  isLive.addEventListener("change", resume);
  document.addEventListener("visibilitychange", resume, { signal });
  signal.addEventListener("abort", () => clearTimeout(timer));
  void read();
  return draw;
}
