import { type Contract, type CountedOnly, isStored, packageIdOf } from "../../domain/contract.js";
import type { SupplyContribution } from "../../domain/template.js";
import type { TemplateCount } from "../port.js";

/** Counts and sums over the contracts of a state. */
export class Aggregates {
  readonly #templateCounts = new Map<string, TemplateCount>();
  readonly #sums = new Map<string, bigint>();
  readonly #countedOnly = new Map<string, SupplyContribution>();

  templateCounts(): readonly TemplateCount[] {
    return [...this.#templateCounts.values()];
  }

  sum(name: string): bigint {
    return this.#sums.get(name) ?? 0n;
  }

  /** Undefined if no contract with this id is only counted. */
  countedOnly(contractId: string): SupplyContribution | undefined {
    return this.#countedOnly.get(contractId);
  }

  isCountedOnly(contractId: string): boolean {
    return this.#countedOnly.has(contractId);
  }

  /** The contract must not have been added before. */
  add(contract: Contract | CountedOnly): void {
    const { supply } = contract;
    if (isStored(contract)) this.#count(contract, 1);
    else this.#countedOnly.set(contract.contractId, contract.supply);
    if (supply !== undefined) this.#sums.set(supply.sum, this.sum(supply.sum) + supply.amount);
  }

  remove(contract: Contract): void {
    this.#count(contract, -1);
    if (contract.supply !== undefined) this.#subtract(contract.supply);
  }

  /** Removes a contract that was only counted. Any other id has no effect. */
  removeCountedOnly(contractId: string): void {
    const supply = this.#countedOnly.get(contractId);
    if (supply === undefined) return;
    this.#countedOnly.delete(contractId);
    this.#subtract(supply);
  }

  #subtract({ sum, amount }: SupplyContribution): void {
    const rest = this.sum(sum) - amount;
    if (rest === 0n) this.#sums.delete(sum);
    else this.#sums.set(sum, rest);
  }

  #count({ template, templateId }: Contract, delta: 1 | -1): void {
    const packageId = packageIdOf(templateId);
    const name = `${packageId} ${template.packageName} ${template.qualifiedName}`;
    const count = (this.#templateCounts.get(name)?.count ?? 0) + delta;
    if (count === 0) this.#templateCounts.delete(name);
    else this.#templateCounts.set(name, { template, packageId, count });
  }
}
