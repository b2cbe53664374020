/** What a format shows of a contract, and the events of the API. */
import { refusal } from "./errors.js";
import type { Contract, Entry, Exercised, InterfaceView, Reassignment } from "./log.js";
import {
  ABSENT,
  type ArchivedEvent,
  type AssignedEvent,
  type CreatedEvent,
  type EventFormat,
  type ExercisedEvent,
  type Filters,
  type IdentifierFilter,
  type ReassignmentEvent,
  type TransactionEvent,
  type UnassignedEvent,
} from "./messages.js";
import { DecodingError } from "./requests.js";

interface Sight {
  readonly witnesses: string[];
  readonly withBlob: boolean;
  readonly views: ShownView[];
}

type ShownView = NonNullable<CreatedEvent["interfaceViews"]>[number];

/** What is on the participant. */
export interface Packages {
  /** Names of the uploaded packages; undefined if every name is accepted. */
  readonly packageNames?: ReadonlySet<string> | undefined;
  /** Names of those without a version that is vetted: no view is computed with them. */
  readonly unvetted?: ReadonlySet<string> | undefined;
}

/** Returns how a contract is shown; undefined if it is not. `seenBy` defaults to its stakeholders. */
export type Filter = (contract: Contract, seenBy?: readonly string[]) => Sight | undefined;

/** How a filter shows a contract; undefined if it does not match. */
type Match = (contract: Contract) => Omit<Sight, "witnesses"> | undefined;

/**
 * A contract is shown if a requested party sees it and one of that party's filters matches. Throws a Refusal if the
 * format is invalid. Whether views are computed is chosen once for each interface and package, as a participant does.
 */
export function filterOf(format: EventFormat, { packageNames, unvetted }: Packages = {}): Filter {
  const choices = new Map<string, boolean>();
  const computes = ({ interfaceId }: InterfaceView, { packageName }: Contract): boolean => {
    const choice = `${interfaceId} ${packageName}`;
    const isVetted = choices.get(choice) ?? unvetted?.has(packageName) !== true;
    choices.set(choice, isVetted);
    return isVetted;
  };
  const matchesOf = ({ cumulative = [] }: Filters): Match[] =>
    cumulative.length === 0
      ? [() => undefined]
      : cumulative.map(({ identifierFilter }) => matchOf(identifierFilter ?? { Empty: {} }, packageNames, computes));
  const byParty = Object.entries(format.filtersByParty ?? {}).map(
    ([party, filters]) => [party, matchesOf(filters)] as const,
  );
  const anyParty = format.filtersForAnyParty === undefined ? [] : matchesOf(format.filtersForAnyParty);
  const malformed = byParty.find(([party]) => !/^[\w:\- ]+$/.test(party));
  if (malformed !== undefined) {
    throw refusal("INVALID_ARGUMENT", `non expected character in Daml-LF Party "${malformed[0]}"`);
  }
  if (byParty.length === 0 && format.filtersForAnyParty === undefined) {
    throw refusal("INVALID_ARGUMENT", "filtersByParty and filtersForAnyParty cannot be empty simultaneously");
  }
  return (contract, seenBy = [...contract.signatories, ...contract.observers]) => {
    const found = [
      ...byParty.filter(([party]) => seenBy.includes(party)),
      ...seenBy.map((party) => [party, anyParty] as const),
    ].flatMap(([party, matches]) => {
      const matched = matches.flatMap((match) => match(contract) ?? []);
      return matched.length === 0 ? [] : [{ party, matched }];
    });
    if (found.length === 0) return undefined;
    return {
      witnesses: [...new Set(found.map(({ party }) => party))],
      withBlob: found.some(({ matched }) => matched.some(({ withBlob }) => withBlob)),
      // One for each interface, whoever's filter asks for it.
      views: [
        ...new Map(
          found.flatMap(({ matched }) => matched.flatMap(({ views }) => views)).map((view) => [view.interfaceId, view]),
        ).values(),
      ],
    };
  };
}

