import type { Contract } from "../domain/contract.js";
import { notFound, RegistryError, unavailable } from "../domain/errors.js";
import type { Freshness, HoldingSource } from "../domain/ledger.js";
import {
  type BodySource,
  NotReady,
  type Position,
  StateMovedOn,
  type StoreReader,
  StoreUnavailable,
  type View,
} from "../state/port.js";
import type { History } from "./sdk/lookup.js";
import type { Registry, RequestContext, UtilityOperations } from "./sdk/registry.js";
import { HoldingsNeeded, type Preparation, QueryContext, Recording } from "./recorder.js";

/** The state of the store that an answer rests on. */
export interface Basis {
  /** The snapshot of the state, and the configuration of the service. Offsets of others are not comparable. */
  readonly generation: string;
  readonly offset: number;
  /** Ledger time of the state, in microseconds since 1970; undefined if the source gave none. */
  readonly asOf: number | undefined;
}

/** Answers are comparable if state and configuration are the same. */
export const generationName = (generation: string, configurationId: string): string =>
  configurationId === "" ? generation : `${generation}.${configurationId}`;

/** How often a query runs again because the state has moved on under the bodies that it needs. */
const MAX_MOVES = 2;

/** The result of a query with what it rests on. */
export class Answer<T> {
  readonly #origin: AnswerOrigin<T> | undefined;

  constructor(
    readonly value: T,
    /** Undefined for a result that rests on no state, such as that of a health check. */
    readonly basis: Basis | undefined,
    origin?: AnswerOrigin<T>,
  ) {
    this.#origin = origin;
  }

  /** The answer with a result made of this one. `convert` must depend on nothing else. */
  convert<U>(convert: (value: T) => U): Answer<U> {
    const again = async (run: () => Promise<Answer<T>>) => (await run()).convert(convert);
    const origin = this.#origin;
    return new Answer(
      convert(this.value),
      this.basis,
      origin && { bodies: origin.bodies, state: origin.state, again: () => again(origin.again) },
    );
  }

  /** Whether contracts of the result have their bodies, until the next turn. */
  hasBodies(contracts: readonly Contract[]): boolean {
    return this.#origin === undefined || this.#origin.bodies.has(contracts);
  }

  /**
   * Fetches the bodies of the contracts that the result discloses. Resolves with a function that gives them to the contracts and
   * returns the answer, a later one if the state has moved on; call it right before they are used. Rejects with RegistryError.
   */
  async takeBodies(contractsOf: (value: T) => readonly Contract[], moves = 0): Promise<() => Answer<T>> {
    const origin = this.#origin;
    if (origin === undefined) return () => this;
    try {
      const give = await origin.bodies.take(contractsOf(this.value), origin.state);
      return () => {
        give();
        return this;
      };
    } catch (error) {
      if (!(error instanceof StateMovedOn)) throw asUnavailable(error);
    }
    if (moves === MAX_MOVES)
      throw unavailable("the contracts of the answer change faster than they can be read; retry later");
    await origin.bodies.moveOn().catch(throwUnavailable);
    return (await origin.again()).takeBodies(contractsOf, moves + 1);
  }

  /** To be called after the bodies of contracts were used, which may have new encodings. */
  usedBodies(contracts: readonly Contract[]): void {
    this.#origin?.bodies.used(contracts);
  }
}

/** Where the bodies of a result come from, and how to get a result of a later state. */
interface AnswerOrigin<T> {
  readonly bodies: BodySource;
  readonly state: Pick<Position, "generation" | "offset">;
  readonly again: () => Promise<Answer<T>>;
}

type Query<T> = (registry: Registry, context: RequestContext) => T;

/** Executes queries on a registry, each on one state of the store. */
export class QueryExecutor {
  readonly #registry: Registry;
  readonly #reader: StoreReader;
  readonly #freshness: Freshness;
  readonly #now: () => number;
  readonly #history: History | undefined;
  readonly #holdings: HoldingSource | undefined;
  readonly #configurationId: string;
  #latest: { readonly snapshot: string; readonly basis: Basis } | undefined;

  /**
   * `now` returns milliseconds since 1970. `history` and `holdings` are undefined if the source has no updates. `configurationId`
   * identifies all but the store that answers depend on; processes with the same one give the same answers.
   */
  constructor(
    registry: Registry,
    reader: StoreReader,
    freshness: Freshness,
    now: () => number,
    history?: History,
    holdings?: HoldingSource,
    configurationId = "",
  ) {
    this.#registry = registry;
    this.#reader = reader;
    this.#freshness = freshness;
    this.#now = now;
    this.#history = history;
    this.#holdings = holdings;
    this.#configurationId = configurationId;
  }

