import { combineErrors, refuse, type RegistryError } from "../../domain/errors.js";
import type { Holder } from "../engine/choice-context.js";
import type { Found } from "../engine/entries.js";
import { type ChoiceDefinition, findInstruction, selectInstruction } from "../engine/operations.js";
import { type Group, isOfGroup } from "../engine/selector.js";
import { accountKey, roleOf } from "../engine/templates.js";
import {
  allocationArguments,
  distinctInstruments,
  type SettlementArguments,
  settlementArguments,
} from "../factory-arguments.js";
import type { Account } from "../account.js";
import type { ChoiceQuery, FactoryResult, FactoryQuery, RequestContext } from "../sdk/registry.js";
import { unknownInstruction } from "../needed.js";
import type { UtilityContexts } from "./contexts.js";
import { answerInGroup, groupOf, requireFactories, version2Of } from "./factory.js";

/** The factory of `AllocationFactory_Allocate`. The input holdings matter only if several providers have the instruments. */
export function allocationFactory(
  context: RequestContext,
  query: FactoryQuery,
  contexts: UtilityContexts,
  limits: SettlementLimits,
): FactoryResult {
  const { registrar } = query;
  const { sender, instruments, sent, sides, inputHoldings, targetSynchronizer } = allocationArguments(query);
  checkSize("allocation", { legs: sides, instruments: instruments.length }, limits);
  const version2 = version2Of(query, contexts.packageVersions);
  const roles = { sender: sender.isSpecial ? [] : [sender.party] };
  return answerInGroup(
    context,
    { registrar, instruments, inputHoldings, targetSynchronizer, version2 },
    contexts.factories["allocation-factory"],
    { roles, sent, meta: query.meta },
  );
}

/** The known allocations of a settlement by contract id. */
type Allocations = ReadonlyMap<string, Found>;

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
): FactoryResult {
  const { view } = context;
  const { registrar } = query;
  const settlement = settlementArguments(query);
  checkSize("settlement", measure(settlement), limits);
  const instruments = distinctInstruments(settlement);
  const { allocationTemplates, packageVersions: version2 } = contexts;
  const allocations = new Map<string, Found>();
  /** The others, with what is there of another registrar. */
  const unknown = new Map<string, Found | undefined>();
  for (const { contractId } of settlement.allocations) {
    const found = findInstruction(context, { label: "allocation", templates: allocationTemplates }, contractId);
    const allocation = selectInstruction(context, registrar, "allocation", contractId, found);
    if (allocation !== undefined) allocations.set(contractId, allocation);
    else unknown.set(contractId, found);
  }
  const refusals: RegistryError[] = [];
  for (const [contractId, found] of unknown) {
    if (found !== undefined || rejectsUnknown || !context.hasReachedEnd || view.wasArchived(contractId))
      refusals.push(unknownInstruction(view, registrar, "allocation", contractId));
  }
  const { targetSynchronizer } = settlement;
  return answerInGroup(
    context,
    { registrar, instruments, targetSynchronizer, version2, groupNamed: () => groupOfAllocations(allocations) },
    contexts.factories["settlement-factory"],
    {
      roles: {},
      meta: query.meta,
      holders: accountHolders(settlement, allocations),
      allocations: [...allocations.values()],
    },
    refusals.length === 0 ? undefined : refusals,
  );
}

/** The group that the allocations name; undefined if none does. Throws "invalid" if they name several. */
function groupOfAllocations(allocations: Allocations): Group | undefined {
  const named = [...allocations.values()].filter(
    ({ fields }) => roleOf(fields, "operator") !== undefined && roleOf(fields, "provider") !== undefined,
  );
  const [first] = named;
  if (first === undefined) return undefined;
  const group = groupOf(first);
  const other = named.find((one) => !isOfGroup(one, group));
  if (other === undefined) return group;
  const { operator, provider, registrar } = groupOf(other);
  throw refuse(
    "several-groups",
    `allocations ${first.contractId} and ${other.contractId} cannot be settled together: the first is of operator ` +
      `${group.operator} and provider ${group.provider}, the second of operator ${operator} and provider ${provider}`,
    { registrar, contractId: other.contractId },
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
    const allocation = allocations.get(contractId);
    const authorizer = allocation && roleOf(allocation.fields, "sender");
    for (const { otherSide, instrumentId } of extraSides) {
      add(otherSide, instrumentId);
      if (authorizer !== undefined) addParty(authorizer, instrumentId);
    }
    if (authorizer === undefined) continue;
    for (const instrumentId of nextIterationFunding) addParty(authorizer, instrumentId);
  }
  return [...holders.values()];
}

export interface SettlementLimits {
  readonly legs: number;
  readonly allocations: number;
  readonly instruments: number;
  readonly accounts: number;
  readonly parties: number;
}

/**
 * Extra sides count as legs. Counts the owners and providers of accounts as parties; executors and actors do not
 * count.
 */
function measure(settlement: SettlementArguments): SettlementLimits {
  const extraSides = settlement.allocations.flatMap((allocation) => allocation.extraSides);
  const accounts = [
    ...settlement.legs.flatMap(({ sender, receiver }) => [sender, receiver]),
    ...extraSides.map(({ otherSide }) => otherSide),
  ];
  return {
    legs: settlement.legs.length + extraSides.length,
    allocations: settlement.allocations.length,
    instruments: distinctInstruments(settlement).length,
    accounts: new Set(accounts.map(accountKey)).size,
    parties: new Set(accounts.flatMap(({ owner, provider }) => [owner ?? [], provider ?? []].flat())).size,
  };
}

/** Throws "invalid" that names all limits that a request exceeds. `label` is what the message calls the request. */
function checkSize(label: string, size: Partial<SettlementLimits>, limits: SettlementLimits): void {
  const exceeded = units.filter((unit) => (size[unit] ?? 0) > limits[unit]);
  if (exceeded.length === 0) return;
  const [first, ...others] = exceeded.map((unit) =>
    refuse(
      "limit-exceeded",
      `the ${label} has ${size[unit]} ${unit}, but this registry supports at most ${limits[unit]}`,
      { limit: unit, maximum: limits[unit] },
    ),
  );
  if (first !== undefined) throw combineErrors(first, others);
}

const units = ["legs", "allocations", "instruments", "accounts", "parties"] as const;

/** Throws "invalid" for what is not a pending allocation instruction, once the view has all that the ledger had. */
export function requirePending(
  context: RequestContext,
  definition: ChoiceDefinition,
  { registrar = "", contractId }: ChoiceQuery,
): void {
  const { view, hasReachedEnd } = context;
  if (findInstruction(context, definition, contractId) !== undefined || view.wasArchived(contractId)) return;
  requireFactories(view, registrar);
  if (!hasReachedEnd) throw unknownInstruction(view, registrar, definition.label, contractId);
  throw refuse(
    "instruction-never-pending",
    `${contractId} is not an allocation instruction that is pending: the factory makes an allocation at once, ` +
      "except where version 2 awaits a consent",
    { registrar, contractId },
  );
}
