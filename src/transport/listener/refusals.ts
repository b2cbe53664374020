/** Refusals that node:http and node:http2 would send themselves, without a body and without a request id. */
import type http from "node:http";
import type http2 from "node:http2";
import { REQUEST_ID, requestIdOf } from "../../telemetry/request-ids.js";

type Request = http.IncomingMessage | http2.Http2ServerRequest;
type Response = http.ServerResponse | http2.Http2ServerResponse;
type Handle = (request: http.IncomingMessage, response: http.ServerResponse) => void;

/** Refuses HTTP/1.1 requests without `Host`, as RFC 9112, section 3.2 demands, and closes their connections. */
export const requireHost =
  (handle: Handle): Handle =>
  (request, response) => {
    if (request.headers.host !== undefined || request.httpVersion !== "1.1") return handle(request, response);
    response.shouldKeepAlive = false;
    refuse(request, response, 400, "the Host header is missing");
  };

/** RFC 9110, section 10.1.1: the only expectation is 100-continue. */
export function rejectExpectation(request: Request, response: Response): void {
  refuse(request, response, 417, "the Expect header must be 100-continue");
}

/** Over HTTP/1.1, Node.js closes the connection of such a request. */
export function rejectConnect(request: Request, response: Response): void {
  refuse(request, response, 405, "this service is no proxy: it has no method CONNECT");
}

function refuse({ headers }: Request, response: Response, status: number, error: string): void {
  const body = JSON.stringify({ error });
  response.statusCode = status;
  response.setHeader("content-type", "application/json");
  response.setHeader("content-length", body.length);
  response.setHeader(REQUEST_ID, requestIdOf(headers));
  response.end(body);
}
