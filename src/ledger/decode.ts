/** Decodes the elements of a participant's active contracts. */
import { readReassignmentCounter, requireBase64, requireObject, requireString } from "./json-fields.js";
import { shownOf, viewNamesIn, viewsText } from "./views.js";
import type { StoredContract, CountedOnly } from "../domain/contract.js";
import { type JsonObject, type JsonValue, parseLedgerTime } from "../util/json.js";
import type { KeptContracts } from "../domain/ledger.js";
import { SharedStrings } from "../domain/shared-strings.js";
import { combined, partsOf, type Template, unreadableTemplate } from "../domain/template.js";

export class Decoder {
  readonly #templates: ReadonlyMap<string, Template>;
  /** The templates that interfaces identify, in the order of the registry. */
  readonly #byInterface: readonly Template[];
  readonly #checksSigners: boolean;
  readonly #kept: KeptContracts;
  readonly #registrars: ReadonlySet<string>;
  #foreign = 0;
  #withViews = 0;
  /** Whether contracts need the signature of one of our registrars, and none is configured. */
  readonly lacksRegistrars: boolean;
  /** Whether the witnesses that events name are parties that we read as, not any. */
  hasOwnWitnesses = true;
  readonly #strings = new SharedStrings();

  constructor(templates: readonly Template[], kept: KeptContracts = {}) {
    const named = templates.filter(({ packageName }) => packageName !== "");
    this.#templates = new Map(
      named.map((template) => [templateKey(template.packageName, template.qualifiedName), template]),
    );
    this.#byInterface = templates.filter(({ packageName }) => packageName === "");
    this.#checksSigners = templates.some((template) => template.signerOf !== undefined);
    this.#kept = kept;
    this.#registrars = new Set(kept.registrars);
    this.lacksRegistrars = this.#checksSigners && this.#registrars.size === 0;
  }

  /** Counts from 0 again: a snapshot begins. */
  begin(): void {
    this.#foreign = 0;
    this.#withViews = 0;
  }

  /**
   * How many contracts, since a snapshot began, were left out because none of our registrars has signed them. Undefined where
   * signatures do not matter.
   */
  get foreign(): number | undefined {
    return this.#checksSigners ? this.#foreign : undefined;
  }

  /** How many contracts, since a snapshot began, have shown the view of an interface. */
  get withViews(): number {
    return this.#withViews;
  }

  /**
   * The state of the contract in an element, of which it may have several. Undefined for a contract that no rule needs. Throws
   * an Error that names an invalid field.
   */
  decode(element: JsonValue): StoredContract | CountedOnly | undefined {
    const entry = requireObject(requireObject(element, "the element").contractEntry, "contractEntry");
    const [form, value] = Object.entries(entry)[0] ?? [];
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
    const template = this.#templateOf(event);
    if (template === undefined) return undefined;
    // A foreign contract is no incident, even if its view fails.
    if (template.signerOf !== undefined && !this.#hasOwnSigner(event)) {
      this.#foreign++;
      return undefined;
    }
    // Views of a contract that is read by its arguments may be of any package.
    const readsViews = partsOf(template).some(({ interfaces = [] }) => interfaces.length > 0);
    const shown = readsViews ? shownOf(event, this.#strings) : undefined;
    const payload = this.#strings.shareIn(requireObject(event.createArgument, "createArgument")) as JsonObject;
    if (template.signerOf !== undefined && !this.#isSignedBy(template.signerOf(payload, shown), event)) {
      this.#foreign++;
      return undefined;
    }
    const parsed = template.parse(payload, shown);
    const isCounted = this.#kept.countsSupply === true || template.isCounted === true;
    const supply = isCounted ? template.supplyContribution?.(payload, shown) : undefined;
    const contractId = requireString(event, "contractId");
    if (parsed === undefined || (parsed.isOptional === true && !this.#keeps(template))) {
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
        views: shown === undefined ? "" : viewsText(template, shown, payload),
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

  /** Whether optional contracts of the template are stored. */
  #keeps({ isReadById = false }: Template): boolean {
    const { keepsOptional = false, keepsReadById = false } = this.#kept;
    return keepsOptional || (isReadById && keepsReadById);
  }

  /** Whether factories are read by the views that they show: without views nothing is served. */
  get readsViews(): boolean {
    return this.#byInterface.some(({ interfaces = [] }) => interfaces.some(({ kind }) => kind.endsWith("-factory")));
  }

  /** By its name, else by the interfaces that it shows. */
  #templateOf(event: JsonObject): Template | undefined {
    const named = this.#templates.get(readTemplateKey(event));
    if (named !== undefined || this.#byInterface.length === 0) return named;
    const shown = viewNamesIn(event);
    if (shown.size > 0) this.#withViews++;
    return combined(
      this.#byInterface.filter(({ interfaces = [] }) =>
        interfaces.some(({ qualifiedName }) => shown.has(qualifiedName)),
      ),
    );
  }

  /** Whether one of our registrars has signed it: a party that we read as, or that is configured. */
  #hasOwnSigner(event: JsonObject): boolean {
    return textsIn(event.signatories).some((party) => this.#isSignedBy(party, event));
  }

  #isSignedBy(registrar: string | undefined, { signatories, witnessParties }: JsonObject): boolean {
    if (registrar === undefined || !textsIn(signatories).includes(registrar)) return false;
    return this.#registrars.has(registrar) || (this.hasOwnWitnesses && textsIn(witnessParties).includes(registrar));
  }

  /**
   * What is kept of a contract that cannot be decoded: that it exists. Undefined if it does not say its id and its template,
   * or no rule needs it.
   */
  unreadable(created: JsonValue | undefined, reassignmentCounter = 0): StoredContract | undefined {
    try {
      const event = requireObject(created, "createdEvent");
      const template = this.#templateOf(event);
      if (template === undefined) return undefined;
      const parts = partsOf(template).map((one) => unreadableTemplate(one));
      return {
        fields: null,
        // There is a part at least.
        template: combined(parts) ?? template,
        synchronizerId: undefined,
        indexKeys: parts.map(({ indexKey }) => indexKey),
        supply: undefined,
        contractId: requireString(event, "contractId"),
        templateId: requireString(event, "templateId"),
        body: { payload: "{}", views: "", createdEventBlob: "", encodings: undefined },
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

/** Of the states of a contract that with the highest rank counts: the highest counter, then that on a synchronizer. */
export const rankOf = ({ reassignmentCounter, synchronizerId }: StoredContract | CountedOnly): number =>
  reassignmentCounter * 2 + (synchronizerId === undefined ? 0 : 1);

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

const textsIn = (value: JsonValue | undefined): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
