/**
 * Load at a rate: requests are due at fixed times, whether or not the answers
 * before them have come, so that a server that stands still for a moment is seen
 * to by all who would have asked meanwhile. Connections are there before, and have
 * been used once: fifty that open at once keep a server busy for a time in which a
 * hundredth of all requests of a round are due.
 */
import { CONNECTIONS } from "../scale.js";
import { within } from "../wait.js";
import { Connection, Failure } from "./connection.js";
import { PATIENCE_MS } from "./http1.js";

/** Sends so many requests a second, each connection in its turn, and gives how long each took from when it was due, in milliseconds. */
export async function loadAtRate(
  url: string,
  rate: number,
  seconds: number,
  requestOf: (index: number) => Buffer,
): Promise<readonly number[]> {
  const failure = new Failure();
  const opened = Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const connection = await Connection.open(url, failure.tell);
      await new Promise<unknown>((resolve) => connection.send(requestOf(0), resolve));
      return new Line(connection);
    }),
  );
  const lines = await within(PATIENCE_MS, url, Promise.race([opened, failure.told]));
  const total = Math.round(rate * seconds);
  const begun = performance.now();
  const dueAt = (index: number) => begun + (index * 1000) / rate;
  const done = new Promise<void>((resolve) => {
    let next = 0;
    // Timers are too coarse for this: the loop turns as fast as it can, on a core of its own.
    const turn = () => {
      for (const now = performance.now(); next < total && dueAt(next) <= now; next++) {
        lines[next % CONNECTIONS]?.add(requestOf(next), dueAt(next));
      }
      if (next < total || lines.some(({ isBusy }) => isBusy)) setImmediate(turn);
      else resolve();
    };
    turn();
  });
  try {
    await within(seconds * 1000 + PATIENCE_MS, url, Promise.race([done, failure.told]));
    return lines.flatMap(({ latencies }) => latencies);
  } finally {
    for (const line of lines) line.close();
  }
}

/** A connection with what is due on it and has not been sent. */
class Line {
  readonly latencies: number[] = [];
  readonly #connection: Connection;
  readonly #waiting: { readonly request: Buffer; readonly due: number }[] = [];
  isBusy = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  add(request: Buffer, due: number): void {
    this.#waiting.push({ request, due });
    if (!this.isBusy) this.#next();
  }

  close(): void {
    this.#connection.close();
    this.isBusy = false;
    // Nothing more is sent, and the loop above comes to its end.
    this.#waiting.length = 0;
  }

  #next(): void {
    const next = this.#waiting.shift();
    this.isBusy = next !== undefined;
    if (next === undefined) return;
    this.#connection.send(next.request, () => {
      this.latencies.push(performance.now() - next.due);
      this.#next();
    });
  }
}
