/** Open-loop load above the capacity of a server. Responses may be 503. */
import { withTimeout } from "../wait.js";
import { Connection, FirstFailure } from "./connection.js";
import { DRAIN_TIMEOUT_MS } from "./http1.js";

/** Requests due while all connections are busy are counted as not sent. */
const MAX_CONNECTIONS = 1_000;
const OK = 200;

export interface OverloadResult {
  readonly answered: readonly number[];
  readonly rejected: readonly number[];
  readonly notSent: number;
  readonly seconds: number;
}

export async function loadOverCapacity(
  url: string,
  rate: number,
  seconds: number,
  requestAt: (index: number) => Buffer,
  warmUpSeconds = 0,
): Promise<OverloadResult> {
  const failure = new FirstFailure();
  const open = () => Connection.open(url, failure.report, [OK, 503]);
  const connections = await Promise.all(Array.from({ length: MAX_CONNECTIONS }, open));
  const idle = [...connections];
  const [answered, rejected]: [number[], number[]] = [[], []];
  let notSent = 0;
  const send = (request: Buffer) => {
    const connection = idle.pop();
    const sentAt = performance.now();
    if (connection === undefined) {
      if (sentAt >= countsFrom) notSent++;
      return;
    }
    connection.send(request, (status) => {
      if (sentAt >= countsFrom) (status === OK ? answered : rejected).push(performance.now() - sentAt);
      idle.push(connection);
    });
  };
  const startedAt = performance.now();
  const [countsFrom, endsAt] = [startedAt + warmUpSeconds * 1000, startedAt + (warmUpSeconds + seconds) * 1000];
  const done = new Promise<void>((resolve) => {
    let next = 0;
    // Timers are too coarse: the event loop spins.
    const spin = () => {
      const now = performance.now();
      for (; next < ((Math.min(now, endsAt) - startedAt) * rate) / 1000; next++) send(requestAt(next));
      if (now < endsAt || idle.length < connections.length) setImmediate(spin);
      else resolve();
    };
    spin();
  });
  try {
    await withTimeout(endsAt - startedAt + DRAIN_TIMEOUT_MS, url, Promise.race([done, failure.rejection]));
    return { answered, rejected, notSent, seconds };
  } finally {
    for (const connection of connections) connection.close();
  }
}