function matchOf(
  filter: IdentifierFilter,
  packageNames: ReadonlySet<string> | undefined,
  computes: (view: InterfaceView, contract: Contract) => boolean,
): Match {
  if ("Empty" in filter) return () => undefined;
  if ("WildcardFilter" in filter) {
    const withBlob = filter.WildcardFilter.value.includeCreatedEventBlob ?? false;
    return () => ({ withBlob, views: [] });
  }
  const isInterface = "InterfaceFilter" in filter;
  const { includeCreatedEventBlob = false } = isInterface ? filter.InterfaceFilter.value : filter.TemplateFilter.value;
  const templateId = isInterface ? filter.InterfaceFilter.value.interfaceId : filter.TemplateFilter.value.templateId;
  const [, hash, packageReference = "", entity = ""] = /^(#?)([^:]+):([\w.]+:\w+)$/.exec(templateId) ?? [];
  if (entity === "") {
    throw new DecodingError(["templateId", malformedTemplate(templateId)]);
  }
  if (hash === "#" && packageNames?.has(packageReference) === false) {
    throw refusal(
      "PACKAGE_NAMES_NOT_FOUND",
      `The following package names do not match upgradable packages uploaded on this participant: [${packageReference}].`,
    );
  }
  if (isInterface) {
    const { includeInterfaceView = false } = filter.InterfaceFilter.value;
    return (contract) => {
      // No template implements the interface before its package is there.
      if (packageNames?.has(contract.packageName) === false) return undefined;
      const view = contract.interfaceViews?.find(({ interfaceId }) => interfaceId.endsWith(`:${entity}`));
      if (view === undefined) return undefined;
      const shown = shownView(view, contract, computes(view, contract));
      return { withBlob: includeCreatedEventBlob, views: includeInterfaceView ? [shown] : [] };
    };
  }
  return (contract) => {
    const [packageId, ...own] = contract.templateId.split(":");
    const isOf = (hash === "#" ? contract.packageName : packageId) === packageReference && own.join(":") === entity;
    return isOf ? { withBlob: includeCreatedEventBlob, views: [] } : undefined;
  };
}

function shownView(
  { interfaceId, viewValue, implementationPackageId, failure }: InterfaceView,
  { packageName }: Contract,
  isVetted: boolean,
): ShownView {
  const details: [] = [];
  if (isVetted && failure === undefined)
    return { interfaceId, viewStatus: { code: 0, message: "", details }, viewValue, implementationPackageId };
  const reason = `No vetted package for rendering the interface view for package-name '${packageName}'.`;
  const message = isVetted ? failure : `NO_VETTED_INTERFACE_IMPLEMENTATION_PACKAGE(9,0af76519): ${reason}`;
  return {
    interfaceId,
    viewStatus: { code: 9, message: message ?? "", details },
    viewValue: null,
    implementationPackageId: "",
  };
}

export const malformedTemplate = (id: string): string =>
  `Invalid identifier format (${id}) not matching the expected format (<package>:<moduleName>:<entityName>)`;

export interface EventPosition {
  readonly offset: number;
  readonly nodeId: number;
}

export function createdEvent(
  contract: Contract,
  { offset, nodeId }: EventPosition,
  sight: Sight,
  acsDelta = true,
): CreatedEvent {
  return {
    offset,
    nodeId,
    contractId: contract.contractId,
    templateId: contract.templateId,
    contractKey: null,
    contractKeyHash: "",
    createArgument: contract.payload,
    createdEventBlob: sight.withBlob ? contract.createdEventBlob : "",
    interfaceViews: sight.views,
    witnessParties: sight.witnesses,
    signatories: [...contract.signatories],
    observers: [...contract.observers],
    createdAt: contract.createdAt,
    packageName: contract.packageName,
    representativePackageId: packageIdOf(contract),
    acsDelta,
  };
}

export function archivedEvent(contract: Contract, { offset, nodeId }: EventPosition, sight: Sight): ArchivedEvent {
  return {
    offset,
    nodeId,
    contractId: contract.contractId,
    templateId: contract.templateId,
    witnessParties: sight.witnesses,
    packageName: contract.packageName,
    implementedInterfaces: [],
  };
}

export function assignedEvent(
  contract: Contract,
  { id, source, target, counter }: Reassignment,
  position: EventPosition,
  sight: Sight,
): AssignedEvent & { submitter: string } {
  return {
    source,
    target,
    reassignmentId: id,
    submitter: contract.signatories[0] ?? "",
    reassignmentCounter: counter,
    createdEvent: createdEvent(contract, position, sight),
  };
}

export function unassignedEvent(
  contract: Contract,
  { id, source, target, counter }: Reassignment,
  { offset, nodeId }: EventPosition,
  sight: Sight,
): UnassignedEvent {
  return {
    reassignmentId: id,
    contractId: contract.contractId,
    templateId: contract.templateId,
    source,
    target,
    submitter: contract.signatories[0] ?? "",
    reassignmentCounter: counter,
    witnessParties: sight.witnesses,
    packageName: contract.packageName,
    offset,
    nodeId,
  };
}

function exercisedEvent(
  contract: Contract,
  { choice, argument, result, actors, lastNodeId }: Exercised,
  { offset, nodeId }: EventPosition,
  { witnesses }: Sight,
  { consuming, acsDelta }: { readonly consuming: boolean; readonly acsDelta: boolean },
): ExercisedEvent {
  return {
    offset,
    nodeId,
    contractId: contract.contractId,
    templateId: contract.templateId,
    interfaceId: ABSENT,
    choice,
    choiceArgument: argument,
    actingParties: actors.length === 0 ? contract.signatories.slice(0, 1) : [...actors],
    consuming,
    witnessParties: witnesses,
    lastDescendantNodeId: lastNodeId,
    exerciseResult: result,
    packageName: contract.packageName,
    implementedInterfaces: [],
    acsDelta,
  };
}

/** The filtered events of a transaction in the shape ACS delta. */
export function deltaEvents({ offset, changes }: Entry, filter: Filter): TransactionEvent[] {
  return changes.flatMap((change): TransactionEvent[] => {
    const { contract, nodeId, type } = change;
    const sight = filter(contract);
    const isVisible = "isTransient" in change && !change.isTransient;
    if (sight === undefined || !isVisible || type === "exercise") return [];
    if (type === "create") return [{ CreatedEvent: createdEvent(contract, { offset, nodeId }, sight) }];
    return [{ ArchivedEvent: archivedEvent(contract, { offset, nodeId }, sight) }];
  });
}

/** The filtered events of a transaction in the shape ledger effects: all choices and transient contracts. */
export function effectEvents({ offset, changes }: Entry, filter: Filter): TransactionEvent[] {
  return changes.flatMap((change): TransactionEvent[] => {
    if (!("seenBy" in change)) return [];
    const { contract, nodeId, seenBy, isTransient } = change;
    const sight = filter(contract, seenBy);
    if (sight === undefined) return [];
    const position = { offset, nodeId };
    // A party that is no stakeholder is a witness without an ACS delta.
    const acsDelta = !isTransient && filter(contract) !== undefined;
    if (change.type === "create") return [{ CreatedEvent: createdEvent(contract, position, sight, acsDelta) }];
    const consuming = change.type === "archive";
    const flags = { consuming, acsDelta: consuming && acsDelta };
    return [{ ExercisedEvent: exercisedEvent(contract, change.exercised, position, sight, flags) }];
  });
}

export function reassignmentEvents({ offset, changes }: Entry, filter: Filter): ReassignmentEvent[] {
  return changes.flatMap((change): ReassignmentEvent[] => {
    const { contract, nodeId } = change;
    const sight = filter(contract);
    if (sight === undefined || !("reassignment" in change)) return [];
    const { type, reassignment } = change;
    if (type === "assign") {
      return [{ JsAssignmentEvent: assignedEvent(contract, reassignment, { offset, nodeId }, sight) }];
    }
    return [{ JsUnassignedEvent: { value: unassignedEvent(contract, reassignment, { offset, nodeId }, sight) } }];
  });
}

const packageIdOf = ({ templateId }: Contract): string => templateId.split(":")[0] ?? "";
