/**
 * The plain truth of a scripted ledger: which contracts there are, and where.
 * It is kept from the script itself and shares nothing with the code that
 * streams, so that a mirror can be compared with it.
 */
import type { Change, Contract, Entry, Reassignment } from "./entries.js";

export interface Truth extends Contract {
  /** Undefined while it is between synchronizers. */
  readonly synchronizerId: string | undefined;
  /** 0 until it is reassigned first. */
  readonly reassignmentCounter: number;
}

/** A reassignment of which one half has been seen: the contract left, or it has arrived without being seen to leave. */
export interface Half {
  readonly seen: "leaving" | "arriving";
  readonly reassignment: Reassignment;
}

export class Truths {
  readonly #contracts = new Map<string, Truth>();
  readonly #halves = new Map<string, Half>();

  get contracts(): ReadonlyMap<string, Truth> {
    return this.#contracts;
  }

  /** What is half done with a contract, if anything is. */
  half(contractId: string): Half | undefined {
    return this.#halves.get(contractId);
  }

  /** Takes an entry into account. They have to come in the order of their offsets. */
  apply({ changes, synchronizerId }: Entry): void {
    for (const change of changes) this.#apply(change, synchronizerId);
  }

  #apply(change: Change, synchronizerId: string): void {
    const { contract } = change;
    const { contractId } = contract;
    if (change.did === "create") {
      this.#contracts.set(contractId, { ...contract, synchronizerId, reassignmentCounter: 0 });
    } else if (change.did === "archive") {
      this.#contracts.delete(contractId);
    } else if ("reassignment" in change) {
      const { counter, target, fromAfar } = change.reassignment;
      const isLate = this.#halves.get(contractId)?.seen === "arriving";
      const isWhole = this.#halves.delete(contractId) || fromAfar;
      if (!isWhole) {
        const seen = change.did === "assign" ? "arriving" : "leaving";
        this.#halves.set(contractId, { seen, reassignment: change.reassignment });
      }
      // A contract that is seen leaving late is where it has arrived.
      if (isLate) return;
      const now = change.did === "assign" ? target : undefined;
      this.#contracts.set(contractId, { ...contract, synchronizerId: now, reassignmentCounter: counter });
    }
  }
}
