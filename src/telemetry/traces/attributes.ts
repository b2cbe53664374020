/** Span names and attributes by OpenTelemetry's semantic conventions, without anything that was sent. */
import type { Attributes } from "@opentelemetry/api";
import { refusalCode } from "../refusals/refusal.js";
import type { CompletedRequest, Protocol } from "../request-record.js";
import { statusName } from "../outcomes.js";

/** Protocols as `rpc.system.name`; REST is no rpc system. */
const rpcSystems: Readonly<Record<Protocol, string | undefined>> = {
  rest: undefined,
  connect: "connectrpc",
  grpc: "grpc",
  "grpc-web": "grpc",
};

/** HTTP methods of the conventions. Over HTTP/2 a caller may send any word. */
const knownMethods = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY"]);

export const spanName = (completed: CompletedRequest): string =>
  completed.operation === "" ? methodOf(completed) : completed.operation;

export function spanAttributes(completed: CompletedRequest): Attributes {
  const { operation, protocol, outcome, request, requestId, refusal } = completed;
  const rpcSystem = rpcSystems[protocol];
  const status = statusName(outcome);
  return {
    "http.request.method": methodOf(completed),
    "network.protocol.version": request.raw.httpVersionMajor === 2 ? "2" : request.raw.httpVersion,
    "offledger.protocol": protocol,
    "offledger.request_id": requestId,
    "offledger.status": status,
    ...(refusal !== undefined && { "offledger.code": refusalCode(refusal) }),
    ...(request.routeOptions.url !== undefined && { "http.route": request.routeOptions.url }),
    ...(operation !== "" && { "rpc.method": operation }),
    ...(rpcSystem !== undefined && {
      "rpc.system.name": rpcSystem,
      "rpc.response.status_code": rpcSystem === "grpc" ? status.toUpperCase() : status,
    }),
    ...(outcome !== 0 && { "error.type": status }),
  };
}

function methodOf({ request }: CompletedRequest): string {
  return knownMethods.has(request.method) ? request.method : "_OTHER";
}
