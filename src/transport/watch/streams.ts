/** Open streams, limited in number and duration. */
import type { ConnectError } from "@connectrpc/connect";
import { rejection } from "../errors.js";
import type { Budget } from "../limits.js";

export interface OpenStream {
  /** Aborts when the stream has to end: client gone, maximum duration reached, or shutdown. */
  readonly signal: AbortSignal;
  /** Frees the stream's place. Must be called however the stream ended. */
  readonly end: () => void;
}

/** Open streams of one kind. All of them end at shutdown. */
export class Streams {
  readonly #open = new Set<(reason: ConnectError) => void>();
  #isClosing = false;

  constructor(
    private readonly label: string,
    private readonly max: number,
    private readonly maxDurationMs: number,
    private readonly memory?: Budget,
  ) {}

  get count(): number {
    return this.#open.size;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** Opens a stream that takes `units` of the memory. Throws resource_exhausted at a limit, and unavailable during shutdown. */
  begin(client: AbortSignal, units = 0): OpenStream {
    if (this.#isClosing) throw shuttingDown();
    if (this.#open.size >= this.max) {
      throw rejection("TOO_MANY_STREAMS", `the limit of ${this.max} ${this.label} is reached; retry later`);
    }
    if (this.memory?.tryTake(units) === false) {
      throw rejection("TOO_MANY_STREAMS", `the memory for ${this.label} is used up; retry later`);
    }
    const controller = new AbortController();
    const abort = (reason: ConnectError) => controller.abort(reason);
    const onClientGone = () => controller.abort(client.reason);
    const end = () => {
      clearTimeout(timer);
      client.removeEventListener("abort", onClientGone);
      if (this.#open.delete(abort)) this.memory?.release(units);
    };
    const message = `the maximum duration of ${this.maxDurationMs} ms is reached; open another stream`;
    // An error keeps its stack, so it is made when it is needed.
    const expire = () => abort(rejection("STREAM_EXPIRED", message));
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

const shuttingDown = (): ConnectError => rejection("SHUTTING_DOWN", "the service is stopping; retry");
