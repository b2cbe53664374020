import { NotReady, type StoreReader, StoreUnavailable } from "../store/port.js";
import { notFound, RegistryError, unavailable } from "../domain/errors.js";
import type { Freshness } from "../domain/freshness.js";
import type { HoldingSource } from "../domain/holdings.js";
import type { History } from "./sdk/history.js";
import type { Registry, RequestContext, UtilityOperations } from "./sdk/registry.js";
import { Answer } from "./basis.js";
import { type CreateRecorder, HoldingsNeeded, type Preparation, QueryContext } from "./query-context.js";
import { TrackingView } from "./tracking-view.js";

type Query<T> = (registry: Registry, context: RequestContext) => T;

/** Executes queries on a registry, each on one state of the store, and records what each answer rests on. */
export class QueryExecutor {
  readonly #registry: Registry;
  readonly #reader: StoreReader;
  readonly #freshness: Freshness;
  readonly #now: () => number;
  readonly #history: History | undefined;
  readonly #holdings: HoldingSource | undefined;
  readonly #configurationId: string;
  readonly #createRecorder: CreateRecorder | undefined;

  /**
   * `now` returns milliseconds since 1970. `history` and `holdings` are undefined if the source has no updates. `configurationId`
   * identifies all but the store that answers depend on; processes with the same one give the same answers.
   * `createRecorder` is called for each run of a query that is explained; undefined to record nothing.
   */
  constructor(
    registry: Registry,
    reader: StoreReader,
    freshness: Freshness,
    now: () => number,
    history?: History,
    holdings?: HoldingSource,
    configurationId = "",
    createRecorder?: CreateRecorder,
  ) {
    this.#registry = registry;
    this.#reader = reader;
    this.#freshness = freshness;
    this.#now = now;
    this.#history = history;
    this.#holdings = holdings;
    this.#configurationId = configurationId;
    this.#createRecorder = createRecorder;
  }

  /** An executor of the same queries that explains them, as at `now` (milliseconds since 1970; the current time by default). */
  explaining(createRecorder: CreateRecorder, now?: number): QueryExecutor {
    const clock = now === undefined ? this.#now : () => now;
    const [registry, configurationId] = [this.#registry, this.#configurationId];
    return new QueryExecutor(
      registry,
      this.#reader,
      this.#freshness,
      clock,
      this.#history,
      this.#holdings,
      configurationId,
      createRecorder,
    );
  }

  /**
   * Throws RegistryError, or rejects with it. If a contract id was not found, the ledger may be ahead: the query runs
   * again after catching up. Otherwise synchronous if the store is: a promise costs more than most queries.
   */
  execute<T>(query: Query<T>): Answer<T> | Promise<Answer<T>> {
    const reason = this.#freshness.staleReason();
    if (reason !== undefined) throw unavailable(reason);
    let missedAt: number | undefined;
    const recover = (error: unknown): Promise<Answer<T>> => {
      if (isTemporary(error)) throw unavailable(error.message);
      if (missedAt === undefined) throw error;
      return this.#retry(query, missedAt, error);
    };
    try {
      const answer = this.#reader.read((view) => {
        const tracking = new TrackingView(view);
        try {
          return this.#run(query, tracking);
        } catch (error) {
          const isNotFound = error instanceof RegistryError && error.reason === "not-found";
          missedAt = isNotFound && tracking.missedUnarchived() ? view.offset : undefined;
          throw error;
        }
      });
      return answer instanceof Promise ? answer.catch(recover) : answer;
    } catch (error) {
      return recover(error);
    }
  }

  /** Throws "not-found" if the registry has no such operations. */
  executeUtility<T>(query: (utility: UtilityOperations, context: RequestContext) => T): Answer<T> | Promise<Answer<T>> {
    const utility = this.#utility();
    return this.execute((_registry, context) => query(utility, context));
  }

  /** Executes a query on the ledger's history. Throws "not-found" if the source has no history. */
  async executeHistory<T>(query: (utility: UtilityOperations, history: History) => Promise<T>): Promise<T> {
    const utility = this.#utility();
    if (this.#history !== undefined) return query(utility, this.#history);
    throw notFound("this service has no access to ledger updates: it reads a snapshot file or a database", {
      code: "history-unavailable",
    });
  }

  #utility(): UtilityOperations {
    const { utility, name } = this.#registry;
    if (utility === undefined)
      throw notFound(`the registry served here, ${name}, does not have this operation`, {
        code: "operation-not-supported",
      });
    return utility;
  }

  /** Executes a query again once the store is past the offset. Throws `failure` if the store does not get there. */
  async #retry<T>(query: Query<T>, offset: number, failure: unknown): Promise<Answer<T>> {
    if (!(await this.#freshness.catchUp(offset))) throw failure;
    try {
      return await this.#reader.read((view) => this.#run(query, new TrackingView(view)));
    } catch (error) {
      throw isTemporary(error) ? unavailable(error.message) : error;
    }
  }

  #run<T>(query: Query<T>, view: TrackingView): Answer<T> {
    const context = new QueryContext(view, this.#now(), this.#configurationId, this.#createRecorder);
    const value = query(this.#registry, context);
    // A registry module may be plain JavaScript with async methods.
    if (!(value instanceof Promise)) return new Answer(value, context);
    value.catch(() => undefined);
    throw new Error(`registry ${this.#registry.name} returned a promise: its methods must be synchronous`);
  }
}

const isTemporary = (error: unknown): error is NotReady | StoreUnavailable =>
  error instanceof NotReady || error instanceof StoreUnavailable;
