/** An explanation, from its verdict to its details. */
import { causeList } from "../causes.js";
import { type Child, h } from "../dom.js";
import type { Candidate, Change, Disclosure, Explanation, RequiredClaim, Requirement, Search } from "../messages.js";
import {
  badge,
  cards,
  chips,
  contractId,
  contractLine,
  empty,
  definitionList,
  id,
  jsonBlock,
  notice,
  partyId,
  section,
  sentence,
  timeOf,
} from "../parts.js";

export function explanationOf(explanation: Explanation): readonly Node[] {
  const { searches = [], requirements = [], disclosures = [], succeeds = false, request, answer } = explanation;
  const refusal = succeeds ? [] : refusalParts(explanation);
  return [
    verdict(explanation),
    ...refusal,
    ...noteParts(explanation),
    section(
      "Searches",
      searches.length === 0 ? empty("No contract was looked for.") : cards(...searches.map(searchCard)),
    ),
    section(
      "Requirements",
      requirements.length === 0 ? empty("No party needs a credential.") : cards(...requirements.map(requirementCard)),
    ),
    ...(succeeds ? [disclosurePart(disclosures)] : []),
    section(
      "Request and answer",
      request !== undefined && jsonBlock("Request", request),
      answer !== undefined && jsonBlock("Answer", answer),
    ),
  ];
}

function verdict({
  succeeds = false,
  status = "",
  error = "",
  operation = "",
  at,
  offset = "0",
  validUntil,
}: Explanation): HTMLElement {
  return h(
    "section",
    { class: "verdict" },
    notice(
      succeeds ? "good" : "warn",
      h("h2", {}, succeeds ? "The request succeeds" : `The request is refused: ${status}`),
      error !== "" && h("p", {}, sentence(error)),
    ),
    definitionList(
      ["Operation", h("span", { class: "mono" }, operation)],
      ["As at", at !== undefined && timeOf(at)],
      ["Offset", offset],
      ["Valid until", validUntil === undefined ? "a contract changes" : timeOf(validUntil)],
    ),
  );
}

const noteParts = ({ notes = [] }: Explanation): readonly HTMLElement[] =>
  notes.length === 0 ? [] : [section("Notes", notice("warn", ...notes.map((note) => h("p", {}, sentence(note)))))];

function refusalParts({ causes = [], changes = [] }: Explanation): readonly HTMLElement[] {
  const items = changes.map(({ cause, help = "" }: Change) =>
    h(
      "li",
      {},
      h("p", {}, sentence(help)),
      // One cause is shown above.
      changes.length > 1 && cause?.message !== undefined && h("p", { class: "muted" }, sentence(cause.message)),
    ),
  );
  const todo =
    items.length === 0 ? empty("The request itself has to change.") : h("ol", { class: "changes" }, ...items);
  return [section("Causes", causeList(causes)), section("What would have to change", todo)];
}

function searchCard(search: Search): HTMLElement {
  const { name = "", template, synchronizer = "", entries = [], required = false } = search;
  const { candidates = [], omittedCandidates = 0 } = search;
  const chosen = candidates.some((one) => one.chosen === true);
  const outcome = chosen ? badge("found", "good") : badge("not found", required ? "bad" : "neutral");
  return h(
    "article",
    { class: "card" },
    h("h3", {}, sentence(name), " ", outcome, " ", badge(required ? "required" : "optional")),
    definitionList(
      ["Template", template],
      ["Synchronizer", synchronizer !== "" && id(synchronizer, "synchronizer")],
      ["Entries", entries.length > 0 && chips(entries)],
      ["Candidates", candidates.length === 0 ? "none" : candidateList(candidates, omittedCandidates)],
    ),
  );
}

const candidateList = (candidates: readonly Candidate[], omitted: number): HTMLElement =>
  h(
    "ul",
    { class: "plain-list" },
    ...candidates.map(({ contract, chosen = false, reason = "" }) =>
      h(
        "li",
        {},
        chosen ? badge("chosen", "good") : badge("passed over"),
        " ",
        contractLine(contract),
        reason !== "" && h("p", {}, sentence(reason)),
      ),
    ),
    omitted > 0 && h("li", { class: "muted" }, `and ${omitted} more`),
  );

function requirementCard(requirement: Requirement): HTMLElement {
  const { party = "", issuer = "", instruments = [], synchronizer = "", required = false, claims = [] } = requirement;
  const missing = claims.filter(({ credential = "" }) => credential === "").length;
  const state = missing === 0 ? badge("met", "good") : badge(`${missing} missing`, required ? "bad" : "warn");
  return h(
    "article",
    { class: "card" },
    h("h3", {}, partyId(party), " ", state),
    missing > 0 &&
      !required &&
      h(
        "p",
        {},
        "The request is answered without them. The wallet has to add what is missing, or the choice fails on the ledger.",
      ),
    definitionList(
      ["Issuer", partyId(issuer)],
      ["Instruments", instruments.length > 0 && chips(instruments)],
      ["Synchronizer", synchronizer !== "" && id(synchronizer, "synchronizer")],
      ["Claims", h("ul", { class: "plain-list" }, ...claims.map((claim) => h("li", {}, ...claimParts(claim))))],
    ),
  );
}

function claimParts({
  property = "",
  value = "",
  credential = "",
  validUntil,
  passedOver = [],
  omittedPassedOver = 0,
}: RequiredClaim): readonly Child[] {
  const isMet = credential !== "";
  return [
    badge(isMet ? "met" : "missing", isMet ? "good" : "bad"),
    " ",
    // A requirement without claims is met by any credential of the issuer.
    h("span", { class: "chip mono" }, property === "" ? "any credential" : `${property} = ${value}`),
    ...(isMet ? [" by ", contractId(credential)] : []),
    ...(validUntil === undefined ? [] : [", until ", timeOf(validUntil)]),
    passedOver.length > 0 && candidateList(passedOver, omittedPassedOver),
  ];
}

const disclosurePart = (disclosures: readonly Disclosure[]): HTMLElement =>
  section(
    "Disclosed contracts",
    disclosures.length === 0
      ? empty("None.")
      : cards(
          ...disclosures.map(({ contract, entries = [] }) =>
            h(
              "article",
              { class: "card" },
              h("h3", {}, contractLine(contract)),
              definitionList(["Entries", entries.length > 0 && chips(entries)]),
            ),
          ),
        ),
  );
