/** The factories of a registrar: which of them may answer a request. */
import { type Contract, packageIdOf } from "../../domain/contract.js";
import { notFound, type RegistryError } from "../../domain/errors.js";
import type { View } from "../../store/port.js";
import type { EntryInputs } from "../engine/answer.js";
import { allOf, type Found } from "../engine/entries.js";
import { type FactoryRequest, onFirst } from "../engine/operations.js";
import { type Group, namingGroup, ofGroup, otherGroups } from "../engine/selector.js";
import { missing, type Needed } from "../needed.js";
import type { FactoryQuery, InstrumentConfiguration, RequestContext } from "../sdk/registry.js";
import { candidateConfigurations, chooseGroup, type GroupQuery, groupsOf } from "./group.js";
import { allocationFactory } from "./templates.js";
import type { PackageVersions } from "./versions.js";

/** The AllocationFactories of a registrar, newest first; empty for a registrar that is not served. */
export const findFactories = (view: View, registrar: string): readonly Found[] =>
  allOf(allocationFactory, view, registrar);

/** Those of a group. */
export const factoriesOf = (view: View, group: Group): readonly Found[] =>
  ofGroup(findFactories(view, group.registrar), group);

export const neededFactory = (view: View, group: Group): Needed => ({
  name: `the AllocationFactory of registrar ${group.registrar}${namingGroup(findFactories(view, group.registrar), group)}`,
  kind: "factory",
  registrar: group.registrar,
  template: allocationFactory.qualifiedName,
});

/** As `findFactories`, at least one: a registrar without any is not served. */
export function requireFactories(view: View, registrar: string): readonly Found[] {
  const factories = findFactories(view, registrar);
  if (factories.length > 0) return factories;
  throw notServed(registrar);
}

export const notServed = (registrar: string): RegistryError =>
  notFound(`registrar ${registrar} is not served here: no AllocationFactory of that party is known`, {
    code: "registrar-not-served",
    about: { registrar, template: allocationFactory.qualifiedName },
  });

/** The AllocationFactories of one group, for an answer with one of them. */
export type GroupFactories = Pick<FactoryRequest, "group" | "needed" | "considered" | "factories">;

interface GroupRequest extends Omit<GroupQuery, "factories" | "groups" | "needsNoConfiguration"> {
  /** As in GroupQuery. Default false. */
  readonly needsNoConfiguration?: boolean;
  readonly targetSynchronizer?: string | undefined;
  /** Returns the group if the request names one; called if the registrar is served. */
  readonly groupNamed?: () => Group | undefined;
  /** Whether only factories of version 2 of the token standard count; with the versions of packages. */
  readonly version2?: PackageVersions | undefined;
}

/** The first version of utility-registry-app-v0 whose factories implement version 2 of the token standard. */
const FIRST_APP_WITH_VERSION_2 = "0.9.0";

/** Whether the contract of utility-registry-app-v0 may have version 2: one of an unknown package counts as current. */
export const hasVersion2 = ({ templateId }: Contract, versions: PackageVersions): boolean =>
  !versions.isOlder(packageIdOf(templateId), FIRST_APP_WITH_VERSION_2);

/** `versions` if the request is one of version 2. */
export const version2Of = ({ apiVersion }: FactoryQuery, versions: PackageVersions): PackageVersions | undefined =>
  apiVersion === "v2" ? versions : undefined;

/**
 * The group of a request with its AllocationFactories: those on the synchronizer that the request names first, then the
 * newest. Throws "not-found" if the registrar is not served, or the group has no factory, or none with version 2.
 */
export function findGroupFactories(context: RequestContext, request: GroupRequest): GroupFactories {
  const { registrar, instruments, version2 } = request;
  const { recorder, view } = context;
  const all = findFactories(view, registrar);
  const groups = groupsOf(view, registrar, instruments);
  if (all.length === 0) {
    const needed = neededFactory(view, { registrar, operator: undefined, provider: undefined });
    recorder?.search({ needed, candidates: [], chosen: undefined, required: true });
    throw notServed(registrar);
  }
  const group =
    request.groupNamed?.() ?? chooseGroup(context, { needsNoConfiguration: false, ...request, groups, factories: all });
  const named = () => neededFactory(view, group);
  const mine = ofGroup(all, group);
  const considered = recorder === undefined || mine === all ? undefined : otherGroups(all, group);
  const usable = version2 === undefined ? mine : mine.filter((one) => hasVersion2(one, version2));
  const [old] = mine;
  if (usable.length === 0) {
    recorder?.search({ needed: named(), candidates: mine, ...considered, chosen: undefined, required: true });
    throw old === undefined || version2 === undefined ? missing(named()) : noVersion2(registrar, old, version2);
  }
  return { group, factories: onFirst(usable, request.targetSynchronizer), needed: named, considered };
}

const noVersion2 = (registrar: string, { templateId }: Contract, versions: PackageVersions): RegistryError =>
  notFound(
    `the AllocationFactory of registrar ${registrar} has no version 2 of the token standard: it is of ` +
      `utility-registry-app-v0 ${versions.versionOf(packageIdOf(templateId))}, older than ${FIRST_APP_WITH_VERSION_2}; use version 1`,
    { code: "version-not-supported", about: { registrar, template: allocationFactory.qualifiedName } },
  );

/** The rules do not refuse an instrument that is paused; the ledger may. */
export function notePaused(
  { recorder, view }: RequestContext,
  registrar: string,
  instruments: readonly string[],
): void {
  for (const configuration of recorder === undefined
    ? []
    : instruments.flatMap((id) => candidateConfigurations(view, registrar, id))) {
    const { paused, defaultIdentifier }: InstrumentConfiguration = configuration.fields;
    if (!paused) continue;
    const sentence = `Instrument "${defaultIdentifier.id}" of registrar ${registrar} is paused: the choice may fail on the ledger.`;
    recorder?.note(configuration, sentence);
  }
}

/** What a request is about, with the provider of its group. */
export const withProvider = (inputs: EntryInputs, { provider }: Group): EntryInputs =>
  provider === undefined ? inputs : { ...inputs, roles: { ...inputs.roles, provider: [provider] } };
