import type { Contract } from "../../../domain/contract.js";
import { invalid, type RegistryError } from "../../../domain/errors.js";
import type { FactoryAnswer, FactoryQuery, RequestContext } from "../../sdk/registry.js";
import type { Account } from "../../sdk/accounts.js";
import type { UtilityContexts } from "../contexts/contexts.js";
import type { Holder } from "../selection/credentials.js";
import { type Group, groupOfInstruction, isOfGroup } from "../selection/group.js";
import type { Instruction } from "../templates/instructions.js";
import { distinctInstruments, type SettlementArguments, settlementArguments } from "./arguments.js";
import { answerWithFactory, findGroupFactories } from "./factory.js";
import { findInstruction, selectInstruction } from "./require.js";
import { unknownInstruction } from "../../unknown-instruction.js";
import { checkSettlement, type SettlementLimits } from "./settlement-limits.js";

/** The known allocations of a settlement by contract id. */
type Allocations = ReadonlyMap<string, Contract<Instruction>>;

/**
 * The factory for settling several allocations in one batch (`SettlementFactory_SettleBatch`), which is of version 2. An
 * allocation that was never seen may be created in the same transaction: it is left out of the context, or refused with
 * `rejectsUnknown`.
 */
export function settlementFactory(
  context: RequestContext,
  query: FactoryQuery,
  contexts: UtilityContexts,
  limits: SettlementLimits,
  rejectsUnknown: boolean,
): FactoryAnswer {
  const { view } = context;
  const { registrar } = query;
  const settlement = settlementArguments(query);
  checkSettlement(settlement, limits);
  const instruments = distinctInstruments(settlement);
  const { allocationTemplates, packageVersions } = contexts;
  const allocations = new Map<string, Contract<Instruction>>();
  /** The others, with what is there of another registrar. */
  const unknown = new Map<string, Contract<Instruction> | undefined>();
  for (const { contractId } of settlement.allocations) {
    const found = findInstruction(view, allocationTemplates, contractId);
    const allocation = selectInstruction(context, registrar, "allocation", contractId, found);
    if (allocation !== undefined) allocations.set(contractId, allocation);
    else unknown.set(contractId, found);
  }
  const { targetSynchronizer } = settlement;
  const factories = findGroupFactories(context, {
    registrar,
    instruments,
    inputHoldings: [],
    groupNamed: () => groupOfAllocations(allocations),
    targetSynchronizer,
    version2: packageVersions,
  });
  const refusals: RegistryError[] = [];
  for (const [contractId, found] of unknown) {
    if (found !== undefined || rejectsUnknown || !context.hasReachedEnd || view.wasArchived(contractId))
      refusals.push(unknownInstruction(view, registrar, "allocation", contractId));
  }
  return answerWithFactory(context, {
    ...factories,
    definition: contexts.factories["settlement-factory"],
    inputs: {
      instruments,
      holders: accountHolders(settlement, allocations),
      allocations: [...allocations.values()],
    },
    refusals: refusals.length === 0 ? undefined : refusals,
  });
}

/** The group that the allocations name; undefined if none does. Throws "invalid" if they name several. */
function groupOfAllocations(allocations: Allocations): Group | undefined {
  const [first, ...others] = [...allocations.values()].filter(
    ({ fields }) => fields.operator !== undefined && fields.provider !== undefined,
  );
  if (first === undefined) return undefined;
  const group = groupOfInstruction(first.fields);
  const other = others.find(({ fields }) => !isOfGroup(fields, group));
  if (other === undefined) return group;
  const { operator, provider, admin } = other.fields;
  throw invalid(
    `allocations ${first.contractId} and ${other.contractId} cannot be settled together: the first is of operator ` +
      `${group.operator} and provider ${group.provider}, the second of operator ${operator} and provider ${provider}`,
    { code: "several-groups", about: { registrar: admin, contractId: other.contractId } },
  );
}

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
  for (const { contractId, extraSides, nextIterationFunding } of settled) {
    // The one whose allocation it is takes the other side of each extra leg, and funds the next iteration.
    const authorizer = allocations.get(contractId)?.fields.sender;
    for (const { otherSide, instrumentId } of extraSides) {
      add(otherSide, instrumentId);
      if (authorizer !== undefined) addParty(authorizer, instrumentId);
    }
    if (authorizer === undefined) continue;
    for (const instrumentId of nextIterationFunding) addParty(authorizer, instrumentId);
  }
  return [...holders.values()];
}
