/** The calls that a participant has had, for a test to look at. */
import type { IncomingMessage } from "node:http";
import type { JsonValue } from "../src/domain/json.js";
import { protocolsOf, tokenOf } from "./access.js";

/** A call as it came. */
export interface Logged {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly token: string | undefined;
  /** The subprotocols that a WebSocket was to have. */
  readonly protocols: readonly string[];
  /** What was sent: the body, or the first message of a WebSocket. */
  body: JsonValue | undefined;
  /** The status that it was answered with; 101 for a WebSocket that was opened. */
  status: number | undefined;
}

export function log(request: IncomingMessage): Logged {
  const { method = "GET", headers } = request;
  const { pathname, search } = new URL(request.url ?? "/", "http://127.0.0.1");
  const protocols = protocolsOf(headers["sec-websocket-protocol"]);
  return {
    method,
    path: pathname,
    query: search,
    token: tokenOf(request),
    protocols,
    body: undefined,
    status: undefined,
  };
}
