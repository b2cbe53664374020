/**
 * Everything of one operation names the same operator, provider and registrar: factory, rule, configuration, service,
 * holdings and instruction. The ledger refuses a mixed set. See "One group" of the rules. The group of a request, and the
 * factories of the registrar that may answer it.
 */
import { type Contract, packageIdOf } from "../../domain/contract.js";
import { refuse, type RegistryError } from "../../domain/errors.js";
import type { HoldingFields } from "../../domain/ledger.js";
import type { View } from "../../state/port.js";
import type { ContextDefinition } from "../engine/choice-context.js";
import { allOf, type Found } from "../engine/entries.js";
import { answerWithFactory, type FactoryRequest } from "../engine/operations.js";
import { type ContractSelector, type Group, namingGroup, ofGroup, otherGroups } from "../engine/selector.js";
import { roleOf, type TableFields } from "../engine/templates.js";
import type { PackageVersions } from "../engine/versions.js";
import { allocationArguments, transferArguments } from "../factory-arguments.js";
import { missing, type Needed, notServed, notTold } from "../needed.js";
import type { FactoryQuery, FactoryResult, OperationRequest, RequestContext } from "../sdk/registry.js";
import {
  allocationFactory,
  type ConfigurationFields,
  holding,
  indexKeys,
  instrumentConfiguration,
} from "./templates.js";

type WithGroup = Contract<Pick<TableFields, "registrar" | "roles">>;

/** The group that a contract names. */
export const groupOf = ({ fields }: WithGroup): Group => ({
  registrar: fields.registrar ?? "",
  operator: roleOf(fields, "operator"),
  provider: roleOf(fields, "provider"),
});

const isSameGroup = (a: Group, b: Group): boolean =>
  a.operator === b.operator && a.provider === b.provider && a.registrar === b.registrar;

/** What identifies the group of a factory request, and which of its factories may answer. */
export interface GroupRequest {
  readonly registrar: string;
  /** Empty for a committed allocation whose legs are given later. */
  readonly instruments: readonly string[];
  /** The contract ids of the holdings that the request spends. */
  readonly inputHoldings?: readonly string[];
  /** Whether it is a transfer to oneself. It can be answered without a configuration, as an allocation without legs can. */
  readonly isSelf?: boolean;
  readonly targetSynchronizer?: string | undefined;
  /** Returns the group if the request names one; called if the registrar is served. */
  readonly groupNamed?: () => Group | undefined;
  /** Whether only factories of version 2 of the token standard count; with the versions of packages. */
  readonly version2?: PackageVersions | undefined;
}

/**
 * The group of a factory request. It is that of the instrument's configuration. Only where several groups have the
 * instrument, or none has and none is needed, do the input holdings decide, which belong to one. Where the ledger does not know
 * them, or the source cannot read them, it is that of the newest configuration, else that of the newest factory.
 */
function chooseGroup(
  context: RequestContext,
  request: GroupRequest,
  groups: readonly Group[],
  factories: readonly WithGroup[],
): Group {
  const { registrar } = request;
  const [newest] = groups;
  const known = new Set<string>();
  const holdings = isDecidedByHoldings(request, groups) ? inputHoldings(context, request.inputHoldings) : [];
  for (const [contractId, input] of holdings) {
    known.add(contractId);
    const group = groupHeld(input, registrar, groups);
    if (group !== undefined) return group;
  }
  if (newest !== undefined && groups.length > 1) noteGuess(context, newest, request, known);
  const [fallback = { registrar, operator: undefined, provider: undefined }] = factories.map(groupOf);
  return newest ?? fallback;
}

const isDecidedByHoldings = ({ isSelf = false, instruments }: GroupRequest, groups: readonly Group[]): boolean =>
  groups.length > 1 || (groups.length === 0 && (isSelf || instruments.length === 0));

type InputHolding = HoldingFields | "archived";

/** The group of a holding; undefined if that decides nothing. */
function groupHeld(input: InputHolding, registrar: string, groups: readonly Group[]): Group | undefined {
  if (input === "archived" || input.registrar !== registrar) return undefined;
  const group = { registrar, operator: input.operator, provider: input.provider };
  return groups.length === 0 || groups.some((one) => isSameGroup(one, group)) ? group : undefined;
}

