import type { Duplex } from "node:stream";
import { requestTimeoutMessage } from "./limits.js";
import { type LingerLimits, lingeringClose } from "./lingering-close.js";

/** Handles HTTP/1.1 input that Node.js cannot parse or that arrives too late: responds, then closes the connection. */
export function clientErrorHandler(requestMs: number, limits?: LingerLimits) {
  const closing = new WeakSet<Duplex>();
  return (error: Error & { readonly code?: string }, socket: Duplex): void => {
    // Node.js reports a connection again, for instance when it ends.
    if (closing.has(socket)) return;
    closing.add(socket);
    if (!socket.writable) {
      socket.destroy(error);
      return;
    }
    const [status, message] = describeParseError(error.code ?? "", requestMs);
    const body = JSON.stringify({ error: message });
    const response =
      `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`;
    lingeringClose(socket, response, limits);
  };
}

function describeParseError(code: string, requestMs: number): readonly [status: string, message: string] {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return ["431 Request Header Fields Too Large", "request header is too large"];
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return ["413 Payload Too Large", "chunk extensions are too large"];
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return ["408 Request Timeout", requestTimeoutMessage(requestMs)];
    default:
      return ["400 Bad Request", "malformed HTTP request"];
  }
}
