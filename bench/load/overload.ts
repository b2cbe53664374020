/** More requests than a server can answer, sent at a rate: callers who do not know of each other do not wait for each other. */
import { within } from "../waiting.js";
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

export async function overload(
  url: string,
  rate: number,
  seconds: number,
  requestOf: (index: number) => Buffer,
): Promise<Overload> {
  const failure = new Failure();
  const open = () => Connection.open(url, failure.tell, [OK, 503]);
  const connections = await Promise.all(Array.from({ length: CALLERS }, open));
  const idle = [...connections];
  const [answered, refused]: [number[], number[]] = [[], []];
  let notSent = 0;
  const send = (request: Buffer) => {
    const connection = idle.pop();
    if (connection === undefined) {
      notSent++;
      return;
    }
    const sent = performance.now();
    connection.send(request, (status) => {
      (status === OK ? answered : refused).push(performance.now() - sent);
      idle.push(connection);
    });
  };
  const begun = performance.now();
  const done = new Promise<void>((resolve) => {
    let next = 0;
    // Timers are too coarse for this: the loop turns as fast as it can, on a core of its own.
    const turn = () => {
      const passed = performance.now() - begun;
      for (; next < (Math.min(passed, seconds * 1000) * rate) / 1000; next++) send(requestOf(next));
      if (passed < seconds * 1000 || idle.length < connections.length) setImmediate(turn);
      else resolve();
    };
    turn();
  });
  try {
    await within(seconds * 1000 + PATIENCE_MS, url, Promise.race([done, failure.told]));
    return { answered, refused, notSent, seconds: (performance.now() - begun) / 1000 };
  } finally {
    for (const connection of connections) connection.close();
  }
}
