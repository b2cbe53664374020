/**
 * Runs an operation with a signal that is aborted after a time, or with `parent`. The timer and the listener are held
 * until the operation settles: `AbortSignal.any` and `AbortSignal.timeout` may be collected as garbage before they fire
 * (nodejs/node#57736, nodejs/node#65995), and then nothing ends the wait.
 */
export async function abortAfter<T>(
  milliseconds: number,
  parent: AbortSignal,
  operation: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = () => controller.abort(parent.reason);
  const timer = setTimeout(() => {
    controller.abort(new DOMException(`no answer within ${milliseconds} ms`, "TimeoutError"));
  }, milliseconds);
  parent.addEventListener("abort", abort, { once: true });
  if (parent.aborted) abort();
  try {
    return await operation(controller.signal);
  } finally {
    clearTimeout(timer);
    parent.removeEventListener("abort", abort);
  }
}
