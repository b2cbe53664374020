import type { CatchUpProgress } from "../domain/ledger.js";
import { CatchUpRequests } from "./catch-up-requests.js";
import { ChangeLog } from "./change-log.js";
import type { ChangeFeed } from "./port.js";
import { Confirmation } from "./confirmation.js";
import { backoffMs, SingleFlight } from "../util/async.js";
import { Retries, type RetriesOptions } from "../util/retries.js";
import type { LogHead, StateLog } from "./log.js";
import { NextState } from "./next-state.js";
import { type Heap, loadState, NEARLY_FULL, processHeap, StateSize, StateTooLarge } from "./load-state.js";
import { type State, StateReader } from "./state.js";

const POLL_MS = 1_000;
const RECONNECT_BACKOFF = { firstMs: 100, maxMs: 5_000 };
/** Until a state that did not fit is loaded again: to find out takes as long as to load it. */
const TOO_LARGE_MS = 60_000;

export interface FollowerOptions extends RetriesOptions {
  readonly log: StateLog;
  /** Called once when the log becomes unreadable. */
  readonly onLost: (error: unknown) => void;
  readonly onRecovered: () => void;
  /** Called for each generation that the heap has no room for. A state that is served stays. */
  readonly onTooLarge: (error: StateTooLarge) => void;
  /** Called when the contracts that are served take more than 80 % of the usable heap, with all else: the share of it. */
  readonly onNearlyFull: (share: number) => void;
  readonly heap?: Heap;
}

/** For health checks and each request. */
export interface FollowerStatus {
  /** Undefined before the first state. */
  readonly offset: number | undefined;
  /** Milliseconds since the state was last known to equal the ledger; undefined if it never was. */
  readonly age: number | undefined;
  /** Why the ledger is not the one that the state comes from; undefined if it is not known. */
  readonly otherHistory: string | undefined;
  /** What the latest read of the log threw; undefined if it has succeeded. */
  readonly failure: unknown;
  /** Whether the latest read has found that nothing was ever committed. */
  readonly isEmpty: boolean;
}

interface Loaded {
  readonly head: LogHead;
  readonly state: State;
  readonly size: StateSize;
}

/**
 * Holds the fields of all contracts of a log in memory, at one offset, and moves to the head of the log: by a step, or where
 * none leads there, by loading the state again beside the one that it serves. Its states, and what leads from one to the next:
 * - Empty: there is no state to read. -> following: a state is loaded.
 * - Following: each notice and each second, a step leads to the head. The next generation is loaded beside it.
 * - Following -> following: another generation is served, which has been loaded before.
 * - Following -> following: one that was not, the log was restored, or the follower is too far behind. The state that it has is
 *   served until the next is loaded; for good if the heap has no room for both.
 */
export class Follower extends StateReader {
  readonly #changes = new ChangeLog();
  /** Of the loaded state, and what steps have made of it. */
  #confirmation = new Confirmation();
  readonly #retries: Retries;
  readonly #refresh = new SingleFlight(() => this.#moveToHead());
  readonly #requests: CatchUpRequests;
  readonly #next: NextState<Loaded>;
  /** Of the state. */
  #head: LogHead | undefined;
  #size: StateSize | undefined;
  /** What the heap had no room for at the latest load. */
  #tooLarge: { readonly generation: number; readonly at: number; readonly error: StateTooLarge } | undefined;
  #isNearlyFull = false;
  #failure: unknown;
  #isEmpty = false;
  #isLost = false;

  constructor(private readonly options: FollowerOptions) {
    super();
    this.#retries = new Retries(options);
    this.#requests = new CatchUpRequests(options.log);
    this.#next = new NextState((generation, signal) => this.#prepare(generation, signal));
  }

  get changes(): ChangeFeed {
    return this.#changes;
  }

  get status(): FollowerStatus {
    const { at } = this.#confirmation;
    return {
      offset: this.#head?.offset,
      age: at === undefined ? undefined : this.options.clock() - at,
      otherHistory: this.#head?.otherHistory,
      failure: this.#failure,
      isEmpty: this.#isEmpty,
    };
  }

  /** The share of the usable heap that the contracts take with all else, or that those would which do not fit. */
  get heapShare(): number | undefined {
    return this.#tooLarge?.error.share ?? this.#heapShare();
  }

