import type { Contract } from "../../../domain/contract.js";
import { StoreUnavailable, type View } from "../../port.js";
import { type ReplicaCache, isSame } from "./replica-cache.js";
import type { Fetched, Version } from "./fetch.js";
import { LookupMap, type LookupResult, type Lookup } from "./lookups.js";
import { LookupMiss, SessionView } from "./views.js";

/** The rules take three; a reading that asks on and on must end. */
const MOST_TRIPS = 20;

/** Fetches look-ups, and what has changed of those that are known as of a version. */
export type FetchLookups = (since: Version, missing: readonly Lookup[], known: readonly Lookup[]) => Promise<Fetched>;

/**
 * A reading that needs more than is kept. It is run, what it lacks is fetched,
 * and it is run again: each time on one version, since with what it lacks comes
 * what has changed of all that it has.
 */
export class ReadSession {
  readonly #cache: ReplicaCache;
  readonly #fetch: FetchLookups;
  readonly #found = new LookupMap<LookupResult>();
  readonly #lookups = new Set<Lookup>();
  readonly #contracts = new Map<string, Contract>();
  #version: Version;

  constructor(cache: ReplicaCache, fetch: FetchLookups) {
    this.#cache = cache;
    this.#fetch = fetch;
    this.#version = cache.version;
  }

  async run<T>(use: (view: View) => T): Promise<T> {
    for (let trips = 0; trips <= MOST_TRIPS; trips++) {
      try {
        return use(new SessionView(this.#version, (lookup) => this.#find(lookup)));
      } catch (error) {
        if (!(error instanceof LookupMiss)) throw error;
        await this.#bring(error.lookups);
      }
    }
    throw new StoreUnavailable("this needs more of the ledger than can be read for one request");
  }

  /** What was fetched, or is kept of the same version; that is remembered, since the cache may move on. */
  #find(lookup: Lookup): LookupResult | undefined {
    const found = this.#found.get(lookup);
    if (found !== undefined) return found;
    const { generation, offset } = this.#cache.version;
    if (generation !== this.#version.generation || offset !== this.#version.offset) return undefined;
    const kept = this.#cache.get(lookup);
    return kept === undefined ? undefined : this.#remember(lookup, kept);
  }

  async #bring(missing: readonly Lookup[]): Promise<void> {
    const { version, found } = await this.#fetch(this.#version, missing, [...this.#lookups]);
    // Another snapshot may say other things of the same contract.
    if (version.generation !== this.#version.generation) this.#contracts.clear();
    this.#version = version;
    for (const [lookup, one] of found) this.#remember(lookup, one);
  }

  /** A contract that is found in several ways is one and the same in an answer. */
  #known(contract: Contract): Contract {
    const before = this.#contracts.get(contract.contractId);
    if (before !== undefined && isSame(before, contract)) return before;
    return this.#cache.version.generation === this.#version.generation ? this.#cache.canonical(contract) : contract;
  }

  #remember(lookup: Lookup, found: LookupResult): LookupResult {
    // What was looked up twice, by objects that say the same, stands once.
    if (this.#found.get(lookup) === undefined) this.#lookups.add(lookup);
    const one = { ...found, contracts: found.contracts.map((contract) => this.#known(contract)) };
    this.#found.set(lookup, one);
    for (const contract of one.contracts) this.#contracts.set(contract.contractId, contract);
    return one;
  }
}
