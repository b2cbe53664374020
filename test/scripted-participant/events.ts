/** What a format shows of a contract, and the events of the API. */
import { refusal } from "./errors.js";
import type { Contract, Entry, Exercised, Reassignment, View } from "./log.js";
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
  /** Those of the interfaces that were asked for. */
  readonly implemented: readonly View[];
  /** Those of them whose views were asked for. */
  readonly shown: readonly View[];
  /** Why a view is not computed; undefined if it is. */
  readonly failureOf: (view: View, contract: Contract) => string | undefined;
}

/** What is on the participant. */
export interface Packages {
  /** Names of the uploaded packages; undefined if every name is accepted. */
  readonly packageNames?: ReadonlySet<string> | undefined;
  /** Names of those without a version that is vetted: no view is computed with them. */
  readonly unvetted?: ReadonlySet<string> | undefined;
}

/** Returns how a contract is shown; undefined if it is not. `seenBy` defaults to its stakeholders. */
export type Filter = (contract: Contract, seenBy?: readonly string[]) => Sight | undefined;

/** Returns how a matching contract is shown; undefined if it does not match. */
type Match = (contract: Contract) => Matched | undefined;

interface Matched {
  readonly withBlob: boolean;
  readonly implemented?: View;
  readonly withView?: boolean;
}

/**
 * A contract is shown if a requested party sees it and one of that party's filters matches. Throws a Refusal if the
 * format is invalid. Whether views are computed is chosen once for each interface and package, as a participant does.
 */
export function filterOf(format: EventFormat, { packageNames, unvetted }: Packages = {}): Filter {
  const choices = new Map<string, boolean>();
  const failureOf = ({ interfaceId, failure }: View, { packageName }: Contract): string | undefined => {
    const choice = `${interfaceId} ${packageName}`;
    const isVetted = choices.get(choice) ?? unvetted?.has(packageName) !== true;
    choices.set(choice, isVetted);
    if (isVetted) return failure;
    const reason = `No vetted package for rendering the interface view for package-name '${packageName}'.`;
    return `NO_VETTED_INTERFACE_IMPLEMENTATION_PACKAGE(9,0af76519): ${reason}`;
  };
  const byParty = Object.entries(format.filtersByParty ?? {}).map(
    ([party, filters]) => [party, matchesOf(filters, packageNames)] as const,
  );
  const anyParty = format.filtersForAnyParty === undefined ? [] : matchesOf(format.filtersForAnyParty, packageNames);
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
      return matches.flatMap((match) => {
        const matched = match(contract);
        return matched === undefined ? [] : [{ party, ...matched }];
      });
    });
    if (found.length === 0) return undefined;
    const viewsOf = (those: readonly Matched[]) => [...new Set(those.flatMap(({ implemented = [] }) => implemented))];
    return {
      witnesses: [...new Set(found.map(({ party }) => party))],
      withBlob: found.some(({ withBlob }) => withBlob),
      implemented: viewsOf(found),
      shown: viewsOf(found.filter(({ withView = false }) => withView)),
      failureOf,
    };
  };
}

function matchesOf({ cumulative = [] }: Filters, packageNames: ReadonlySet<string> | undefined): Match[] {
  if (cumulative.length === 0) return [() => undefined];
  return cumulative.map(({ identifierFilter }) => matchOf(identifierFilter ?? { Empty: {} }, packageNames));
}

function matchOf(filter: IdentifierFilter, packageNames: ReadonlySet<string> | undefined): Match {
  if ("Empty" in filter) return () => undefined;
  if ("WildcardFilter" in filter) {
    const { includeCreatedEventBlob: withBlob = false } = filter.WildcardFilter.value;
    return () => ({ withBlob });
  }
  if ("InterfaceFilter" in filter) {
    const { interfaceId, includeInterfaceView = false, includeCreatedEventBlob = false } = filter.InterfaceFilter.value;
    const isNamed = identified("interfaceId", interfaceId, packageNames);
    return ({ packageName, views = [] }) => {
      // No template implements the interface before its package is there.
      if (packageNames?.has(packageName) === false) return undefined;
      const implemented = views.find((view) => isNamed(view.interfaceId, view.packageName));
      return implemented && { withBlob: includeCreatedEventBlob, implemented, withView: includeInterfaceView };
    };
  }
  const { templateId, includeCreatedEventBlob = false } = filter.TemplateFilter.value;
  const isNamed = identified("templateId", templateId, packageNames);
  return (contract) =>
    isNamed(contract.templateId, contract.packageName) ? { withBlob: includeCreatedEventBlob } : undefined;
}

