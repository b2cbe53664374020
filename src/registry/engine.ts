import { NotReady, type StoreReader, StoreUnavailable, type View } from "../store/store.js";
import { notFound, RegistryError, unavailable } from "./errors.js";
import type { History } from "./history.js";
import type { Registry, Scene, UtilityOperations } from "./registry.js";
import { WatchedView } from "./watched-view.js";

/** How the store keeps up with the ledger; whoever feeds the store says it. */
export interface Freshness {
  /** Why nothing may be answered from the store; undefined where it may. */
  refusal(): string | undefined;
  /**
   * Waits, for a bounded time, until the store has reached what the ledger's end
   * is now, and says whether it has moved past `offset`. Never throws.
   */
  catchUp(offset: number): Promise<boolean>;
}

type Question<T> = (registry: Registry, scene: Scene) => T;

/** Puts questions to a registry, each at one moment and on one state of the store. */
export class Engine {
  readonly #registry: Registry;
  readonly #reader: StoreReader;
  readonly #freshness: Freshness;
  readonly #now: () => number;
  readonly #history: History | undefined;

  /** `now` gives milliseconds since 1970. `history` is undefined where the source has no updates to look up. */
  constructor(registry: Registry, reader: StoreReader, freshness: Freshness, now: () => number, history?: History) {
    this.#registry = registry;
    this.#reader = reader;
    this.#freshness = freshness;
    this.#now = now;
    this.#history = history;
  }

  /**
   * Throws RegistryError where there is no answer, or the promise does. Where a
   * contract that was asked for by id is not there, the ledger may be ahead of
   * the store: then the question is put once more when the store has caught up.
   * Most questions are answered at once, without a promise: to wait for nothing
   * takes longer than to answer.
   */
  ask<T>(question: Question<T>): T | Promise<T> {
    const refusal = this.#freshness.refusal();
    if (refusal !== undefined) throw unavailable(refusal);
    let missedAt: number | undefined;
    const failed = (error: unknown): Promise<T> => {
      if (isNotNow(error)) throw unavailable(error.message);
      if (missedAt === undefined) throw error;
      return this.#askLater(question, missedAt, error);
    };
    try {
      const answer = this.#reader.read((view) => {
        const watched = new WatchedView(view);
        try {
          return this.#put(question, watched);
        } catch (error) {
          const isMissing = error instanceof RegistryError && error.reason === "not-found";
          missedAt = isMissing && watched.missedUnarchived() ? view.offset : undefined;
          throw error;
        }
      });
      return answer instanceof Promise ? answer.catch(failed) : answer;
    } catch (error) {
      return failed(error);
    }
  }

  /** Puts a question that goes beyond the token standard. Throws as `ask` does, and not-found where the registry has none of these operations. */
  askUtility<T>(question: (utility: UtilityOperations, scene: Scene) => T): T | Promise<T> {
    const utility = this.#utility();
    return this.ask((_registry, scene) => question(utility, scene));
  }

  /** Puts a question to the ledger's past, which the store does not know. Throws not-found where there is none to ask. */
  async askHistory<T>(question: (utility: UtilityOperations, history: History) => Promise<T>): Promise<T> {
    const utility = this.#utility();
    if (this.#history !== undefined) return question(utility, this.#history);
    throw notFound(
      "this service is not told of a ledger to look updates up in: it reads a file of active contracts, or a database",
    );
  }

  #utility(): UtilityOperations {
    const { utility, name } = this.#registry;
    if (utility === undefined) throw notFound(`the registry that is served here, ${name}, has no such operation`);
    return utility;
  }

  /** Puts a question again when the store is past an offset; where it does not get there, `failure` stands. */
  async #askLater<T>(question: Question<T>, offset: number, failure: unknown): Promise<T> {
    if (!(await this.#freshness.catchUp(offset))) throw failure;
    try {
      return await this.#reader.read((view) => this.#put(question, view));
    } catch (error) {
      throw isNotNow(error) ? unavailable(error.message) : error;
    }
  }

  #put<T>(question: Question<T>, view: View): T {
    const answer = question(this.#registry, { view, now: this.#now() });
    // Where the compiler did not look, a registry's method may wait all the same.
    if (!(answer instanceof Promise)) return answer;
    answer.catch(() => undefined);
    throw new Error(`the registry ${this.#registry.name} gave a promise: its methods have to answer at once`);
  }
}

/** Whether the store has no answer now, and later may have one. */
const isNotNow = (error: unknown): error is NotReady | StoreUnavailable =>
  error instanceof NotReady || error instanceof StoreUnavailable;
