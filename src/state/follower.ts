import { randomUUID } from "node:crypto";
import type { CatchUpProgress } from "../domain/ledger.js";
import { ChangeLog } from "./change-log.js";
import type { ChangeFeed } from "./port.js";
import { Confirmation } from "./confirmation.js";
import { backoffMs, Notifier, SingleFlight } from "../util/async.js";
import { Retries, type RetriesOptions } from "../util/retries.js";
import type { LogHead, StateLog } from "./log.js";
import { State, StateReader } from "./state.js";

const POLL_MS = 1_000;
const RECONNECT_BACKOFF = { firstMs: 100, maxMs: 5_000 };

export interface FollowerOptions extends RetriesOptions {
  readonly log: StateLog;
  /** Called once when the log becomes unreadable. */
  readonly onLost: (error: unknown) => void;
  readonly onRecovered: () => void;
}

/** For health checks and metrics. */
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

/**
 * Holds the fields of all contracts of a log in memory, at one offset, and moves to the head of the log: by a step, or where
 * none leads there, by loading the state again beside the one that it serves. Its states, and what leads from one to the next:
 * - Empty: there is no state to read. -> following: a state is loaded.
 * - Following: each notice and each second, a step leads to the head.
 * - Following -> following: another generation is served, the log was restored, or the follower is too far behind. The state
 *   that it has is served until the next is loaded.
 */
export class Follower extends StateReader {
  readonly #options: FollowerOptions;
  readonly #changes = new ChangeLog();
  /** Of the loaded state, and what steps have made of it. */
  #confirmation = new Confirmation();
  readonly #retries: Retries;
  readonly #moved = new Notifier();
  readonly #refresh = new SingleFlight(() => this.#moveToHead());
  /** All that come while a request is being sent share the next. */
  readonly #request = new SingleFlight((timeoutMs: number) => this.#requestCatchUp(timeoutMs));
  readonly #onCaughtUp = new Map<string, () => void>();
  /** Of the state. */
  #head: LogHead | undefined;
  #queries = 0;
  #failure: unknown;
  #isEmpty = false;
  #isLost = false;

  constructor(options: FollowerOptions) {
    super();
    this.#options = options;
    this.#retries = new Retries(options);
  }

  get changes(): ChangeFeed {
    return this.#changes;
  }

  get status(): FollowerStatus {
    const { at } = this.#confirmation;
    return {
      offset: this.#head?.offset,
      age: at === undefined ? undefined : this.#options.clock() - at,
      otherHistory: this.#head?.otherHistory,
      failure: this.#failure,
      isEmpty: this.#isEmpty,
    };
  }

  /** Ends when the signal is aborted. */
  async run(): Promise<void> {
    const listening = this.#retries.run(
      () => this.#listen(),
      (failures) => backoffMs(failures, RECONNECT_BACKOFF),
    );
    await Promise.all([listening, this.#keepPolling()]);
  }

  /** Moves to the head of the log, as it is from now on or later. Throws StoreUnavailable. */
  refresh(): Promise<void> {
    return this.#refresh.run();
  }

  async #moveToHead(): Promise<void> {
    const { log, clock } = this.#options;
    const startedAt = clock();
    try {
      const progress = await log.progress(this.#head);
      this.#isEmpty = progress === "empty";
      if (progress === "empty") {
        this.#failure = undefined;
        return;
      }
      const { head, step } = progress;
      const { state } = this;
      if (step === undefined || state === undefined) return await this.#load();
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

  /** The state at the head when the load begins. What is committed meanwhile comes by the next step. */
  async #load(): Promise<void> {
    const { log, clock } = this.#options;
    const startedAt = clock();
    await log.load(async (logged) => {
      // Nothing is served any more, or not yet: the present state is served until it is stale.
      if (logged === undefined) return;
      const { head } = logged;
      const state = new State(String(head.generation), head.offset, head.asOf);
      const known = this.#head?.origin === head.origin ? this.state : undefined;
      await state.load(logged, known);
      // A restored log has an earlier state than what was known to equal the ledger.
      this.#confirmation = new Confirmation();
      this.#serve(state, head, startedAt);
      this.#changes.reset({ generation: state.generation, offset: state.offset, asOf: state.asOf });
    });
  }

  #serve(state: State, head: LogHead, startedAt: number): void {
    const hasMoved = this.state !== state || this.#head?.offset !== head.offset;
    this.state = state;
    this.#head = head;
    this.#failure = undefined;
    this.#confirmation.observe(head.heartbeat, startedAt, ++this.#queries);
    if (hasMoved) this.#moved.notify();
  }

  async #keepPolling(): Promise<void> {
    const { pause, signal } = this.#options;
    while (!signal.aborted) {
      await this.#tryRefresh();
      await pause(POLL_MS);
    }
  }

  /** Returns whether the log could be read. */
  async #tryRefresh(): Promise<boolean> {
    const { signal, onLost, onRecovered } = this.#options;
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
    const { log, signal } = this.#options;
    return log.listen(
      {
        listening: () => {
          this.#retries.recovered();
          // What was notified before is lost.
          void this.#tryRefresh();
        },
        committed: () => void this.#tryRefresh(),
        caughtUp: (id) => this.#onCaughtUp.get(id)?.(),
      },
      signal,
    );
  }

  /** See Freshness. Lets the mirror catch up, and gives up after `timeoutMs`. */
  async *catchUp(timeoutMs: number): AsyncGenerator<CatchUpProgress> {
    let timer: NodeJS.Timeout | undefined;
    const expired = new Promise<"gave up">((resolve) => {
      timer = setTimeout(resolve, timeoutMs, "gave up");
    });
    try {
      let moved = this.#moved.next;
      const reached = this.#request.run(timeoutMs).then(
        ({ caughtUp }) => caughtUp.then(() => "reached" as const),
        // The poll reports that the log is unavailable.
        () => "gave up" as const,
      );
      for (;;) {
        const progress = await Promise.race([reached, expired, moved.then(() => "advanced" as const)]);
        // What moves it while the caller looks at the state ends the next wait.
        moved = this.#moved.next;
        if (progress === "gave up") return;
        if (progress === "reached") break;
        yield "advanced";
      }
      // The mirror has committed what it has reached.
      if (await this.#tryRefresh()) yield "reached";
    } finally {
      clearTimeout(timer);
    }
  }

  async #requestCatchUp(timeoutMs: number): Promise<{ readonly caughtUp: Promise<void> }> {
    const id = randomUUID();
    const forget = () => {
      clearTimeout(timer);
      this.#onCaughtUp.delete(id);
    };
    const timer = setTimeout(forget, timeoutMs);
    const caughtUp = new Promise<void>((resolve) => {
      this.#onCaughtUp.set(id, () => {
        forget();
        resolve();
      });
    });
    try {
      await this.#options.log.requestCatchUp(id);
    } catch (error) {
      forget();
      throw error;
    }
    return { caughtUp };
  }
}
