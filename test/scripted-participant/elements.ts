/** Loads elements of active contracts, as in a snapshot file, into a scripted ledger. */
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import type { Creation, ScriptedLedger } from "./ledger.js";
import { array, object, text } from "./requests.js";

interface PlayOptions {
  /** Stakeholders of contracts whose elements name none. Without them such a contract is invisible. */
  readonly stakeholders?: readonly string[];
}

/**
 * Creates the contracts of the elements, with their ids, blobs and times, one transaction each. Contracts in
 * reassignment are created and unassigned.
 */
export function play(ledger: ScriptedLedger, elements: Iterable<JsonValue>, options: PlayOptions = {}): void {
  for (const element of elements) {
    const entry = object(object(element, "element").contractEntry, "contractEntry");
    const active = entry.JsActiveContract ?? entry.JsIncompleteUnassigned;
    if (active === undefined) throw new Error("only active and unassigned contracts can be played");
    const { createdEvent, synchronizerId, unassignedEvent } = object(active, "element");
    const creation = creationOf(object(createdEvent, "createdEvent"), options);
    if (unassignedEvent === undefined) {
      ledger.transact([{ create: creation }], { synchronizerId: text(synchronizerId, "synchronizerId") });
    } else {
      const { source, target } = object(unassignedEvent, "unassignedEvent");
      ledger.transact([{ create: creation }], { synchronizerId: text(source, "source") });
      ledger.unassign(creation.contractId, text(target, "target"));
    }
  }
}

/** Reads contracts to create now: the time of the transaction replaces the element's. */
export function creationsOf(elements: Iterable<JsonValue>): Creation[] {
  return [...elements].map((element) => {
    const active = object(
      object(object(element, "element").contractEntry, "contractEntry").JsActiveContract,
      "element",
    );
    const { createdAt: _, ...creation } = creationOf(object(active.createdEvent, "createdEvent"));
    return creation;
  });
}

export function creationOf(event: JsonObject, { stakeholders = [] }: PlayOptions = {}): Creation {
  const parties = (name: string) => array(event[name], name).map((party) => text(party, name));
  const signatories = parties("signatories");
  return {
    contractId: text(event.contractId, "contractId"),
    templateId: text(event.templateId, "templateId"),
    packageName: text(event.packageName, "packageName"),
    payload: object(event.createArgument, "createArgument"),
    createdEventBlob: text(event.createdEventBlob, "createdEventBlob"),
    createdAt: text(event.createdAt, "createdAt"),
    signatories: signatories.length === 0 ? stakeholders : signatories,
    observers: parties("observers"),
    views: array(event.interfaceViews ?? [], "interfaceViews").map((one) => {
      const { interfaceId, viewValue } = object(one, "interfaceViews");
      const id = text(interfaceId, "interfaceId");
      return { interfaceId: id, packageName: packageNameOf(id), value: object(viewValue, "viewValue") };
    }),
  };
}

/** `splice-api-token-holding-v1` of `718a…:Splice.Api.Token.HoldingV1:Holding`: elements do not say it. */
const packageNameOf = (interfaceId: string): string =>
  (interfaceId.split(":")[1] ?? "")
    .replaceAll(/([a-z])([A-Z])/g, "$1-$2")
    .replaceAll(".", "-")
    .toLowerCase();
