import { NotReady, type StoreReader, StoreUnavailable, type View } from "../store/port.js";
import { notFound, RegistryError, unavailable } from "../domain/errors.js";
import type { Freshness } from "../domain/freshness.js";
import type { History } from "./sdk/history.js";
import type { Registry, RequestContext, UtilityOperations } from "./sdk/registry.js";
import { MissTrackingView } from "./miss-tracking-view.js";

type Query<T> = (registry: Registry, context: RequestContext) => T;

/** Puts questions to a registry, each at one moment and on one state of the store. */
export class QueryExecutor {
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
  execute<T>(query: Query<T>): T | Promise<T> {
    const refusal = this.#freshness.staleReason();
    if (refusal !== undefined) throw unavailable(refusal);
    let missedAt: number | undefined;
    const failed = (error: unknown): Promise<T> => {
      if (isNotNow(error)) throw unavailable(error.message);
      if (missedAt === undefined) throw error;
      return this.#askLater(query, missedAt, error);
    };
    try {
      const answer = this.#reader.read((view) => {
        const watched = new MissTrackingView(view);
        try {
          return this.#put(query, watched);
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
  executeUtility<T>(question: (utility: UtilityOperations, context: RequestContext) => T): T | Promise<T> {
    const utility = this.#utility();
    return this.execute((_registry, context) => question(utility, context));
  }

  /** Puts a question to the ledger's past, which the store does not know. Throws not-found where there is none to ask. */
  async executeHistory<T>(question: (utility: UtilityOperations, history: History) => Promise<T>): Promise<T> {
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
  async #askLater<T>(query: Query<T>, offset: number, failure: unknown): Promise<T> {
    if (!(await this.#freshness.catchUp(offset))) throw failure;
    try {
      return await this.#reader.read((view) => this.#put(query, view));
    } catch (error) {
      throw isNotNow(error) ? unavailable(error.message) : error;
    }
  }

  #put<T>(query: Query<T>, view: View): T {
    const answer = query(this.#registry, { view, now: this.#now() });
    // Where the compiler did not look, a registry's method may wait all the same.
    if (!(answer instanceof Promise)) return answer;
    answer.catch(() => undefined);
    throw new Error(`the registry ${this.#registry.name} gave a promise: its methods have to answer at once`);
  }
}

/** Whether the store has no answer now, and later may have one. */
const isNotNow = (error: unknown): error is NotReady | StoreUnavailable =>
  error instanceof NotReady || error instanceof StoreUnavailable;
