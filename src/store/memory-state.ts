import { ARCHIVED_KEPT, type Change, type Contract, type Kind, newestFirst } from "./store.js";

/** The contracts of one offset with their indexes, changed in place by updates. */
export class MemoryState {
  #offset: number;
  readonly #contracts = new Map<string, Contract>();
  /** Each list newest first. */
  readonly #byKey = new Map<string, Contract[]>();
  readonly #byKind = new Map<Kind, Set<Contract>>();
  /** In the order of archival, the oldest first. */
  readonly #archived = new Set<string>();

  /** Throws where a contract id appears twice. */
  constructor(contracts: Iterable<Contract>, offset: number) {
    this.#offset = offset;
    for (const contract of contracts) {
      if (this.#contracts.has(contract.contractId)) throw new Error(`contract ${contract.contractId} appears twice`);
      this.#contracts.set(contract.contractId, contract);
      this.#ofKind(contract.kind).add(contract);
      for (const key of contract.keys) append(this.#byKey, key, contract);
    }
    for (const list of this.#byKey.values()) list.sort(newestFirst);
  }

  get offset(): number {
    return this.#offset;
  }

  byId(contractId: string): Contract | undefined {
    return this.#contracts.get(contractId);
  }

  byKey(key: string): readonly Contract[] {
    return this.#byKey.get(key) ?? [];
  }

  ofKind(kind: Kind): readonly Contract[] {
    return [...(this.#byKind.get(kind) ?? [])];
  }

  wasArchived(contractId: string): boolean {
    return this.#archived.has(contractId);
  }

  /** Nothing is awaited between the first change and the last, so no reader runs between them. */
  apply(changes: readonly Change[], offset: number): void {
    if (offset <= this.#offset) return;
    for (const change of changes) this.#apply(change);
    this.#offset = offset;
  }

  #apply(change: Change): void {
    if ("archived" in change) {
      this.#remove(change.archived);
      this.#remember(change.archived);
    } else if ("unassigned" in change) {
      const known = this.#contracts.get(change.unassigned);
      // At the same counter the contract has arrived already, and this event is the older one.
      if (known === undefined || change.reassignmentCounter <= known.reassignmentCounter) return;
      const { reassignmentCounter } = change;
      this.#put({ ...known, synchronizerId: undefined, reassignmentCounter });
    } else {
      const known = this.#contracts.get(change.active.contractId);
      if (known === undefined || change.active.reassignmentCounter >= known.reassignmentCounter)
        this.#put(change.active);
    }
  }

  #put(contract: Contract): void {
    this.#remove(contract.contractId);
    this.#contracts.set(contract.contractId, contract);
    this.#ofKind(contract.kind).add(contract);
    for (const key of contract.keys) {
      const list = append(this.#byKey, key, contract);
      list.sort(newestFirst);
    }
  }

  #remove(contractId: string): void {
    const known = this.#contracts.get(contractId);
    if (known === undefined) return;
    this.#contracts.delete(contractId);
    this.#byKind.get(known.kind)?.delete(known);
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

  #ofKind(kind: Kind): Set<Contract> {
    const known = this.#byKind.get(kind);
    if (known !== undefined) return known;
    const made = new Set<Contract>();
    this.#byKind.set(kind, made);
    return made;
  }
}

function append(index: Map<string, Contract[]>, key: string, contract: Contract): Contract[] {
  const list = index.get(key) ?? [];
  list.push(contract);
  if (list.length === 1) index.set(key, list);
  return list;
}
