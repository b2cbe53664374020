import { Code } from "@connectrpc/connect";
import type { FastifyInstance } from "fastify";
import { later, refuse } from "../wire/refusing.js";
import { isHealth } from "./health.js";

/** When a caller may ask again, in seconds. */
const RETRY_SECONDS = 1;

/**
 * Refuses requests at once that would have to wait for long. All requests that
 * are there when the event loop looks are answered one behind the other, so what
 * the first of them began with is how long the others have waited: beyond
 * `maxDelayMs` the rest of them is refused, which costs a part of an answer, and
 * the next look finds fewer. Sampling the delay of the event loop instead would
 * see an overload when it has lasted, and refuse all requests or none until the
 * next sample; docs/decisions.md has the figures.
 */
export function shedLoad(server: FastifyInstance, maxDelayMs: number): void {
  if (maxDelayMs === 0) return;
  let begun: number | undefined;
  const over = () => {
    begun = undefined;
  };
  server.addHook("onRequest", (request, reply, done) => {
    const now = request.exchange.begun;
    if (begun === undefined) {
      begun = now;
      setImmediate(over);
    } else if (now - begun > maxDelayMs && !isHealth(request)) {
      refuse(
        request,
        reply,
        later(Code.Unavailable, "more is asked than can be answered in time; ask again", RETRY_SECONDS),
      );
      return;
    }
    done();
  });
}
