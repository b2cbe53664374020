/** Records the calls that a participant has received, for tests. */
import type { IncomingMessage } from "node:http";
import type { JsonValue } from "../../src/domain/json.js";
import { protocolsOf, tokenOf } from "./authentication.js";

export interface LoggedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly token: string | undefined;
  readonly protocols: readonly string[];
  /** The body, or the first message of a WebSocket. */
  body: JsonValue | undefined;
  /** The status of the response; 101 for an accepted WebSocket. */
  status: number | undefined;
}

export function log(request: IncomingMessage): LoggedRequest {
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
