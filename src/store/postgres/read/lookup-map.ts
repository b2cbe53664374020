import type { Template } from "../../../domain/template.js";
import type { Lookup } from "./lookups.js";

/** Maps lookups, compared by value without making strings. `byId` and `byIndexKey` save the lookup object. */
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

  byId(contractId: string): T | undefined {
    return this.#byId.get(contractId);
  }

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
