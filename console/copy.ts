/** Buttons that copy. One listener serves all of them, also those that are added later. */
import { announce } from "./announce.js";
import { h, svg } from "./dom.js";

/** A button that copies `text`. `what` says to screen readers what that is. */
export const copyButton = (text: string, what: string): HTMLButtonElement =>
  h(
    "button",
    { type: "button", class: "copy", "data-copy": text, "aria-label": `Copy ${what}`, title: "Copy" },
    icon(),
  );

const icon = (): SVGElement =>
  svg(
    "svg",
    { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true", focusable: "false" },
    svg("rect", { x: 5.5, y: 5.5, width: 8, height: 8, rx: 1.5 }),
    svg("path", { d: "M10.5 3.5v-.5a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h.5" }),
  );

/** Serves the buttons of the document. */
export function serveCopyButtons(): void {
  document.addEventListener("click", (event) => {
    const { target } = event;
    const button = target instanceof Element ? target.closest<HTMLElement>("button[data-copy]") : null;
    const text = button?.dataset["copy"];
    if (text !== undefined)
      void copy(text).then((copied) => announce(copied ? "Copied" : "The browser did not copy", true));
  });
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Without TLS browsers have no clipboard for scripts, except on localhost.
    return copySelection(text);
  }
}

function copySelection(text: string): boolean {
  const focused = document.activeElement;
  const area = h("textarea", { class: "unseen", "aria-hidden": "true", tabindex: -1 });
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return copied;
}
