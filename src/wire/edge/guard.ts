/** What stands before the operations, in its order: whatever costs least is looked at first. */
import type { FastifyInstance } from "fastify";
import { cors, type Origins } from "./cors.js";
import { limitPaths } from "./paths.js";
import { limitRates, type Rates } from "./rates.js";
import { Shedding } from "./shedding.js";
import { asksForHealth } from "./health.js";
import { refuse } from "../refusing.js";

export interface Edge {
  readonly corsOrigins: Origins;
  readonly maxPathBytes: number;
  /** 0 for never. */
  readonly maxDelayMs: number;
  readonly rates: Rates;
}

/** What holds where nothing else is said. */
export const usualEdge: Edge = {
  corsOrigins: "any",
  maxPathBytes: 12_288,
  maxDelayMs: 250,
  rates: { perClient: 0, inAll: 0 },
};

/**
 * To be put before the routes: plain requests are answered by hooks of theirs.
 * Gives what has to be asked once more when a request has come whole.
 */
export async function guard(server: FastifyInstance, edge: Edge): Promise<Shedding> {
  const { corsOrigins, maxPathBytes, maxDelayMs, rates } = edge;
  // First, so that a page can read why it was refused.
  await cors(server, corsOrigins);
  limitPaths(server, maxPathBytes);
  const shedding = new Shedding(maxDelayMs);
  // Before anything of it is read.
  server.addHook("onRequest", (request, reply, done) => {
    const refusal = asksForHealth(request) ? undefined : shedding.refusal();
    if (refusal === undefined) done();
    else refuse(request, reply, refusal);
  });
  await limitRates(server, rates);
  return shedding;
}
