import type { Contract } from "../../../domain/contract.js";
import type { Template } from "../../../domain/template.js";
import { registrarHash } from "../../lookup-hash.js";
import type { TemplateCount, ContractLookup, View } from "../../port.js";
import type { Version } from "./fetch.js";
import type { LookupResult, Lookup } from "./lookups.js";
import type { ReplicaCache } from "./replica-cache.js";

/** Aborts a run that needs lookups which have not been fetched. */
export class LookupMiss extends Error {
  readonly lookups: readonly Lookup[];

  constructor(lookups: readonly Lookup[]) {
    super("a lookup has not been fetched");
    this.name = "LookupMiss";
    this.lookups = lookups;
  }
}

abstract class ResultView implements View {
  readonly offset: number;
  readonly asOf: number | undefined;
  readonly #generation: number;

  constructor({ generation, offset, asOf }: Version) {
    this.#generation = generation;
    this.offset = offset;
    this.asOf = asOf;
  }

  get generation(): string {
    return String(this.#generation);
  }

  abstract readonly wantsPrefetch: boolean;
  abstract prefetch(lookups: () => Iterable<ContractLookup>): void;
  protected abstract resultById(contractId: string): LookupResult;
  protected abstract resultByIndexKey(indexKey: string): LookupResult;
  protected abstract result(lookup: Lookup): LookupResult;

  byId<F>(template: Template<F>, contractId: string): Contract<F> | undefined {
    const [contract] = this.resultById(contractId).contracts;
    // The fields of a contract are those of its template.
    return contract?.template === template ? (contract as Contract<F>) : undefined;
  }

  byKey<F>(template: Template<F>, key: string): readonly Contract<F>[] {
    const { contracts } = this.resultByIndexKey(key);
    // Two templates rarely share a key: return the list itself where possible.
    for (const contract of contracts) {
      if (contract.template !== template) return contracts.filter((one) => one.template === template) as Contract<F>[];
    }
    return contracts as readonly Contract<F>[];
  }

  all<F>(template: Template<F>): readonly Contract<F>[] {
    return this.result({ by: "template", template }).contracts as readonly Contract<F>[];
  }

  wasArchived(contractId: string, registrar?: string): boolean {
    const { wasArchived, archivedRegistrar } = this.resultById(contractId);
    return wasArchived && (registrar === undefined || archivedRegistrar === registrarHash(registrar));
  }

  templateCounts(): readonly TemplateCount[] {
    return this.result({ by: "templateCounts" }).templateCounts;
  }

  sums(names: readonly string[]): readonly bigint[] {
    this.requireAll(names.map((sum) => ({ by: "sum", sum })));
    return names.map((sum) => this.result({ by: "sum", sum }).amount);
  }

  /** Throws one LookupMiss for all lookups that have not been fetched. */
  protected abstract requireAll(lookups: readonly Lookup[]): void;
}

/** A view of the cache, for a synchronous run. */
export class CachedView extends ResultView {
  /** A run with a miss is repeated on a SessionView, which prefetches. */
  readonly wantsPrefetch = false;
  readonly #cache: ReplicaCache;

  constructor(cache: ReplicaCache) {
    super(cache.version);
    this.#cache = cache;
  }

  prefetch(): void {}

  protected resultById(contractId: string): LookupResult {
    return this.#cache.byId(contractId) ?? miss({ by: "id", contractId });
  }

  protected resultByIndexKey(indexKey: string): LookupResult {
    return this.#cache.byIndexKey(indexKey) ?? miss({ by: "indexKey", indexKey });
  }

  protected result(lookup: Lookup): LookupResult {
    return this.#cache.get(lookup) ?? miss(lookup);
  }

  protected requireAll(): void {}
}

export class SessionView extends ResultView {
  readonly wantsPrefetch = true;
  readonly #find: (lookup: Lookup) => LookupResult | undefined;

  constructor(version: Version, find: (lookup: Lookup) => LookupResult | undefined) {
    super(version);
    this.#find = find;
  }

  prefetch(lookups: () => Iterable<ContractLookup>): void {
    this.requireAll(
      Array.from(lookups(), (lookup) =>
        "indexKey" in lookup
          ? { by: "indexKey", indexKey: lookup.indexKey }
          : { by: "id", contractId: lookup.contractId },
      ),
    );
  }

  protected resultById(contractId: string): LookupResult {
    return this.result({ by: "id", contractId });
  }

  protected resultByIndexKey(indexKey: string): LookupResult {
    return this.result({ by: "indexKey", indexKey });
  }

  protected result(lookup: Lookup): LookupResult {
    return this.#find(lookup) ?? miss(lookup);
  }

  protected requireAll(lookups: readonly Lookup[]): void {
    const missing = lookups.filter((lookup) => this.#find(lookup) === undefined);
    if (missing.length > 0) throw new LookupMiss(missing);
  }
}

function miss(lookup: Lookup): never {
  throw new LookupMiss([lookup]);
}
