/** Closed-loop HTTP/1.1 load: each connection sends its next request after the whole response. */
import { CONNECTIONS } from "../scale.js";
import { withTimeout } from "../wait.js";
import { startBusySpin } from "./busy-spin.js";
import { Connection, FirstFailure } from "./connection.js";

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
}

export const DRAIN_TIMEOUT_MS = 30_000;

/**
 * Sends requests for `seconds`, or `max` of them. `requestAt` returns the bytes of the n-th. Throws for a status other
 * than `expected`.
 */
export async function loadHttp1(
  url: string,
  seconds: number,
  requestAt: (index: number) => Buffer,
  max = Number.POSITIVE_INFINITY,
  expected: readonly number[] = [200],
): Promise<LoadResult> {
  let requests = 0;
  const failure = new FirstFailure();
  const connections = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => Connection.open(url, failure.report, expected)),
  );
  const stopSpin = startBusySpin();
  const startedAt = performance.now();
  const deadline = startedAt + seconds * 1000;
  const run = (connection: Connection) =>
    new Promise<void>((resolve) => {
      const next = () => {
        if (performance.now() >= deadline || requests >= max) resolve();
        else connection.send(requestAt(requests++), next);
      };
      next();
    });
  try {
    const all = Promise.all(connections.map(run));
    await withTimeout(seconds * 1000 + DRAIN_TIMEOUT_MS, url, Promise.race([all, failure.rejection]));
    return { requests, seconds: (performance.now() - startedAt) / 1000 };
  } finally {
    stopSpin();
    for (const connection of connections) connection.close();
  }
}
