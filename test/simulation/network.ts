/** The ways of processes to the log: slow, cut, and with notices that are lost. */
import type {
  FetchedBodies,
  LoggedState,
  LogNotices,
  LogPosition,
  LogProgress,
  StateLog,
} from "../../src/state/log.js";
import { StoreUnavailable, type StoreWriter } from "../../src/state/port.js";
import type { Random } from "../ingest/database/random.js";
import type { ArrayLog } from "../state/array-log.js";
import type { VirtualClock } from "./clock.js";
import type { Process } from "./process.js";

export class Network {
  readonly clock: VirtualClock;
  readonly #random: Random;
  readonly #links = new Set<Link>();
  readonly #maxLatency: number;
  #isUp = true;
  /** Until when. */
  slowUntil = -Infinity;
  deafUntil = -Infinity;
  #slowMs = 0;

  constructor(clock: VirtualClock, random: Random) {
    this.clock = clock;
    this.#random = random;
    this.#maxLatency = random.of([2, 2, 20, 300]);
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** The longest way of a message, in milliseconds. */
  get maxLatency(): number {
    return this.#maxLatency + this.#slowMs;
  }

  latency(): number {
    const slow = this.clock.now < this.slowUntil ? this.#random.below(this.#slowMs) : 0;
    return slow + (this.#random.below(3) === 0 ? this.#random.below(this.#maxLatency) + 1 : 0);
  }

  slow(ms: number, forMs: number): void {
    this.#slowMs = Math.max(this.#slowMs, ms);
    this.slowUntil = this.clock.now + forMs;
  }

  /** Brings a notice, or loses it. */
  deliver(notice: () => void): void {
    if (this.clock.now < this.deafUntil || this.#random.below(20) === 0) return;
    this.clock.after(this.latency(), notice);
  }

  link(log: ArrayLog, process: Process): Link {
    const link = new Link(this, log, process);
    this.#links.add(link);
    process.signal.addEventListener("abort", () => {
      link.cut();
      this.#links.delete(link);
    });
    return link;
  }

  /** The log stops: every connection is cut, and none is opened. */
  stop(): void {
    this.#isUp = false;
    for (const link of this.#links) link.cut();
  }

  start(): void {
    this.#isUp = true;
  }

  mend(): void {
    this.start();
    this.slowUntil = this.deafUntil = -Infinity;
    for (const link of this.#links) link.closedUntil = -Infinity;
  }
}

/** The log, as one process reaches it. */
export class Link implements StateLog {
  readonly #network: Network;
  readonly #log: ArrayLog;
  readonly #process: Process;
  /** Until when. */
  closedUntil = -Infinity;
  /** The generation that was last loaded before it was served. */
  prepared: number | undefined;
  #connection = new AbortController();

  constructor(network: Network, log: ArrayLog, process: Process) {
    this.#network = network;
    this.#log = log;
    this.#process = process;
  }

  /** Aborted when the connection is cut. */
  get connection(): AbortSignal {
    return this.#connection.signal;
  }

  /** Cuts the connections, and lets none be opened for some milliseconds. */
  cut(ms = 0): void {
    this.closedUntil = Math.max(this.closedUntil, this.#network.clock.now + ms);
    const cut = this.#connection;
    this.#connection = new AbortController();
    cut.abort();
  }

  /** A call, whose request or answer may be lost. A process that is frozen has sent the request, and gets the answer later. */
  async call<T>(serve: () => Promise<T>, connection = this.connection): Promise<T> {
    await this.#pass(connection);
    const result = await serve();
    await this.#pass(connection);
    await this.#process.awake();
    return result;
  }

  async #pass(connection: AbortSignal): Promise<void> {
    const { clock } = this.#network;
    await clock.sleep(this.#network.latency());
    if (connection.aborted || !this.#network.isUp || clock.now < this.closedUntil)
      throw new StoreUnavailable("the log cannot be reached");
  }

  /** `onLost` is called after a write that has failed, which may be stored or not. */
  writer(writer: StoreWriter, onLost: () => void): StoreWriter {
    const { connection } = this;
    const write = async (change: () => Promise<void>) => {
      try {
        await this.call(change, connection);
      } catch (error) {
        onLost();
        throw error;
      }
    };
    return {
      get checkpoint() {
        return writer.checkpoint;
      },
      replace: (...args) => write(() => writer.replace(...args)),
      apply: (...args) => write(() => writer.apply(...args)),
    };
  }

  progress(since: LogPosition | undefined): Promise<LogProgress> {
    return this.call(() => this.#log.progress(since));
  }

  async load<T>(
    use: (state: LoggedState | undefined) => Promise<T>,
    signal: AbortSignal,
    generation?: number,
  ): Promise<T> {
    const { connection } = this;
    await this.#pass(connection);
    const slowly = async (state: LoggedState | undefined) => {
      if (state === undefined) return use(undefined);
      const { head, contracts, archived, sums } = state;
      return use({
        head,
        contracts: this.#slowly(contracts, connection),
        archived: this.#slowly(archived, connection),
        sums: this.#slowly(sums, connection),
      });
    };
    this.prepared = generation;
    return this.#log.load(slowly, signal, generation);
  }

  async *#slowly<T>(items: AsyncIterable<T>, connection: AbortSignal): AsyncGenerator<T> {
    await this.#pass(connection);
    yield* items;
    await this.#pass(connection);
    await this.#process.awake();
  }

  bodies(contractIds: readonly string[], generation: number): Promise<FetchedBodies> {
    return this.call(() => this.#log.bodies(contractIds, generation));
  }

  async listen(notices: LogNotices, signal: AbortSignal): Promise<void> {
    const { connection } = this;
    await this.#pass(connection);
    const end = new AbortController();
    const stop = () => end.abort();
    signal.addEventListener("abort", stop);
    connection.addEventListener("abort", stop);
    if (signal.aborted || connection.aborted) stop();
    const tell = (notice: () => void) =>
      void this.#process.awake().then(() => {
        if (!end.signal.aborted) notice();
      });
    try {
      await this.#log.listen(
        {
          listening: () => tell(notices.listening),
          committed: () => tell(notices.committed),
          caughtUp: (id) => tell(() => notices.caughtUp(id)),
        },
        end.signal,
      );
      await this.#process.awake();
    } finally {
      signal.removeEventListener("abort", stop);
      connection.removeEventListener("abort", stop);
    }
  }

  requestCatchUp(id: string): Promise<void> {
    return this.call(() => this.#log.requestCatchUp(id));
  }
}
