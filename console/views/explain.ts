import { announce } from "../announce.js";
import { get, post } from "../api.js";
import { explainForm, type ExplainForm } from "../explain/form.js";
import { explanationOf } from "../explain/result.js";
import { tryForm } from "../explain/try.js";
import { h } from "../dom.js";
import type { Explanation, JsonObject, Requests } from "../messages.js";
import { notice } from "../parts.js";
import type { Stage, View } from "../view.js";

export const explain: View = {
  name: "explain",
  title: "Explain",
  intro: "How a request is answered now, and why: what was found, what was passed over, and what would have to change.",
  show,
};

/** What the route asks for: the subject of an ExplainRequest. */
function subjectOf(query: URLSearchParams): object | undefined {
  const at = query.get("at") ?? "";
  const time = at === "" ? {} : { at };
  const requestId = query.get("request") ?? "";
  if (requestId !== "") return { requestId, ...time };
  const operation = query.get("operation") ?? "";
  if (operation === "") return undefined;
  const json = query.get("json") ?? "";
  const request = json === "" ? {} : { request: JSON.parse(json) as JsonObject };
  return { call: { operation, ...request }, ...time };
}

function show(stage: Stage): void {
  const form = explainForm(stage.query);
  const region = h("div", { class: "result" });
  stage.main.append(form.element, region);
  void suggestOperations(stage, form);
  let subject: object | undefined;
  try {
    subject = subjectOf(stage.query);
  } catch {
    region.append(notice("bad", h("p", {}, "The request in the URL is not JSON.")));
  }
  if (subject !== undefined) void read(stage, subject, form, region);
}

async function read(stage: Stage, subject: object, form: ExplainForm, region: HTMLElement): Promise<void> {
  region.replaceChildren(h("p", { class: "empty" }, "Loading…"));
  try {
    const explanation = await post<Explanation>("explain", subject, stage.signal);
    const { operation = "", request, succeeds = false } = explanation;
    form.fill(operation, request);
    region.replaceChildren(
      ...explanationOf(explanation),
      tryForm(stage, { operation, ...(request !== undefined && { request }) }),
    );
    announce(succeeds ? "The request succeeds" : "The request is refused");
  } catch (error) {
    if (!stage.signal.aborted) stage.fail(region, error);
  }
}

/** Operations that were requested. Without them the form works too. */
async function suggestOperations({ signal }: Stage, form: ExplainForm): Promise<void> {
  try {
    const { operations = [] } = await get<Requests>("console/requests", signal);
    form.suggest(operations.flatMap(({ operation = "" }) => (operation === "" ? [] : [operation])));
  } catch {
    // The explanation reports what is wrong.
  }
}