  /**
   * Throws RegistryError, or rejects with it. If a contract id was not found, the ledger may be ahead: the query runs
   * again while the store catches up. Otherwise synchronous if the store is: a promise costs more than most queries.
   * Without `recording` nothing is recorded, until a query is refused: it is decided once more to learn what it misses.
   */
  execute<T>(query: Query<T>, recording?: Recording): Answer<T> | Promise<Answer<T>> {
    const reason = this.#freshness.staleReason();
    if (reason !== undefined) throw unavailable(reason);
    const hasReachedEnd = this.#freshness.catchUp === undefined;
    // All runs of a request have one time.
    const unprepared: Preparation = { now: recording?.now ?? this.#now(), hasReachedEnd, holdings: undefined };
    return orElse(
      () => this.#read(query, unprepared, recording),
      (error) => {
        if (recording !== undefined || hasReachedEnd || !isNotFound(error))
          return this.#recover(query, error, unprepared, recording);
        const again = new Recording();
        return orElse(
          () => this.#read(query, unprepared, again),
          (failure) => this.#recover(query, failure, unprepared, again),
        );
      },
    );
  }

  /** Throws "not-found" if the registry has no such operations. */
  executeUtility<T>(
    query: (utility: UtilityOperations, context: RequestContext) => T,
    recording?: Recording,
  ): Answer<T> | Promise<Answer<T>> {
    const utility = this.#utility();
    return this.execute((_registry, context) => query(utility, context), recording);
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
  #recover<T>(
    query: Query<T>,
    error: unknown,
    preparation: Preparation,
    recording: Recording | undefined,
  ): Promise<Answer<T>> {
    if (error instanceof ContractMissed || error instanceof HoldingsNeeded)
      return this.#executeAgain(query, error, preparation, recording);
    throw asUnavailable(error);
  }

  /** Reads the holdings that the query needs, or catches up, and executes it again. */
  async #executeAgain<T>(
    query: Query<T>,
    error: ContractMissed | HoldingsNeeded,
    { now, hasReachedEnd: isComplete }: Preparation,
    wanted: Recording | undefined,
  ): Promise<Answer<T>> {
    let recording = wanted;
    let holdings: Preparation["holdings"];
    const attempt = async (hasReachedEnd: boolean): Promise<Answer<T>> => {
      // Each reason to run again comes once.
      for (;;) {
        try {
          return await this.#read(query, { now, hasReachedEnd, holdings }, recording);
        } catch (failure) {
          if (failure instanceof HoldingsNeeded && holdings === undefined)
            holdings = (await this.#holdings?.holdings(failure.contractIds)) ?? new Map();
          else if (isNotFound(failure) && recording === undefined && !isComplete) recording = new Recording();
          else throw failure;
        }
      }
    };
    if (error instanceof HoldingsNeeded) {
      try {
        return await attempt(isComplete);
      } catch (failure) {
        if (!(failure instanceof ContractMissed)) throw asUnavailable(failure);
      }
    }
    return this.#catchUp(attempt);
  }

  /** Executes a query again each time the store has moved, until it has what the ledger had when the query came. */
  async #catchUp<T>(attempt: (hasReachedEnd: boolean) => Promise<Answer<T>>): Promise<Answer<T>> {
    for await (const progress of this.#freshness.catchUp?.() ?? []) {
      const hasReachedEnd = progress === "reached";
      try {
        return await attempt(hasReachedEnd);
      } catch (error) {
        if (!(error instanceof ContractMissed)) throw asUnavailable(error);
      }
    }
    // The ledger may have the contract.
    throw unavailable("the request names a contract that is not known yet, and the ledger is not reached in time");
  }

  /** With a recording throws ContractMissed where the ledger may have a contract that was not found. */
  #read<T>(query: Query<T>, preparation: Preparation, recording?: Recording): Answer<T> | Promise<Answer<T>> {
    return this.#reader.read((view) => {
      const recorder = recording?.begin(view, preparation.now);
      try {
        const value = this.#run(query, new QueryContext(view, preparation, recorder));
        return new Answer(value, this.#basisOf(view), this.#originOf(query, view, recording));
      } catch (error) {
        const mayBeAhead = !preparation.hasReachedEnd && recorder?.missedUnarchived() === true;
        throw mayBeAhead && isNotFound(error) ? new ContractMissed(error) : error;
      }
    });
  }

  #originOf<T>(query: Query<T>, { generation, offset }: View, recording?: Recording): AnswerOrigin<T> | undefined {
    const { bodies } = this.#reader;
    if (bodies === undefined) return undefined;
    return { bodies, state: { generation, offset }, again: async () => this.execute(query, recording) };
  }

  /** One object for each state, mostly. */
  #basisOf({ generation: snapshot, offset, asOf }: View): Basis {
    if (this.#latest?.snapshot === snapshot) {
      const { basis } = this.#latest;
      if (basis.offset === offset && basis.asOf === asOf) return basis;
    }
    const basis = { generation: generationName(snapshot, this.#configurationId), offset, asOf };
    this.#latest = { snapshot, basis };
    return basis;
  }

  #run<T>(query: Query<T>, context: RequestContext): T {
    const value = query(this.#registry, context);
    // A registry module may be plain JavaScript with async methods.
    if (!(value instanceof Promise)) return value;
    value.catch(() => undefined);
    throw new Error(`registry ${this.#registry.name} returned a promise: its methods must be synchronous`);
  }
}

/** A contract id was not found that the ledger may have. */
class ContractMissed extends Error {
  constructor(readonly failure: RegistryError) {
    super(failure.message);
  }
}

function throwUnavailable(error: unknown): never {
  throw asUnavailable(error);
}

function asUnavailable(error: unknown): unknown {
  return error instanceof NotReady || error instanceof StoreUnavailable ? unavailable(error.message) : error;
}

const isNotFound = (error: unknown): error is RegistryError =>
  error instanceof RegistryError && error.reason === "not-found";

/** Runs `otherwise` with what `run` throws, or rejects with. */
function orElse<T>(run: () => T | Promise<T>, otherwise: (error: unknown) => T | Promise<T>): T | Promise<T> {
  try {
    const result = run();
    return result instanceof Promise ? result.catch(otherwise) : result;
  } catch (error) {
    return otherwise(error);
  }
}
