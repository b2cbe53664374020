import { Code, ConnectError } from "@connectrpc/connect";

interface SharedRequest<T> {
  readonly response: Promise<T>;
  readonly controller: AbortController;
  readonly begunAt: number;
  callers: number;
}

/** When a caller stops to wait. */
export interface WaitLimits {
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number | undefined;
}

/** A later caller asks itself: it must not get a response that is older than that. */
const MAX_AGE_MS = 1_000;

/** Concurrent equal requests are made once. The request is cancelled when none of its callers waits any longer. */
export class SharedRequests<T> {
  readonly #requests = new Map<string, SharedRequest<T>>();
  readonly #clock: () => number;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** `send` must not throw synchronously. */
  async get(key: string, send: (signal: AbortSignal) => Promise<T>, limits: WaitLimits): Promise<T> {
    const request = this.#find(key) ?? this.#begin(key, send);
    request.callers++;
    try {
      return await withLimits(request.response, limits);
    } finally {
      if (--request.callers === 0) {
        this.#forget(key, request);
        request.controller.abort();
      }
    }
  }

  #find(key: string): SharedRequest<T> | undefined {
    const request = this.#requests.get(key);
    return request !== undefined && this.#clock() - request.begunAt <= MAX_AGE_MS ? request : undefined;
  }

  #begin(key: string, send: (signal: AbortSignal) => Promise<T>): SharedRequest<T> {
    const controller = new AbortController();
    const request = { response: send(controller.signal), controller, begunAt: this.#clock(), callers: 0 };
    this.#requests.set(key, request);
    const forget = (): void => this.#forget(key, request);
    request.response.then(forget, forget);
    return request;
  }

  #forget(key: string, request: SharedRequest<T>): void {
    if (this.#requests.get(key) === request) this.#requests.delete(key);
  }
}

/** Throws what the transports of Connect throw when a call is cancelled or its time is up. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw ConnectError.from(signal.reason, Code.Canceled);
}

async function withLimits<T>(response: Promise<T>, { signal, timeoutMs }: WaitLimits): Promise<T> {
  const hasTimeout = timeoutMs !== undefined && timeoutMs > 0;
  if (signal === undefined && !hasTimeout) return response;
  let stop: (() => void) | undefined;
  const limit = new Promise<never>((_, reject) => {
    const onAbort = (): void => reject(ConnectError.from(signal?.reason, Code.Canceled));
    const onTimeout = (): void => reject(new ConnectError("the operation timed out.", Code.DeadlineExceeded));
    const timer = hasTimeout ? setTimeout(onTimeout, timeoutMs) : undefined;
    signal?.addEventListener("abort", onAbort);
    stop = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
  });
  try {
    return await Promise.race([response, limit]);
  } finally {
    stop?.();
  }
}
