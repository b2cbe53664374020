import type { Contract, View } from "../../store/store.js";
import type { Inventory } from "../registry.js";
import { kinds } from "./kinds/index.js";
import { holding } from "./kinds/holding.js";
import { burnRequest, dvpLegAllocation, transferOffer } from "./kinds/instructions.js";
import { instrumentConfiguration } from "./kinds/instruments.js";
import { allocationFactory, transferRule } from "./kinds/services.js";

/** Counts what is held, names whom it serves, and warns of what will make requests fail. */
export function inventory(view: View): Inventory {
  const factories = view.all(allocationFactory);
  const configurations = view.all(instrumentConfiguration);
  const served = [...new Set(factories.map(({ facts }) => facts.registrar))].toSorted();
  const census = view.census();
  const counts = kinds.map((kind) => ({
    entity: kind.entity,
    count: census.filter((row) => row.kind === kind).reduce((sum, row) => sum + row.count, 0),
  }));
  return {
    registrars: served.map((party) => ({
      party,
      instruments: configurations
        .filter(({ facts }) => facts.registrar === party)
        .map(({ facts }) => facts.defaultIdentifier)
        .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    })),
    counts: counts.filter(({ count }) => count > 0),
    warnings: [...unserved(served, configurations), ...withoutRule(view, served), ...withoutHolding(view)],
  };
}

function unserved(served: readonly string[], configurations: readonly Contract<{ registrar: string }>[]): string[] {
  const parties = new Set(configurations.map(({ facts }) => facts.registrar));
  return [...parties]
    .filter((party) => !served.includes(party))
    .map(
      (party) =>
        `registrar ${party} has instruments but no AllocationFactory: requests to that registrar are answered 404`,
    );
}

function withoutRule(view: View, served: readonly string[]): string[] {
  const ruled = new Set(view.all(transferRule).map(({ facts }) => facts.registrar));
  return served
    .filter((party) => !ruled.has(party))
    .map((party) => `registrar ${party} has no TransferRule: direct transfers and settlements are answered 404`);
}

function withoutHolding(view: View): string[] {
  const held = new Set(view.all(holding).map(({ contractId }) => contractId));
  return [transferOffer, dvpLegAllocation, burnRequest]
    .flatMap((kind) => view.all(kind))
    .filter(({ facts }) => facts.lockedHolding !== undefined && !held.has(facts.lockedHolding))
    .map(
      ({ kind, contractId, facts }) =>
        `${kind.entity} ${contractId} refers to the locked holding ${facts.lockedHolding}, which is not there`,
    );
}
