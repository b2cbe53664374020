import { Code, ConnectError } from "@connectrpc/connect";
import { tooMany } from "../streams/errors.js";
import type { StreamLimits } from "../streams/limits.js";

/**
 * The questions of a stream, one by one, within limits. Throws the signal's reason
 * when that aborts, deadline_exceeded where none comes for too long, and
 * resource_exhausted where there are too many. What is not read is left: whoever
 * waits for it to end would wait for the caller.
 */
export async function* boundedRequests<T>(
  asked: AsyncIterable<T>,
  signal: AbortSignal,
  { silentMs, questions: max }: StreamLimits,
): AsyncGenerator<T> {
  const iterator = asked[Symbol.asyncIterator]();
  for (let count = 0; ; count++) {
    const { done, value } = await nextOf(iterator, signal, silentMs);
    if (done === true) return;
    if (count === max) throw tooMany(`${max} questions are all that one stream may ask; open another`);
    yield value;
  }
}

async function nextOf<T>(
  iterator: AsyncIterator<T>,
  signal: AbortSignal,
  silentMs: number,
): Promise<IteratorResult<T>> {
  signal.throwIfAborted();
  const stop = new AbortController();
  const over = new Promise<never>((_resolve, reject) => {
    const onSilence = () => {
      const what = `nothing was asked for ${silentMs} ms; open another stream`;
      reject(new ConnectError(what, Code.DeadlineExceeded));
    };
    const timer = setTimeout(onSilence, silentMs);
    signal.addEventListener("abort", () => reject(signal.reason), { signal: stop.signal });
    stop.signal.addEventListener("abort", () => clearTimeout(timer));
  });
  const next = iterator.next();
  // Where the stream is over first, nobody waits for it any more.
  next.catch(() => {});
  try {
    return await Promise.race([next, over]);
  } finally {
    stop.abort();
  }
}
