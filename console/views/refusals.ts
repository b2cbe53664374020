import { h } from "../dom.js";
import { counted, shortOperation } from "../format.js";
import { showLive } from "../live.js";
import type { RefusedRequest, Refusals } from "../messages.js";
import { badge, empty, explainRefusal, id, sentence, timeOf } from "../parts.js";
import { link, replaceRoute } from "../route.js";
import { table } from "../table.js";
import { field, type Stage, type View } from "../view.js";

export const refusals: View = {
  name: "refusals",
  title: "Refusals",
  intro:
    "The latest 200 requests that the rules refused. The request id is in the header x-request-id of the answer, and in the log.",
  show,
};

function show(stage: Stage): void {
  const byId = field("Request id", { id: "request-id", type: "search", value: stage.query.get("request") ?? "" });
  const byCode = h("select", { id: "code" }, h("option", { value: "" }, "all codes"));
  // Before the first answer no other code is known.
  const wanted = stage.query.get("code") ?? "";
  if (wanted !== "") byCode.append(h("option", { value: wanted, selected: true }, wanted));
  const codeRow = h("p", { class: "field" }, h("label", { for: "code" }, "Code"), byCode);
  stage.main.append(h("div", { class: "filters" }, byId.row, codeRow));
  const redraw = showLive<Refusals>(stage, {
    path: "console/refusals",
    render: ({ refusals: all = [] }) => {
      addCodes(byCode, all);
      return render(all, byId.input.value.trim(), byCode.value);
    },
  });
  const change = () => {
    replaceRoute(link("refusals", { request: byId.input.value.trim(), code: byCode.value }));
    redraw();
  };
  byId.input.addEventListener("input", change);
  byCode.addEventListener("change", change);
}

/** Adds the codes that are new. None is removed: the user may have selected it. */
function addCodes(select: HTMLSelectElement, all: readonly RefusedRequest[]): void {
  const known = new Set([...select.options].map(({ value }) => value));
  const found = new Set(all.flatMap(codesOf));
  for (const code of [...found].toSorted()) if (!known.has(code)) select.append(h("option", { value: code }, code));
}

const codesOf = ({ causes = [] }: RefusedRequest): string[] =>
  causes.flatMap(({ code = "" }) => (code === "" ? [] : [code]));

function render(all: readonly RefusedRequest[], request: string, code: string): readonly Node[] {
  if (all.length === 0) return [empty("No request was refused since this process started.")];
  const found = all.filter(
    (one) => (one.requestId ?? "").includes(request) && (code === "" || codesOf(one).includes(code)),
  );
  const count = h("p", { class: "muted" }, `${counted(found.length, "refusal")} of ${all.length}`);
  return found.length === 0
    ? [count, empty("No refusal fits the filters. Older ones are no longer kept; another replica keeps its own.")]
    : [count, refusalTable(found)];
}

const refusalTable = (rows: readonly RefusedRequest[]): HTMLElement =>
  table(
    "Refusals, newest first",
    [
      { title: "Time", cell: ({ time = "" }) => timeOf(time) },
      { title: "Request id", cell: ({ requestId = "" }) => id(requestId, "request id") },
      {
        title: "Operation",
        cell: ({ operation = "", protocol = "" }) => [
          h("span", { class: "operation", title: operation }, shortOperation(operation)),
          h("span", { class: "muted" }, ` ${protocol}`),
        ],
      },
      { title: "Error", cell: (one) => errorOf(one) },
      { title: "Why", cell: explainRefusal },
    ],
    rows,
    ({ requestId = "", time = "" }) => `${requestId} ${time}`,
  );

const errorOf = (one: RefusedRequest): HTMLElement =>
  h(
    "div",
    {},
    h(
      "p",
      { class: "codes" },
      h("span", { class: "muted" }, one.status ?? ""),
      " ",
      ...codesOf(one).map((code) => badge(code, "bad")),
    ),
    h("p", {}, sentence(one.error ?? "")),
  );
