import type { IncomingMessage, ServerResponse } from "node:http";
import { Code, ConnectError } from "@connectrpc/connect";
import { refuseGrpc } from "./connect/send-error.js";
import { httpError } from "./errors.js";
import { grpcProtocolOf } from "./middleware/protocol.js";
import { sendJson, setHeaders } from "./reply.js";

const MESSAGE = "the service is stopping and accepts no more requests; retry";

/** Answers a request that arrives during shutdown: in gRPC's form, or with the error body of its path. */
export function sendShutdownResponse(request: IncomingMessage, response: ServerResponse): void {
  if (grpcProtocolOf(request) !== undefined) {
    refuseGrpc(request, response, new ConnectError(MESSAGE, Code.Unavailable));
    return;
  }
  const [path = ""] = (request.url ?? "").replaceAll(/\/{2,}/g, "/").split("?", 1);
  const { status, headers, body } = httpError(503, MESSAGE, path);
  setHeaders(response, headers);
  // An HTTP/2 session has received GOAWAY already.
  if (request.httpVersionMajor === 1) response.setHeader("connection", "close");
  sendJson(response, status, body);
}
