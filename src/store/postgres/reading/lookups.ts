/** What a reading looks for, and what is found. */
import type { Census, Contract, Kind } from "../../store.js";
import { censusName, idName, keyName, kindName, type Name, sumName } from "../names.js";

export type Lookup =
  | { readonly by: "id"; readonly contractId: string }
  | { readonly by: "key"; readonly key: string }
  | { readonly by: "kind"; readonly kind: Kind }
  | { readonly by: "sum"; readonly sum: string }
  | { readonly by: "census" };

/** What was found; of what a look-up does not ask for it has nothing. */
export interface Found {
  /** In the order of a view. */
  readonly contracts: readonly Contract[];
  /** Of a look-up by id that finds nothing: whether the contract is known to have been archived. */
  readonly wasArchived: boolean;
  readonly amount: bigint;
  readonly census: readonly Census[];
}

export const nothing: Found = { contracts: [], wasArchived: false, amount: 0n, census: [] };

/** Its name in the database. */
export function nameOf(lookup: Lookup): Name {
  switch (lookup.by) {
    case "id":
      return idName(lookup.contractId);
    case "key":
      return keyName(lookup.key);
    case "kind":
      return kindName(lookup.kind);
    case "sum":
      return sumName(lookup.sum);
    case "census":
      return censusName;
  }
}

/** Something under each look-up, which may be long: they are told apart without hashing them. */
export class ByLookup<T> {
  readonly #ids = new Map<string, T>();
  readonly #keys = new Map<string, T>();
  readonly #kinds = new Map<Kind, T>();
  readonly #sums = new Map<string, T>();
  #census: T | undefined;

  get(lookup: Lookup): T | undefined {
    switch (lookup.by) {
      case "id":
        return this.#ids.get(lookup.contractId);
      case "key":
        return this.#keys.get(lookup.key);
      case "kind":
        return this.#kinds.get(lookup.kind);
      case "sum":
        return this.#sums.get(lookup.sum);
      case "census":
        return this.#census;
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
        this.#kinds.set(lookup.kind, value);
        break;
      case "sum":
        this.#sums.set(lookup.sum, value);
        break;
      case "census":
        this.#census = value;
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
        this.#kinds.delete(lookup.kind);
        break;
      case "sum":
        this.#sums.delete(lookup.sum);
        break;
      case "census":
        this.#census = undefined;
    }
  }

  clear(): void {
    this.#ids.clear();
    this.#keys.clear();
    this.#kinds.clear();
    this.#sums.clear();
    this.#census = undefined;
  }
}
