import type { Template } from "../../../domain/template.js";
import { NotReady, type StoreReader, type View } from "../../port.js";
import type { Database } from "../database.js";
import { asDatabaseError, type DatabaseError, toUnavailable } from "../errors.js";
import { ContractDecoder } from "../contract-decoder.js";
import { ReplicaCache } from "./replica-cache.js";
import { fetchLookups, type Fetched, type Version } from "./fetch.js";
import type { Lookup } from "./lookups.js";
import { ReadSession } from "./read-session.js";
import { CachedView, LookupMiss } from "./views.js";

export interface ReplicaOptions {
  readonly kinds: readonly Template[];
  /** What has to be mirrored, and how it has to be read; what another writer has put there is not served. */
  readonly contents: string;
  /** How much is kept in memory, in bytes, roughly. */
  readonly cacheBytes: number;
  /** Milliseconds since any moment, and never backwards. */
  readonly clock: () => number;
}

/** For whoever watches: how a replica stands now. */
export interface ReplicaStatus {
  /** Undefined before the first state. */
  readonly offset: number | undefined;
  /** Milliseconds since the store is known to have equalled the ledger; undefined where it never did. */
  readonly age: number | undefined;
  /** Why the last question to the database had no answer; undefined where it had. */
  readonly failure: DatabaseError | undefined;
  /** Whether what is stored is what this process was told to serve. */
  readonly isOurs: boolean;
}

/**
 * Reads a database that another process may write. What is asked most is kept,
 * with what was written of it; every answer of the database says what has changed,
 * so all that is kept is of one version of the store.
 */
export class Replica implements StoreReader {
  readonly #database: Database;
  readonly #options: ReplicaOptions;
  readonly #decoder: ContractDecoder;
  readonly #cache: ReplicaCache;
  #currentAt: number | undefined;
  #failure: DatabaseError | undefined;
  #isOurs = true;
  #refreshing: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(database: Database, options: ReplicaOptions) {
    this.#database = database;
    this.#options = options;
    this.#decoder = new ContractDecoder(options.kinds);
    this.#cache = new ReplicaCache(options.cacheBytes);
  }

  get status(): ReplicaStatus {
    const { generation, offset } = this.#cache.version;
    const age = this.#currentAt === undefined ? undefined : this.#options.clock() - this.#currentAt;
    return {
      offset: generation === 0 ? undefined : offset,
      age,
      failure: this.#failure,
      isOurs: this.#isOurs,
    };
  }

  /** Answers at once from what is kept, and where that does not do, when the rest has been fetched. Throws StoreUnavailable where it cannot be. */
  read<T>(use: (view: View) => T): T | Promise<T> {
    if (this.#cache.version.generation === 0 || !this.#isOurs) throw new NotReady();
    try {
      return use(new CachedView(this.#cache));
    } catch (error) {
      if (!(error instanceof LookupMiss)) throw error;
      return new ReadSession(this.#cache, (...asked) => this.#fetchForReading(...asked)).run(use);
    }
  }

  /**
   * Goes to the state that the database has by now, or a later one. Whoever comes
   * while a question is under way shares the next. Throws DatabaseError.
   */
  refresh(): Promise<void> {
    if (this.#refreshing === undefined) {
      this.#refreshing = this.#fetch(this.#cache.version, [], [])
        .then(() => undefined)
        .finally(() => {
          this.#refreshing = undefined;
        });
      return this.#refreshing;
    }
    this.#next ??= this.#refreshing
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        return this.refresh();
      });
    return this.#next;
  }

  async #fetchForReading(since: Version, missing: readonly Lookup[], known: readonly Lookup[]): Promise<Fetched> {
    let fetched: Fetched;
    try {
      fetched = await this.#fetch(since, missing, known);
    } catch (error) {
      throw toUnavailable(asDatabaseError(error));
    }
    if (fetched.version.generation === 0 || !this.#isOfOurs(fetched)) throw new NotReady();
    return fetched;
  }

  #isOfOurs({ version, contents }: Fetched): boolean {
    return version.generation === 0 || contents === this.#options.contents;
  }

  async #fetch(since: Version, missing: readonly Lookup[], known: readonly Lookup[]): Promise<Fetched> {
    const begun = this.#options.clock();
    const askedAt = this.#cache.nextQueryNumber();
    try {
      const fetched = await fetchLookups(this.#database, this.#decoder, since, missing, known);
      this.#failure = undefined;
      this.#cache.merge(fetched, since, askedAt);
      // Of an answer that comes late it is not what is served.
      if (fetched.version.generation === this.#cache.version.generation) this.#isOurs = this.#isOfOurs(fetched);
      // As old as it was when the question began at the least; what comes late does not make it older.
      if (fetched.age !== undefined) this.#currentAt = Math.max(this.#currentAt ?? -Infinity, begun - fetched.age);
      return fetched;
    } catch (error) {
      this.#failure = asDatabaseError(error);
      throw this.#failure;
    }
  }
}
