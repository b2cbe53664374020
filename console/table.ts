import { type Child, h } from "./dom.js";

export interface Column<T> {
  readonly title: string;
  /** Numbers are aligned to the right. */
  readonly isNumber?: boolean;
  readonly cell: (row: T) => Child | readonly Child[];
}

/**
 * A table whose rows a narrow screen shows as blocks. The roles are written out because browsers drop those of
 * elements that are no longer displayed as tables.
 */
export function table<T>(
  caption: string,
  columns: readonly Column<T>[],
  rows: readonly T[],
  keyOf?: (row: T) => string | undefined,
): HTMLTableElement {
  const head = columns.map(({ title, isNumber = false }) =>
    h("th", { role: "columnheader", scope: "col", class: isNumber && "number" }, title),
  );
  const body = rows.map((row) =>
    h(
      "tr",
      { role: "row", "data-key": keyOf?.(row) },
      ...columns.map(({ title, isNumber = false, cell }) =>
        h("td", { role: "cell", "data-title": title, class: isNumber && "number" }, ...[cell(row)].flat()),
      ),
    ),
  );
  return h(
    "table",
    { role: "table" },
    h("caption", { class: "unseen" }, caption),
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, ...head)),
    h("tbody", { role: "rowgroup" }, ...body),
  );
}
