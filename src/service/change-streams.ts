import { unavailable } from "../domain/errors.js";
import type { Freshness } from "../domain/ledger.js";
import type { Tag } from "../state/lookup-hash.js";
import type { ChangeFeed } from "../state/port.js";
import {
  createFilter,
  type Filter,
  matches,
  parseResumeToken,
  ReleasedChanges,
  Coalescing,
  type StreamPosition,
  type WatchEvent,
} from "./released-changes.js";

/** Streams that are woken make and write their events before the next ones are. */
const WAKES_AT_ONCE = 5;
/** Then requests get a turn of the event loop. */
const MAX_TURN_MS = 5;

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Resolves when all promise callbacks have run that can, in the same turn. */
const streamsHaveRun = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

export interface WatchQuery {
  readonly registrars: readonly string[];
  readonly tags: readonly Tag[];
  /** Empty to begin. */
  readonly resumeToken: string;
}

export interface ChangeStreamsOptions {
  readonly changes: ChangeFeed;
  readonly freshness: Pick<Freshness, "staleReason">;
  /** Milliseconds since the store was last known to equal the ledger; undefined if it never was. */
  readonly age: () => number | undefined;
  /** As in QueryExecutor. */
  readonly configurationId: string;
  /** Monotonic, in milliseconds. */
  readonly clock?: () => number;
  /** A stream that has sent nothing for so long sends a heartbeat. */
  readonly heartbeatMs?: number;
  /** As in Coalescing. */
  readonly mergeMs?: number;
}

/** A stream that waits for something to send. */
interface Waiter {
  readonly wake: () => void;
  /** When it has to send a heartbeat, by the clock. */
  readonly deadline: number;
  readonly filter: Filter;
  /** Nothing up to here is to be sent. It moves on while nothing is, so that the log need not reach back. */
  checked: StreamPosition;
  /** It will be woken. */
  isDue: boolean;
}

const CHECK_MS = 500;

/**
 * The streams of changes. Each has a position and a filter, and reads the log that all share when its client takes the
 * next event: a slow client costs no memory, and gets what has changed in the meantime as one event.
 */
export class ChangeStreams {
  readonly #freshness: ChangeStreamsOptions["freshness"];
  readonly #clock: () => number;
  readonly #heartbeatMs: number;
  readonly #age: ChangeStreamsOptions["age"];
  readonly #released: ReleasedChanges;
  readonly #schedule: Coalescing;
  readonly #waiters = new Set<Waiter>();
  readonly #unsubscribe: () => void;
  #checkTimer: NodeJS.Timeout | undefined;

  constructor(options: ChangeStreamsOptions) {
    const { changes, clock = () => performance.now(), heartbeatMs = 10_000, mergeMs = 100 } = options;
    this.#freshness = options.freshness;
    this.#clock = clock;
    this.#heartbeatMs = heartbeatMs;
    this.#age = options.age;
    this.#released = new ReleasedChanges(changes, options.configurationId);
    this.#schedule = new Coalescing(() => this.#wakeDue(this.#released.release()), clock, mergeMs);
    this.#unsubscribe = changes.subscribe(() => this.#schedule.changed());
  }

  /** As in Coalescing. */
  get lagMs(): number {
    return this.#schedule.lagMs;
  }

  /**
   * The events of one stream, until `signal` aborts. Throws "invalid" for a wrong token, and "unavailable" as soon as the
   * service may not answer from its store.
   */
  async *watch({ registrars, tags, resumeToken }: WatchQuery, signal: AbortSignal): AsyncGenerator<WatchEvent> {
    const filter = createFilter(registrars, tags);
    const resumed = resumeToken === "" ? undefined : parseResumeToken(resumeToken);
    let event: WatchEvent | undefined = this.#first(resumed, filter);
    while (event !== undefined && !signal.aborted) {
      yield event;
      // After a resume at a replica that is behind, the position must not go back.
      const { generation, offset } = event;
      const isBehind = resumed?.generation === generation && resumed.offset > offset;
      event = await this.#next(isBehind ? resumed : event, filter, signal);
    }
  }

