/** Load over HTTP/1.1: connections that each send the next request when they have the whole answer. */
import { CONNECTIONS } from "../scale.js";
import { within } from "../wait.js";
import { keepAwake } from "./busy-spin.js";
import { Connection, Failure } from "./connection.js";

/** What a load did. */
export interface Load {
  readonly requests: number;
  readonly seconds: number;
}

/** How long the last answers may take. */
export const PATIENCE_MS = 30_000;

/** Sends requests for a time, or `most` of them. `requestOf` gives the bytes of the n-th. Throws where an answer is not 200. */
export async function loadHttp1(
  url: string,
  seconds: number,
  requestOf: (index: number) => Buffer,
  max = Number.POSITIVE_INFINITY,
): Promise<Load> {
  let requests = 0;
  const failure = new Failure();
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => Connection.open(url, failure.tell)));
  const sleep = keepAwake();
  const begun = performance.now();
  const until = begun + seconds * 1000;
  const run = (connection: Connection) =>
    new Promise<void>((resolve) => {
      const next = () => {
        if (performance.now() >= until || requests >= max) resolve();
        else connection.send(requestOf(requests++), next);
      };
      next();
    });
  try {
    const all = Promise.all(connections.map(run));
    await within(seconds * 1000 + PATIENCE_MS, url, Promise.race([all, failure.told]));
    return { requests, seconds: (performance.now() - begun) / 1000 };
  } finally {
    sleep();
    for (const connection of connections) connection.close();
  }
}
