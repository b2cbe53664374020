import { get, pathWith } from "../api.js";
import { causeList } from "../causes.js";
import { h } from "../dom.js";
import { lookup } from "../lookup.js";
import type { Party, PartyCredential, PendingInstruction, Preapproval } from "../messages.js";
import {
  badge,
  cards,
  chips,
  claimList,
  contractLine,
  empty,
  explainLink,
  definitionList,
  id,
  notice,
  partyId,
  section,
  timeOf,
} from "../parts.js";
import type { View } from "../view.js";

export const party: View = {
  name: "party",
  title: "Party",
  intro: "The credentials, preapprovals and pending instructions of a party.",
  show: (stage) =>
    lookup<Party>(stage, {
      view: "party",
      label: "Party, as hint::fingerprint",
      read: (name, signal) => get(pathWith("console/parties", name), signal),
      render,
    }),
};

function render(
  { credentials = [], preapprovals = [], instructions = [], incomplete = false }: Party,
  name: string,
): readonly Node[] {
  return [
    definitionList(["Party", id(name, "party")]),
    ...(incomplete
      ? [
          notice(
            "warn",
            h("p", {}, "There is more than is shown: lists end at 200, and the search may have ended early."),
          ),
        ]
      : []),
    section("Credentials", list(credentials, credentialCard, "No credential makes claims on this party.")),
    section("Preapprovals", list(preapprovals, preapprovalCard, "None: transfers to this party are offers.")),
    section("Pending instructions", list(instructions, instructionCard, "None are pending.")),
  ];
}

const list = <T>(items: readonly T[], card: (item: T) => HTMLElement, none: string): HTMLElement =>
  items.length === 0 ? empty(none) : cards(...items.map(card));

function credentialCard({
  contract,
  issuer = "",
  holder = "",
  claims,
  validFrom,
  validUntil,
}: PartyCredential): HTMLElement {
  return h(
    "article",
    { class: "card" },
    h("h3", {}, claimList(claims)),
    h("p", {}, validity(validFrom, validUntil)),
    definitionList(["Issuer", partyId(issuer)], ["Holder", partyId(holder)], ["Contract", contractLine(contract)]),
  );
}

/** By the clock of the browser: the explanation of a request has the clock of the service. */
function validity(from: string | undefined, until: string | undefined): HTMLElement {
  const now = Date.now();
  const begins = from !== undefined && Date.parse(from) > now;
  const ended = until !== undefined && Date.parse(until) <= now;
  const state = ended ? badge("ended", "bad") : begins ? badge("not yet valid", "warn") : badge("valid", "good");
  return h(
    "span",
    {},
    state,
    from !== undefined && " from ",
    from !== undefined && timeOf(from),
    until === undefined ? " without end" : " until ",
    until !== undefined && timeOf(until),
  );
}

function preapprovalCard({ contract, registrar = "", instruments = [] }: Preapproval): HTMLElement {
  return h(
    "article",
    { class: "card" },
    definitionList(
      ["Registrar", partyId(registrar)],
      ["Instruments", instruments.length === 0 ? "all" : chips(instruments)],
      ["Contract", contractLine(contract)],
    ),
  );
}

function instructionCard(instruction: PendingInstruction): HTMLElement {
  const {
    contract,
    registrar = "",
    instruments = [],
    sender = "",
    receiver = "",
    causes = [],
    completion,
  } = instruction;
  return h(
    "article",
    { class: "card" },
    h("h3", {}, contractLine(contract)),
    definitionList(
      ["Instruments", instruments.length > 0 && chips(instruments)],
      ["Sender", sender !== "" && partyId(sender)],
      ["Receiver", receiver !== "" && partyId(receiver)],
      ["Registrar", registrar !== "" && partyId(registrar)],
    ),
    causes.length === 0
      ? h("p", {}, badge("nothing is missing", "good"))
      : h("div", {}, h("p", {}, "The choice that completes it lacks:"), causeList(causes)),
    completion !== undefined &&
      h("p", {}, h("a", { href: explainLink(completion) }, "Explain the choice that completes it")),
  );
}