  close(): void {
    this.#unsubscribe();
    this.#schedule.close();
    clearInterval(this.#checkTimer);
  }

  #first(resumed: StreamPosition | undefined, filter: Filter): WatchEvent {
    this.#requireCurrent();
    // The first state may be younger than the latest release.
    if (this.#released.position === undefined) this.#released.release();
    const { position } = this.#released;
    if (position === undefined) throw unavailable("no snapshot of the ledger has been taken yet");
    if (resumed === undefined) return { type: "reset", ...position };
    return this.#released.after(resumed, filter) ?? this.#heartbeat(position);
  }

  async #next(position: StreamPosition, filter: Filter, signal: AbortSignal): Promise<WatchEvent | undefined> {
    const deadline = this.#clock() + this.#heartbeatMs;
    let checked = position;
    while (!signal.aborted) {
      this.#requireCurrent();
      const event = this.#released.after(checked, filter);
      if (event !== undefined) return event;
      const { position: released } = this.#released;
      if (this.#clock() >= deadline && released !== undefined) return this.#heartbeat(released);
      // oxlint-disable-next-line no-await-in-loop -- until there is an event
      checked = await this.#wait(checked, filter, deadline, signal);
    }
    return undefined;
  }

  #heartbeat(position: StreamPosition & Pick<WatchEvent, "asOf">): WatchEvent {
    return { type: "heartbeat", age: this.#age(), ...position };
  }

  #requireCurrent(): void {
    const reason = this.#freshness.staleReason();
    if (reason !== undefined) throw unavailable(reason);
  }

  /** Returns up to where nothing is to be sent. */
  #wait(from: StreamPosition, filter: Filter, deadline: number, signal: AbortSignal): Promise<StreamPosition> {
    this.#checkTimer ??= setInterval(() => this.#check(), CHECK_MS);
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener("abort", wake);
        this.#waiters.delete(waiter);
        resolve(waiter.checked);
      };
      const waiter: Waiter = { wake, deadline, filter, checked: from, isDue: false };
      this.#waiters.add(waiter);
      signal.addEventListener("abort", wake);
    });
  }

  /** Wakes streams whose heartbeat is due, and all if the service may not answer. Ends when none wait. */
  #check(): void {
    if (this.#waiters.size === 0) {
      clearInterval(this.#checkTimer);
      this.#checkTimer = undefined;
      return;
    }
    const now = this.#clock();
    const isStale = this.#freshness.staleReason() !== undefined;
    void this.#wake(({ deadline }) => isStale || deadline <= now);
  }

  /** `tags` of what has changed since the last release; undefined if everything may have. Returns milliseconds. */
  #wakeDue(tags: ReadonlySet<Tag> | undefined): Promise<number> {
    const { position } = this.#released;
    return this.#wake((waiter) => {
      // Most updates of some ledgers change no look-up.
      if (tags === undefined || (tags.size > 0 && matches(waiter.filter, tags))) waiter.isDue = true;
      else if (!waiter.isDue && position !== undefined && position.offset > waiter.checked.offset)
        waiter.checked = position;
      return waiter.isDue;
    });
  }

  /** Selects waiters at once, and wakes them in short turns. Returns how long these took together. Never rejects. */
  async #wake(isDue: (waiter: Waiter) => boolean): Promise<number> {
    let woken = 0;
    let [total, begunAt] = [0, performance.now()];
    for (const waiter of [...this.#waiters].filter(isDue)) {
      if (!this.#waiters.has(waiter)) continue;
      waiter.wake();
      if (++woken % WAKES_AT_ONCE > 0) continue;
      await streamsHaveRun();
      const elapsed = performance.now() - begunAt;
      if (elapsed < MAX_TURN_MS) continue;
      total += elapsed;
      await nextTurn();
      begunAt = performance.now();
    }
    return total + performance.now() - begunAt;
  }
}
