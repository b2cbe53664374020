import { type Child, h } from "../dom.js";
import { number, shortOperation } from "../format.js";
import { showLive } from "../live.js";
import type { OperationCount, Requests } from "../messages.js";
import { empty, definitionList, timeOf } from "../parts.js";
import { link } from "../route.js";
import { table } from "../table.js";
import type { View } from "../view.js";

export const requests: View = {
  name: "requests",
  title: "Requests",
  intro: "Requests to the public port since this process started, of all protocols, with their refusals by code.",
  show: (stage) => void showLive<Requests>(stage, { path: "console/requests", render }),
};

function render({ operations = [], since }: Requests): readonly Node[] {
  const total = operations.reduce((sum, one) => sum + BigInt(one.requests ?? "0"), 0n);
  const refused = operations.reduce((sum, one) => sum + refusalsOf(one), 0n);
  return [
    definitionList(
      ["Since", since !== undefined && timeOf(since)],
      ["Requests", number(total.toString())],
      ["Refused", number(refused.toString())],
    ),
    operations.length === 0 ? empty("There were no requests yet.") : countTable(operations),
  ];
}

const refusalsOf = ({ refusals = {} }: OperationCount): bigint =>
  Object.values(refusals).reduce((sum, count) => sum + BigInt(count), 0n);

const countTable = (operations: readonly OperationCount[]): HTMLElement =>
  table(
    "Requests by operation",
    [
      { title: "Operation", cell: ({ operation = "" }) => operationCell(operation) },
      { title: "Requests", isNumber: true, cell: ({ requests: count = "0" }) => number(count) },
      { title: "Refused", isNumber: true, cell: (one) => number(refusalsOf(one).toString()) },
      { title: "Refusals by code", cell: codes },
    ],
    operations,
    ({ operation = "" }) => operation,
  );

const operationCell = (operation: string): HTMLElement =>
  operation === ""
    ? h("em", {}, "paths that are not served")
    : h("span", { class: "operation", title: operation }, shortOperation(operation));

function codes({ refusals = {} }: OperationCount): Child {
  const entries = Object.entries(refusals).toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (entries.length === 0) return h("span", { class: "muted" }, "none");
  const items = entries.map(([code, count]) =>
    h("li", { class: "chip" }, h("a", { href: link("refusals", { code }) }, code), ` ${number(count)}`),
  );
  return h("ul", { class: "chips" }, ...items);
}
