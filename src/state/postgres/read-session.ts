import type { StoredContract } from "../../domain/contract.js";
import type { Template } from "../../domain/template.js";
import { registrarHash } from "../lookup-hash.js";
import { StoreUnavailable, type TemplateCount, type View } from "../port.js";
import { EMPTY_RESULT, type Fetched, keyOf, type Lookup, type LookupResult, type Version } from "./lookups.js";
import { isSameContract, type ReplicaCache } from "./replica-cache.js";

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
  readonly #results = new Map<string, { readonly lookup: Lookup; readonly result: LookupResult }>();
  readonly #contracts = new Map<string, StoredContract>();
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

  get(lookup: Lookup): LookupResult | undefined {
    return this.#results.get(keyOf(lookup))?.result ?? this.#fromCache(lookup);
  }

  /** A cached result of the same version, which is kept here since the cache may move on. */
  #fromCache(lookup: Lookup): LookupResult | undefined {
    const { generation, offset } = this.#cache.version;
    if (generation !== this.#version.generation || offset !== this.#version.offset) return undefined;
    const cached = this.#cache.get(lookup);
    return cached === undefined ? undefined : this.#store(lookup, cached);
  }

  async #fetchMissing(noted: readonly Lookup[]): Promise<void> {
    const missing = [...new Map(noted.map((lookup) => [keyOf(lookup), lookup])).values()];
    const known = [...this.#results.values()].map(({ lookup }) => lookup);
    if (known.length + missing.length > this.#limits.lookups) throw this.#exceeded("lookups");
    const { version, results, isTruncated } = await this.#fetch(this.#version, missing, known);
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
  #canonical(contract: StoredContract): StoredContract {
    const previous = this.#contracts.get(contract.contractId);
    if (previous !== undefined && isSameContract(previous, contract)) return previous;
    return this.#cache.version.generation === this.#version.generation ? this.#cache.canonical(contract) : contract;
  }

  #store(lookup: Lookup, result: LookupResult): LookupResult {
    const stored = { ...result, contracts: result.contracts.map((contract) => this.#canonical(contract)) };
    this.#results.set(keyOf(lookup), { lookup, result: stored });
    for (const contract of stored.contracts) this.#contracts.set(contract.contractId, contract);
    return stored;
  }
}

/** Results of lookups, all of one version. */
interface LookupSource {
  readonly version: Version;
  get(lookup: Lookup): LookupResult | undefined;
}

/** What a run returns that has missed a lookup. */
export const INCOMPLETE = Symbol("incomplete");

/** Ends a run that does not count any more. */
class LookupMiss extends Error {
  constructor() {
    super("a lookup has not been fetched");
    this.name = "LookupMiss";
  }
}

/** The view of one run. It notes the lookups that the source lacks. */
export class LookupView implements View {
  readonly offset: number;
  readonly asOf: number | undefined;
  readonly #source: LookupSource;
  readonly #endsAtMiss: boolean;
  readonly #missing: Lookup[] = [];
  #hasEnded = false;

  /** By default a contract that the source lacks is not found, and the run goes on. `endsAtMiss`: it ends the run. */
  constructor(source: LookupSource, endsAtMiss = false) {
    this.#source = source;
    this.#endsAtMiss = endsAtMiss;
    this.offset = source.version.offset;
    this.asOf = source.version.asOf;
  }

  /** What `use` returns or throws, once. If it has missed a lookup, neither counts: INCOMPLETE. */
  run<T>(use: (view: View) => T): T | typeof INCOMPLETE {
    try {
      const value = use(this);
      return this.#missing.length === 0 ? value : INCOMPLETE;
    } catch (error) {
      if (this.#missing.length === 0) throw error;
      return INCOMPLETE;
    } finally {
      this.#hasEnded = true;
    }
  }

  /** The lookups that were missed, some perhaps several times. */
  get missing(): readonly Lookup[] {
    return this.#missing;
  }

  get generation(): string {
    return String(this.#source.version.generation);
  }

  byId<F>(template: Template<F>, contractId: string): StoredContract<F> | undefined {
    const [contract] = this.#find({ by: "id", contractId }).contracts;
    // The fields of a contract are those of its template.
    return contract?.template === template ? (contract as StoredContract<F>) : undefined;
  }

  byKey<F>(template: Template<F>, key: string): readonly StoredContract<F>[] {
    const { contracts } = this.#find({ by: "indexKey", indexKey: key });
    // Two templates rarely share a key: return the list itself where possible.
    const isShared = contracts.some((contract) => contract.template !== template);
    return (
      isShared ? contracts.filter((one) => one.template === template) : contracts
    ) as readonly StoredContract<F>[];
  }

  all<F>(template: Template<F>): readonly StoredContract<F>[] {
    const [result] = this.#complete([{ by: "template", template }]);
    return (result?.contracts ?? []) as readonly StoredContract<F>[];
  }

  wasArchived(contractId: string, registrar?: string): boolean {
    const [result = EMPTY_RESULT] = this.#complete([{ by: "id", contractId }]);
    return result.wasArchived && (registrar === undefined || result.archivedRegistrar === registrarHash(registrar));
  }

  templateCounts(): readonly TemplateCount[] {
    const [result] = this.#complete([{ by: "templateCounts" }]);
    return result?.templateCounts ?? [];
  }

  sums(names: readonly string[]): readonly bigint[] {
    return this.#complete(names.map((sum) => ({ by: "sum", sum }))).map(({ amount }) => amount);
  }

  /** Of results that must not be computed with, or are large: ends the run if anything is missing. */
  #complete(lookups: readonly Lookup[]): readonly LookupResult[] {
    const results = lookups.map((lookup) => this.#find(lookup));
    if (this.#missing.length > 0) throw new LookupMiss();
    return results;
  }

  #find(lookup: Lookup): LookupResult {
    if (this.#hasEnded) throw new Error("a view of the store was used after its read had ended");
    const result = this.#source.get(lookup);
    if (result !== undefined) return result;
    this.#missing.push(lookup);
    if (this.#endsAtMiss) throw new LookupMiss();
    return EMPTY_RESULT;
  }
}
