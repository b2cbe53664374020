/** Bounded waits. */
import { setTimeout as delay } from "node:timers/promises";

/** Resolves with the promise; rejects with an error that names `label` after `milliseconds`. */
export async function withTimeout<T>(milliseconds: number, label: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(timeoutError(milliseconds, label)), milliseconds);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Polls until the predicate holds; throws after `milliseconds`. */
export async function pollUntil(milliseconds: number, label: string, predicate: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + milliseconds;
  while (!(await predicate())) {
    if (performance.now() > deadline) throw timeoutError(milliseconds, label);
    await delay(5);
  }
}

const timeoutError = (milliseconds: number, label: string): Error =>
  new Error(`${label}: timed out after ${milliseconds / 1000} s`);

export async function isReady(url: string): Promise<boolean> {
  const response = await fetch(`${url}/readyz`);
  await response.arrayBuffer();
  return response.status === 200;
}