/** The groups that have all of the instruments, else those that have the first; by their newest configuration. */
function groupsOf(view: View, registrar: string, instruments: readonly string[]): readonly Group[] {
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

/** The configurations that an answer has found, by instrument: several entries need the same one. */
export const configurationsOf = (selector: ContractSelector): Map<string, Contract<ConfigurationFields>> =>
  selector.keep("configurations of instruments", () => new Map());

/**
 * The group's configuration of an instrument of the registrar, by its default identifier. If it is missing, as
 * `ContractSelector.missing`; one that is elsewhere is returned where the answer fails anyway, because it tells what else is
 * missing.
 */
export function configurationOf(
  selector: ContractSelector,
  instrument: string,
  required: boolean,
): Contract<ConfigurationFields> | undefined {
  const known = configurationsOf(selector);
  const before = known.get(instrument);
  if (before !== undefined) return before;
  const { view, registrar, group } = selector;
  const all = candidateConfigurations(view, registrar, instrument);
  const selected = selector.selectOfGroup(all, required, {
    name: `the InstrumentConfiguration of instrument "${instrument}" of registrar ${registrar}`,
    kind: "configuration",
    registrar,
    instrument,
    template: instrumentConfiguration.qualifiedName,
  });
  const found = selected ?? (selector.hasFailed ? ofGroup(all, group)[0] : undefined);
  if (found !== undefined) known.set(instrument, found);
  return found;
}

/** Explanations say that another group may be meant. */
function noteGuess(
  { recorder }: RequestContext,
  group: Group,
  { instruments, inputHoldings: ids = [] }: GroupRequest,
  known: ReadonlySet<string>,
): void {
  if (recorder === undefined) return;
  const unread = ids.filter((id) => !known.has(id)).length;
  const why =
    ids.length === 0
      ? "the request names no input holdings"
      : `${unread} of ${ids.length} input holdings are not known here, and the others decide nothing`;
  const named = instruments.map((id) => `"${id}"`).join(", ");
  recorder.remark(
    `Several providers have instrument ${named}, and ${why}: the newest configuration decides (provider ${group.provider}).`,
  );
}

/** Of the input holdings that the store does not have, the first are read from the ledger. */
const MAX_READ = 100;

/** The input holdings that are read before a request is answered. They decide its group; of burn-mint all count, by their owners. */
export function holdingsToRead(view: View, { operation, query }: OperationRequest): readonly string[] {
  switch (operation) {
    case "transfer-factory": {
      const { sender, receiver, instrumentId, ...given } = transferArguments(query);
      const isSelf = sender.party === receiver.party;
      return unknownForGroup(view, { ...given, registrar: query.registrar, instruments: [instrumentId], isSelf });
    }
    case "allocation-factory":
      return unknownForGroup(view, { ...allocationArguments(query), registrar: query.registrar });
    case "burn-mint-factory":
      return lookUpHoldings(view, query.inputHoldings).unknown;
    case "mint-offer/create":
    case "mint-request/create":
    case "burn-offer/create":
    case "burn-request/create":
      return unknownForGroup(view, { ...query, instruments: [query.instrumentId] });
    default:
      return [];
  }
}

/** Those that the group depends on. */
function unknownForGroup(view: View, request: GroupRequest): readonly string[] {
  const { registrar, instruments } = request;
  const groups = groupsOf(view, registrar, instruments);
  if (!isDecidedByHoldings(request, groups)) return [];
  const { stored, unknown } = lookUpHoldings(view, request.inputHoldings);
  return stored.some(([, input]) => groupHeld(input, registrar, groups) !== undefined) ? [] : unknown;
}

/** With the first MAX_READ of those that are unknown. */
function lookUpHoldings(view: View, contractIds: readonly string[] = []) {
  const stored: [contractId: string, input: InputHolding][] = [];
  const unknown: string[] = [];
  for (const contractId of new Set(contractIds)) {
    const fields = view.byId(holding, contractId)?.fields ?? (view.wasArchived(contractId) ? "archived" : undefined);
    if (fields === undefined) unknown.push(contractId);
    else stored.push([contractId, fields]);
  }
  return { stored, unknown: unknown.slice(0, MAX_READ) };
}

/**
 * The holdings that a request names: those in the store, then those of the ledger. Those that neither knows are left out. Throws
 * "unavailable" at one that the ledger has not told in time: who needs no more stops before.
 */
export function* inputHoldings(
  context: RequestContext,
  contractIds: readonly string[] = [],
): Generator<readonly [contractId: string, input: InputHolding]> {
  const { stored, unknown } = lookUpHoldings(context.view, contractIds);
  yield* stored;
  for (const contractId of unknown) {
    const told = context.onLedger(holding, contractId);
    if (told === "unread") throw notTold(`input holding ${contractId}`, contractId);
    if (told !== undefined && told !== "unasked") yield [contractId, told === "archived" ? told : told.fields];
  }
}

/** The AllocationFactories of a registrar, newest first; empty for a registrar that is not served. */
export const findFactories = (view: View, registrar: string): readonly Found[] =>
  allOf(allocationFactory, view, registrar);

const neededFactory = (view: View, group: Group): Needed => ({
  name: `the AllocationFactory of registrar ${group.registrar}${namingGroup(findFactories(view, group.registrar), group)}`,
  kind: "factory",
  registrar: group.registrar,
  template: allocationFactory.qualifiedName,
});

/** As `findFactories`, at least one: a registrar without any is not served. */
export function requireFactories(view: View, registrar: string): readonly Found[] {
  const factories = findFactories(view, registrar);
  if (factories.length > 0) return factories;
  throw notServed(registrar, allocationFactory, "AllocationFactory");
}

/** The first version of utility-registry-app-v0 whose factories implement version 2 of the token standard. */
const FIRST_APP_WITH_VERSION_2 = "0.9.0";

/** Whether the contract of utility-registry-app-v0 may have version 2: one of an unknown package counts as current. */
export const hasVersion2 = ({ templateId }: Contract, versions: PackageVersions): boolean =>
  !versions.isOlder(packageIdOf(templateId), FIRST_APP_WITH_VERSION_2);

/** One of an unknown package may have it and is not listed with it: wallets prefer version 2 where it is listed. */
export const isKnownToHaveVersion2 = (contract: Contract, versions: PackageVersions): boolean =>
  versions.versionOf(packageIdOf(contract.templateId)) !== undefined && hasVersion2(contract, versions);

/** `versions` if the request is one of version 2. */
export const version2Of = ({ apiVersion }: FactoryQuery, versions: PackageVersions): PackageVersions | undefined =>
  apiVersion === "v2" ? versions : undefined;

/** Answers with an AllocationFactory of the group. Throws what `findGroupFactories` throws. */
export const answerInGroup = (
  context: RequestContext,
  request: GroupRequest,
  definition: ContextDefinition,
  subject: Omit<FactoryRequest["subject"], "instruments">,
  refusals?: FactoryRequest["refusals"],
): FactoryResult =>
  answerWithFactory(context, {
    ...findGroupFactories(context, request),
    definition,
    subject: { ...subject, instruments: request.instruments },
    refusals,
  });

/**
 * The group of a request with its AllocationFactories, the newest first. Throws "not-found" if the registrar is not served, or
 * the group has no factory, or none with version 2.
 */
export function findGroupFactories(
  context: RequestContext,
  request: GroupRequest,
): Omit<FactoryRequest, "definition" | "subject" | "refusals"> {
  const { registrar, instruments, version2 } = request;
  const { recorder, view } = context;
  notePaused(context, registrar, instruments);
  const all = findFactories(view, registrar);
  const groups = groupsOf(view, registrar, instruments);
  if (all.length === 0) {
    const needed = neededFactory(view, { registrar, operator: undefined, provider: undefined });
    recorder?.search({ needed, candidates: [], chosen: undefined, required: true });
    throw notServed(registrar, allocationFactory, "AllocationFactory");
  }
  const group = request.groupNamed?.() ?? chooseGroup(context, request, groups, all);
  const named = () => neededFactory(view, group);
  const mine = ofGroup(all, group);
  const considered = recorder === undefined || mine === all ? undefined : otherGroups(all, group);
  const usable = version2 === undefined ? mine : mine.filter((one) => hasVersion2(one, version2));
  const [old] = mine;
  if (usable.length === 0) {
    recorder?.search({ needed: named(), candidates: mine, ...considered, chosen: undefined, required: true });
    throw old === undefined || version2 === undefined ? missing(named()) : noVersion2(group, all, old, version2);
  }
  const { targetSynchronizer } = request;
  return { group, factories: usable, needed: named, considered, targetSynchronizer };
}

function noVersion2(
  group: Group,
  all: readonly Found[],
  { contractId, templateId }: Contract,
  versions: PackageVersions,
): RegistryError {
  const { registrar } = group;
  const others = namingGroup(
    all.filter((one) => hasVersion2(one, versions)),
    group,
  );
  return refuse(
    "version-not-supported",
    `the AllocationFactory of registrar ${registrar}${others} has no version 2 of the token standard: it is of ` +
      `utility-registry-app-v0 ${versions.versionOf(packageIdOf(templateId))}, older than ${FIRST_APP_WITH_VERSION_2}; use version 1`,
    { registrar, contractId, template: allocationFactory.qualifiedName },
  );
}

/** The rules do not refuse an instrument that is paused; the ledger may. */
export function notePaused(
  { recorder, view }: RequestContext,
  registrar: string,
  instruments: readonly string[],
): void {
  if (recorder === undefined) return;
  for (const configuration of instruments.flatMap((id) => candidateConfigurations(view, registrar, id))) {
    const { paused, defaultIdentifier } = configuration.fields;
    const sentence = `Instrument "${defaultIdentifier.id}" of registrar ${registrar} is paused: the choice may fail on the ledger.`;
    if (paused) recorder.note(configuration, sentence);
  }
}
