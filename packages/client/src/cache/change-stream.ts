import { Code, ConnectError } from "@connectrpc/connect";

/** The part of offledger.watch.v1.WatchResponse that a cache reads. */
export interface WatchEvent {
  readonly event:
    | { readonly case: "changed"; readonly value: { readonly tags: readonly string[] } }
    | { readonly case: "reset" | "heartbeat" | undefined };
  readonly generation: string;
  readonly offset: bigint;
  readonly resumeToken: string;
}

/** Opens a stream of changes: with an empty token a new one. `signal` ends it. */
export type OpenStream = (resumeToken: string, signal: AbortSignal) => AsyncIterable<WatchEvent>;

export interface ChangeStreamOptions {
  readonly open: OpenStream;
  /** Called with every event, in order. */
  readonly onEvent: (event: WatchEvent) => void;
  /** Called when the stream has ended, with the reason. Another is opened after a pause. */
  readonly onDisconnect: (reason: ConnectError) => void;
  /** Monotonic, in milliseconds. */
  readonly clock: () => number;
  readonly maxSilenceMs: number;
}

/** Follows a stream of changes, and opens it again with the latest token when it ends or is silent for too long. */
export class ChangeStream {
  readonly #options: ChangeStreamOptions;
  readonly #following: Promise<void>;
  #resumeToken = "";
  #isOpen = false;
  #isClosed = false;
  /** When the latest event was handled, or the stream was opened. */
  #latest = 0;
  #failures = 0;
  #attempt = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #endPause: (() => void) | undefined;

  constructor(options: ChangeStreamOptions) {
    this.#options = options;
    this.#following = this.#follow();
  }

  /** Whether the stream has handled an event and is not silent for too long: what it has not reported has not changed. */
  get isLive(): boolean {
    return this.#isOpen && !this.#isSilent();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#isOpen = false;
    this.#attempt.abort();
    this.#endPause?.();
    await this.#following;
  }

  async #follow(): Promise<void> {
    let reason = await this.#readStream();
    while (!this.#isClosed) {
      await this.#pauseAfter(reason);
      reason = await this.#readStream();
    }
  }

  async #pauseAfter(reason: ConnectError): Promise<void> {
    // A token that the service does not take, for example after an update.
    if (reason.code === Code.InvalidArgument) this.#resumeToken = "";
    const delay = retryDelay(this.#failures++, reason.metadata.get("retry-after"));
    // An error of the callback must not end the loop.
    queueMicrotask(() => this.#options.onDisconnect(reason));
    await this.#pause(delay);
  }

  /** Reads one stream until it ends. Returns why it has ended. */
  async #readStream(): Promise<ConnectError> {
    if (this.#isClosed) return new ConnectError("closed", Code.Canceled);
    const attempt = new AbortController();
    this.#attempt = attempt;
    // Transports may be late to notice the signal, and fetch may miss it.
    const aborted = new Promise<never>((_, reject) => {
      attempt.signal.addEventListener("abort", () => reject(attempt.signal.reason));
    });
    this.#rearm();
    try {
      await Promise.race([this.#readEvents(attempt.signal), aborted]);
      return new ConnectError("the service has ended the stream", Code.Unavailable);
    } catch (error) {
      return ConnectError.from(error);
    } finally {
      this.#isOpen = false;
      clearTimeout(this.#timer);
      // The client of Connect does not end a stream that is no longer read.
      attempt.abort();
    }
  }

  async #readEvents(signal: AbortSignal): Promise<void> {
    for await (const event of this.#options.open(this.#resumeToken, signal)) {
      // The event may have waited in a buffer while the process was paused, and others after it: only the first event of
      // another stream shows that the client is up to date.
      if (this.#isSilent()) this.#abortSilent();
      if (signal.aborted) return;
      this.#options.onEvent(event);
      this.#resumeToken = event.resumeToken;
      this.#failures = 0;
      this.#isOpen = true;
      this.#rearm();
    }
  }

  #rearm(): void {
    clearTimeout(this.#timer);
    this.#latest = this.#options.clock();
    this.#timer = setTimeout(() => this.#abortSilent(), this.#options.maxSilenceMs);
  }

  #abortSilent(): void {
    this.#attempt.abort(new ConnectError(`no event for ${this.#options.maxSilenceMs} ms`, Code.DeadlineExceeded));
  }

  #isSilent(): boolean {
    return this.#options.clock() - this.#latest > this.#options.maxSilenceMs;
  }

  async #pause(milliseconds: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

const MIN_DELAY_MS = 250;
const MAX_DELAY_MS = 10_000;
/** The longest time that a service may ask for. */
const MAX_RETRY_AFTER_MS = 60_000;

/**
 * The time before the next attempt, after a number of attempts that failed one after the other. Random, so that the
 * clients of a service that restarts do not come back together. `retryAfter` is a header in seconds.
 */
function retryDelay(failures: number, retryAfter: string | null): number {
  const delay = Math.min(MAX_DELAY_MS, MIN_DELAY_MS * 2 ** Math.min(failures, 16));
  const requested = Math.min(MAX_RETRY_AFTER_MS, (Number(retryAfter) || 0) * 1000);
  return Math.max(delay, requested) * (1 + Math.random() / 2);
}
