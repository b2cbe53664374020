import type { Contract } from "../domain/contract.js";
import { refuse, RegistryError, unavailable } from "../domain/errors.js";
import type { CatchUpProgress, ContractSource, Freshness } from "../domain/ledger.js";
import {
  type BodySource,
  NotReady,
  type Position,
  StateMovedOn,
  type StoreReader,
  StoreUnavailable,
  type View,
} from "../state/port.js";
import type { History } from "../registry/sdk/lookup.js";
import type { OperationRequest, Registry, RequestContext, UtilityOperations } from "../registry/sdk/registry.js";
import { type Preparation, QueryContext, type QueryRecorder, Recording } from "./recorder.js";

/** The version of the state on which a result rests. */
export interface ReadVersion {
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
export class Result<T> {
  constructor(
    readonly value: T,
    /** Undefined for a result that rests on no state, such as that of a health check. */
    readonly readVersion: ReadVersion | undefined,
    private readonly origin?: ResultOrigin<T>,
  ) {}

  /** The result with a value made of this one. `convert` must depend on nothing else. */
  convert<U>(convert: (value: T) => U): Result<U> {
    const again = async (run: () => Promise<Result<T>>) => (await run()).convert(convert);
    const origin = this.origin;
    return new Result(
      convert(this.value),
      this.readVersion,
      origin && { bodies: origin.bodies, state: origin.state, again: () => again(origin.again) },
    );
  }

  /** Whether contracts of the result have their bodies, until the next turn. */
  hasBodies(contracts: readonly Contract[]): boolean {
    return this.origin === undefined || this.origin.bodies.has(contracts);
  }

  /**
   * Fetches the bodies of the contracts that the result discloses. Resolves with a function that gives them to the contracts and
   * returns the result, a later one if the state has moved on; call it right before they are used. Rejects with RegistryError.
   */
  async takeBodies(contractsOf: (value: T) => readonly Contract[], moves = 0): Promise<() => Result<T>> {
    const origin = this.origin;
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
    this.origin?.bodies.used(contracts);
  }
}

/** Where the bodies of a result come from, and how to get a result of a later state. */
interface ResultOrigin<T> {
  readonly bodies: BodySource;
  readonly state: Pick<Position, "generation" | "offset">;
  readonly again: () => Promise<Result<T>>;
}

type Query<T> = (registry: Registry, context: RequestContext) => T;

/** A query with what is the same in all its runs. */
interface Run<T> {
  readonly query: Query<T>;
  /** What it answers; undefined for a query that reads nothing from the ledger. */
  readonly request: OperationRequest | undefined;
  readonly recording: Recording | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** What a run on one state has come to. */
type Outcome<T> =
  | { readonly result: Result<T> }
  /** It was not run: these contracts have to be read from the ledger first. */
  | { readonly unread: readonly string[] }
  /** A contract id was not found that the ledger may have: how to run it again. */
  | { readonly behind: Run<T> };

/** The state moves while contracts are read, and another state may name others. */
const MAX_READS = 3;

const NONE_READ: NonNullable<Preparation["onLedger"]> = new Map();

const NOT_REACHED = "the request names a contract that is not known yet, and the ledger is not reached in time";

/** Executes queries on a registry, each on one state of the store. */
export class QueryExecutor {
  #latest: { readonly snapshot: string; readonly version: ReadVersion } | undefined;

  /**
   * `now` returns milliseconds since 1970. `history` and `ledger` are undefined if the source has no updates. `configurationId`
   * identifies all but the store that answers depend on; processes with the same one give the same answers.
   */
  constructor(
    private readonly registry: Registry,
    private readonly reader: StoreReader,
    private readonly freshness: Freshness,
    private readonly now: () => number,
    private readonly history?: History,
    private readonly ledger?: ContractSource,
    private readonly configurationId = "",
  ) {}

  /**
   * Runs a query on one state. Throws RegistryError, or rejects with it. Where the registry names contracts of the ledger for
   * `request`, they are read first; where the query is refused for a contract id that the ledger may have, it runs again when
   * the store has caught up. Otherwise it is synchronous: a promise costs more than most queries. Without `recording` nothing
   * is recorded but what a refused query misses.
   */
  execute<T>(query: Query<T>, recording?: Recording, request?: OperationRequest): Result<T> | Promise<Result<T>> {
    const reason = this.freshness.staleReason();
    if (reason !== undefined) throw unavailable(reason);
    // All runs of a request have one time.
    const run = { query, request, recording, now: recording?.now ?? this.now() };
    const hasReachedEnd = this.freshness.catchUp === undefined;
    const outcome = this.#run(run, { hasReachedEnd, onLedger: this.ledger && NONE_READ });
    return "result" in outcome ? outcome.result : this.#goOn(run, outcome, hasReachedEnd);
  }