/** Whether an id, `packageId:Module:Entity`, of a package with a name is that of a filter. Throws a Refusal for an unknown package. */
function identified(
  field: string,
  id: string,
  packageNames: ReadonlySet<string> | undefined,
): (id: string, packageName: string) => boolean {
  const [, hash, packageReference = "", entity = ""] = /^(#?)([^:]+):([\w.]+:\w+)$/.exec(id) ?? [];
  if (entity === "") throw new DecodingError([field, malformedTemplate(id)]);
  if (hash === "#" && packageNames?.has(packageReference) === false) {
    throw refusal(
      "PACKAGE_NAMES_NOT_FOUND",
      `The following package names do not match upgradable packages uploaded on this participant: [${packageReference}].`,
    );
  }
  return (given, packageName) => {
    const [packageId, ...own] = given.split(":");
    return (hash === "#" ? packageName : packageId) === packageReference && own.join(":") === entity;
  };
}

export const malformedTemplate = (id: string): string =>
  `Invalid identifier format (${id}) not matching the expected format (<package>:<moduleName>:<entityName>)`;

export interface EventPosition {
  readonly offset: number;
  readonly nodeId: number;
}

/** What every event says of its contract. */
const about = (contract: Contract, { offset, nodeId }: EventPosition, { witnesses }: Sight) => ({
  offset,
  nodeId,
  contractId: contract.contractId,
  templateId: contract.templateId,
  witnessParties: witnesses,
  packageName: contract.packageName,
});

export function createdEvent(contract: Contract, position: EventPosition, sight: Sight, acsDelta = true): CreatedEvent {
  return {
    ...about(contract, position, sight),
    contractKey: null,
    contractKeyHash: "",
    createArgument: contract.payload,
    createdEventBlob: sight.withBlob ? contract.createdEventBlob : "",
    interfaceViews: sight.shown.map((view) => {
      const message = sight.failureOf(view, contract);
      return {
        interfaceId: view.interfaceId,
        viewStatus: { code: message === undefined ? 0 : 9, message: message ?? "", details: [] },
        viewValue: message === undefined ? view.value : null,
        implementationPackageId: message === undefined ? packageIdOf(contract) : "",
      };
    }),
    signatories: [...contract.signatories],
    observers: [...contract.observers],
    createdAt: contract.createdAt,
    representativePackageId: packageIdOf(contract),
    acsDelta,
  };
}

export function archivedEvent(contract: Contract, position: EventPosition, sight: Sight): ArchivedEvent {
  const implementedInterfaces = sight.implemented.map(({ interfaceId }) => interfaceId);
  return { ...about(contract, position, sight), implementedInterfaces };
}

const moving = ({ signatories }: Contract, { id, source, target, counter }: Reassignment) => ({
  source,
  target,
  reassignmentId: id,
  submitter: signatories[0] ?? "",
  reassignmentCounter: counter,
});

export const assignedEvent = (
  contract: Contract,
  reassignment: Reassignment,
  position: EventPosition,
  sight: Sight,
): AssignedEvent & { submitter: string } => ({
  ...moving(contract, reassignment),
  createdEvent: createdEvent(contract, position, sight),
});

export const unassignedEvent = (
  contract: Contract,
  reassignment: Reassignment,
  position: EventPosition,
  sight: Sight,
): UnassignedEvent => ({ ...moving(contract, reassignment), ...about(contract, position, sight) });

function exercisedEvent(
  contract: Contract,
  { choice, argument, result, actors, lastNodeId }: Exercised,
  position: EventPosition,
  sight: Sight,
  flags: { readonly consuming: boolean; readonly acsDelta: boolean },
): ExercisedEvent {
  return {
    ...about(contract, position, sight),
    interfaceId: ABSENT,
    choice,
    choiceArgument: argument,
    actingParties: actors.length === 0 ? contract.signatories.slice(0, 1) : [...actors],
    lastDescendantNodeId: lastNodeId,
    exerciseResult: result,
    implementedInterfaces: [],
    ...flags,
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
