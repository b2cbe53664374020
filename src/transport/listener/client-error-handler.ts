import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { fixRequestId, makeRequestId } from "../../telemetry/request-ids.js";
import { requestTimeoutMessage } from "./limits.js";

/** Handles HTTP/1.1 input that Node.js cannot parse or that arrives too late: responds, then closes the connection. */
export function clientErrorHandler(requestMs: number) {
  return (error: Error & { readonly code?: string }, socket: Duplex): void => {
    const [status, message] = describeParseError(error.code ?? "", requestMs);
    const body = JSON.stringify({ error: message });
    if (socket.writable) {
      socket.write(
        `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: application/json\r\n` +
          `Content-Length: ${body.length}\r\nx-request-id: ${requestIdAt(socket)}\r\n\r\n${body}`,
      );
    }
    socket.destroy(error);
  };
}

/** What the HTTP parser of Node.js keeps at its socket. It is not documented, so nothing is taken for granted. */
interface ParsedSocket {
  readonly parser?: { readonly incoming?: IncomingMessage | null } | null;
}

/** The id of the request whose body was being received, which is logged; another one where it is not known. */
function requestIdAt(socket: Duplex): string {
  const incoming = (socket as ParsedSocket).parser?.incoming;
  return incoming == null || incoming.complete ? makeRequestId() : fixRequestId(incoming.headers);
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
