/**
 * Open-loop load: requests are due at fixed times whether or not earlier
 * responses have arrived, so a stall of the server counts for every request due
 * meanwhile. Connections are opened and used once beforehand, since opening
 * fifty at once would itself delay one percent of a round's requests.
 */
import { CONNECTIONS } from "../scale.js";
import { withTimeout } from "../wait.js";
import { Connection, FirstFailure } from "./connection.js";
import { DRAIN_TIMEOUT_MS } from "./http1.js";

/** Sends `rate` requests a second, round robin over the connections. Returns latencies from the due times, in milliseconds. */
export async function loadOpenLoop(
  url: string,
  rate: number,
  seconds: number,
  requestAt: (index: number) => Buffer,
): Promise<readonly number[]> {
  const failure = new FirstFailure();
  const opened = Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const connection = await Connection.open(url, failure.report);
      await new Promise<unknown>((resolve) => connection.send(requestAt(0), resolve));
      return new QueuedConnection(connection);
    }),
  );
  const connections = await withTimeout(DRAIN_TIMEOUT_MS, url, Promise.race([opened, failure.rejection]));
  const total = Math.round(rate * seconds);
  const startedAt = performance.now();
  const dueAt = (index: number) => startedAt + (index * 1000) / rate;
  const done = new Promise<void>((resolve) => {
    let next = 0;
    // Timers are too coarse: the event loop spins.
    const spin = () => {
      for (const now = performance.now(); next < total && dueAt(next) <= now; next++) {
        connections[next % CONNECTIONS]?.add(requestAt(next), dueAt(next));
      }
      if (next < total || connections.some(({ isBusy }) => isBusy)) setImmediate(spin);
      else resolve();
    };
    spin();
  });
  try {
    await withTimeout(seconds * 1000 + DRAIN_TIMEOUT_MS, url, Promise.race([done, failure.rejection]));
    return connections.flatMap(({ latencies }) => latencies);
  } finally {
    for (const connection of connections) connection.close();
  }
}

class QueuedConnection {
  readonly latencies: number[] = [];
  readonly #connection: Connection;
  readonly #queue: { readonly request: Buffer; readonly due: number }[] = [];
  isBusy = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  add(request: Buffer, due: number): void {
    this.#queue.push({ request, due });
    if (!this.isBusy) this.#next();
  }

  close(): void {
    this.#connection.close();
    this.isBusy = false;
    this.#queue.length = 0;
  }

  #next(): void {
    const next = this.#queue.shift();
    this.isBusy = next !== undefined;
    if (next === undefined) return;
    this.#connection.send(next.request, () => {
      this.latencies.push(performance.now() - next.due);
      this.#next();
    });
  }
}
