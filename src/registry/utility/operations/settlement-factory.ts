import type { FactoryAnswer, FactoryQuery, RequestContext } from "../../sdk/registry.js";
import { factoryContexts } from "../choice-contexts.js";
import type { Holder } from "../selection/requirements.js";
import { dvpLegAllocation } from "../templates/instructions.js";
import { type Leg, settlementArguments } from "./arguments.js";
import { allocationFactoryName, answerWithFactory } from "./factory.js";
import { factoriesLookup, requireFactories, requireInstruction } from "./require.js";
import { checkSettlement, type SettlementLimits } from "./settlement-limits.js";

/** The factory for settling several allocations in one batch (`SettlementFactory_SettleBatch`). */
export function settlementFactory(
  context: RequestContext,
  query: FactoryQuery,
  limits: SettlementLimits,
): FactoryAnswer {
  const { view } = context;
  const { registrar } = query;
  const settlement = settlementArguments(query);
  checkSettlement(settlement, limits);

  if (view.wantsPrefetch) {
    const lookups = settlement.allocations.map((contractId) => ({ template: dvpLegAllocation, contractId }));
    view.prefetch(() => [factoriesLookup(registrar), ...lookups]);
  }
  const factories = requireFactories(view, registrar);
  const allocations = settlement.allocations.map((id) =>
    requireInstruction(registrar, "allocation", id, view.byId(dvpLegAllocation, id)),
  );
  const instruments = [...new Set(settlement.legs.map(({ instrumentId }) => instrumentId))];
  const request = {
    registrar,
    definition: factoryContexts["settlement-factory"],
    factories,
    inputs: { instruments, holders: accountHolders(settlement.legs), allocations },
  };
  return answerWithFactory(context, request, () => allocationFactoryName(registrar));
}

function accountHolders(legs: readonly Leg[]): Holder[] {
  const holders = new Map<string, { party: string; instruments: string[] }>();
  const add = (party: string, instrumentId: string) => {
    const known = holders.get(party);
    if (known === undefined) holders.set(party, { party, instruments: [instrumentId] });
    else if (!known.instruments.includes(instrumentId)) known.instruments.push(instrumentId);
  };
  for (const { sender, receiver, instrumentId } of legs) {
    add(sender.party, instrumentId);
    add(receiver.party, instrumentId);
  }
  return [...holders.values()];
}
