/** More requests than a server can answer, sent at a rate: callers who do not know of each other do not wait for each other. */
import { within } from "../wait.js";
import { Connection, Failure } from "./connection.js";
import { PATIENCE_MS } from "./http1.js";

/** Callers that may wait at a time. Who comes when all of them wait is not sent. */
const CALLERS = 1_000;
const OK = 200;

export interface Overload {
  /** How long each answer took, in milliseconds. */
  readonly answered: readonly number[];
  /** How long each refusal by 503 took. */
  readonly refused: readonly number[];
  readonly notSent: number;
  readonly seconds: number;
}

/** `before` are the seconds that such a load has lasted when the time begins that is told of. */
export async function overload(
  url: string,
  rate: number,
  seconds: number,
  requestOf: (index: number) => Buffer,
  before = 0,
): Promise<Overload> {
  const failure = new Failure();
  const open = () => Connection.open(url, failure.tell, [OK, 503]);
  const connections = await Promise.all(Array.from({ length: CALLERS }, open));
  const idle = [...connections];
  const [answered, refused]: [number[], number[]] = [[], []];
  let notSent = 0;
  const send = (request: Buffer) => {
    const connection = idle.pop();
    const sent = performance.now();
    if (connection === undefined) {
      if (sent >= counts) notSent++;
      return;
    }
    connection.send(request, (status) => {
      if (sent >= counts) (status === OK ? answered : refused).push(performance.now() - sent);
      idle.push(connection);
    });
  };
  const begun = performance.now();
  const [counts, ends] = [begun + before * 1000, begun + (before + seconds) * 1000];
  const done = new Promise<void>((resolve) => {
    let next = 0;
    // Timers are too coarse for this: the loop turns as fast as it can, on a core of its own.
    const turn = () => {
      const now = performance.now();
      for (; next < ((Math.min(now, ends) - begun) * rate) / 1000; next++) send(requestOf(next));
      if (now < ends || idle.length < connections.length) setImmediate(turn);
      else resolve();
    };
    turn();
  });
  try {
    await within(ends - begun + PATIENCE_MS, url, Promise.race([done, failure.told]));
    return { answered, refused, notSent, seconds };
  } finally {
    for (const connection of connections) connection.close();
  }
}
