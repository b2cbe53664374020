/** What stands before the operations, in its order: whatever costs least is looked at first. */
import type { FastifyInstance } from "fastify";
import { limitPaths } from "./paths.js";
import { limitRates, type Rates } from "./rates.js";
import { shedLoad } from "./shedding.js";

export interface Guard {
  readonly maxPathBytes: number;
  /** 0 for never. */
  readonly maxDelayMs: number;
  readonly rates: Rates;
}

/** What holds where nothing else is said. */
export const usualGuard: Guard = { maxPathBytes: 8_192, maxDelayMs: 250, rates: { perClient: 0, inAll: 0 } };

/** To be put before the routes: plain requests are answered by hooks of theirs. */
export async function guard(server: FastifyInstance, { maxPathBytes, maxDelayMs, rates }: Guard): Promise<void> {
  limitPaths(server, maxPathBytes);
  shedLoad(server, maxDelayMs);
  await limitRates(server, rates);
}
