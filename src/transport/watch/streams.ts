import type { ConnectError } from "@connectrpc/connect";
import { rejection } from "../errors.js";

export interface OpenStream {
  /** Aborts when the stream has to end: client gone, maximum duration reached, or shutdown. */
  readonly signal: AbortSignal;
  /** Frees the stream's place. Must be called however the stream ended. */
  readonly end: () => void;
}

/** Open streams of one kind, limited in number and duration. All of them end at shutdown. */
export class Streams {
  readonly #open = new Set<(reason: ConnectError) => void>();
  #isClosing = false;

  constructor(
    private readonly label: string,
    private readonly max: number,
    private readonly maxDurationMs: number,
  ) {}

  get count(): number {
    return this.#open.size;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** Opens a stream. Throws resource_exhausted at the limit, and unavailable during shutdown. */
  begin(client: AbortSignal): OpenStream {
    if (this.#isClosing) throw shuttingDown();
    if (this.#open.size >= this.max) {
      throw tooMany("TOO_MANY_STREAMS", `the limit of ${this.max} ${this.label} is reached; retry later`);
    }
    const controller = new AbortController();
    const abort = (reason: ConnectError) => controller.abort(reason);
    const onClientGone = () => controller.abort(client.reason);
    const end = () => {
      clearTimeout(timer);
      client.removeEventListener("abort", onClientGone);
      this.#open.delete(abort);
    };
    const message = `the maximum duration of ${this.maxDurationMs} ms is reached; open another stream`;
    // An error keeps its stack, so it is made when it is needed.
    const expire = () => abort(streamOver("STREAM_EXPIRED", message));
    const timer = setTimeout(expire, this.maxDurationMs);
    this.#open.add(abort);
    client.addEventListener("abort", onClientGone);
    if (client.aborted) onClientGone();
    return { signal: controller.signal, end };
  }

  close(): void {
    this.#isClosing = true;
    for (const abort of this.#open) abort(shuttingDown());
  }
}

const shuttingDown = (): ConnectError => streamOver("SHUTTING_DOWN", "the service is stopping; retry");

const RETRY_SECONDS = 1;

/** A limit is reached; some of what counts towards it will end. */
export const tooMany = (reason: "TOO_MANY_STREAMS" | "TOO_MANY_MESSAGES", message: string): ConnectError =>
  rejection(reason, message, { retrySeconds: RETRY_SECONDS });

/** The service ends a stream; the client may open another. */
export const streamOver = (reason: "STREAM_EXPIRED" | "SHUTTING_DOWN", message: string): ConnectError =>
  rejection(reason, message, { retrySeconds: RETRY_SECONDS });

/** What clients may use of health and reflection; `watches` and `reflections` bound the concurrent streams. */
export interface StreamLimits {
  /** Maximum request message, in bytes: names and numbers need little. */
  readonly messageBytes: number;
  /** Polling interval of the readiness, while there are watches. */
  readonly pollMs: number;
  readonly watches: number;
  /** Maximum duration of a watch. It bounds streams whose client is gone without closing them. */
  readonly watchMs: number;
  readonly reflections: number;
  readonly reflectionMs: number;
  /** Maximum time between two requests on a reflection stream. */
  readonly idleMs: number;
  /** Requests on one reflection stream. */
  readonly requests: number;
}

export const DEFAULT_STREAM_LIMITS: StreamLimits = {
  messageBytes: 64 * 1024,
  pollMs: 500,
  watches: 100,
  watchMs: 60 * 60 * 1000,
  reflections: 100,
  reflectionMs: 10 * 60 * 1000,
  idleMs: 60 * 1000,
  requests: 1000,
};
