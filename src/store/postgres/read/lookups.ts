/** What a reading looks for, and what is found. */
import type { Contract } from "../../../domain/contract.js";
import type { Template } from "../../../domain/template.js";
import type { TemplateCount } from "../../port.js";
import { countsHash, idHash, keyHash, templateHash, type LookupHash, sumHash } from "../lookup-hash.js";

export type Lookup =
  | { readonly by: "id"; readonly contractId: string }
  | { readonly by: "key"; readonly key: string }
  | { readonly by: "kind"; readonly kind: Template }
  | { readonly by: "sum"; readonly sum: string }
  | { readonly by: "census" };

/** What was found; of what a look-up does not ask for it has nothing. */
export interface LookupResult {
  /** In the order of a view. */
  readonly contracts: readonly Contract[];
  /** Of a look-up by id that finds nothing: whether the contract is known to have been archived. */
  readonly wasArchived: boolean;
  readonly amount: bigint;
  readonly templateCounts: readonly TemplateCount[];
}

export const EMPTY_RESULT: LookupResult = { contracts: [], wasArchived: false, amount: 0n, templateCounts: [] };

/** Its name in the database. */
export function hashOf(lookup: Lookup): LookupHash {
  switch (lookup.by) {
    case "id":
      return idHash(lookup.contractId);
    case "key":
      return keyHash(lookup.key);
    case "kind":
      return templateHash(lookup.kind);
    case "sum":
      return sumHash(lookup.sum);
    case "census":
      return countsHash;
  }
}

/** Something under each look-up, which may be long: they are told apart without hashing them. */
export class LookupMap<T> {
  readonly #ids = new Map<string, T>();
  readonly #keys = new Map<string, T>();
  readonly #templates = new Map<Template, T>();
  readonly #sums = new Map<string, T>();
  #templateCounts: T | undefined;

  get(lookup: Lookup): T | undefined {
    switch (lookup.by) {
      case "id":
        return this.#ids.get(lookup.contractId);
      case "key":
        return this.#keys.get(lookup.key);
      case "kind":
        return this.#templates.get(lookup.kind);
      case "sum":
        return this.#sums.get(lookup.sum);
      case "census":
        return this.#templateCounts;
    }
  }

  /** The same as `get` of such a look-up. */
  byId(contractId: string): T | undefined {
    return this.#ids.get(contractId);
  }

  byKey(key: string): T | undefined {
    return this.#keys.get(key);
  }

  set(lookup: Lookup, value: T): void {
    switch (lookup.by) {
      case "id":
        this.#ids.set(lookup.contractId, value);
        break;
      case "key":
        this.#keys.set(lookup.key, value);
        break;
      case "kind":
        this.#templates.set(lookup.kind, value);
        break;
      case "sum":
        this.#sums.set(lookup.sum, value);
        break;
      case "census":
        this.#templateCounts = value;
    }
  }

  delete(lookup: Lookup): void {
    switch (lookup.by) {
      case "id":
        this.#ids.delete(lookup.contractId);
        break;
      case "key":
        this.#keys.delete(lookup.key);
        break;
      case "kind":
        this.#templates.delete(lookup.kind);
        break;
      case "sum":
        this.#sums.delete(lookup.sum);
        break;
      case "census":
        this.#templateCounts = undefined;
    }
  }

  clear(): void {
    this.#ids.clear();
    this.#keys.clear();
    this.#templates.clear();
    this.#sums.clear();
    this.#templateCounts = undefined;
  }
}
