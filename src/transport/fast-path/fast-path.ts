// Serves plain unary requests of REST, Connect and gRPC: match -> read body -> decode -> call -> encode -> send.
// The hooks run after those of the middleware and before Fastify reads a body. They call `done` for any other request.
import { Code, ConnectError } from "@connectrpc/connect";
import type { onRequestHookHandler } from "fastify";
import type { Operation } from "../operations.js";
import { callOperation, type FastCall, type WireFormat } from "./call.js";
import { isPlainRest, matchRpc } from "./match.js";
import { contentLength, readBody } from "./read-body.js";
import { restFormat } from "./wire-formats.js";

/** The hook of a REST route. `decode` makes the request message of path parameters and body. */
export function restFastPath(
  operation: Operation,
  decode: WireFormat["decode"],
  maxBodyBytes: number,
  compresses: boolean,
): onRequestHookHandler {
  const format = restFormat(decode);
  return (request, reply, done) => {
    if (isPlainRest(request.raw, maxBodyBytes)) serve({ operation, request, reply, compresses }, format, maxBodyBytes);
    else done();
  };
}

/** The hook of the routes of Connect and gRPC, which serves the operations by their path. */
export function rpcFastPath(
  operations: readonly Operation[],
  maxBodyBytes: number,
  compresses: boolean,
): onRequestHookHandler {
  const byPath = new Map(operations.map((operation) => [`/${operation.name}`, operation]));
  return (request, reply, done) => {
    const operation = byPath.get(request.routeOptions.url ?? "");
    const format = operation === undefined ? undefined : matchRpc(request.raw);
    if (operation === undefined || format === undefined) done();
    else serve({ operation, request, reply, compresses }, format, maxBodyBytes);
  };
}

function serve(call: FastCall, format: WireFormat, maxBodyBytes: number): void {
  const { operation, request } = call;
  const { record, raw } = request;
  record.operation = operation.name;
  record.protocol = format.protocol;
  const options = { limit: maxBodyBytes + format.framingBytes, expected: contentLength(raw) };
  readBody(format.source(raw), request.usage.budgets.bodies, options, (body) => {
    if (body === undefined) record.complete(Code.Canceled);
    else if (body instanceof ConnectError) format.sendError(call, body);
    else callOperation(call, format, body, maxBodyBytes);
  });
}
