/** The log of a scripted ledger, one entry per update, and the contracts that follow from it. */
import { EventEmitter } from "node:events";
import type { JsonObject, JsonValue } from "../../src/util/json.js";

export interface Contract {
  readonly contractId: string;
  /** `packageId:Module:Entity`. */
  readonly templateId: string;
  readonly packageName: string;
  readonly payload: JsonObject;
  /** Base64. */
  readonly createdEventBlob: string;
  readonly signatories: readonly string[];
  readonly observers: readonly string[];
  readonly createdAt: string;
  /** Its views, of the interfaces that it implements. */
  readonly views?: readonly View[] | undefined;
}

export interface View {
  /** `packageId:Module:Interface`. */
  readonly interfaceId: string;
  readonly packageName: string;
  readonly value: JsonObject;
  /** The message of the template's own failure, which takes the place of the view. */
  readonly failure?: string;
}

export interface Reassignment {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly counter: number;
  /** The participant is not connected to the source: it never sees the unassignment. */
  readonly fromAfar: boolean;
}

export interface Exercised {
  readonly choice: string;
  readonly argument: JsonValue;
  readonly result: JsonValue;
  readonly actors: readonly string[];
  /** Node id of its last descendant; its own if it has none. */
  readonly lastNodeId: number;
}

/** What the ledger effects of a transaction show in addition to its ACS delta. */
interface Effect {
  /** Stakeholders, actors, and the witnesses of every parent choice. */
  readonly seenBy: readonly string[];
  /** The contract is created and archived in one transaction, so the ACS delta omits it. */
  readonly isTransient: boolean;
}

/** What an update did to one contract. `nodeId` is its position in the update. */
export type Change = { readonly contract: Contract; readonly nodeId: number } & (
  | ({ readonly type: "create" } & Effect)
  /** "exercise" is a non-consuming choice. */
  | ({ readonly type: "archive" | "exercise"; readonly exercised: Exercised } & Effect)
  | { readonly type: "unassign" | "assign"; readonly reassignment: Reassignment }
);

export interface Entry {
  readonly form: "transaction" | "reassignment" | "topology" | "checkpoint";
  readonly offset: number;
  /** A participant takes further offsets for a transaction, which no stream shows. */
  readonly lastOffset: number;
  readonly updateId: string;
  readonly time: string;
  readonly synchronizerId: string;
  readonly changes: readonly Change[];
}

export class UpdateLog {
  readonly #events = new EventEmitter<{ appended: []; restored: [] }>().setMaxListeners(0);
  #entries: Entry[] = [];
  #pruned = 0;

  get end(): number {
    return this.last?.lastOffset ?? 0;
  }

  get last(): Entry | undefined {
    return this.#entries.at(-1);
  }

  get pruned(): number {
    return this.#pruned;
  }

  append(entry: Entry): void {
    this.#entries.push(entry);
    this.#events.emit("appended");
  }

  /** Marks entries up to and including an offset as pruned for clients. The log keeps them. */
  prune(upTo: number): void {
    if (upTo <= this.#pruned || upTo > this.end) throw new Error(`cannot prune up to ${upTo}`);
    this.#pruned = upTo;
  }

  /** Removes all entries after an offset, which must be one that an entry took, or 0. */
  restore(to: number): void {
    const last = this.#entries[this.#indexAfter(to) - 1];
    if (to < this.#pruned || to > (last?.lastOffset ?? 0)) throw new Error(`cannot go back to ${to}`);
    this.#entries.length = this.#indexAfter(to);
    this.#events.emit("restored");
  }

  /** Removes everything. */
  clear(): void {
    this.#entries = [];
    this.#pruned = 0;
    this.#events.emit("restored");
  }

  at(offset: number): Entry | undefined {
    const entry = this.#entries[this.#indexAfter(offset) - 1];
    return entry?.offset === offset ? entry : undefined;
  }

  /** At most `max` entries after an offset, up to and including another. */
  between(after: number, upTo = Number.POSITIVE_INFINITY, max = Number.POSITIVE_INFINITY): readonly Entry[] {
    const from = this.#indexAfter(after);
    return this.#entries.slice(from, Math.min(this.#indexAfter(upTo), from + max));
  }

  /** Calls the first listener after every entry, the second after every restore. Returns a function that removes both. */
  listen(appended: () => void, restored: () => void): () => void {
    this.#events.on("appended", appended).on("restored", restored);
    return () => void this.#events.off("appended", appended).off("restored", restored);
  }

  #indexAfter(offset: number): number {
    let [low, high] = [0, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#entries[middle]?.offset ?? 0) > offset) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

export interface ContractState extends Contract {
  /** Undefined while the contract is in reassignment. */
  readonly synchronizerId: string | undefined;
  readonly reassignmentCounter: number;
}

/** A reassignment with one event so far: unassigned, or assigned before the unassignment was seen. */
export interface Half {
  readonly seen: "leaving" | "arriving";
  readonly reassignment: Reassignment;
}

export class ContractStates {
  readonly #contracts = new Map<string, ContractState>();
  readonly #halves = new Map<string, Half>();

  get contracts(): ReadonlyMap<string, ContractState> {
    return this.#contracts;
  }

  half(contractId: string): Half | undefined {
    return this.#halves.get(contractId);
  }

  /** Applies an entry. Offsets must ascend. */
  apply({ changes, synchronizerId }: Entry): void {
    for (const change of changes) this.#apply(change, synchronizerId);
  }

  #apply(change: Change, synchronizerId: string): void {
    const { contract } = change;
    const { contractId } = contract;
    if (change.type === "create") {
      this.#contracts.set(contractId, { ...contract, synchronizerId, reassignmentCounter: 0 });
    } else if (change.type === "archive") {
      this.#contracts.delete(contractId);
    } else if ("reassignment" in change) {
      const { counter, target, fromAfar } = change.reassignment;
      const isLate = this.#halves.get(contractId)?.seen === "arriving";
      const isWhole = this.#halves.delete(contractId) || fromAfar;
      if (!isWhole) {
        const seen = change.type === "assign" ? "arriving" : "leaving";
        this.#halves.set(contractId, { seen, reassignment: change.reassignment });
      }
      // After a late unassignment the contract stays on its target.
      if (isLate) return;
      const now = change.type === "assign" ? target : undefined;
      this.#contracts.set(contractId, { ...contract, synchronizerId: now, reassignmentCounter: counter });
    }
  }
}
