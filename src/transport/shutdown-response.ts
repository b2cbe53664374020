import type { IncomingMessage, ServerResponse } from "node:http";
import { httpError } from "./errors.js";
import { setHeaders, sendJson } from "./fast-path/send.js";

/** What a request is told that comes when no more are taken. */
const STOPPING = "the service is stopping and takes no more requests; ask again";

/** Answers what comes too late, in the words of its family. */
export function sendShutdownResponse(request: IncomingMessage, response: ServerResponse): void {
  const [path = ""] = (request.url ?? "").replaceAll(/\/{2,}/g, "/").split("?", 1);
  const { status, headers, body } = httpError(503, STOPPING, path);
  setHeaders(response, headers);
  // Over HTTP/2 the session has been told already.
  if (request.httpVersionMajor === 1) response.setHeader("connection", "close");
  sendJson(response, status, body);
}
