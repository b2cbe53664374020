/** When the requests arrived that had to wait for their turn; as `performance.now()`. */
const arrivals = new WeakMap<object, number>();

/** Call this when a request has to wait. */
export function deferArrival(request: object): void {
  arrivals.set(request, performance.now());
}

/** Undefined for a request that was handled at once. */
export const deferredArrival = (request: object): number | undefined => arrivals.get(request);
