import { type Contract, type CountedOnly, isStored, packageIdOf } from "../domain/contract.js";
import type { SupplyContribution } from "../domain/template.js";
import type { LoggedSum } from "./log.js";
import { type LookupHash, sumHash } from "./lookup-hash.js";
import type { TemplateCount } from "./port.js";

/** Counts and sums over the contracts of a state. */
export class Aggregates {
  readonly #templateCounts = new Map<string, TemplateCount>();
  readonly #sums = new Map<LookupHash, bigint>();
  readonly #countedOnly = new Map<string, SupplyContribution>();

  templateCounts(): readonly TemplateCount[] {
    return [...this.#templateCounts.values()];
  }

  sum(name: string): bigint {
    return this.#sums.get(sumHash(name)) ?? 0n;
  }

  set({ sum, amount }: LoggedSum): void {
    if (amount === 0n) this.#sums.delete(sum);
    else this.#sums.set(sum, amount);
  }

  /** Undefined if no contract with this id is only counted. */
  countedOnly(contractId: string): SupplyContribution | undefined {
    return this.#countedOnly.get(contractId);
  }

  /** The contract must not have been added before. */
  add(contract: Contract | CountedOnly): void {
    if (isStored(contract)) this.#count(contract, 1);
    else this.#countedOnly.set(contract.contractId, contract.supply);
    if (contract.supply !== undefined) this.#addToSum(contract.supply.sum, contract.supply.amount);
  }

  remove(contract: Contract): void {
    this.#count(contract, -1);
    if (contract.supply !== undefined) this.#addToSum(contract.supply.sum, -contract.supply.amount);
  }

  /** Removes a contract that was only counted. Any other id has no effect. */
  removeCountedOnly(contractId: string): void {
    const supply = this.#countedOnly.get(contractId);
    if (supply === undefined) return;
    this.#countedOnly.delete(contractId);
    this.#addToSum(supply.sum, -supply.amount);
  }

  #addToSum(name: string, amount: bigint): void {
    const sum = sumHash(name);
    this.set({ sum, amount: (this.#sums.get(sum) ?? 0n) + amount });
  }

  #count({ template, templateId }: Contract, delta: 1 | -1): void {
    const packageId = packageIdOf(templateId);
    const name = `${packageId} ${template.packageName} ${template.qualifiedName}`;
    const count = (this.#templateCounts.get(name)?.count ?? 0) + delta;
    if (count === 0) this.#templateCounts.delete(name);
    else this.#templateCounts.set(name, { template, packageId, count });
  }
}
