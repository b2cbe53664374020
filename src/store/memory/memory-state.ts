import { compactClone } from "./compact-clone.js";
import { HotContractCache } from "./hot-contract-cache.js";
import type { Change } from "../../domain/change.js";
import { type Contract, type CountedOnly, isStored, newestFirst } from "../../domain/contract.js";
import type { Template } from "../../domain/template.js";
import { MAX_ARCHIVED_IDS, type TemplateCount } from "../port.js";
import { Aggregates } from "./aggregates.js";

/** The contracts of one offset with their indexes, changed in place by updates. */
export class MemoryState {
  #offset: number;
  #asOf: number | undefined;
  readonly #contracts = new Map<string, Contract>();
  readonly #recent = new HotContractCache();
  /** Each list newest first. A list is never changed, but replaced: readers may hold one. */
  readonly #byKey = new Map<string, readonly Contract[]>();
  readonly #byKind = new Map<Template, Set<string>>();
  /** In the order of archival, the oldest first. */
  readonly #archived = new Set<string>();
  readonly #aggregates = new Aggregates();

  /** Throws where a contract id appears twice. */
  constructor(contracts: Iterable<Contract | CountedOnly>, offset: number, asOf: number | undefined) {
    this.#offset = offset;
    this.#asOf = asOf;
    const lists = new Map<string, Contract[]>();
    for (const contract of contracts) {
      const { contractId } = contract;
      if (this.#contracts.has(contractId) || this.#aggregates.isCounted(contractId)) {
        throw new Error(`contract ${contractId} appears twice`);
      }
      this.#aggregates.add(contract);
      if (!isStored(contract)) continue;
      this.#contracts.set(contractId, contract);
      this.#ofKind(contract.template).add(contract.contractId);
      for (const key of contract.indexKeys) append(lists, key, contract);
    }
    for (const [key, list] of lists) this.#byKey.set(key, list.toSorted(newestFirst));
  }

  get offset(): number {
    return this.#offset;
  }

  get asOf(): number | undefined {
    return this.#asOf;
  }

  templateCounts(): readonly TemplateCount[] {
    return this.#aggregates.templateCounts();
  }

  sum(name: string): bigint {
    return this.#aggregates.sum(name);
  }

  /** `mayMakeAnew`: see `#given`. */
  byId(contractId: string, mayMakeAnew: boolean): Contract | undefined {
    const recent = this.#recent.get(contractId);
    if (recent !== undefined) return recent;
    const found = this.#contracts.get(contractId);
    if (found === undefined) return undefined;
    const given = mayMakeAnew ? this.#given(found) : found;
    this.#recent.add(given);
    return given;
  }

  byKey(key: string): readonly Contract[] {
    return this.#byKey.get(key) ?? [];
  }

  byTemplate(template: Template): readonly Contract[] {
    const found: Contract[] = [];
    for (const contractId of this.#byKind.get(template) ?? []) {
      const contract = this.#contracts.get(contractId);
      if (contract === undefined) throw new Error(`contract ${contractId} is listed under its kind, and is not held`);
      found.push(contract);
    }
    return found;
  }

  wasArchived(contractId: string): boolean {
    return this.#archived.has(contractId);
  }

  /**
   * The contract as it is given from now on: made anew once, unless it also stands in lists. Whether it was is seen by its list of what
   * is derived. Not to be called in a reading that may have got the contract already.
   */
  #given(found: Contract): Contract {
    if (found.slots !== undefined || found.indexKeys.length > 0) return found;
    const made = compactClone(found);
    this.#contracts.set(found.contractId, made);
    return made;
  }

  /** Nothing is awaited between the first change and the last, so no reader runs between them. */
  apply(changes: readonly Change[], offset: number, asOf: number | undefined): void {
    if (offset <= this.#offset) return;
    for (const change of changes) this.#apply(change);
    this.#offset = offset;
    this.#asOf = asOf ?? this.#asOf;
  }

  #apply(change: Change): void {
    if ("archived" in change) {
      this.#remove(change.archived);
      this.#aggregates.removeCounted(change.archived);
      this.#remember(change.archived);
    } else if ("unassigned" in change) {
      const known = this.#contracts.get(change.unassigned);
      // At the same counter the contract has arrived already, and this event is the older one.
      if (known === undefined || change.reassignmentCounter <= known.reassignmentCounter) return;
      this.#put(unassigned(known, change.reassignmentCounter));
    } else if (isStored(change.active)) {
      const known = this.#contracts.get(change.active.contractId);
      if (known === undefined || change.active.reassignmentCounter >= known.reassignmentCounter)
        this.#put(change.active);
    } else if (!this.#aggregates.isCounted(change.active.contractId)) {
      // Wherever it is assigned, it counts once.
      this.#aggregates.add(change.active);
    }
  }

  #put(contract: Contract): void {
    this.#remove(contract.contractId);
    this.#aggregates.add(contract);
    this.#contracts.set(contract.contractId, contract);
    this.#ofKind(contract.template).add(contract.contractId);
    for (const key of contract.indexKeys) {
      const list = this.#byKey.get(key) ?? [];
      const at = list.findIndex((other) => newestFirst(contract, other) < 0);
      this.#byKey.set(key, list.toSpliced(at === -1 ? list.length : at, 0, contract));
    }
  }

  #remove(contractId: string): void {
    const known = this.#contracts.get(contractId);
    if (known === undefined) return;
    this.#contracts.delete(contractId);
    this.#recent.delete(contractId);
    this.#aggregates.remove(known);
    this.#byKind.get(known.template)?.delete(contractId);
    for (const key of known.indexKeys) {
      const list = (this.#byKey.get(key) ?? []).filter((contract) => contract !== known);
      if (list.length === 0) this.#byKey.delete(key);
      else this.#byKey.set(key, list);
    }
  }

  #remember(contractId: string): void {
    this.#archived.add(contractId);
    for (const oldest of this.#archived) {
      if (this.#archived.size <= MAX_ARCHIVED_IDS) break;
      this.#archived.delete(oldest);
    }
  }

  #ofKind(template: Template): Set<string> {
    const known = this.#byKind.get(template);
    if (known !== undefined) return known;
    const made = new Set<string>();
    this.#byKind.set(template, made);
    return made;
  }
}

function append(lists: Map<string, Contract[]>, key: string, contract: Contract): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [contract]);
  else list.push(contract);
}

/** The contract between two synchronizers. Its fields are named for the sake of speed; see decode.ts. */
function unassigned(known: Contract, reassignmentCounter: number): Contract {
  return {
    fields: known.fields,
    template: known.template,
    synchronizerId: undefined,
    slots: undefined,
    indexKeys: known.indexKeys,
    supply: known.supply,
    contractId: known.contractId,
    templateId: known.templateId,
    payload: known.payload,
    createdEventBlob: known.createdEventBlob,
    createdAt: known.createdAt,
    createdMicros: known.createdMicros,
    reassignmentCounter,
  };
}
