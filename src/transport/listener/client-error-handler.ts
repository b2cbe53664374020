import type { Duplex } from "node:stream";
import { tooSlow } from "./limits.js";

/** Answers what comes over HTTP/1.1 and is no request, or not in time; then the connection is of no more use. */
export function clientErrorHandler(requestMs: number) {
  return (error: Error & { readonly code?: string }, socket: Duplex): void => {
    const [status, reason] = unreadable(error.code ?? "", requestMs);
    const body = JSON.stringify({ error: reason });
    if (socket.writable) {
      socket.write(
        `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: application/json\r\n` +
          `Content-Length: ${body.length}\r\n\r\n${body}`,
      );
    }
    socket.destroy(error);
  };
}

/** The status line and the words for a request over HTTP/1.1 that Node.js cannot read. */
function unreadable(code: string, requestMs: number): readonly [status: string, reason: string] {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return ["431 Request Header Fields Too Large", "the head of the request is larger than what is read; send less"];
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return ["413 Payload Too Large", "the extensions of a chunk are larger than what is read; send none"];
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return ["408 Request Timeout", tooSlow(requestMs)];
    default:
      return ["400 Bad Request", "this is not an HTTP request that can be read"];
  }
}
