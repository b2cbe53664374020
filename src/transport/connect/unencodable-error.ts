import type { IncomingMessage, ServerResponse } from "node:http";
import { Code } from "@connectrpc/connect";

/** What gRPC is told whose message holds what cannot be repeated in an error. */
const UNREPEATABLE = {
  "grpc-status": String(Code.InvalidArgument),
  "grpc-message": "a text is not well-formed Unicode",
};

/**
 * Ends a gRPC answer whose error connect-es could not write: it repeats what was
 * sent, and half of a surrogate pair, which JSON may hold, cannot be encoded. The
 * head has gone out by then. False where the request is none of gRPC.
 */
export function endUnencodableError({ headers }: IncomingMessage, response: ServerResponse): boolean {
  const type = headers["content-type"] ?? "";
  if (!type.startsWith("application/grpc")) return false;
  if (type.startsWith("application/grpc-web")) {
    const text = Object.entries(UNREPEATABLE).map(([name, value]) => `${name}: ${value}\r\n`);
    const trailers = Buffer.from(text.join(""));
    const head = Buffer.from([0x80, 0, 0, 0, trailers.length]);
    response.end(Buffer.concat([head, trailers]));
  } else {
    response.addTrailers(UNREPEATABLE);
    response.end();
  }
  return true;
}
