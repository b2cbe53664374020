import type { ConnectError } from "@connectrpc/connect";
import type { FastifyReply, FastifyRequest } from "fastify";
import { REQUEST_ID } from "../telemetry/request-ids.js";
import { sendRpcError } from "./connect/send-error.js";
import { drainBody } from "./bodies.js";
import { toRestError } from "./errors.js";
import { protocolOf } from "./middleware/protocol.js";
import { hijack, sendJson, setHeaders } from "./reply.js";
import { pathOf } from "./rest/rest-path.js";

/** Rejects a request before its operation is called, in the form of its protocol, and drains its body up to a bound. */
export function reject(request: FastifyRequest, reply: FastifyReply, error: ConnectError): void {
  const { record, raw, routeOptions } = request;
  record.protocol = protocolOf(request);
  record.operation = routeOptions.config.operation ?? "";
  void drainBody(raw);
  if (record.protocol === "rest") rejectRest(request, reply, error);
  else sendRpcError(request, reply, error);
}

function rejectRest(request: FastifyRequest, reply: FastifyReply, error: ConnectError): void {
  const { record } = request;
  record.complete(error.code);
  const { status, headers, body } = toRestError(error, pathOf(request));
  setHeaders(reply.raw, { ...hijack(reply), ...headers, [REQUEST_ID]: record.requestId });
  sendJson(reply.raw, status, body);
}
