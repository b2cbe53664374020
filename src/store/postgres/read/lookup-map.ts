import type { Template } from "../../../domain/template.js";
import type { Lookup } from "./lookups.js";

/** A map with lookups as keys, compared by value. It hashes no texts and makes no strings. */
export class LookupMap<T> {
  readonly #byId = new Map<string, T>();
  readonly #byIndexKey = new Map<string, T>();
  readonly #byTemplate = new Map<Template, T>();
  readonly #bySum = new Map<string, T>();
  #templateCounts: T | undefined;

  get(lookup: Lookup): T | undefined {
    switch (lookup.by) {
      case "id":
        return this.#byId.get(lookup.contractId);
      case "indexKey":
        return this.#byIndexKey.get(lookup.indexKey);
      case "template":
        return this.#byTemplate.get(lookup.template);
      case "sum":
        return this.#bySum.get(lookup.sum);
      case "templateCounts":
        return this.#templateCounts;
    }
  }

  /** As `get`, without a lookup object. */
  byId(contractId: string): T | undefined {
    return this.#byId.get(contractId);
  }

  /** As `get`, without a lookup object. */
  byIndexKey(indexKey: string): T | undefined {
    return this.#byIndexKey.get(indexKey);
  }

  set(lookup: Lookup, value: T): void {
    switch (lookup.by) {
      case "id":
        this.#byId.set(lookup.contractId, value);
        break;
      case "indexKey":
        this.#byIndexKey.set(lookup.indexKey, value);
        break;
      case "template":
        this.#byTemplate.set(lookup.template, value);
        break;
      case "sum":
        this.#bySum.set(lookup.sum, value);
        break;
      case "templateCounts":
        this.#templateCounts = value;
    }
  }

  delete(lookup: Lookup): void {
    switch (lookup.by) {
      case "id":
        this.#byId.delete(lookup.contractId);
        break;
      case "indexKey":
        this.#byIndexKey.delete(lookup.indexKey);
        break;
      case "template":
        this.#byTemplate.delete(lookup.template);
        break;
      case "sum":
        this.#bySum.delete(lookup.sum);
        break;
      case "templateCounts":
        this.#templateCounts = undefined;
    }
  }

  clear(): void {
    this.#byId.clear();
    this.#byIndexKey.clear();
    this.#byTemplate.clear();
    this.#bySum.clear();
    this.#templateCounts = undefined;
  }
}
