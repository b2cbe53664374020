import { announce } from "../announce.js";
import { post } from "../api.js";
import { h } from "../dom.js";
import { number } from "../format.js";
import type { Call, JsonObject, Verdict } from "../messages.js";
import { badge, definitionList, id, notice } from "../parts.js";
import { area, field, onSubmit, type Stage } from "../view.js";
import { commandOf } from "./command.js";
import { isObjectText } from "./json-field.js";

/** A form that has the participant prepare a command with the context of the answer. */
export function tryForm(stage: Stage, call: Call): HTMLElement {
  const known = commandOf(call);
  const actAs = area("Parties that would submit it, one per line", { id: "act-as", rows: 2, required: true });
  actAs.input.value = known.actAs;
  const template = field("Template or interface, as #package-name:Module:Entity", {
    id: "template-id",
    value: known.templateId,
    required: true,
  });
  const contract = field("Contract id (empty for the factory of the answer)", {
    id: "contract-id",
    value: known.contractId,
  });
  const choice = field("Choice", { id: "choice", value: known.choice, required: true });
  const argument = area("Arguments, as JSON; the context of the answer is added to extraArgs.context", {
    id: "choice-argument",
    rows: 8,
  });
  argument.input.value = JSON.stringify(known.choiceArgument, null, 2);
  const region = h("div", {});
  const rows = [actAs, template, contract, choice, argument].map(({ row }) => row);
  const form = h(
    "form",
    { class: "form", "aria-label": "Try on the ledger" },
    ...rows,
    h("p", {}, h("button", { type: "submit" }, "Prepare")),
  );
  onSubmit(form, () => {
    if (!isObjectText(argument.input)) return;
    const text = argument.input.value.trim();
    void run(stage, region, {
      call,
      actAs: actAs.input.value.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()])),
      templateId: template.input.value.trim(),
      contractId: contract.input.value.trim(),
      choice: choice.input.value.trim(),
      ...(text !== "" && { choiceArgument: JSON.parse(text) as JsonObject }),
    });
  });
  const what = h(
    "p",
    {},
    "The participant prepares the transaction and says whether it would succeed. Nothing is submitted.",
  );
  return h("details", { class: "forms try" }, h("summary", {}, "Try on the ledger"), what, form, region);
}

async function run(stage: Stage, region: HTMLElement, request: object): Promise<void> {
  region.replaceChildren(h("p", { class: "empty" }, "Asking the participant…"));
  try {
    region.replaceChildren(verdictOf(await post<Verdict>("prepare", request, stage.signal)));
    announce("The participant has answered");
  } catch (error) {
    if (!stage.signal.aborted) stage.fail(region, error);
  }
}

function verdictOf({
  succeeds = false,
  error = "",
  errorCode = "",
  synchronizer = "",
  trafficCost,
  offset,
}: Verdict): HTMLElement {
  return notice(
    succeeds ? "good" : "warn",
    h("h3", {}, succeeds ? "It would succeed" : "It would fail"),
    errorCode !== "" && h("p", {}, badge(errorCode, "bad")),
    error !== "" && h("p", {}, error),
    definitionList(
      ["Synchronizer", synchronizer !== "" && id(synchronizer, "synchronizer")],
      ["Estimated traffic", trafficCost !== undefined && `${number(trafficCost)} bytes`],
      ["Offset of the contracts", offset],
    ),
  );
}
