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
   * again while the store catches up. Otherwise synchronous if the store is: a promise costs more than most queries.
   */
  execute<T>(query: Query<T>): Answer<T> | Promise<Answer<T>> {
    const reason = this.#freshness.staleReason();
    if (reason !== undefined) throw unavailable(reason);
    try {
      const answer = this.#read(query, UNPREPARED);
      return answer instanceof Promise ? answer.catch((error: unknown) => this.#recover(query, error)) : answer;
    } catch (error) {
      return this.#recover(query, error);
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

  /** Throws the error, unless executing the query again may help. */
  #recover<T>(query: Query<T>, error: unknown): Promise<Answer<T>> {
    if (error instanceof ContractMissed || error instanceof HoldingsNeeded) return this.#executeAgain(query, error);
    throw asUnavailable(error);
  }

  /** Reads the holdings that the query needs, or catches up, and executes it again. */
  async #executeAgain<T>(query: Query<T>, error: ContractMissed | HoldingsNeeded): Promise<Answer<T>> {
    let holdings: Preparation["holdings"];
    const attempt = async (hasReachedEnd: boolean): Promise<Answer<T>> => {
      try {
        return await this.#read(query, { hasReachedEnd, holdings });
      } catch (failure) {
        if (!(failure instanceof HoldingsNeeded)) throw failure;
        holdings = (await this.#holdings?.holdings(failure.contractIds)) ?? new Map();
        return await this.#read(query, { hasReachedEnd, holdings });
      }
    };
    if (error instanceof HoldingsNeeded) {
      try {
        return await attempt(false);
      } catch (failure) {
        if (!(failure instanceof ContractMissed)) throw asUnavailable(failure);
      }
    }
    return this.#catchUp(attempt);
  }

  /** Executes a query again each time the store has moved, until it has what the ledger had when the query came. */
  async #catchUp<T>(attempt: (hasReachedEnd: boolean) => Promise<Answer<T>>): Promise<Answer<T>> {
    for await (const progress of this.#freshness.catchUp()) {
      const hasReachedEnd = progress === "reached";
      try {
        return await attempt(hasReachedEnd);
      } catch (error) {
        if (!(error instanceof ContractMissed)) throw asUnavailable(error);
        if (hasReachedEnd) throw error.failure;
      }
    }
    // The ledger may have the contract.
    throw unavailable("the request names a contract that is not known yet, and the ledger is not reached in time");
  }

  #read<T>(query: Query<T>, preparation: Preparation): Answer<T> | Promise<Answer<T>> {
    return this.#reader.read((view) => {
      const tracking = new TrackingView(view);
      try {
        return this.#run(query, tracking, preparation);
      } catch (error) {
        const isNotFound = error instanceof RegistryError && error.reason === "not-found";
        throw isNotFound && tracking.missedUnarchived() ? new ContractMissed(error) : error;
      }
    });
  }

  #run<T>(query: Query<T>, view: TrackingView, preparation: Preparation): Answer<T> {
    const context = new QueryContext(view, this.#now(), this.#configurationId, preparation, this.#createRecorder);
    const value = query(this.#registry, context);
    // A registry module may be plain JavaScript with async methods.
    if (!(value instanceof Promise)) return new Answer(value, context);
    value.catch(() => undefined);
    throw new Error(`registry ${this.#registry.name} returned a promise: its methods must be synchronous`);
  }
}

const UNPREPARED: Preparation = { hasReachedEnd: false, holdings: undefined };

/** A contract id was not found that the ledger may have. */
class ContractMissed extends Error {
  constructor(readonly failure: RegistryError) {
    super(failure.message);
  }
}

const asUnavailable = (error: unknown): unknown =>
  error instanceof NotReady || error instanceof StoreUnavailable ? unavailable(error.message) : error;
