import type { IncomingMessage, ServerResponse } from "node:http";
import { httpError } from "./errors.js";
import { sendJson, setHeaders } from "./reply.js";

const MESSAGE = "the service is stopping and accepts no more requests; retry";

/** Answers a request that arrives during shutdown, with the error body of its path. */
export function sendShutdownResponse(request: IncomingMessage, response: ServerResponse): void {
  const [path = ""] = (request.url ?? "").replaceAll(/\/{2,}/g, "/").split("?", 1);
  const { status, headers, body } = httpError(503, MESSAGE, path);
  setHeaders(response, headers);
  // An HTTP/2 session has received GOAWAY already.
  if (request.httpVersionMajor === 1) response.setHeader("connection", "close");
  sendJson(response, status, body);
}
