import type { Contract } from "../../../domain/contract.js";
import type { Template } from "../../../domain/template.js";
import type { TemplateCount, ContractLookup, View } from "../../port.js";
import type { ReplicaCache } from "./replica-cache.js";
import type { Version } from "./fetch.js";
import type { LookupResult, Lookup } from "./lookups.js";

/** Ends a run that looks for something that is not at hand. */
export class LookupMiss extends Error {
  readonly lookups: readonly Lookup[];

  constructor(lookups: readonly Lookup[]) {
    super("something that a reading looks for has to be fetched");
    this.name = "NotFetched";
    this.lookups = lookups;
  }
}

/** Answers from what `find` has at hand, of one version. */
abstract class FoundView implements View {
  readonly offset: number;
  readonly asOf: number | undefined;

  constructor({ offset, asOf }: Version) {
    this.offset = offset;
    this.asOf = asOf;
  }

  abstract readonly wantsPrefetch: boolean;
  abstract prefetch(lookups: () => Iterable<ContractLookup>): void;
  protected abstract ofId(contractId: string): LookupResult;
  protected abstract ofKey(key: string): LookupResult;
  protected abstract of(lookup: Lookup): LookupResult;

  byId<F>(template: Template<F>, contractId: string): Contract<F> | undefined {
    const [contract] = this.ofId(contractId).contracts;
    // A contract's facts are of its own kind.
    return contract?.template === template ? (contract as Contract<F>) : undefined;
  }

  byKey<F>(template: Template<F>, key: string): readonly Contract<F>[] {
    const { contracts } = this.ofKey(key);
    // Hardly ever do two kinds share a key.
    for (const contract of contracts) {
      if (contract.template !== template) return contracts.filter((one) => one.template === template) as Contract<F>[];
    }
    return contracts as readonly Contract<F>[];
  }

  all<F>(template: Template<F>): readonly Contract<F>[] {
    return this.of({ by: "kind", kind: template }).contracts as readonly Contract<F>[];
  }

  wasArchived(contractId: string): boolean {
    return this.ofId(contractId).wasArchived;
  }

  templateCounts(): readonly TemplateCount[] {
    return this.of({ by: "census" }).templateCounts;
  }

  sums(names: readonly string[]): readonly bigint[] {
    this.together(names.map((sum) => ({ by: "sum", sum })));
    return names.map((sum) => this.of({ by: "sum", sum }).amount);
  }

  /** Throws NotFetched with all of them that are not at hand. */
  protected abstract together(lookups: readonly Lookup[]): void;
}

/** What is kept, as long as the version is the one it was made for: for a run that does not wait. */
export class CachedView extends FoundView {
  /** A run that misses anything is run again by a view that does. */
  readonly wantsPrefetch = false;
  readonly #cache: ReplicaCache;

  constructor(cache: ReplicaCache) {
    super(cache.version);
    this.#cache = cache;
  }

  prefetch(): void {}

  protected ofId(contractId: string): LookupResult {
    return this.#cache.byId(contractId) ?? notFetched({ by: "id", contractId });
  }

  protected ofKey(key: string): LookupResult {
    return this.#cache.byKey(key) ?? notFetched({ by: "key", key });
  }

  protected of(lookup: Lookup): LookupResult {
    return this.#cache.get(lookup) ?? notFetched(lookup);
  }

  protected together(): void {}
}

/** What a reading has fetched or found at hand so far. */
export class SessionView extends FoundView {
  readonly wantsPrefetch = true;
  readonly #find: (lookup: Lookup) => LookupResult | undefined;

  constructor(version: Version, find: (lookup: Lookup) => LookupResult | undefined) {
    super(version);
    this.#find = find;
  }

  prefetch(lookups: () => Iterable<ContractLookup>): void {
    this.together(
      Array.from(lookups(), (lookup) =>
        "indexKey" in lookup ? { by: "key", key: lookup.indexKey } : { by: "id", contractId: lookup.contractId },
      ),
    );
  }

  protected ofId(contractId: string): LookupResult {
    return this.of({ by: "id", contractId });
  }

  protected ofKey(key: string): LookupResult {
    return this.of({ by: "key", key });
  }

  protected of(lookup: Lookup): LookupResult {
    return this.#find(lookup) ?? notFetched(lookup);
  }

  protected together(lookups: readonly Lookup[]): void {
    const missing = lookups.filter((lookup) => this.#find(lookup) === undefined);
    if (missing.length > 0) throw new LookupMiss(missing);
  }
}

function notFetched(lookup: Lookup): never {
  throw new LookupMiss([lookup]);
}
