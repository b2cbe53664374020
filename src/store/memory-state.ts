import { anew } from "./anew.js";
import { RecentlyRead } from "./recently-read.js";
import {
  ARCHIVED_KEPT,
  type Census,
  type Change,
  type Contract,
  type Counted,
  isHeld,
  type Kind,
  newestFirst,
} from "./store.js";
import { Tallies } from "./tallies.js";

/** The contracts of one offset with their indexes, changed in place by updates. */
export class MemoryState {
  #offset: number;
  #asOf: number | undefined;
  readonly #contracts = new Map<string, Contract>();
  readonly #recent = new RecentlyRead();
  /** Each list newest first. A list is never changed, but replaced: readers may hold one. */
  readonly #byKey = new Map<string, readonly Contract[]>();
  readonly #byKind = new Map<Kind, Set<string>>();
  /** In the order of archival, the oldest first. */
  readonly #archived = new Set<string>();
  readonly #tallies = new Tallies();

  /** Throws where a contract id appears twice. */
  constructor(contracts: Iterable<Contract | Counted>, offset: number, asOf: number | undefined) {
    this.#offset = offset;
    this.#asOf = asOf;
    const lists = new Map<string, Contract[]>();
    for (const contract of contracts) {
      const { contractId } = contract;
      if (this.#contracts.has(contractId) || this.#tallies.isCounted(contractId)) {
        throw new Error(`contract ${contractId} appears twice`);
      }
      this.#tallies.add(contract);
      if (!isHeld(contract)) continue;
      this.#contracts.set(contractId, contract);
      this.#ofKind(contract.kind).add(contract.contractId);
      for (const key of contract.keys) append(lists, key, contract);
    }
    for (const [key, list] of lists) this.#byKey.set(key, list.toSorted(newestFirst));
  }

  get offset(): number {
    return this.#offset;
  }

  get asOf(): number | undefined {
    return this.#asOf;
  }

  census(): readonly Census[] {
    return this.#tallies.census();
  }

  sum(name: string): bigint {
    return this.#tallies.sum(name);
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

  ofKind(kind: Kind): readonly Contract[] {
    const found: Contract[] = [];
    for (const contractId of this.#byKind.get(kind) ?? []) {
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
    if (found.derived !== undefined || found.keys.length > 0) return found;
    const made = anew(found);
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
      this.#tallies.removeCounted(change.archived);
      this.#remember(change.archived);
    } else if ("unassigned" in change) {
      const known = this.#contracts.get(change.unassigned);
      // At the same counter the contract has arrived already, and this event is the older one.
      if (known === undefined || change.reassignmentCounter <= known.reassignmentCounter) return;
      this.#put(unassigned(known, change.reassignmentCounter));
    } else if (isHeld(change.active)) {
      const known = this.#contracts.get(change.active.contractId);
      if (known === undefined || change.active.reassignmentCounter >= known.reassignmentCounter)
        this.#put(change.active);
    } else if (!this.#tallies.isCounted(change.active.contractId)) {
      // Wherever it is assigned, it counts once.
      this.#tallies.add(change.active);
    }
  }

  #put(contract: Contract): void {
    this.#remove(contract.contractId);
    this.#tallies.add(contract);
    this.#contracts.set(contract.contractId, contract);
    this.#ofKind(contract.kind).add(contract.contractId);
    for (const key of contract.keys) {
      const list = this.#byKey.get(key) ?? [];
      const at = list.findIndex((other) => newestFirst(contract, other) < 0);
      this.#byKey.set(key, list.toSpliced(at === -1 ? list.length : at, 0, contract));
    }
  }

  #remove(contractId: string): void {
    const known = this.#contracts.get(contractId);
    if (known === undefined) return;
    this.#contracts.delete(contractId);
    this.#recent.forget(contractId);
    this.#tallies.remove(known);
    this.#byKind.get(known.kind)?.delete(contractId);
    for (const key of known.keys) {
      const list = (this.#byKey.get(key) ?? []).filter((contract) => contract !== known);
      if (list.length === 0) this.#byKey.delete(key);
      else this.#byKey.set(key, list);
    }
  }

  #remember(contractId: string): void {
    this.#archived.add(contractId);
    for (const oldest of this.#archived) {
      if (this.#archived.size <= ARCHIVED_KEPT) break;
      this.#archived.delete(oldest);
    }
  }

  #ofKind(kind: Kind): Set<string> {
    const known = this.#byKind.get(kind);
    if (known !== undefined) return known;
    const made = new Set<string>();
    this.#byKind.set(kind, made);
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
    facts: known.facts,
    kind: known.kind,
    synchronizerId: undefined,
    derived: undefined,
    keys: known.keys,
    share: known.share,
    contractId: known.contractId,
    templateId: known.templateId,
    payload: known.payload,
    createdEventBlob: known.createdEventBlob,
    createdAt: known.createdAt,
    createdMicros: known.createdMicros,
    reassignmentCounter,
  };
}
