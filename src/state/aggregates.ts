import { type Contract, type CountedOnly, isStored, packageIdOf } from "../domain/contract.js";
import type { SupplyContribution, Tally } from "../domain/template.js";
import type { LoggedSum } from "./log.js";
import { type LookupHash, sumHash } from "./lookup-hash.js";
import type { TemplateCount } from "./port.js";

/** Counts and sums over the contracts of a state. */
export class Aggregates {
  readonly #templateCounts = new Map<string, TemplateCount>();
  readonly #sums = new Map<LookupHash, bigint>();
  readonly #countedOnly = new Map<string, SupplyContribution>();
  /** How many contracts have a name, by its group. */
  readonly #tallies = new Map<string, Map<string, number>>();
  /** Those of sums that are not 0, of contracts that are only counted. */
  readonly #talliesOfSums = new Map<LookupHash, Tally>();

  templateCounts(): readonly TemplateCount[] {
    return [...this.#templateCounts.values()];
  }

  tallied(group: string): readonly string[] {
    const names = new Set(this.#tallies.get(group)?.keys());
    for (const tally of this.#talliesOfSums.values()) if (tally.group === group) names.add(tally.name);
    return [...names].toSorted((a, b) => (a < b ? -1 : 1));
  }

  sum(name: string): bigint {
    return this.#sums.get(sumHash(name)) ?? 0n;
  }

  /** A sum that had a tally keeps it until it is 0. */
  set({ sum, amount, tally }: LoggedSum): void {
    if (amount === 0n) {
      this.#sums.delete(sum);
      this.#talliesOfSums.delete(sum);
    } else {
      this.#sums.set(sum, amount);
      if (tally !== undefined) this.#talliesOfSums.set(sum, tally);
    }
  }

  /** Undefined if no contract with this id is only counted. */
  countedOnly(contractId: string): SupplyContribution | undefined {
    return this.#countedOnly.get(contractId);
  }

  /** The contract must not have been added before. */
  add(contract: Contract | CountedOnly): void {
    const { supply } = contract;
    if (isStored(contract)) this.#count(contract, 1);
    else this.#countedOnly.set(contract.contractId, contract.supply);
    if (supply !== undefined) this.#addToSum(supply.sum, supply.amount, isStored(contract) ? undefined : supply.tally);
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

  #addToSum(name: string, amount: bigint, tally?: Tally): void {
    const sum = sumHash(name);
    this.set({ sum, amount: (this.#sums.get(sum) ?? 0n) + amount, tally });
  }

  #count({ template, templateId, fields }: Contract, delta: 1 | -1): void {
    const packageId = packageIdOf(templateId);
    const name = `${packageId} ${template.packageName} ${template.qualifiedName}`;
    const count = (this.#templateCounts.get(name)?.count ?? 0) + delta;
    if (count === 0) this.#templateCounts.delete(name);
    else this.#templateCounts.set(name, { template, packageId, count });
    for (const tally of template.tally?.(fields) ?? []) this.#tally(tally, delta);
  }

  #tally({ group, name }: Tally, delta: 1 | -1): void {
    let names = this.#tallies.get(group);
    if (names === undefined) this.#tallies.set(group, (names = new Map()));
    const count = (names.get(name) ?? 0) + delta;
    if (count > 0) names.set(name, count);
    else names.delete(name);
    if (names.size === 0) this.#tallies.delete(group);
  }
}
