import type { Census, Contract, Kind, Question, View } from "../../store.js";
import type { Cache } from "./cache.js";
import type { Version } from "./fetch.js";
import type { Found, Lookup } from "./lookups.js";

/** Ends a run that looks for something that is not at hand. */
export class NotFetched extends Error {
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

  abstract readonly fetches: boolean;
  abstract foresee(questions: () => Iterable<Question>): void;
  protected abstract ofId(contractId: string): Found;
  protected abstract ofKey(key: string): Found;
  protected abstract of(lookup: Lookup): Found;

  byId<F>(kind: Kind<F>, contractId: string): Contract<F> | undefined {
    const [contract] = this.ofId(contractId).contracts;
    // A contract's facts are of its own kind.
    return contract?.kind === kind ? (contract as Contract<F>) : undefined;
  }

  byKey<F>(kind: Kind<F>, key: string): readonly Contract<F>[] {
    const { contracts } = this.ofKey(key);
    // Hardly ever do two kinds share a key.
    for (const contract of contracts) {
      if (contract.kind !== kind) return contracts.filter((one) => one.kind === kind) as Contract<F>[];
    }
    return contracts as readonly Contract<F>[];
  }

  all<F>(kind: Kind<F>): readonly Contract<F>[] {
    return this.of({ by: "kind", kind }).contracts as readonly Contract<F>[];
  }

  wasArchived(contractId: string): boolean {
    return this.ofId(contractId).wasArchived;
  }

  census(): readonly Census[] {
    return this.of({ by: "census" }).census;
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
  readonly fetches = false;
  readonly #cache: Cache;

  constructor(cache: Cache) {
    super(cache.version);
    this.#cache = cache;
  }

  foresee(): void {}

  protected ofId(contractId: string): Found {
    return this.#cache.byId(contractId) ?? notFetched({ by: "id", contractId });
  }

  protected ofKey(key: string): Found {
    return this.#cache.byKey(key) ?? notFetched({ by: "key", key });
  }

  protected of(lookup: Lookup): Found {
    return this.#cache.get(lookup) ?? notFetched(lookup);
  }

  protected together(): void {}
}

/** What a reading has fetched or found at hand so far. */
export class ReadingView extends FoundView {
  readonly fetches = true;
  readonly #find: (lookup: Lookup) => Found | undefined;

  constructor(version: Version, find: (lookup: Lookup) => Found | undefined) {
    super(version);
    this.#find = find;
  }

  foresee(questions: () => Iterable<Question>): void {
    this.together(
      Array.from(questions(), (question) =>
        "key" in question ? { by: "key", key: question.key } : { by: "id", contractId: question.contractId },
      ),
    );
  }

  protected ofId(contractId: string): Found {
    return this.of({ by: "id", contractId });
  }

  protected ofKey(key: string): Found {
    return this.of({ by: "key", key });
  }

  protected of(lookup: Lookup): Found {
    return this.#find(lookup) ?? notFetched(lookup);
  }

  protected together(lookups: readonly Lookup[]): void {
    const missing = lookups.filter((lookup) => this.#find(lookup) === undefined);
    if (missing.length > 0) throw new NotFetched(missing);
  }
}

function notFetched(lookup: Lookup): never {
  throw new NotFetched([lookup]);
}
