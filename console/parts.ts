/** Elements that several views have. */
import { copyButton } from "./copy.js";
import { type Child, h } from "./dom.js";
import { shorten, shortenIn, time } from "./format.js";
import type { Call, Claim, Contract, Json, RefusedRequest } from "./messages.js";
import { link } from "./route.js";

export type Tone = "bad" | "good" | "neutral" | "warn";

/** A short label. Its text says what its colour does. */
export const badge = (text: string, tone: Tone = "neutral"): HTMLElement => h("span", { class: `badge ${tone}` }, text);

/** An id, shortened, with a button that copies all of it, and a link if it has a view. */
export function id(full: string, what: string, to?: string): HTMLElement {
  const attributes = { class: "mono", title: full };
  const text = shorten(full);
  return h(
    "span",
    { class: "id" },
    to === undefined ? h("span", attributes, text) : h("a", { ...attributes, href: to }, text),
    copyButton(full, `${what} ${text}`),
  );
}

/** A party, with a link to its view. */
export const partyId = (party: string): HTMLElement => id(party, "party", link("party", { id: party }));

/** A contract id, with a link to its view. */
export const contractId = (contract: string): HTMLElement =>
  id(contract, "contract id", link("contract", { id: contract }));

/** A sentence of the service, with its ids shortened. */
export const sentence = (text: string): HTMLElement => {
  const short = shortenIn(text);
  return h("span", { title: short !== text && text }, short);
};

/** A time of the ledger or of a request. */
export const timeOf = (timestamp: string): HTMLTimeElement => h("time", { datetime: timestamp }, time(timestamp));

/** The id of a contract, with its template and package. */
export function contractLine(contract: Contract | undefined): HTMLElement {
  const { contractId: cid = "", template = "", packageName = "", packageVersion = "" } = contract ?? {};
  const from = [packageName, packageVersion].filter((text) => text !== "").join(" ");
  return h(
    "span",
    { class: "contract" },
    contractId(cid),
    template !== "" && h("span", { class: "muted", title: from }, shortTemplate(template)),
  );
}

/** The entity of a template with its module's last name is enough to recognise it. */
const shortTemplate = (template: string): string => template.replace(/^.*:/s, "");

/** `property = value`, each in a box. */
export const claimList = (claims: readonly Claim[] = []): HTMLElement =>
  h(
    "ul",
    { class: "chips" },
    ...claims.map(({ property = "", value = "" }) => h("li", { class: "chip mono" }, `${property} = ${value}`)),
  );

/** Texts in boxes. */
export const chips = (texts: readonly string[]): HTMLElement =>
  h("ul", { class: "chips" }, ...texts.map((text) => h("li", { class: "chip mono" }, text)));

/** Names with values; those without a value are left out. */
export const definitionList = (...rows: readonly (readonly [name: string, value: Child])[]): HTMLElement =>
  h(
    "dl",
    { class: "definitions" },
    ...rows
      .filter(([, value]) => value !== undefined && value !== false && value !== "")
      .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
  );

/** A part of a view, under a heading. */
export const section = (title: string, ...children: readonly Child[]): HTMLElement =>
  h("section", { "data-key": `section ${title}` }, h("h2", {}, title), ...children);

/** What stands in place of an empty list. */
export const empty = (text: string): HTMLElement => h("p", { class: "empty" }, text);

/** Items in boxes under each other. */
export const cards = (...items: readonly HTMLElement[]): HTMLElement => h("div", { class: "cards" }, ...items);

/** JSON, folded. */
export const jsonBlock = (title: string, json: Json, open = false): HTMLElement =>
  h(
    "details",
    { class: "json", open },
    h("summary", {}, title),
    copyButton(JSON.stringify(json, null, 2), title),
    h("pre", { tabindex: 0, role: "region", "aria-label": title }, JSON.stringify(json, null, 2)),
  );

/** The link that explains a call. */
export const explainLink = ({ operation = "", request }: Call): string =>
  link("explain", { operation, json: request === undefined ? undefined : JSON.stringify(request) });

/** The link that explains a refused request, unless the request is not kept. */
export const explainRefusal = ({ requestId = "", request }: RefusedRequest): Child =>
  request === undefined
    ? h("span", { class: "muted" }, "request not kept")
    : h(
        "a",
        { class: "whole", href: link("explain", { request: requestId }), "aria-label": `Explain ${requestId}` },
        "Explain",
      );

/** A message in a box; errors interrupt what a screen reader says. */
export const notice = (tone: Tone, ...children: readonly Child[]): HTMLElement =>
  h("div", { class: `notice ${tone}`, role: tone === "bad" && "alert" }, ...children);
