// Step 1: which requests take the fast path. A plain request is unary, has one uncompressed body of a known type, and
// no deadline. Fastify (REST) and connect-fastify (RPC) serve the others.
import type { IncomingMessage } from "node:http";
import type { WireFormat } from "./call.js";
import { connectBinary, connectJson, grpc } from "./wire-formats.js";

/** Whether a REST request is plain. A body of unknown length, or over the limit, is not. */
export function isPlainRest({ headers }: IncomingMessage, maxBodyBytes: number): boolean {
  const length = Number(headers["content-length"]);
  return (
    headers["content-type"] === "application/json" &&
    headers["content-encoding"] === undefined &&
    length > 0 &&
    length <= maxBodyBytes
  );
}

/** The format of a plain request by Connect or gRPC; undefined where it is not plain. */
export function matchRpc(request: IncomingMessage): WireFormat | undefined {
  const { headers, method } = request;
  if (method !== "POST") return undefined;
  switch (headers["content-type"]) {
    case "application/json":
      return isPlainConnect(request) ? connectJson : undefined;
    case "application/proto":
      return isPlainConnect(request) ? connectBinary : undefined;
    case "application/grpc":
    case "application/grpc+proto":
      return isPlainGrpc(request) ? grpc : undefined;
    default:
      return undefined;
  }
}

function isPlainConnect({ headers }: IncomingMessage): boolean {
  return headers["content-encoding"] === undefined && headers["connect-timeout-ms"] === undefined;
}

function isPlainGrpc({ headers, httpVersionMajor }: IncomingMessage): boolean {
  const encoding = headers["grpc-encoding"];
  return (
    httpVersionMajor === 2 &&
    headers["grpc-timeout"] === undefined &&
    (encoding === undefined || encoding === "identity")
  );
}
