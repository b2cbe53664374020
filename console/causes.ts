import { h } from "./dom.js";
import type { Cause } from "./messages.js";
import { badge, chips, claimList, contractId, definitionList, partyId, sentence } from "./parts.js";

/** The causes of a refusal, each with its fields. */
export const causeList = (causes: readonly Cause[] = []): HTMLElement =>
  h("ul", { class: "plain-list causes" }, ...causes.map((cause) => h("li", {}, causeOf(cause))));

/** A cause of a refusal: code, sentence, fields. */
export const causeOf = (cause: Cause): HTMLElement =>
  h(
    "div",
    { class: "cause" },
    h("p", {}, badge(cause.code ?? "", "bad"), " ", sentence(cause.message ?? "")),
    definitionList(
      ["Registrar", cause.registrar !== undefined && cause.registrar !== "" && partyId(cause.registrar)],
      ["Instrument", cause.instrument],
      ["Party", cause.party !== undefined && cause.party !== "" && partyId(cause.party)],
      ["Issuer", cause.issuer !== undefined && cause.issuer !== "" && partyId(cause.issuer)],
      ["Missing claims", (cause.claims ?? []).length > 0 && claimList(cause.claims)],
      ["Contract", cause.contractId !== undefined && cause.contractId !== "" && contractId(cause.contractId)],
      ["Template", cause.template],
      ["Synchronizers", (cause.synchronizers ?? []).length > 0 && chips(cause.synchronizers ?? [])],
      ["Field", cause.field],
      ["Limit", cause.limit !== undefined && cause.limit !== "" && `at most ${cause.maximum ?? 0} ${cause.limit}`],
    ),
  );
