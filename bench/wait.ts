/** Waits, each with a bound. */
import { setTimeout as delay } from "node:timers/promises";

/** What a promise gives, if that comes within so many milliseconds. */
export async function within<T>(milliseconds: number, what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: waited ${milliseconds / 1000} s in vain`)), milliseconds);
  });
  try {
    return await Promise.race([promise, over]);
  } finally {
    clearTimeout(timer);
  }
}

/** Asks again and again until it is so. */
export async function reached(milliseconds: number, what: string, isSo: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + milliseconds;
  while (!(await isSo())) {
    if (performance.now() > until) throw new Error(`${what}: waited ${milliseconds / 1000} s in vain`);
    await delay(5);
  }
}

/** Whether a service answers that it is ready. */
export async function isReady(url: string): Promise<boolean> {
  const response = await fetch(`${url}/readyz`);
  await response.arrayBuffer();
  return response.status === 200;
}
