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

  templateCounts(): readonly TemplateCount[] {
    return [...this.#templateCounts.values()];
  }

  tallied(group: string): readonly string[] {
    return [...(this.#tallies.get(group)?.keys() ?? [])].toSorted((a, b) => (a < b ? -1 : 1));
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
