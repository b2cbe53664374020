import { setImmediate } from "node:timers/promises";

/** Lets the event loop handle what has arrived. */
export const nextTurn = (): Promise<void> => setImmediate();
