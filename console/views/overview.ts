import { h } from "../dom.js";
import { counted, number } from "../format.js";
import { limited } from "../limit.js";
import { showLive } from "../live.js";
import type { Instrument, Inventory, IssuerClaims, Registrar, Warning } from "../messages.js";
import {
  badge,
  cards,
  chips,
  claimList,
  contractId,
  contractLine,
  empty,
  definitionList,
  notice,
  partyId,
  section,
  sentence,
} from "../parts.js";
import { table } from "../table.js";
import { field, type View } from "../view.js";

const FOREIGN = "signed by no registrar of this service: nothing of them is served or disclosed.";
const NARROW = "Use the filter to find others.";

export const overview: View = {
  name: "overview",
  title: "Overview",
  intro: "What this service serves, and what of it will fail.",
  show(stage) {
    const { input, row } = field("Filter by registrar, instrument, kind of warning or other text", {
      id: "filter",
      type: "search",
    });
    stage.main.append(row);
    const redraw = showLive<Inventory>(stage, {
      path: "console/inventory",
      render: (value) => render(value, input.value),
    });
    input.addEventListener("input", redraw);
  },
};

function render(inventory: Inventory, filter: string): readonly Node[] {
  const { registrars = [], warnings = [], templates = [], checked = false, omitted = 0, source = "" } = inventory;
  const { foreignContracts: foreign = "0" } = inventory;
  const matches = matcher(filter);
  return [
    definitionList(
      ["Source", source],
      ["Version", inventory.version],
      ["Registrars", number(registrars.length)],
      ["Instruments", number(registrars.reduce((sum, { instruments = [] }) => sum + instruments.length, 0))],
      ["Warnings", checked ? number(warnings.length) : "the first check is not finished"],
    ),
    ...(foreign === "0" ? [] : [h("p", {}, `${counted(Number(foreign), "contract")} ${FOREIGN}`)]),
    ...(omitted > 0 ? [notice("warn", h("p", {}, `${number(omitted)} registrars or warnings are left out.`))] : []),
    warningList(warnings.filter(matches), warnings.length, checked),
    registrarList(registrars.flatMap((one) => narrowed(one, matches))),
    section(
      "Contracts",
      templates.length === 0
        ? empty("None are stored, or they are in a database and not counted.")
        : templateTable(templates.filter(matches)),
    ),
  ];
}

/** Whether a value contains the text, in any of its fields. */
function matcher(filter: string): (value: unknown) => boolean {
  const wanted = filter.trim().toLowerCase();
  return wanted === "" ? () => true : (value) => JSON.stringify(value).toLowerCase().includes(wanted);
}

/** A registrar with the instruments that match; all of them if its own fields do. */
function narrowed(registrar: Registrar, matches: (value: unknown) => boolean): readonly Registrar[] {
  const { instruments = [], ...own } = registrar;
  if (matches(own)) return [registrar];
  const found = instruments.filter(matches);
  return found.length === 0 ? [] : [{ ...own, instruments: found }];
}

function warningList(warnings: readonly Warning[], all: number, checked: boolean): HTMLElement {
  if (all === 0)
    return section("Warnings", empty(checked ? "Nothing will fail." : "The first check is not finished yet."));
  if (warnings.length === 0) return section("Warnings", empty("No warning has this text."));
  const { shown, rest } = limited(warnings, NARROW);
  return section("Warnings", cards(...shown.map(warningCard)), rest);
}

function warningCard({ kind = "", problem = "", help = "", status = 0, count = 0, ...where }: Warning): HTMLElement {
  const { registrar = "", instrument, contractId: contract = "", party = "", operations = [] } = where;
  return h(
    "article",
    { class: "card" },
    h("h3", {}, badge(kind, "warn")),
    h("p", {}, sentence(problem)),
    help !== "" && h("p", {}, h("strong", {}, "What helps: "), sentence(help)),
    definitionList(
      ["Registrar", registrar !== "" && partyId(registrar)],
      ["Instrument", instrument],
      ["Contract", contract !== "" && contractId(contract)],
      ["Party", party !== "" && partyId(party)],
      ["Requests", status === 0 ? "are answered; the choice fails on the ledger" : `are refused with ${status}`],
      ["Found for", count > 1 && `${count} instruments and pending instructions, the first of which is named here`],
      ["Operations", operations.length > 0 && chips(operations)],
    ),
  );
}

function registrarList(registrars: readonly Registrar[]): HTMLElement {
  if (registrars.length === 0) return section("Registrars", empty("None."));
  const { shown, rest } = limited(registrars, NARROW);
  return section("Registrars", ...shown.map(registrarPart), rest);
}

function registrarPart({
  party = "",
  instruments = [],
  services = [],
  omittedInstruments = 0,
}: Registrar): HTMLElement {
  const { shown, rest } = limited(instruments, NARROW);
  const left =
    omittedInstruments > 0 && h("p", { class: "muted" }, `${counted(omittedInstruments, "instrument")} more.`);
  return h(
    "div",
    { class: "registrar", "data-key": party },
    h("h3", {}, partyId(party)),
    instruments.length === 0 ? empty("No instruments.") : cards(...shown.map(instrumentCard)),
    rest,
    left,
    services.length > 0 &&
      table(
        "Services",
        [
          { title: "Service", cell: ({ name = "" }) => name },
          { title: "Contract", cell: ({ contract }) => contractLine(contract) },
        ],
        services,
      ),
  );
}

function instrumentCard(instrument: Instrument): HTMLElement {
  const { id = "", otherIds = [], paused = false, checksBlocklist = false, configuration } = instrument;
  return h(
    "article",
    { class: "card", "data-key": id },
    h(
      "h4",
      {},
      id,
      " ",
      paused ? badge("paused", "bad") : badge("active", "good"),
      " ",
      checksBlocklist && badge("checks a blocklist"),
    ),
    definitionList(
      ["Other ids", otherIds.length > 0 && chips(otherIds)],
      ["To hold it", requirements(instrument.holderRequirements)],
      ["To mint and burn it", requirements(instrument.issuerRequirements)],
      ["Configuration", configuration !== undefined && contractLine(configuration)],
    ),
  );
}

const requirements = (needed: readonly IssuerClaims[] = []): HTMLElement =>
  needed.length === 0
    ? h("span", { class: "muted" }, "no credentials needed")
    : h(
        "ul",
        { class: "plain-list" },
        ...needed.map(({ issuer = "", claims }) => h("li", {}, claimList(claims), "from ", partyId(issuer))),
      );

const templateTable = (templates: NonNullable<Inventory["templates"]>): HTMLElement =>
  h(
    "details",
    {},
    h("summary", {}, counted(templates.length, "template")),
    table(
      "Contracts by template",
      [
        { title: "Template", cell: ({ template = "" }) => h("span", { class: "mono" }, template) },
        {
          title: "Package",
          cell: ({ packageId = "" }) => h("span", { class: "mono", title: packageId }, packageId.slice(0, 12)),
        },
        { title: "Contracts", isNumber: true, cell: ({ count = "0" }) => number(count) },
      ],
      templates,
    ),
  );
