import { h } from "./dom.js";
import { number } from "./format.js";

/** How many items of a list are shown, so that the page stays quick. */
export const MAX_SHOWN = 200;

/** The first items, and a sentence if there are more. */
export function limited<T>(
  items: readonly T[],
  advice: string,
): { shown: readonly T[]; rest: HTMLElement | undefined } {
  const more = items.length - MAX_SHOWN;
  const rest = more > 0 ? h("p", { class: "muted" }, `${number(more)} more are not shown. ${advice}`) : undefined;
  return { shown: items.slice(0, MAX_SHOWN), rest };
}
