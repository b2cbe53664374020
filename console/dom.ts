/** Elements. Text is only ever a text node, so nothing from the ledger is read as HTML. */

export type Child = Node | string | undefined | false;
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

const SVG = "http://www.w3.org/2000/svg";

/** Creates an element. An attribute that is true is empty; false and undefined leave it out. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

/** Creates an element of SVG. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** The element of index.html with this id. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`index.html has no element #${id}`);
  return element;
}

function fill<E extends Element>(element: E, attributes: Attributes, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    const text = value === true ? "" : String(value);
    // Links lead to views only: a URL from the ledger could be a script.
    if (/^on|^(?:src|srcdoc|style)$/i.test(name) || (name === "href" && !text.startsWith("#"))) {
      throw new Error(`the attribute ${name} must not be set`);
    }
    element.setAttribute(name, text);
  }
  for (const child of children) if (child !== undefined && child !== false) element.append(child);
  return element;
}
