/** The console: shows the view of the route. */
import { ApiError } from "./api.js";
import { byId, h } from "./dom.js";
import { serveCopyButtons } from "./copy.js";
import { shortenIn } from "./format.js";
import { notice } from "./parts.js";
import { patch } from "./patch.js";
import { DEFAULT_VIEW, link, parseRoute } from "./route.js";
import { readToken, writeToken } from "./token.js";
import { tokenForm } from "./token-form.js";
import type { Stage, View } from "./view.js";
import { contract } from "./views/contract.js";
import { explain } from "./views/explain.js";
import { freshness } from "./views/freshness.js";
import { overview } from "./views/overview.js";
import { party } from "./views/party.js";
import { refusals } from "./views/refusals.js";
import { requests } from "./views/requests.js";

const VIEWS: readonly View[] = [overview, freshness, requests, refusals, explain, party, contract];

let leave = new AbortController();

/** Shows the view of the URL. The focus moves to its heading, except when the page opens. */
function show(movesFocus: boolean): void {
  leave.abort();
  leave = new AbortController();
  const { name, query } = parseRoute(location.hash);
  const view = VIEWS.find((one) => one.name === name) ?? VIEWS.find((one) => one.name === DEFAULT_VIEW) ?? overview;
  const main = byId("content");
  const heading = h("h1", { tabindex: -1 }, view.title);
  main.replaceChildren(heading, h("p", { class: "intro" }, view.intro));
  document.title = `${view.title} - offledger console`;
  for (const anchor of byId("views").querySelectorAll("a")) {
    if (anchor.dataset["view"] === view.name) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
  }
  byId("forget").hidden = readToken() === undefined;
  view.show({ main, query, signal: leave.signal, fail } satisfies Stage);
  if (!movesFocus) return;
  window.scrollTo(0, 0);
  heading.focus({ preventScroll: true });
}

function fail(region: HTMLElement, error: unknown): void {
  const sentence = error instanceof Error ? error.message : String(error);
  const shown = shortenIn(sentence);
  if (error instanceof ApiError && error.status === 401) {
    leave.abort();
    const form = tokenForm(sentence, () => show(true));
    byId("content").replaceChildren(...form.nodes);
    form.input.focus();
    return;
  }
  // Not again each time that a view refreshes: it would be said each time.
  if (region.querySelector(".notice.bad")?.textContent !== shown) patch(region, [notice("bad", h("p", {}, shown))]);
}

byId("views").append(...VIEWS.map(({ name, title }) => h("a", { href: link(name), "data-view": name }, title)));
byId("skip").addEventListener("click", (event) => {
  // The fragment is the route.
  event.preventDefault();
  byId("content").focus();
});
byId("forget").addEventListener("click", () => {
  writeToken(undefined);
  show(true);
});
window.addEventListener("hashchange", () => show(true));
serveCopyButtons();
show(false);