  /** Gets what the run lacks and runs the query again, until there is a result. */
  async #goOn<T>(first: Run<T>, firstOutcome: Outcome<T>, isComplete: boolean): Promise<Result<T>> {
    let run = first;
    let outcome = firstOutcome;
    let hasReachedEnd = isComplete;
    let onLedger = NONE_READ;
    let reads = 0;
    let catchUp: AsyncIterator<CatchUpProgress> | undefined;
    try {
      for (;;) {
        if ("result" in outcome) return outcome.result;
        if ("unread" in outcome) {
          onLedger = new Map([...onLedger, ...(await this.#read(outcome.unread, ++reads))]);
        } else {
          run = outcome.behind;
          catchUp ??= this.freshness.catchUp?.()[Symbol.asyncIterator]();
          const progress = await catchUp?.next();
          if (progress === undefined || progress.done === true) throw unavailable(NOT_REACHED);
          hasReachedEnd = progress.value === "reached";
        }
        outcome = this.#run(run, { hasReachedEnd, onLedger: this.ledger && onLedger });
      }
    } finally {
      await catchUp?.return?.();
    }
  }

  /** With "unread" for those that could not be read, and undefined for those that the ledger does not know. */
  async #read(contractIds: readonly string[], reads: number): Promise<typeof NONE_READ> {
    if (reads > MAX_READS) return new Map(contractIds.map((id) => [id, "unread"]));
    const read = await this.ledger?.contracts(contractIds);
    return new Map(contractIds.map((id) => [id, read?.get(id)]));
  }

  /** Throws "not-found" if the registry has no such operations. */
  executeUtility<T>(
    query: (utility: UtilityOperations, context: RequestContext) => T,
    recording?: Recording,
    request?: OperationRequest,
  ): Result<T> | Promise<Result<T>> {
    const utility = this.#utility();
    return this.execute((_registry, context) => query(utility, context), recording, request);
  }

  /** Executes a query on the ledger's history. Throws "not-found" if the source has no history. */
  async executeHistory<T>(query: (utility: UtilityOperations, history: History) => Promise<T>): Promise<T> {
    const utility = this.#utility();
    if (this.history !== undefined) return query(utility, this.history);
    throw refuse(
      "history-unavailable",
      "this service has no access to ledger updates: it reads a snapshot file or a database",
    );
  }

  #utility(): UtilityOperations {
    const { utility, name } = this.registry;
    if (utility === undefined)
      throw refuse("operation-not-supported", `the registry served here, ${name}, does not have this operation`);
    return utility;
  }

  /** Runs a query on the present state, unless contracts have to be read before. Throws RegistryError. */
  #run<T>(run: Run<T>, prepared: Omit<Preparation, "now">): Outcome<T> {
    const { query, request, recording, now } = run;
    const { hasReachedEnd, onLedger } = prepared;
    let recorder: QueryRecorder | undefined;
    try {
      return this.reader.read((view): Outcome<T> => {
        recorder = recording?.begin(view, now);
        if (onLedger !== undefined && request !== undefined) {
          const unread = this.#named(view, request).filter((id) => !onLedger.has(id));
          if (unread.length > 0) return { unread };
        }
        const value = this.#valueOf(query, new QueryContext(view, { now, ...prepared }, recorder));
        return { result: new Result(value, this.#versionOf(view), this.#originOf(run, view)) };
      });
    } catch (error) {
      if (hasReachedEnd || !isNotFound(error)) throw asUnavailable(error);
      // It is decided once more to learn what it misses.
      if (recorder === undefined) return this.#run({ ...run, recording: new Recording() }, prepared);
      if (recorder.missedUnarchived()) return { behind: run };
      throw error;
    }
  }

  #named(view: View, request: OperationRequest): readonly string[] {
    try {
      return this.registry.readById?.contractIds(view, request) ?? [];
    } catch (error) {
      // Of a request that is refused anyway: its operation says with what.
      if (error instanceof RegistryError) return [];
      throw error;
    }
  }

  #originOf<T>({ query, request, recording }: Run<T>, { generation, offset }: View): ResultOrigin<T> | undefined {
    const { bodies } = this.reader;
    if (bodies === undefined) return undefined;
    return { bodies, state: { generation, offset }, again: async () => this.execute(query, recording, request) };
  }

  /** One object for each state, mostly. */
  #versionOf({ generation: snapshot, offset, asOf }: View): ReadVersion {
    if (this.#latest?.snapshot === snapshot) {
      const { version } = this.#latest;
      if (version.offset === offset && version.asOf === asOf) return version;
    }
    const version = { generation: generationName(snapshot, this.configurationId), offset, asOf };
    this.#latest = { snapshot, version };
    return version;
  }

  #valueOf<T>(query: Query<T>, context: RequestContext): T {
    const value = query(this.registry, context);
    // A registry module may be plain JavaScript with async methods.
    if (!(value instanceof Promise)) return value;
    value.catch(() => undefined);
    throw new Error(`registry ${this.registry.name} returned a promise: its methods must be synchronous`);
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
