/** What the Registry Utility serves, and what will fail. The checks run the operations themselves. */
import type { Template } from "../../../domain/template.js";
import type { View } from "../../../store/port.js";
import { countOf, runChecks } from "../../check/scan.js";
import type { Check, Inventory, InventoryOptions } from "../../sdk/registry.js";
import type { UtilityContexts } from "../contexts/contexts.js";
import { allocationFactory, instrumentConfiguration } from "../templates.js";
import { checkCredentials } from "./credentials.js";
import { checkInstructions } from "./instructions.js";
import { checkInstruments, checkRegistrars } from "./instruments.js";
import { linesByOperation } from "./operations.js";

/** The checks of a registry with these contexts. */
export function createChecks(contexts: UtilityContexts): readonly Check[] {
  const lines = linesByOperation(contexts);
  return [
    checkRegistrars(lines),
    checkInstruments(lines),
    ...checkInstructions(contexts, lines),
    checkCredentials(lines),
  ];
}

/** Lists the registrars and the contract counts, and runs all checks. */
export const inventory = (
  view: View,
  contexts: UtilityContexts,
  checks: readonly Check[],
  options: InventoryOptions,
): Inventory => ({ ...summarize(view, contexts.templates), ...runChecks(view, checks, options) });

/** The registrars with their instruments, the operators, and how many contracts of each template there are. */
function summarize(view: View, templates: readonly Template[]): Pick<Inventory, "registrars" | "counts" | "operators"> {
  const configurations = view.all(instrumentConfiguration);
  const factories = view.all(allocationFactory);
  const served = [...new Set(factories.map(({ fields }) => fields.registrar))].toSorted();
  const counts = templates.map((template) => ({
    qualifiedName: template.qualifiedName,
    count: countOf(view, template),
  }));
  return {
    registrars: served.map((party) => ({
      party,
      instruments: configurations
        .filter(({ fields }) => fields.registrar === party)
        .map(({ fields }) => fields.defaultIdentifier)
        .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    })),
    counts: counts.filter(({ count }) => count > 0),
    operators: [...new Set([...factories, ...configurations].map(({ fields }) => fields.operator))].toSorted(),
  };
}
