/** Waits with an end, and calls that share. */
import { setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";

/** On timeout, settles with what `onTimeout` returns or throws. The promise itself goes on. */
export async function withTimeout<T>(promise: Promise<T>, milliseconds: number, onTimeout: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  }).then(onTimeout);
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

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
  // Who calls bounds how many operations share a signal: ten are no leak, of which Node.js would warn.
  setMaxListeners(0, parent);
  parent.addEventListener("abort", abort, { once: true });
  if (parent.aborted) abort();
  try {
    return await operation(controller.signal);
  } finally {
    clearTimeout(timer);
    parent.removeEventListener("abort", abort);
  }
}

/** A function that waits for some milliseconds. It resolves early, and never rejects, when the signal is aborted. */
export const abortablePause =
  (signal: AbortSignal) =>
  async (milliseconds: number): Promise<void> => {
    await delay(milliseconds, undefined, { signal }).catch(() => undefined);
  };

export interface BackoffOptions {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** The delay before the nth attempt after a failure, n counted from 1: it doubles up to the bound. */
export function backoffMs(failures: number, { firstMs, maxMs }: BackoffOptions): number {
  // 2^20 exceeds every bound in use.
  return Math.min(firstMs * 2 ** Math.min(failures - 1, 20), maxMs);
}

/** Spreads a delay over its upper half, so that many processes do not retry at once. `random` is in [0, 1). */
export function withJitter(delayMs: number, random: () => number): number {
  return delayMs * (0.5 + random() / 2);
}

/** Runs one call at a time. Callers meanwhile share the next: the current one may have started before what they saw. */
export class SingleFlight<T, A extends readonly unknown[] = []> {
  #current: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(private readonly call: (...args: A) => Promise<T>) {}

  /** Settles as a call that starts from now on. A shared call gets the arguments of its first caller. */
  run(...args: A): Promise<T> {
    if (this.#current === undefined) {
      this.#current = this.call(...args).finally(() => {
        this.#current = undefined;
      });
      return this.#current;
    }
    const start = () => {
      this.#next = undefined;
      return this.run(...args);
    };
    this.#next ??= this.#current.then(start, start);
    return this.#next;
  }
}

/** Wakes all who wait for the next of a series of events. */
export class Notifier {
  #resolve: () => void = () => undefined;
  #next = this.#create();

  /** Resolves at the next event. Take it before what the event may have changed is read, or the event may be missed. */
  get next(): Promise<void> {
    return this.#next;
  }

  notify(): void {
    const resolve = this.#resolve;
    this.#next = this.#create();
    resolve();
  }

  #create(): Promise<void> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }
}

/** The constructors of async functions and generators, which have no global names. */
const constructors = [(async () => {}).constructor, async function* () {}.constructor] as FunctionConstructor[];

/** Whether a value is declared `async`. A function that returns a promise otherwise cannot be recognized. */
export const isAsyncFunction = (value: unknown): boolean =>
  constructors.some((asyncConstructor) => value instanceof asyncConstructor);
