import type { Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";

/** The Connect protocol by `fetch`, with binary messages. `options` are those of `createConnectTransport`. */
export const createDefaultTransport = (
  baseUrl: string,
  options: Partial<Parameters<typeof createConnectTransport>[0]> = {},
): Transport => createConnectTransport({ baseUrl, useBinaryFormat: true, fetch: abortableFetch, ...options });

/**
 * `fetch` of Node.js forgets the signal of a request once the garbage collector has run, so that a stream could not be
 * ended and would keep the process alive. Cancelling the body always ends it.
 */
const abortableFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  const signal = init?.signal;
  if (!response.body || !signal) return response;
  const reader = response.body.getReader();
  const cancel = (): void => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
};
