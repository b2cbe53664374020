/**
 * The expected state of a scripted ledger: its contracts and their synchronizers. Computed from the script and
 * independent of the streaming code, so that tests can compare a mirror with it.
 */
import type { Change, Contract, Entry, Reassignment } from "./entries.js";

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
