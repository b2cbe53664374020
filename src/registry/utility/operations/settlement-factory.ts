import type { FactoryAnswer, FactoryQuery, RequestContext } from "../../sdk/registry.js";
import { ChoiceContextBuilder, entryName } from "../entries/choice-context-builder.js";
import { type Entry, prefetchPlan, writeConfigurations, writeEntries } from "../entries/entries.js";
import { missingOn, onOneSynchronizer } from "../selection/candidates.js";
import { ContractSelector } from "../selection/contract-selector.js";
import { prefetch, type Holder } from "../entries/prefetch-plan.js";
import { dvpLegAllocation } from "../templates/instructions.js";
import { type Leg, settlementArguments } from "./arguments.js";
import { factoriesLookup, requireFactories, requireInstruction } from "./require.js";
import { checkSettlement, type SettlementLimits } from "./settlement-limits.js";

const holderCredentials = entryName("holder-credentials");

/** The entries that concern no instrument. */
const services: readonly Entry[] = ["transfer-rule", "app-reward-configuration", "featured-app-right"];

/** The factory for settling many allocations in one batch (`SettlementFactory_SettleBatch`). */
export function settlementFactory(
  { view, now }: RequestContext,
  query: FactoryQuery,
  limits: SettlementLimits,
): FactoryAnswer {
  const { registrar } = query;
  const settlement = settlementArguments(query);
  checkSettlement(settlement, limits);

  if (view.wantsPrefetch) {
    const allocations = settlement.allocations.map((contractId) => ({ template: dvpLegAllocation, contractId }));
    view.prefetch(() => [factoriesLookup(registrar), ...allocations]);
  }
  const factories = requireFactories(view, registrar);
  const allocations = settlement.allocations.map((id) =>
    requireInstruction(registrar, "allocation", id, view.byId(dvpLegAllocation, id)),
  );
  const holders = accountHolders(settlement.legs);
  const instruments = [...new Set(settlement.legs.map(({ instrumentId }) => instrumentId))];
  if (view.wantsPrefetch) {
    prefetch(view, {
      ...prefetchPlan(services, registrar, {}),
      instruments,
      holders,
      providers: factories.map(({ fields }) => fields.provider),
      lockedHoldings: allocations.flatMap(({ fields }) => fields.lockedHolding ?? []),
    });
  }

  const name = () => `the AllocationFactory of registrar ${registrar}`;
  return onOneSynchronizer(factories, name, (factory, synchronizer): FactoryAnswer => {
    const builder = new ChoiceContextBuilder(false);
    const selector = new ContractSelector({ view, registrar, synchronizer, now, allowMissing: false });
    writeEntries(services, builder, selector, { provider: factory.fields.provider });
    writeInstruments(builder, selector, instruments);
    writeHolders(builder, selector, holders);
    builder.disclose(factory);
    for (const allocation of allocations) {
      if (allocation.synchronizerId !== synchronizer)
        missingOn([allocation], synchronizer, `allocation ${allocation.contractId}`);
      builder.disclose(allocation);
    }
    for (const { fields } of allocations) {
      const held = fields.lockedHolding === undefined ? undefined : selector.lockedHolding(fields.lockedHolding);
      if (held !== undefined) builder.disclose(held);
    }
    return builder.buildForFactory(factory);
  });
}

function writeInstruments(
  builder: ChoiceContextBuilder,
  selector: ContractSelector,
  instruments: readonly string[],
): void {
  writeConfigurations(builder, selector, instruments);
  if (instruments.length === 1) writeEntries(["instrument-configuration"], builder, selector, { instruments });
}

function writeHolders(builder: ChoiceContextBuilder, selector: ContractSelector, holders: readonly Holder[]): void {
  const credentials = holders.map(({ party, as, instruments }) => ({
    name: party,
    value: builder.referenceAll(selector.credentials(party, as, instruments)),
  }));
  builder.set(holderCredentials, { tag: "AV_Map", value: credentials });
}

/** Each party of an account with the instruments that it sends or receives. */
function accountHolders(legs: readonly Leg[]): Holder[] {
  const holders = new Map<string, { party: string; as: "holder"; instruments: string[] }>();
  const add = (party: string, instrumentId: string) => {
    const known = holders.get(party);
    if (known === undefined) holders.set(party, { party, as: "holder", instruments: [instrumentId] });
    else if (!known.instruments.includes(instrumentId)) known.instruments.push(instrumentId);
  };
  for (const { sender, receiver, instrumentId } of legs) {
    add(sender.party, instrumentId);
    add(receiver.party, instrumentId);
  }
  return [...holders.values()];
}
