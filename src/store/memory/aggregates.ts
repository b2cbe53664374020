import { type Contract, type CountedOnly, isStored, packageIdOf } from "../../domain/contract.js";
import type { SupplyContribution } from "../../domain/template.js";
import type { TemplateCount } from "../port.js";

/** What is counted over all contracts of a state: how many there are of each package, and sums. */
export class Aggregates {
  readonly #templateCounts = new Map<string, TemplateCount>();
  readonly #sums = new Map<string, bigint>();
  /** The shares of contracts that are not held, by contract id. */
  readonly #counted = new Map<string, SupplyContribution>();

  templateCounts(): readonly TemplateCount[] {
    return [...this.#templateCounts.values()];
  }

  sum(name: string): bigint {
    return this.#sums.get(name) ?? 0n;
  }

  isCounted(contractId: string): boolean {
    return this.#counted.has(contractId);
  }

  /** The contract must not be in already. */
  add(contract: Contract | CountedOnly): void {
    const { supply } = contract;
    if (isStored(contract)) this.#count(contract, 1);
    else this.#counted.set(contract.contractId, contract.supply);
    if (supply !== undefined) this.#sums.set(supply.sum, this.sum(supply.sum) + supply.amount);
  }

  /** Takes back what a contract that was held has added. */
  remove(contract: Contract): void {
    this.#count(contract, -1);
    if (contract.supply !== undefined) this.#subtract(contract.supply);
  }

  /** Takes back what a contract that was only counted has added; of no effect for any other. */
  removeCounted(contractId: string): void {
    const share = this.#counted.get(contractId);
    if (share === undefined) return;
    this.#counted.delete(contractId);
    this.#subtract(share);
  }

  #subtract({ sum, amount }: SupplyContribution): void {
    const left = this.sum(sum) - amount;
    if (left === 0n) this.#sums.delete(sum);
    else this.#sums.set(sum, left);
  }

  #count({ template, templateId }: Contract, by: 1 | -1): void {
    const packageId = packageIdOf(templateId);
    const name = `${packageId} ${template.packageName} ${template.qualifiedName}`;
    const count = (this.#templateCounts.get(name)?.count ?? 0) + by;
    if (count === 0) this.#templateCounts.delete(name);
    else this.#templateCounts.set(name, { template, packageId, count });
  }
}
