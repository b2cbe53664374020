/** Answers with a factory: which one, and the context of its choice. */
import { type Contract, packageIdOf } from "../../domain/contract.js";
import { attemptAll, notFound, type RegistryError } from "../../domain/errors.js";
import type { Considered, FactoryAnswer, FactoryQuery, RequestContext } from "../sdk/registry.js";
import { findFactories, neededFactory, notePaused, notServed } from "./choice.js";
import { ChoiceContextBuilder, type ContextDefinition, type EntryInputs, writeContext } from "./context.js";
import type { PackageVersions } from "./contexts/versions.js";
import { chooseGroup, type Group, type GroupQuery, groupsOf, ofGroup, otherGroups } from "./group.js";
import { missing, type Needed, onOneSynchronizer } from "../needed.js";
import { ContractSelector } from "./selector.js";
import { type AllocationFactory, allocationFactory, type TransferPreapproval } from "./templates.js";

type Factory = Contract<AllocationFactory | TransferPreapproval>;

export interface FactoryRequest {
  readonly definition: ContextDefinition;
  readonly group: Group;
  /** The candidates for the factory, in the order in which they are tried. */
  readonly factories: readonly Factory[];
  readonly needed: () => Needed;
  /** What the explanation shows in place of the factories. */
  readonly considered?: Considered | undefined;
  /** The choice's inputs, without what follows from the factory. */
  readonly inputs: Omit<EntryInputs, "provider" | "factory" | "subject" | "lockedHolding" | "otherLockedHoldings">;
  /** Why the request is refused in any case, at least one; undefined if it is not. What else is missing is named too. */
  readonly refusals?: readonly RegistryError[] | undefined;
}

/** The AllocationFactories of one group, for `FactoryRequest`. */
export type GroupFactories = Pick<FactoryRequest, "group" | "needed" | "considered"> & {
  readonly factories: readonly Contract<AllocationFactory>[];
};

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

/** The candidates on the synchronizer first. Otherwise the order stays. */
export const onFirst = <F>(
  candidates: readonly Contract<F>[],
  synchronizer: string | undefined,
): readonly Contract<F>[] =>
  synchronizer === undefined || candidates.length < 2
    ? candidates
    : candidates.toSorted(
        (a, b) => Number(b.synchronizerId === synchronizer) - Number(a.synchronizerId === synchronizer),
      );

/** Answers with the first factory on whose synchronizer everything is that its choice requires. */
export function answerWithFactory(context: RequestContext, request: FactoryRequest): FactoryAnswer {
  const { group, inputs, refusals = [] } = request;
  notePaused(context, group.registrar, inputs.instruments);
  // This throws: the answer is only attempted to find what else is missing.
  if (refusals.length > 0)
    attemptAll([
      ...refusals.map((error) => () => {
        throw error;
      }),
      () => void answerOnOneSynchronizer(context, request),
    ]);
  return answerOnOneSynchronizer(context, request);
}

function answerOnOneSynchronizer(context: RequestContext, request: FactoryRequest): FactoryAnswer {
  const { definition, factories, considered, needed } = request;
  const { builder, selector, factory } = onOneSynchronizer(
    factories,
    needed,
    context.recorder,
    (candidate, synchronizer) => write(context, request, candidate, synchronizer),
    considered,
  );
  if (definition.refusesBlocklist) selector.rejectBlocklist();
  return builder.buildForFactory(factory);
}

function write(
  context: RequestContext,
  { group, definition, inputs }: FactoryRequest,
  factory: Factory,
  synchronizer: string,
): { readonly builder: ChoiceContextBuilder; readonly selector: ContractSelector; readonly factory: Factory } {
  const { instruments, sender, sent, receiver, issuers, holders, allocations } = inputs;
  const builder = new ChoiceContextBuilder(context.recorder);
  const selector = new ContractSelector(context, group, synchronizer, definition);
  // A literal instead of a spread: all factories pass objects of one shape.
  writeContext(definition, builder, selector, {
    instruments,
    provider: group.provider,
    sender,
    sent,
    receiver,
    issuers,
    holders,
    factory,
    subject: factory,
    allocations,
  });
  return { builder, selector, factory };
}
