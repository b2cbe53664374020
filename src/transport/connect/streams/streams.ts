import type { ConnectError } from "@connectrpc/connect";
import { streamOver, tooMany } from "./errors.js";

/** One stream that is open. */
export interface OpenStream {
  /** Aborts when the stream has to end: its caller has gone, its time is over, or the service stops. */
  readonly signal: AbortSignal;
  /** Lets go of it; to be called whatever became of the stream. */
  readonly end: () => void;
}

/** Streams of one kind: so many at the same time, none for longer than a bound, and all of them ended when the service stops. */
export class Streams {
  readonly #open = new Set<(reason: ConnectError) => void>();
  #isClosing = false;

  /** `what` names the kind in errors. */
  constructor(
    private readonly what: string,
    private readonly max: number,
    private readonly lastMs: number,
  ) {}

  get count(): number {
    return this.#open.size;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** Opens one for a caller. Throws resource_exhausted where there are too many, and unavailable where the service stops. */
  begin(caller: AbortSignal): OpenStream {
    if (this.#isClosing) throw stopping();
    if (this.#open.size >= this.max) {
      throw tooMany(`${this.max} ${this.what} are open, which is all that there may be; ask again later`);
    }
    const controller = new AbortController();
    const abort = (reason: ConnectError) => controller.abort(reason);
    const onGone = () => controller.abort(caller.reason);
    const end = () => {
      clearTimeout(timer);
      caller.removeEventListener("abort", onGone);
      this.#open.delete(abort);
    };
    const timer = setTimeout(abort, this.lastMs, streamOver(`the stream has lasted ${this.lastMs} ms; open another`));
    this.#open.add(abort);
    caller.addEventListener("abort", onGone);
    if (caller.aborted) onGone();
    return { signal: controller.signal, end };
  }

  /** Ends all, and lets none begin any more. */
  close(): void {
    this.#isClosing = true;
    for (const abort of this.#open) abort(stopping());
  }
}

const stopping = (): ConnectError => streamOver("the service is stopping; ask again");
