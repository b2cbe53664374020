/** The contracts that stood on a ledger before an exercise, reconstructed from recorded updates. */
import type { JsonObject, JsonValue } from "../../src/domain/json.js";
import { blobOf } from "../fixtures/elements.js";
import { type CreatedEvent, type ExercisedEvent, type RecordedUpdate, transactionOf } from "./evidence.js";

/** The entries of the context that the caller of a choice got from the registry's backend. */
export function contextOf({ choiceArgument }: ExercisedEvent): JsonObject {
  const { extraArgs } = choiceArgument as { readonly extraArgs: { readonly context: { readonly values: JsonObject } } };
  return extraArgs.context.values;
}

/** The exercises of an update, in order, without those that only archive. */
export function exercisesOf(update: RecordedUpdate): ExercisedEvent[] {
  const exercised = transactionOf(update).events.flatMap(({ ExercisedEvent }) => ExercisedEvent ?? []);
  return exercised.filter(({ choice }) => choice !== "Archive");
}

export function creationsOf(update: RecordedUpdate): CreatedEvent[] {
  return transactionOf(update).events.flatMap(({ CreatedEvent }) => CreatedEvent ?? []);
}

/** The contracts active before the update at `index`, as elements: those of `initial` and those created since. */
export function activeBefore(
  updates: readonly RecordedUpdate[],
  index: number,
  initial: readonly JsonObject[],
): JsonObject[] {
  const active = new Map(initial.map((element) => [contractIdOf(element), element]));
  for (const update of updates.slice(0, index)) {
    for (const { ExercisedEvent } of transactionOf(update).events)
      if (ExercisedEvent?.consuming === true) active.delete(ExercisedEvent.contractId);
    for (const created of creationsOf(update)) active.set(created.contractId, recordedElement(created, update));
  }
  return [...active.values()];
}

/** A recorded contract as an element. The recording was made without blobs, so the element has a made-up one. */
export function recordedElement(created: CreatedEvent, update: RecordedUpdate): JsonObject {
  const createdEvent = { ...created, createdEventBlob: blobOf(created.contractId) };
  return activeElement(createdEvent, transactionOf(update).synchronizerId);
}

/** A contract that the recording refers to but does not show, as an element. */
export function builtElement(
  { contractId, templateId, packageName }: Pick<CreatedEvent, "contractId" | "templateId" | "packageName">,
  createArgument: JsonObject,
  createdAt: string,
  synchronizerId: string,
): JsonObject {
  const createdEvent = {
    offset: 1,
    nodeId: 0,
    contractId,
    templateId,
    contractKey: null,
    createArgument,
    createdEventBlob: blobOf(contractId),
    interfaceViews: [],
    witnessParties: [],
    signatories: [],
    observers: [],
    createdAt,
    packageName,
  };
  return activeElement(createdEvent, synchronizerId);
}

const activeElement = (createdEvent: JsonObject, synchronizerId: string): JsonObject => ({
  workflowId: "",
  contractEntry: { JsActiveContract: { createdEvent, synchronizerId, reassignmentCounter: 0 } },
});

function contractIdOf(element: JsonObject): string {
  const { contractEntry } = element as {
    readonly contractEntry: { readonly JsActiveContract: { readonly createdEvent: { readonly contractId: string } } };
  };
  return contractEntry.JsActiveContract.createdEvent.contractId;
}

/** The contract ids in a context value: of AV_ContractId, and of AV_List of these. */
export function contractIdsIn(value: JsonValue | undefined): string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  const { tag, value: inner = null } = value;
  if (tag === "AV_ContractId" && typeof inner === "string") return [inner];
  return tag === "AV_List" && Array.isArray(inner) ? inner.flatMap((each) => contractIdsIn(each)) : [];
}