  /** Ends when the signal is aborted. */
  async run(): Promise<void> {
    const listening = this.#retries.run(
      () => this.#listen(),
      (failures) => backoffMs(failures, RECONNECT_BACKOFF),
    );
    const drop = () => this.#next.drop();
    this.options.signal.addEventListener("abort", drop);
    try {
      await Promise.all([listening, this.#keepPolling()]);
    } finally {
      await this.#next.close();
      this.options.signal.removeEventListener("abort", drop);
    }
  }

  /** Moves to the head of the log, as it is from now on or later. Throws StoreUnavailable. */
  refresh(): Promise<void> {
    return this.#refresh.run();
  }

  async #moveToHead(): Promise<void> {
    const { log, clock } = this.options;
    const startedAt = clock();
    try {
      const progress = await log.progress(this.#head);
      this.#isEmpty = progress === "empty";
      if (progress === "empty") {
        this.#next.drop();
        this.#failure = undefined;
        return;
      }
      const { head, step } = progress;
      const { state } = this;
      this.#next.follow(head);
      if (![head.generation, head.next?.generation].includes(this.#tooLarge?.generation)) this.#tooLarge = undefined;
      if (step === undefined || state === undefined) {
        if (!(await this.#switchTo(head.generation))) await this.#load(head.generation);
        return;
      }
      if (head.offset > state.offset) {
        const tags = state.step(step, head.offset, head.asOf);
        this.#changes.append({ offset: head.offset, asOf: head.asOf, tags });
      }
      this.#serve(state, head, startedAt);
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  /** Serves a generation that was loaded before it was served. Returns false if there is none, or no step leads on from it. */
  async #switchTo(generation: number): Promise<boolean> {
    const { log, clock } = this.options;
    const next = await this.#next.loaded(generation);
    const startedAt = clock();
    const progress = next && (await log.progress(next.head));
    // A copy of it must not stay beside what is loaded.
    this.#next.drop();
    if (next === undefined || progress === undefined || progress === "empty" || progress.step === undefined)
      return false;
    const { head, step } = progress;
    next.state.step(step, head.offset, head.asOf);
    this.#begin({ ...next, head }, startedAt);
    return true;
  }

  /** The state at the head when the load begins. What is committed meanwhile comes by the next step. */
  async #load(generation: number): Promise<void> {
    const { clock, signal } = this.options;
    const startedAt = clock();
    const tooLarge = this.#tooLarge;
    if (tooLarge?.generation === generation && startedAt < tooLarge.at + TOO_LARGE_MS) throw tooLarge.error;
    const loaded = await this.#read(signal);
    // Nothing is served any more, or not yet: the present state is served until it is stale.
    if (loaded !== undefined) this.#begin(loaded, startedAt);
  }

  /** Undefined if it does not fit: it is loaded again when it is served. */
  async #prepare(generation: number, signal: AbortSignal): Promise<Loaded | undefined> {
    try {
      return await this.#read(signal, generation);
    } catch (error) {
      if (error instanceof StateTooLarge) return undefined;
      throw error;
    }
  }

  #read(signal: AbortSignal, next?: number): Promise<Loaded | undefined> {
    const { log, clock, heap = processHeap, onTooLarge } = this.options;
    return log.load(
      async (logged) => {
        if (logged === undefined) return undefined;
        const { head } = logged;
        const { generation } = head;
        const size = new StateSize(heap, this.#size?.bytes(this.state?.size ?? 0));
        const known = this.#head?.origin === head.origin ? this.state : undefined;
        try {
          const state = await loadState(logged, known, size);
          this.#tooLarge = undefined;
          return { head, state, size };
        } catch (error) {
          if (!(error instanceof StateTooLarge)) throw error;
          const isNew = this.#tooLarge?.generation !== generation;
          this.#tooLarge = { generation, at: clock(), error };
          if (isNew) onTooLarge(error);
          throw error;
        }
      },
      signal,
      next,
    );
  }

  /** Serves another state than before. */
  #begin({ state, head, size }: Loaded, startedAt: number): void {
    // A restored log has an earlier state than what was known to equal the ledger.
    this.#confirmation = new Confirmation();
    this.#size = size;
    this.#serve(state, head, startedAt);
    this.#changes.reset({ generation: state.generation, offset: state.offset, asOf: state.asOf });
  }

  #serve(state: State, head: LogHead, startedAt: number): void {
    this.state = state;
    this.#head = head;
    this.#failure = undefined;
    this.#confirmation.observe(head.heartbeat, startedAt);
    const share = this.#heapShare() ?? 0;
    const wasNearlyFull = this.#isNearlyFull;
    this.#isNearlyFull = share > NEARLY_FULL;
    if (this.#isNearlyFull && !wasNearlyFull) this.options.onNearlyFull(share);
  }

  #heapShare(): number | undefined {
    return this.state && this.#size?.share(this.state.size);
  }

  async #keepPolling(): Promise<void> {
    const { pause, signal } = this.options;
    while (!signal.aborted) {
      await this.#tryRefresh();
      await pause(POLL_MS);
    }
  }

  /** Returns whether the log could be read. */
  async #tryRefresh(): Promise<boolean> {
    const { signal, onLost, onRecovered } = this.options;
    try {
      await this.refresh();
      if (this.#isLost) onRecovered();
      this.#isLost = false;
    } catch (error) {
      if (!this.#isLost && !signal.aborted) onLost(error);
      this.#isLost = true;
    }
    return !this.#isLost;
  }

  #listen(): Promise<void> {
    const { log, signal } = this.options;
    return log.listen(
      {
        listening: () => {
          this.#retries.recovered();
          // What was notified before is lost.
          void this.#tryRefresh();
        },
        committed: () => void this.#tryRefresh(),
        caughtUp: (id) => this.#requests.caughtUp(id),
      },
      signal,
    );
  }

  /** See Freshness. Lets the mirror catch up, and gives up after `timeoutMs`. */
  catchUp(timeoutMs: number): AsyncGenerator<CatchUpProgress> {
    return this.#requests.catchUp(timeoutMs, this.#changes, () => this.#tryRefresh());
  }
}
