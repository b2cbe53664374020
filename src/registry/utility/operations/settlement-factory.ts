import type { Contract } from "../../../domain/contract.js";
import type { RegistryError } from "../../../domain/errors.js";
import type { Template } from "../../../domain/template.js";
import type { View } from "../../../store/port.js";
import type { FactoryAnswer, FactoryQuery, RequestContext } from "../../sdk/registry.js";
import type { Account } from "../../sdk/accounts.js";
import type { UtilityContexts } from "../contexts/contexts.js";
import type { Holder } from "../selection/requirements.js";
import type { Instruction } from "../templates/instructions.js";
import { distinctInstruments, type SettlementArguments, settlementArguments } from "./arguments.js";
import { answerWithFactory } from "./factory.js";
import { factoriesLookup, findFactories, findInstruction, selectInstruction, unknownInstruction } from "./require.js";
import { checkSettlement, type SettlementLimits } from "./settlement-limits.js";

/** The factory for settling several allocations in one batch (`SettlementFactory_SettleBatch`). */
export function settlementFactory(
  context: RequestContext,
  query: FactoryQuery,
  contexts: UtilityContexts,
  limits: SettlementLimits,
): FactoryAnswer {
  const { view } = context;
  const { registrar } = query;
  const settlement = settlementArguments(query);
  checkSettlement(settlement, limits);

  const templates = contexts.allocationTemplates;
  if (view.wantsPrefetch) {
    const lookups = settlement.allocations.flatMap(({ contractId }) =>
      templates.map((template) => ({ template, contractId })),
    );
    view.prefetch(() => [factoriesLookup(registrar), ...lookups]);
  }
  const factories = findFactories(view, registrar);
  const allocations = selectAllocations(context, registrar, templates, settlement);
  const areKnown = areAllKnown(allocations);
  const request = {
    registrar,
    definition: contexts.factories["settlement-factory"],
    factories,
    inputs: {
      instruments: distinctInstruments(settlement),
      holders: accountHolders(settlement, allocations),
      allocations: areKnown ? allocations : allocations.filter((allocation) => allocation !== undefined),
    },
    refusals: areKnown ? undefined : unknownAllocations(view, registrar, settlement, allocations),
  };
  return answerWithFactory(context, request);
}

type Allocations = readonly (Contract<Instruction> | undefined)[];

/** The allocations, in the order of the request; undefined for one that is unknown. */
const selectAllocations = (
  context: RequestContext,
  registrar: string,
  templates: readonly Template<Instruction>[],
  settlement: SettlementArguments,
): Allocations =>
  settlement.allocations.map(({ contractId }) =>
    selectInstruction(
      context,
      registrar,
      "allocation",
      contractId,
      findInstruction(context.view, templates, contractId),
    ),
  );

const areAllKnown = (allocations: Allocations): allocations is readonly Contract<Instruction>[] =>
  !allocations.includes(undefined);

/** The "not-found" for each allocation that is unknown. */
const unknownAllocations = (
  view: View,
  registrar: string,
  settlement: SettlementArguments,
  allocations: Allocations,
): RegistryError[] =>
  settlement.allocations
    .filter((_, index) => allocations[index] === undefined)
    .map(({ contractId }) => unknownInstruction(view, registrar, "allocation", contractId));

/**
 * The party of each account with the instruments that it sends or receives. Special accounts have no holder. An unknown
 * allocation hides its sender alone.
 */
function accountHolders({ legs, allocations: settled }: SettlementArguments, allocations: Allocations): Holder[] {
  const holders = new Map<string, { party: string; instruments: string[] }>();
  const addParty = (party: string, instrumentId: string) => {
    const known = holders.get(party);
    if (known === undefined) holders.set(party, { party, instruments: [instrumentId] });
    else if (!known.instruments.includes(instrumentId)) known.instruments.push(instrumentId);
  };
  const add = ({ party, isSpecial }: Account, instrumentId: string) => {
    if (!isSpecial) addParty(party, instrumentId);
  };
  for (const { sender, receiver, instrumentId } of legs) {
    add(sender, instrumentId);
    add(receiver, instrumentId);
  }
  for (const [index, { extraSides, nextIterationFunding }] of settled.entries()) {
    // The one whose allocation it is takes the other side of each extra leg, and funds the next iteration.
    const authorizer = allocations[index]?.fields.sender;
    for (const { otherSide, instrumentId } of extraSides) {
      add(otherSide, instrumentId);
      if (authorizer !== undefined) addParty(authorizer, instrumentId);
    }
    if (authorizer === undefined) continue;
    for (const instrumentId of nextIterationFunding) addParty(authorizer, instrumentId);
  }
  return [...holders.values()];
}
