import { type Census, type Contract, type Counted, isHeld, packageIdOf, type Share } from "./store.js";

/** What is counted over all contracts of a state: how many there are of each package, and sums. */
export class Tallies {
  readonly #census = new Map<string, Census>();
  readonly #sums = new Map<string, bigint>();
  /** The shares of contracts that are not held, by contract id. */
  readonly #counted = new Map<string, Share>();

  census(): readonly Census[] {
    return [...this.#census.values()];
  }

  sum(name: string): bigint {
    return this.#sums.get(name) ?? 0n;
  }

  isCounted(contractId: string): boolean {
    return this.#counted.has(contractId);
  }

  /** The contract must not be in already. */
  add(contract: Contract | Counted): void {
    const { share } = contract;
    if (isHeld(contract)) this.#count(contract, 1);
    else this.#counted.set(contract.contractId, contract.share);
    if (share !== undefined) this.#sums.set(share.sum, this.sum(share.sum) + share.amount);
  }

  /** Takes back what a contract that was held has added. */
  remove(contract: Contract): void {
    this.#count(contract, -1);
    if (contract.share !== undefined) this.#subtract(contract.share);
  }

  /** Takes back what a contract that was only counted has added; of no effect for any other. */
  removeCounted(contractId: string): void {
    const share = this.#counted.get(contractId);
    if (share === undefined) return;
    this.#counted.delete(contractId);
    this.#subtract(share);
  }

  #subtract({ sum, amount }: Share): void {
    const left = this.sum(sum) - amount;
    if (left === 0n) this.#sums.delete(sum);
    else this.#sums.set(sum, left);
  }

  #count({ kind, templateId }: Contract, by: 1 | -1): void {
    const packageId = packageIdOf(templateId);
    const name = `${packageId} ${kind.packageName} ${kind.entity}`;
    const count = (this.#census.get(name)?.count ?? 0) + by;
    if (count === 0) this.#census.delete(name);
    else this.#census.set(name, { kind, packageId, count });
  }
}
