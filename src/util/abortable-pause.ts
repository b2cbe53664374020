import { setTimeout as delay } from "node:timers/promises";

/** A function that waits for some milliseconds. It resolves early, and never rejects, when the signal is aborted. */
export const abortablePause =
  (signal: AbortSignal) =>
  async (milliseconds: number): Promise<void> => {
    await delay(milliseconds, undefined, { signal }).catch(() => undefined);
  };
