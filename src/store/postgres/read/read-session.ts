import type { Contract } from "../../../domain/contract.js";
import { StoreUnavailable, type View } from "../../port.js";
import type { Fetched, Version } from "./fetch.js";
import { LookupMap } from "./lookup-map.js";
import type { Lookup, LookupResult } from "./lookups.js";
import { isSameContract, type ReplicaCache } from "./replica-cache.js";
import { LookupMiss, SessionView } from "./views.js";

/** The rules need three. The bound ends a read that would ask forever. */
const MAX_ROUND_TRIPS = 20;

/** Fetches missing lookups, and the known lookups that have changed since a version. */
export type FetchLookups = (since: Version, missing: readonly Lookup[], known: readonly Lookup[]) => Promise<Fetched>;

/** Reruns a read after each fetch of what it misses. A fetch also refreshes earlier results: a run sees one version. */
export class ReadSession {
  readonly #cache: ReplicaCache;
  readonly #fetch: FetchLookups;
  readonly #maxRoundTrips: number;
  readonly #results = new LookupMap<LookupResult>();
  readonly #lookups = new Set<Lookup>();
  readonly #contracts = new Map<string, Contract>();
  #version: Version;

  constructor(cache: ReplicaCache, fetch: FetchLookups, maxRoundTrips = MAX_ROUND_TRIPS) {
    this.#cache = cache;
    this.#fetch = fetch;
    this.#maxRoundTrips = maxRoundTrips;
    this.#version = cache.version;
  }

  async run<T>(use: (view: View) => T): Promise<T> {
    for (let roundTrips = 0; roundTrips <= this.#maxRoundTrips; roundTrips++) {
      try {
        return use(new SessionView(this.#version, (lookup) => this.#find(lookup)));
      } catch (error) {
        if (!(error instanceof LookupMiss)) throw error;
        await this.#fetchMissing(error.lookups);
      }
    }
    throw new StoreUnavailable("this request needs more reads of the ledger than one request may have");
  }

  /** Finds a fetched result, or a cached one of the same version, which is kept here since the cache may move on. */
  #find(lookup: Lookup): LookupResult | undefined {
    const result = this.#results.get(lookup);
    if (result !== undefined) return result;
    const { generation, offset } = this.#cache.version;
    if (generation !== this.#version.generation || offset !== this.#version.offset) return undefined;
    const cached = this.#cache.get(lookup);
    return cached === undefined ? undefined : this.#store(lookup, cached);
  }

  async #fetchMissing(missing: readonly Lookup[]): Promise<void> {
    const { version, results } = await this.#fetch(this.#version, missing, [...this.#lookups]);
    // Contracts of another snapshot may differ.
    if (version.generation !== this.#version.generation) this.#contracts.clear();
    this.#version = version;
    for (const [lookup, result] of results) this.#store(lookup, result);
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
