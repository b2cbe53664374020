/** Decodes the elements of a participant's active contracts. Pure. */
import { readReassignmentCounter, requireBase64, requireObject, requireString } from "./json-fields.js";
import type { StoredContract, CountedOnly } from "../domain/contract.js";
import type { JsonObject, JsonValue } from "../domain/json.js";
import { parseLedgerTime } from "../domain/ledger-time.js";
import { SharedStrings } from "../domain/shared-strings.js";
import { type Template, unreadableTemplate } from "../domain/template.js";

/** The state of a contract in one element. Several elements may describe the same contract. */
export interface DecodedContract {
  readonly contract: StoredContract | CountedOnly;
  readonly offset: number;
}

export class Decoder {
  readonly #templates: ReadonlyMap<string, Template>;
  readonly #countsSupply: boolean;
  readonly #keepsOptional: boolean;
  readonly #strings = new SharedStrings();

  /**
   * With `countsSupply`, contracts that are not stored still contribute to the supply. With `keepsOptional`, contracts
   * that only some services need are stored.
   */
  constructor(templates: readonly Template[], countsSupply = false, keepsOptional = false) {
    this.#templates = new Map(
      templates.map((template) => [templateKey(template.packageName, template.qualifiedName), template]),
    );
    this.#countsSupply = countsSupply;
    this.#keepsOptional = keepsOptional;
  }

  /** Undefined for a contract that no rule needs. Throws an Error that names an invalid field. */
  decode(element: JsonValue): DecodedContract | undefined {
    const entry = requireObject(requireObject(element, "the element").contractEntry, "contractEntry");
    const [form, value] = Object.entries(entry)[0] ?? [];
    const contract = this.#decodeEntry(form, value);
    return contract === undefined ? undefined : { contract, offset: lastOffset(element) };
  }

  #decodeEntry(form: string | undefined, value: JsonValue | undefined): StoredContract | CountedOnly | undefined {
    switch (form) {
      case "JsEmpty":
        return undefined;
      case "JsActiveContract": {
        const active = requireObject(value, form);
        const synchronizerId = requireString(active, "synchronizerId");
        return this.decodeCreatedEvent(active.createdEvent, synchronizerId, readReassignmentCounter(active));
      }
      case "JsIncompleteUnassigned": {
        const incomplete = requireObject(value, form);
        const event = requireObject(incomplete.unassignedEvent, "unassignedEvent");
        return this.decodeCreatedEvent(incomplete.createdEvent, undefined, readReassignmentCounter(event));
      }
      case "JsIncompleteAssigned": {
        // The contract is arriving. It may not be active on the target yet.
        const event = requireObject(requireObject(value, form).assignedEvent, "assignedEvent");
        return this.decodeCreatedEvent(event.createdEvent, undefined, readReassignmentCounter(event));
      }
      default:
        throw new Error(
          `contractEntry must be one of JsActiveContract, JsIncompleteUnassigned, JsIncompleteAssigned, JsEmpty, ` +
            `but is ${form ?? "empty"}`,
        );
    }
  }

  /** No synchronizer: in reassignment. A contract that no rule needs is reduced to its supply contribution, if any. */
  decodeCreatedEvent(
    created: JsonValue | undefined,
    synchronizerId: string | undefined,
    reassignmentCounter: number,
  ): StoredContract | CountedOnly | undefined {
    const event = requireObject(created, "createdEvent");
    const template = this.#templates.get(readTemplateKey(event));
    if (template === undefined) return undefined;
    const payload = this.#strings.shareIn(requireObject(event.createArgument, "createArgument")) as JsonObject;
    const parsed = template.parse(payload);
    const supply = this.#countsSupply ? template.supplyContribution?.(payload) : undefined;
    const contractId = requireString(event, "contractId");
    if (parsed === undefined || (parsed.isOptional === true && !this.#keepsOptional)) {
      return supply === undefined ? undefined : { contractId, synchronizerId, reassignmentCounter, supply };
    }
    const createdAt = requireString(event, "createdAt");
    // No spread: V8 gives a literal that begins with one its own hidden class, which slows down every reader.
    return {
      fields: parsed.fields,
      template,
      synchronizerId: synchronizerId === undefined ? undefined : this.#strings.share(synchronizerId),
      indexKeys: parsed.indexKeys,
      supply,
      contractId,
      templateId: this.#strings.share(requireString(event, "templateId")),
      body: {
        payload: JSON.stringify(payload),
        createdEventBlob: requireBase64(
          event,
          "createdEventBlob",
          "request it from the participant with includeCreatedEventBlob",
        ),
        encodings: undefined,
      },
      createdAt,
      createdMicros: parseLedgerTime(createdAt),
      reassignmentCounter,
    };
  }

  /**
   * What is kept of a contract that cannot be decoded: that it exists. Undefined if it does not say its id and its template,
   * or no rule needs it.
   */
  unreadable(created: JsonValue | undefined, reassignmentCounter = 0): StoredContract | undefined {
    try {
      const event = requireObject(created, "createdEvent");
      const template = this.#templates.get(readTemplateKey(event));
      if (template === undefined) return undefined;
      const unreadable = unreadableTemplate(template);
      return {
        fields: null,
        template: unreadable,
        synchronizerId: undefined,
        indexKeys: [unreadable.indexKey],
        supply: undefined,
        contractId: requireString(event, "contractId"),
        templateId: requireString(event, "templateId"),
        body: { payload: "{}", createdEventBlob: "", encodings: undefined },
        createdAt: "",
        createdMicros: 0,
        reassignmentCounter,
      };
    } catch {
      return undefined;
    }
  }
}

/** The highest offset of the events in an element; 0 if it has none. */
export function lastOffset(element: JsonValue): number {
  if (typeof element !== "object" || element === null) return 0;
  const { offset = 0 } = element as JsonObject;
  let last = typeof offset === "number" ? offset : 0;
  for (const name of EVENT_FIELDS) last = Math.max(last, lastOffset((element as JsonObject)[name] ?? null));
  return last;
}

const EVENT_FIELDS = [
  "contractEntry",
  "JsActiveContract",
  "JsIncompleteUnassigned",
  "JsIncompleteAssigned",
  "createdEvent",
  "unassignedEvent",
  "assignedEvent",
];

/** The state with the higher counter, else the assigned one. Undefined if both are assigned: an invalid snapshot. */
export function laterState(a: DecodedContract, b: DecodedContract): DecodedContract | undefined {
  const rank = ({ contract }: DecodedContract) =>
    contract.reassignmentCounter * 2 + (contract.synchronizerId === undefined ? 0 : 1);
  if (rank(a) === rank(b)) return a.contract.synchronizerId === undefined ? a : undefined;
  return rank(a) > rank(b) ? a : b;
}

/** The template of an event's contract; undefined if it is not in the list. Throws as `decode` does. */
export function findTemplate(event: JsonObject, templates: readonly Template[]): Template | undefined {
  const key = readTemplateKey(event);
  return templates.find(({ packageName, qualifiedName }) => templateKey(packageName, qualifiedName) === key);
}

function readTemplateKey(event: JsonObject): string {
  const templateId = requireString(event, "templateId");
  const [packageId, module, entity, ...rest] = templateId.split(":");
  if (!packageId || !module || !entity || rest.length > 0) {
    throw new Error(`templateId must be packageId:Module:Entity, but is ${templateId}`);
  }
  return templateKey(requireString(event, "packageName"), `${module}:${entity}`);
}

/** By package name: package ids change with every upgrade. */
const templateKey = (packageName: string, qualifiedName: string): string => `${packageName}#${qualifiedName}`;
