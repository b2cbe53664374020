import type { Contract } from "../../domain/contract.js";
import type { Template } from "../../domain/template.js";
import type { View } from "../../store/port.js";
import type { Inventory } from "../sdk/registry.js";
import type { UtilityContexts } from "./contexts/contexts.js";
import { holding } from "./templates/holding.js";
import { burnRequest, type Instruction, lockedHoldingsOf, transferOffer } from "./templates/instructions.js";
import { instrumentConfiguration } from "./templates/instruments.js";
import { allocationFactory, transferRule } from "./templates/services.js";

/** Lists the registrars and the contract counts, and warns of missing contracts that will make requests fail. */
export function inventory(view: View, { templates, allocationTemplates }: UtilityContexts): Inventory {
  const factories = view.all(allocationFactory);
  const configurations = view.all(instrumentConfiguration);
  const served = [...new Set(factories.map(({ fields }) => fields.registrar))].toSorted();
  const templateCounts = view.templateCounts();
  const counts = templates.map((template) => ({
    qualifiedName: template.qualifiedName,
    count: templateCounts.filter((row) => row.template === template).reduce((sum, row) => sum + row.count, 0),
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
    warnings: [
      ...unservedRegistrars(served, configurations),
      ...missingRules(view, served),
      ...missingHoldings(view, allocationTemplates),
    ],
  };
}

function unservedRegistrars(
  served: readonly string[],
  configurations: readonly Contract<{ registrar: string }>[],
): string[] {
  const parties = new Set(configurations.map(({ fields }) => fields.registrar));
  return [...parties]
    .filter((party) => !served.includes(party))
    .map((party) => `registrar ${party} has instruments but no AllocationFactory: requests for it are answered 404`);
}

function missingRules(view: View, served: readonly string[]): string[] {
  const withRule = new Set(view.all(transferRule).map(({ fields }) => fields.registrar));
  return served
    .filter((party) => !withRule.has(party))
    .map((party) => `registrar ${party} has no TransferRule: direct transfers and settlements are answered 404`);
}

function missingHoldings(view: View, allocationTemplates: readonly Template<Instruction>[]): string[] {
  const held = new Set(view.all(holding).map(({ contractId }) => contractId));
  return [transferOffer, ...allocationTemplates, burnRequest]
    .flatMap((template) => view.all(template))
    .flatMap(({ template, contractId, fields }) =>
      lockedHoldingsOf(fields)
        .filter((id) => !held.has(id))
        .map((id) => `${template.qualifiedName} ${contractId} refers to the locked holding ${id}, which is missing`),
    );
}
