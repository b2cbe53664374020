/** Loads elements of active contracts, as in a snapshot file, into a scripted ledger. */
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import type { Creation, ScriptedLedger } from "./ledger.js";
import type { Contract } from "./log.js";

interface PlayOptions {
  /** Stakeholders of contracts whose elements name none. Without them such a contract is invisible. */
  readonly stakeholders?: readonly string[];
}

/** What is read of a created event. */
interface CreatedEvent extends Omit<Contract, "payload" | "views"> {
  readonly createArgument: JsonObject;
  readonly interfaceViews?: readonly { readonly interfaceId: string; readonly viewValue: JsonObject }[];
}

/** The content of an entry, active or in reassignment. Fails for others. */
function contentOf(element: JsonValue) {
  const { contractEntry } = element as { readonly contractEntry: Readonly<Record<string, unknown>> };
  const content = contractEntry.JsActiveContract ?? contractEntry.JsIncompleteUnassigned;
  if (content === undefined) throw new Error("only active and unassigned contracts can be played");
  return content as {
    readonly createdEvent: JsonObject;
    readonly synchronizerId: string;
    readonly unassignedEvent?: { readonly source: string; readonly target: string };
  };
}

/**
 * Creates the contracts of the elements, with their ids, blobs and times, one transaction each. Contracts in
 * reassignment are created and unassigned.
 */
export function play(ledger: ScriptedLedger, elements: Iterable<JsonValue>, options: PlayOptions = {}): void {
  for (const element of elements) {
    const { createdEvent, synchronizerId, unassignedEvent } = contentOf(element);
    const creation = creationOf(createdEvent, options);
    ledger.transact([{ create: creation }], { synchronizerId: unassignedEvent?.source ?? synchronizerId });
    if (unassignedEvent !== undefined) ledger.unassign(creation.contractId, unassignedEvent.target);
  }
}

/** Reads contracts to create now: the time of the transaction replaces the element's. */
export function creationsOf(elements: Iterable<JsonValue>): Creation[] {
  return [...elements].map((element) => {
    const { createdAt: _, ...creation } = creationOf(contentOf(element).createdEvent);
    return creation;
  });
}

export function creationOf(event: JsonObject, { stakeholders = [] }: PlayOptions = {}): Creation {
  const { contractId, templateId, packageName, createArgument, createdEventBlob, createdAt, ...more } =
    event as unknown as CreatedEvent;
  return {
    contractId,
    templateId,
    packageName,
    payload: createArgument,
    createdEventBlob,
    createdAt,
    signatories: more.signatories.length === 0 ? stakeholders : more.signatories,
    observers: more.observers,
    views: (more.interfaceViews ?? []).map(({ interfaceId, viewValue }) => {
      return { interfaceId, packageName: packageNameOf(interfaceId), value: viewValue };
    }),
  };
}

/** `splice-api-token-holding-v1` of `718a…:Splice.Api.Token.HoldingV1:Holding`: elements do not say it. */
const packageNameOf = (interfaceId: string): string =>
  (interfaceId.split(":")[1] ?? "")
    .replaceAll(/([a-z])([A-Z])/g, "$1-$2")
    .replaceAll(".", "-")
    .toLowerCase();
