import type { Contract } from "../../../domain/contract.js";
import { StoreUnavailable, type View } from "../../port.js";
import type { Fetched, Version } from "./fetch.js";
import { LookupMap } from "./lookup-map.js";
import type { Lookup, LookupResult } from "./lookups.js";
import { isSameContract, type ReplicaCache } from "./replica-cache.js";
import { INCOMPLETE, type LookupSource, LookupView } from "./views.js";

/** Bounds a read that would ask without end. */
export interface ReadLimits {
  readonly roundTrips: number;
  readonly lookups: number;
  /** Of one lookup. */
  readonly contracts: number;
}

/** The rules need at most five round trips. */
export const REQUEST_LIMITS: ReadLimits = { roundTrips: 8, lookups: 2_000, contracts: 10_000 };

/** Fetches missing lookups, and the known lookups that have changed since a version. */
export type FetchLookups = (since: Version, missing: readonly Lookup[], known: readonly Lookup[]) => Promise<Fetched>;

/**
 * Runs a read until it has all that it looks up. A run goes on without what is missing, which is then fetched in one
 * round trip. A fetch also refreshes earlier results: a run sees one version.
 */
export class ReadSession implements LookupSource {
  readonly #cache: ReplicaCache;
  readonly #fetch: FetchLookups;
  readonly #limits: ReadLimits;
  readonly #results = new LookupMap<LookupResult>();
  readonly #lookups = new Set<Lookup>();
  readonly #contracts = new Map<string, Contract>();
  #version: Version;

  constructor(cache: ReplicaCache, fetch: FetchLookups, limits: ReadLimits) {
    this.#cache = cache;
    this.#fetch = fetch;
    this.#limits = limits;
    this.#version = cache.version;
  }

  /** Throws StoreUnavailable where a limit is exceeded. */
  async run<T>(use: (view: View) => T): Promise<T> {
    for (let roundTrips = 0; ; roundTrips++) {
      const view = new LookupView(this);
      const value = view.run(use);
      if (value !== INCOMPLETE) return value;
      if (roundTrips >= this.#limits.roundTrips) throw this.#exceeded("roundTrips");
      await this.#fetchMissing(view.missing);
    }
  }

  get version(): Version {
    return this.#version;
  }

  byId(contractId: string): LookupResult | undefined {
    return this.#results.byId(contractId) ?? this.#fromCache({ by: "id", contractId });
  }

  byIndexKey(indexKey: string): LookupResult | undefined {
    return this.#results.byIndexKey(indexKey) ?? this.#fromCache({ by: "indexKey", indexKey });
  }

  get(lookup: Lookup): LookupResult | undefined {
    return this.#results.get(lookup) ?? this.#fromCache(lookup);
  }

  /** A cached result of the same version, which is kept here since the cache may move on. */
  #fromCache(lookup: Lookup): LookupResult | undefined {
    const { generation, offset } = this.#cache.version;
    if (generation !== this.#version.generation || offset !== this.#version.offset) return undefined;
    const cached = this.#cache.get(lookup);
    return cached === undefined ? undefined : this.#store(lookup, cached);
  }

  async #fetchMissing(noted: readonly Lookup[]): Promise<void> {
    const seen = new LookupMap<boolean>();
    const missing = noted.filter((lookup) => {
      const isFirst = seen.get(lookup) === undefined;
      seen.set(lookup, true);
      return isFirst;
    });
    if (this.#lookups.size + missing.length > this.#limits.lookups) throw this.#exceeded("lookups");
    const { version, results, isTruncated } = await this.#fetch(this.#version, missing, [...this.#lookups]);
    if (isTruncated) throw this.#exceeded("contracts");
    // Contracts of another snapshot may differ.
    if (version.generation !== this.#version.generation) this.#contracts.clear();
    this.#version = version;
    for (const [lookup, result] of results) this.#store(lookup, result);
  }

  #exceeded(limit: keyof ReadLimits): StoreUnavailable {
    const maximum = this.#limits[limit];
    const needed = {
      roundTrips: `more than ${maximum} reads of the ledger in turn`,
      lookups: `more than ${maximum} lookups`,
      contracts: `a lookup that finds more than ${maximum} contracts`,
    };
    const name = limit === "roundTrips" ? "round-trips" : limit;
    return new StoreUnavailable(`this request needs ${needed[limit]}`, { limit: name, maximum });
  }

  /** A view promises one object for each contract. */
  #canonical(contract: Contract): Contract {
    const previous = this.#contracts.get(contract.contractId);
    if (previous !== undefined && isSameContract(previous, contract)) return previous;
    return this.#cache.version.generation === this.#version.generation ? this.#cache.canonical(contract) : contract;
  }

  #store(lookup: Lookup, result: LookupResult): LookupResult {
    // Equal lookups may be different objects: keep one of them.
    if (this.#results.get(lookup) === undefined) this.#lookups.add(lookup);
    const stored = { ...result, contracts: result.contracts.map((contract) => this.#canonical(contract)) };
    this.#results.set(lookup, stored);
    for (const contract of stored.contracts) this.#contracts.set(contract.contractId, contract);
    return stored;
  }
}
