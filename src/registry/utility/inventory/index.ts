import { checkContext } from "../../check/check-context.js";
/** What the Registry Utility serves, and what will fail. The checks run the operations themselves. */
import type { Template } from "../../../domain/template.js";
import type { View } from "../../../store/port.js";
import { WarningCollector } from "../../check/warning-collector.js";
import type { Check, Inventory, InventoryOptions } from "../../sdk/registry.js";
import type { UtilityContexts } from "../contexts/contexts.js";
import { checkCredentials } from "./checks/credentials.js";
import { checkInstructions } from "./checks/instructions.js";
import { checkInstruments } from "./checks/instruments.js";
import { checkRegistrars } from "./checks/registrars.js";
import { linesByOperation } from "./operation-lines.js";
import { summarize } from "./summary.js";

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
export function inventory(
  view: View,
  contexts: UtilityContexts,
  checks: readonly Check[],
  { now, credentialDays, maxContracts = Infinity }: InventoryOptions,
): Inventory {
  const collector = new WarningCollector();
  // Without contracts to check, a large template must not be read.
  for (const check of maxContracts === 0 ? [] : checks) {
    const contracts = view.all(check.template).slice(0, maxContracts);
    for (const warning of check.warnings(checkContext(view, now, credentialDays), contracts)) collector.add(warning);
  }
  const summary = summarize(view, contexts.templates);
  const unchecked = checks.reduce((sum, { template }) => sum + Math.max(0, countOf(view, template) - maxContracts), 0);
  return {
    ...summary,
    warnings: collector.warnings(),
    warningCounts: collector.counts,
    unchecked: unchecked === 0 ? undefined : unchecked,
  };
}

const countOf = (view: View, template: Template): number =>
  view
    .templateCounts()
    .filter((row) => row.template === template)
    .reduce((sum, { count }) => sum + count, 0);
