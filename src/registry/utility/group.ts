/**
 * Everything of one operation names the same operator, provider and registrar: factory, rule, configuration, service,
 * holdings and instruction. The ledger refuses a mixed set. See "One group" of the rules.
 */
import type { Contract } from "../../domain/contract.js";
import type { HoldingFields } from "../../domain/holdings.js";
import type { View } from "../../store/port.js";
import type { RequestContext } from "../sdk/registry.js";
import type { Group } from "../engine/selector.js";
import { roleOf, type TableFields } from "../engine/templates.js";
import { type ConfigurationFields, holding, indexKeys, instrumentConfiguration } from "./templates.js";

type WithGroup = Contract<Pick<TableFields, "registrar" | "roles">>;

/** The group that a contract names. */
export const groupOf = ({ fields }: WithGroup): Group => ({
  registrar: fields.registrar ?? "",
  operator: roleOf(fields, "operator"),
  provider: roleOf(fields, "provider"),
});

const isSameGroup = (a: Group, b: Group): boolean =>
  a.operator === b.operator && a.provider === b.provider && a.registrar === b.registrar;

/** What identifies the group of a factory request. */
export interface GroupQuery {
  readonly registrar: string;
  /** Empty for a committed allocation whose legs are given later. */
  readonly instruments: readonly string[];
  /** The contract ids of the holdings that the request spends. */
  readonly inputHoldings: readonly string[];
  /** Whether the request can be answered without a configuration: a transfer to oneself, an allocation without legs. */
  readonly needsNoConfiguration: boolean;
  /** Those of `groupsOf`. */
  readonly groups: readonly Group[];
  /** The registrar's factories, newest first, at least one. */
  readonly factories: readonly WithGroup[];
}

/**
 * The group of a factory request. It is that of the instrument's configuration. Only where several groups have the
 * instrument, or none has and none is needed, are the input holdings read, which belong to one. Where they cannot be read it
 * is that of the newest configuration, else that of the newest factory.
 */
export function chooseGroup(context: RequestContext, query: GroupQuery): Group {
  const { registrar, needsNoConfiguration, groups, factories } = query;
  const [newest, second] = groups;
  if (newest !== undefined && second === undefined) return newest;
  const known = new Set<string>();
  const readable = newest === undefined && !needsNoConfiguration ? [] : query.inputHoldings;
  const held = heldGroups(context, registrar, readable, known);
  const ofInputs = newest === undefined ? held[0] : held.find((group) => groups.some((one) => isSameGroup(one, group)));
  if (ofInputs !== undefined) return ofInputs;
  const [factory] = factories;
  const fallback = newest ?? (factory === undefined ? undefined : groupOf(factory));
  if (newest !== undefined) noteGuess(context, newest, query, known);
  return fallback ?? { registrar, operator: undefined, provider: undefined };
}

/** The groups that have all of the instruments, else those that have the first; by their newest configuration. */
export function groupsOf(view: View, registrar: string, instruments: readonly string[]): readonly Group[] {
  const [first, ...others] = instruments.map((id) => distinctGroups(candidateConfigurations(view, registrar, id)));
  if (first === undefined || first.length < 2) return first ?? [];
  const common = first.filter((group) => others.every((more) => more.some((one) => isSameGroup(one, group))));
  return common.length > 0 ? common : first;
}

/** The groups of the contracts, in their order. */
export function distinctGroups(contracts: readonly WithGroup[]): Group[] {
  const groups: Group[] = [];
  for (const contract of contracts) {
    const group = groupOf(contract);
    if (!groups.some((one) => isSameGroup(one, group))) groups.push(group);
  }
  return groups;
}

/** The configurations of an instrument by its default identifier: of all groups, on any synchronizer, newest first. */
export const candidateConfigurations = (
  view: View,
  registrar: string,
  instrument: string,
): readonly Contract<ConfigurationFields>[] =>
  view.byKey(instrumentConfiguration, indexKeys.instrument(registrar, instrument));

/** The groups of the input holdings of the registrar that can be read, in the order of the request. */
function heldGroups(context: RequestContext, registrar: string, ids: readonly string[], known: Set<string>): Group[] {
  if (ids.length === 0) return [];
  const groups: Group[] = [];
  for (const [contractId, read] of inputHoldings(context, ids)) {
    known.add(contractId);
    if (read === "archived" || read.registrar !== registrar) continue;
    groups.push({ registrar, operator: read.operator, provider: read.provider });
  }
  return groups;
}

/** Explanations say that another group may be meant. */
function noteGuess(
  { recorder }: RequestContext,
  group: Group,
  { instruments, inputHoldings: ids }: GroupQuery,
  known: ReadonlySet<string>,
): void {
  if (recorder === undefined) return;
  const unread = ids.filter((id) => !known.has(id)).length;
  const why =
    ids.length === 0
      ? "the request names no input holdings"
      : `${unread} of ${ids.length} input holdings could not be read, and the others decide nothing`;
  const named = instruments.map((id) => `"${id}"`).join(", ");
  recorder.remark(
    `Several providers have instrument ${named}, and ${why}: the newest configuration decides (provider ${group.provider}).`,
  );
}

/**
 * The holdings that a request names, from the store, else from the ledger where the source can read it. Those that cannot
 * be read are absent: most holdings are not stored.
 */
export function inputHoldings(
  context: RequestContext,
  contractIds: readonly string[],
): ReadonlyMap<string, HoldingFields | "archived"> {
  const { view } = context;
  const ids = [...new Set(contractIds)];
  const found = new Map<string, HoldingFields | "archived">();
  const unknown: string[] = [];
  // All are looked up before it is asked which are archived.
  for (const [contractId, stored] of ids.map((id) => [id, view.byId(holding, id)] as const)) {
    if (stored !== undefined) found.set(contractId, stored.fields);
    else if (view.wasArchived(contractId)) found.set(contractId, "archived");
    else unknown.push(contractId);
  }
  if (unknown.length > 0) for (const [id, read] of context.readHoldings(unknown)) found.set(id, read);
  return found;
}
