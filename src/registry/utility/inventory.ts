import type { Contract } from "../../domain/contract.js";
import type { View } from "../../store/port.js";
import type { Inventory } from "../sdk/registry.js";
import { templates } from "./templates/index.js";
import { holding } from "./templates/holding.js";
import { burnRequest, dvpLegAllocation, transferOffer } from "./templates/instructions.js";
import { instrumentConfiguration } from "./templates/instruments.js";
import { allocationFactory, transferRule } from "./templates/services.js";

/** Lists the registrars and the contract counts, and warns of missing contracts that will make requests fail. */
export function inventory(view: View): Inventory {
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
    warnings: [...unservedRegistrars(served, configurations), ...missingRules(view, served), ...missingHoldings(view)],
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

function missingHoldings(view: View): string[] {
  const held = new Set(view.all(holding).map(({ contractId }) => contractId));
  return [transferOffer, dvpLegAllocation, burnRequest]
    .flatMap((template) => view.all(template))
    .filter(({ fields }) => fields.lockedHolding !== undefined && !held.has(fields.lockedHolding))
    .map(
      ({ template, contractId, fields }) =>
        `${template.qualifiedName} ${contractId} refers to the locked holding ${fields.lockedHolding}, which is missing`,
    );
}
