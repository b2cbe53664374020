import { byId } from "./dom.js";

const SHOWN_MS = 4_000;
let timer: number | undefined;

/** Says a text to screen readers, and shows it for a moment if `isShown`. */
export function announce(text: string, isShown = false): void {
  const region = byId("announcements");
  region.textContent = text;
  region.className = isShown ? "toast" : "unseen";
  clearTimeout(timer);
  timer = setTimeout(() => {
    region.textContent = "";
    region.className = "unseen";
  }, SHOWN_MS);
}
