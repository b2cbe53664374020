/**
 * Makes the children of an element like `next`, and keeps the nodes that are alike, so that focus, selection, scroll
 * position and open details survive. Elements of a list that changes have a key in `data-key`. Listeners of `next` are
 * lost: patched content has none.
 */
export function patch(parent: Element, next: readonly Node[]): void {
  const wanted = new Set(next.map(keyOf));
  const keyed = new Map<string, Element>();
  for (const child of Array.from(parent.children)) {
    const key = keyOf(child);
    if (key === undefined) continue;
    if (wanted.has(key)) keyed.set(key, child);
    // First, because moving an element past it would take the focus from that element.
    else child.remove();
  }
  let at: ChildNode | null = parent.firstChild;
  for (const node of next) {
    const key = keyOf(node);
    const match: ChildNode | null | undefined = key === undefined ? at : keyed.get(key);
    if (match === null || match === undefined || !isAlike(match, node)) {
      parent.insertBefore(node, at);
      continue;
    }
    if (match === at) at = at.nextSibling;
    else parent.insertBefore(match, at);
    update(match, node);
  }
  while (at !== null) {
    const rest: ChildNode = at;
    at = at.nextSibling;
    rest.remove();
  }
}

const keyOf = (node: Node): string | undefined =>
  node instanceof Element ? (node.getAttribute("data-key") ?? undefined) : undefined;

const isAlike = (a: Node, b: Node): boolean =>
  a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === keyOf(b);

function update(old: Node, next: Node): void {
  if (old instanceof Text) {
    if (old.data !== next.textContent) old.data = next.textContent ?? "";
    return;
  }
  if (!(old instanceof Element) || !(next instanceof Element)) return;
  for (const name of old.getAttributeNames()) {
    // Users open and close details.
    if (name !== "open" && !next.hasAttribute(name)) old.removeAttribute(name);
  }
  for (const name of next.getAttributeNames()) {
    const value = next.getAttribute(name) ?? "";
    if (name !== "open" && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  patch(old, [...next.childNodes]);
}
