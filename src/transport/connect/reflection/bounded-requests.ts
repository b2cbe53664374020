import { rejection } from "../../errors.js";
import { type StreamLimits, tooMany } from "../../watch/streams.js";

/**
 * The requests of a stream. Throws the signal's reason when it aborts, deadline_exceeded when no request arrives in
 * time, and resource_exhausted past the limit. Does not call `return()` of the source: it would wait for the client.
 */
export async function* boundedRequests<T>(
  requests: AsyncIterable<T>,
  signal: AbortSignal,
  { idleMs, requests: max }: StreamLimits,
): AsyncGenerator<T> {
  const iterator = requests[Symbol.asyncIterator]();
  for (let count = 0; ; count++) {
    const { done, value } = await nextRequest(iterator, signal, idleMs);
    if (done === true) return;
    if (count === max)
      throw tooMany("TOO_MANY_MESSAGES", `the limit of ${max} requests per stream is reached; open another stream`);
    yield value;
  }
}

async function nextRequest<T>(
  iterator: AsyncIterator<T>,
  signal: AbortSignal,
  idleMs: number,
): Promise<IteratorResult<T>> {
  signal.throwIfAborted();
  const settled = new AbortController();
  const ended = new Promise<never>((_resolve, reject) => {
    const onIdle = () => {
      const message = `no request arrived within ${idleMs} ms; open another stream`;
      reject(rejection("DEADLINE_EXCEEDED", message));
    };
    const timer = setTimeout(onIdle, idleMs);
    signal.addEventListener("abort", () => reject(signal.reason), { signal: settled.signal });
    settled.signal.addEventListener("abort", () => clearTimeout(timer));
  });
  const next = iterator.next();
  // The race may be over before it rejects.
  next.catch(() => {});
  try {
    return await Promise.race([next, ended]);
  } finally {
    settled.abort();
  }
}
