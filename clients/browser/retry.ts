/** Runs in the browser: retries, which connect-web leaves to an interceptor. */
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";

/**
 * Repeats a unary call that the service answers with `unavailable`, after the time that Retry-After names. The deadline
 * of the call covers all attempts.
 */
export function retryUnavailable(maxAttempts: number, onRetry: (error: ConnectError) => void): Interceptor {
  return (next) => async (request) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await next(request);
      } catch (thrown) {
        const error = ConnectError.from(thrown);
        if (error.code !== Code.Unavailable || request.stream || attempt === maxAttempts) throw error;
        onRetry(error);
        const seconds = Number(error.metadata.get("retry-after") ?? 1);
        await pause(seconds * 1000, request.signal);
      }
    }
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(ConnectError.from(signal.reason));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", abort);
      resolve();
    }, ms);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}
