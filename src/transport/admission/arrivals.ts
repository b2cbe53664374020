/** What is known of a request that had to wait for its turn. */
export interface Arrival {
  /** As `performance.now()`. */
  readonly at: number;
  /** As it arrived: others that arrive before its turn comes must not take its place. */
  readonly isOverBudget: boolean;
}

const arrivals = new WeakMap<object, Arrival>();

/** Call this when a request has to wait. */
export function deferArrival(request: object, isOverBudget: boolean): void {
  arrivals.set(request, { at: performance.now(), isOverBudget });
}

/** Undefined for a request that was handled at once. */
export const deferredArrival = (request: object): Arrival | undefined => arrivals.get(request);
