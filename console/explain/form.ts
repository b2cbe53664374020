import { h } from "../dom.js";
import type { JsonObject } from "../messages.js";
import { link, navigate } from "../route.js";
import { area, field, onSubmit } from "../view.js";
import { isObjectText } from "./json-field.js";

export interface ExplainForm {
  readonly element: HTMLElement;
  /** Fills in the request that was explained, so that it can be changed. */
  fill(operation: string, request: JsonObject | undefined): void;
  suggest(operations: readonly string[]): void;
}

/** Two forms: for a refused request by its id, and for any request. Sending one goes to the route of the explanation. */
export function explainForm(query: URLSearchParams): ExplainForm {
  const at = query.get("at") ?? "";
  const json = query.get("json") ?? "";
  const id = field("Request id: the header x-request-id, or from the log", {
    id: "request-id",
    value: query.get("request") ?? "",
    required: true,
    maxlength: 128,
  });
  const byId = h("form", { class: "form", "aria-label": "Explain a refused request" }, id.row, submit());
  onSubmit(byId, () => navigate(link("explain", { request: id.input.value.trim(), at })));

  const names = h("datalist", { id: "operations" });
  const operation = field("Operation: its full name, or method and path of its REST form", {
    id: "operation",
    value: query.get("operation") ?? "",
    required: true,
    list: "operations",
  });
  const body = area("Request, as JSON (empty for none)", { id: "request-json", rows: 8 });
  body.input.value = pretty(json);
  const time = field("At another time, by RFC 3339 (empty for now)", {
    id: "at",
    value: at,
    placeholder: "2026-06-01T00:00:00Z",
  });
  const byCall = h(
    "form",
    { class: "form", "aria-label": "Explain any request" },
    operation.row,
    names,
    body.row,
    time.row,
    submit(),
  );
  onSubmit(byCall, () => {
    if (!isObjectText(body.input)) return;
    const text = body.input.value.trim();
    const compact = text === "" ? "" : JSON.stringify(JSON.parse(text));
    navigate(link("explain", { operation: operation.input.value.trim(), json: compact, at: time.input.value.trim() }));
  });
  // With a result it would push that out of sight.
  const isAsked = query.has("request") || query.has("operation");
  const details = h(
    "details",
    { class: "forms", open: !isAsked },
    h("summary", {}, isAsked ? "Change the request and the time, or explain another" : "Any request"),
    byCall,
  );
  return {
    element: h("div", {}, byId, details),
    fill(name, request) {
      operation.input.value = name;
      body.input.value = request === undefined ? "" : JSON.stringify(request, null, 2);
    },
    suggest: (operations) => names.replaceChildren(...operations.map((value) => h("option", { value }))),
  };
}

const submit = (): HTMLElement => h("p", {}, h("button", { type: "submit" }, "Explain"));

function pretty(json: string): string {
  try {
    return json === "" ? "" : JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
