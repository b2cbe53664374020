import type { IncomingMessage, ServerResponse } from "node:http";
import { REQUEST_ID, requestIdOf } from "../telemetry/request-ids.js";
import { refuseConnect, refuseGrpc } from "./connect/send-error.js";
import { rejection, toRestError } from "./errors.js";
import { grpcProtocolOf } from "./middleware/protocol.js";
import { sendJson, setHeaders } from "./reply.js";

const RETRY_SECONDS = 1;
const MESSAGE = "the service is stopping and accepts no more requests; retry";

/** The path of an rpc has two parts, and the first is the full name of a service. */
const RPC_PATH = /^\/\w+(?:\.\w+)+\/\w+$/;

/** Answers a request that arrives during shutdown: in the form of its protocol, over REST with the body of its path. */
export function sendShutdownResponse(request: IncomingMessage, response: ServerResponse): void {
  const error = rejection("SHUTTING_DOWN", MESSAGE, { retrySeconds: RETRY_SECONDS });
  if (grpcProtocolOf(request) !== undefined) {
    refuseGrpc(request, response, error);
    return;
  }
  const [path = ""] = (request.url ?? "").replaceAll(/\/{2,}/g, "/").split("?", 1);
  const { status, headers, body } = toRestError(error, path);
  const isConnect = RPC_PATH.test(path);
  const requestId = requestIdOf(request.headers);
  if (!isConnect) setHeaders(response, { ...headers, [REQUEST_ID]: requestId });
  // An HTTP/2 session has received GOAWAY already.
  if (request.httpVersionMajor === 1) response.setHeader("connection", "close");
  if (isConnect) refuseConnect(response, error, requestId);
  else sendJson(response, status, body);
}
