import type { JsonValue } from "../../domain/json.js";
import { LedgerError } from "../../ledger/participant/errors.js";
import { DEFAULT_TIMEOUTS } from "../../ledger/participant/http.js";
import type { Ledger, UpdateStream } from "../../ledger/participant/client.js";
import { errorMessage, type Logger } from "../../util/logger.js";
import { watch } from "../../util/watchdog.js";

const { answer, open, ping, message } = DEFAULT_TIMEOUTS;
/** A stream answers a ping within two heartbeats, or ends. */
const RESPONSE_MS = 2 * ping;

/**
 * A ledger whose calls and streams cannot hang. Each has a timer of its own; this is the second line of defence, against
 * timers and events that are lost. What hangs is abandoned and closed, and the caller gets LedgerError "lost".
 */
export function watchedLedger(ledger: Ledger, log: Logger): Ledger {
  const call = <T>(step: string, result: Promise<T>) => watched(log, step, answer, result);
  return {
    ledgerEnd: () => call("the poll of the ledger's end", ledger.ledgerEnd()),
    prunedUpTo: () => call("the request for the pruned offset", ledger.prunedUpTo()),
    hasUpdate: (updateId) => call("the look-up of an update", ledger.hasUpdate(updateId)),
    findMissing() {
      // One call for each, and one for the ledger's end.
      const milliseconds = answer * (1 + ledger.missing.length);
      return watched(log, "the search for missing packages", milliseconds, ledger.findMissing());
    },
    activeContracts: (offset) => watchedSnapshot(ledger.activeContracts(offset), log),
    async updates(after, upTo) {
      const stream = ledger.updates(after, upTo);
      const opened = await watched(log, "the opening of the stream of updates", open, stream, (late) => late.close());
      return new WatchedStream(opened, log, upTo !== undefined);
    },
    get missing() {
      return ledger.missing;
    },
    leaveOut: (error) => ledger.leaveOut(error),
    include: (names) => ledger.include(names),
  };
}

async function* watchedSnapshot(elements: AsyncIterable<JsonValue>, log: Logger): AsyncGenerator<JsonValue> {
  const iterator = elements[Symbol.asyncIterator]();
  const next = () => watched(log, "the stream of active contracts", message, iterator.next());
  yield* iterate(iterator, next);
}

/** A stream that fails when it is closed or does not settle a ping, even if the stream beneath reports nothing. */
class WatchedStream implements UpdateStream {
  readonly #stream: UpdateStream;
  readonly #log: Logger;
  readonly #isBounded: boolean;
  #failure: LedgerError | undefined;
  #reject: (failure: LedgerError) => void = () => undefined;

  constructor(stream: UpdateStream, log: Logger, isBounded: boolean) {
    this.#stream = stream;
    this.#log = log;
    this.#isBounded = isBounded;
  }

  get hasEnded(): boolean {
    return this.#failure !== undefined || this.#stream.hasEnded;
  }

  async isResponsive(): Promise<boolean> {
    if (this.hasEnded) return false;
    try {
      const responsive = await watched(this.#log, "the stream of updates", RESPONSE_MS, this.#stream.isResponsive());
      return responsive && !this.hasEnded;
    } catch {
      this.close();
      return false;
    }
  }

  close(): void {
    this.#failure ??= new LedgerError("lost", "the stream of updates was closed");
    this.#reject(this.#failure);
    this.#stream.close();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<JsonValue> {
    const iterator = this.#stream[Symbol.asyncIterator]();
    yield* iterate(iterator, () => this.#next(iterator));
  }

  /** A promise of its own for each message: a race with a lasting one would keep a reaction for every message. */
  #next(iterator: AsyncIterator<JsonValue>): Promise<IteratorResult<JsonValue>> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const next = iterator.next();
    const bounded = this.#isBounded ? watched(this.#log, "the fetch of updates", message, next) : next;
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      bounded.then(resolve, reject);
    });
  }
}

async function* iterate<T>(iterator: AsyncIterator<T>, next: () => Promise<IteratorResult<T>>): AsyncGenerator<T> {
  try {
    for (let result = await next(); result.done !== true; result = await next()) yield result.value;
  } finally {
    // Not awaited: an iterator that hangs does not return either.
    void Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}

async function watched<T>(
  log: Logger,
  step: string,
  milliseconds: number,
  result: Promise<T>,
  release?: (late: T) => void,
): Promise<T> {
  try {
    return await watch(log, step, milliseconds, result, release);
  } catch (error) {
    throw error instanceof LedgerError ? error : new LedgerError("lost", errorMessage(error));
  }
}
