/**
 * Elements of a participant's active contracts -> contracts of the store. Pure.
 * The page "Where the contracts come from" lists the forms of an element.
 */
import { StringInterner } from "./string-interner.js";
import type { Contract, CountedOnly } from "../domain/contract.js";
import type { JsonObject, JsonValue } from "../domain/json.js";
import { parseLedgerTime } from "../domain/ledger-time.js";
import type { Template } from "../domain/template.js";

/** What one element says of a contract. Several may speak of the same contract. */
export interface DecodedContract {
  readonly contract: Contract | CountedOnly;
  /** Offset of the event that the element tells of. */
  readonly offset: number;
}

/** Decodes elements into contracts of the kinds it is made with. */
export class Decoder {
  readonly #templates: ReadonlyMap<string, Template>;
  readonly #counting: boolean;
  readonly #texts = new StringInterner();

  /** `counting`: whether contracts are counted, also those that their kind does not keep. */
  constructor(templates: readonly Template[], counting = false) {
    this.#templates = new Map(
      templates.map((template) => [nameOf(template.packageName, template.qualifiedName), template]),
    );
    this.#counting = counting;
  }

  /**
   * Returns undefined for what no rule needs: another kind of contract, or one
   * that its kind does not keep. Throws an Error that names the field where the
   * element is not of the documented form.
   */
  decode(element: JsonValue): DecodedContract | undefined {
    const entry = object(object(element, "the element").contractEntry, "contractEntry");
    const [form, value] = Object.entries(entry)[0] ?? [];
    const contract = this.#decodeEntry(form, value);
    return contract === undefined ? undefined : { contract, offset: offsetOf(element) };
  }

  #decodeEntry(form: string | undefined, value: JsonValue | undefined): Contract | CountedOnly | undefined {
    switch (form) {
      case "JsEmpty":
        return undefined;
      case "JsActiveContract": {
        const active = object(value, form);
        return this.contract(active.createdEvent, text(active, "synchronizerId"), counter(active));
      }
      case "JsIncompleteUnassigned": {
        const incomplete = object(value, form);
        const event = object(incomplete.unassignedEvent, "unassignedEvent");
        return this.contract(incomplete.createdEvent, undefined, counter(event));
      }
      case "JsIncompleteAssigned": {
        // Arriving, which is no proof that it is active on the target yet.
        const event = object(object(value, form).assignedEvent, "assignedEvent");
        return this.contract(event.createdEvent, undefined, counter(event));
      }
      default:
        throw new Error(
          `contractEntry has to be one of JsActiveContract, JsIncompleteUnassigned, JsIncompleteAssigned, JsEmpty, ` +
            `and is ${form ?? "empty"}`,
        );
    }
  }

  /**
   * The contract of a created event, on a synchronizer or between two; no more
   * than its share where no rule needs it, and undefined where nothing is counted
   * either. Throws as `decode` does.
   */
  contract(
    created: JsonValue | undefined,
    synchronizerId: string | undefined,
    reassignmentCounter: number,
  ): Contract | CountedOnly | undefined {
    const event = object(created, "createdEvent");
    const template = this.#templates.get(kindName(event));
    if (template === undefined) return undefined;
    const payload = this.#texts.internAll(object(event.createArgument, "createArgument"));
    const parsed = template.parse(payload);
    const supply = this.#counting ? template.supplyContribution?.(payload) : undefined;
    const contractId = text(event, "contractId");
    if (parsed === undefined) {
      return supply === undefined ? undefined : { contractId, synchronizerId, reassignmentCounter, supply };
    }
    const createdAt = text(event, "createdAt");
    // Each field by its name: V8 gives an object that begins with a spread a hidden class of its own, and what reads many
    // such objects is slow.
    return {
      fields: parsed.fields,
      template,
      synchronizerId: synchronizerId === undefined ? undefined : this.#texts.intern(synchronizerId),
      slots: undefined,
      indexKeys: parsed.indexKeys,
      supply,
      contractId,
      templateId: this.#texts.intern(text(event, "templateId")),
      payload: JSON.stringify(payload),
      createdEventBlob: text(event, "createdEventBlob", "ask the participant with includeCreatedEventBlob"),
      createdAt,
      createdMicros: parseLedgerTime(createdAt),
      reassignmentCounter,
    };
  }
}

/** The highest offset of the events that an element tells of; 0 where it tells none. */
export function offsetOf(element: JsonValue): number {
  if (typeof element !== "object" || element === null) return 0;
  const own = Array.isArray(element) ? 0 : element.offset;
  // Events lie at most three objects deep; what they hold besides is not looked at.
  const inner = Object.entries(element)
    .filter(([name]) => EVENTS.has(name))
    .map(([, value]) => offsetOf(value));
  return Math.max(typeof own === "number" ? own : 0, ...inner);
}

/** The names under which an element leads to its events. */
const EVENTS = new Set([
  "contractEntry",
  "JsActiveContract",
  "JsIncompleteUnassigned",
  "JsIncompleteAssigned",
  "createdEvent",
  "unassignedEvent",
  "assignedEvent",
]);

/**
 * Which of two elements on the same contract tells its state: the later one by
 * reassignment counter, and at the same counter the one that says it arrived.
 * Undefined where both say the same, which no snapshot should.
 */
export function laterState(a: DecodedContract, b: DecodedContract): DecodedContract | undefined {
  const rank = ({ contract }: DecodedContract) =>
    contract.reassignmentCounter * 2 + (contract.synchronizerId === undefined ? 0 : 1);
  if (rank(a) === rank(b)) return a.contract.synchronizerId === undefined ? a : undefined;
  return rank(a) > rank(b) ? a : b;
}

/** The kind of the contract that an event is about; undefined where it is none of these. Throws as `decode` does. */
export function templateOf(event: JsonObject, templates: readonly Template[]): Template | undefined {
  const name = kindName(event);
  return templates.find(({ packageName, qualifiedName }) => nameOf(packageName, qualifiedName) === name);
}

/** Package name and entity: package ids change with every upgrade. */
function kindName(event: JsonObject): string {
  const templateId = text(event, "templateId");
  const [packageId, module, entity, ...rest] = templateId.split(":");
  if (!packageId || !module || !entity || rest.length > 0) {
    throw new Error(`templateId has to be packageId:Module:Entity, and is ${templateId}`);
  }
  return nameOf(text(event, "packageName"), `${module}:${entity}`);
}

const nameOf = (packageName: string, entity: string): string => `${packageName}#${entity}`;

/** Throws an Error that names the field where the value is no object. */
export function object(value: JsonValue | undefined, name: string): JsonObject {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new Error(`${name} has to be an object, and ${value === undefined ? "is missing" : "is not one"}`);
}

/** Throws an Error that names the field where it is no text, or empty. */
export function text(from: JsonObject, name: string, advice?: string): string {
  const value = from[name];
  if (typeof value === "string" && value !== "") return value;
  const found = value === undefined ? "is missing" : value === "" ? "is empty" : "is not one";
  throw new Error(`${name} has to be a string, and ${found}${advice === undefined ? "" : `: ${advice}`}`);
}

/** The reassignment counter of an event; 0 where it has none. */
export function counter(from: JsonObject): number {
  const value = from.reassignmentCounter ?? 0;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`reassignmentCounter has to be a whole number, and is ${JSON.stringify(value)}`);
}
