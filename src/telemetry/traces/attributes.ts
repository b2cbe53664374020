/** What a span says of its request, in the names of OpenTelemetry's semantic conventions. Nothing of what was sent. */
import type { Attributes } from "@opentelemetry/api";
import type { CompletedRequest, Protocol } from "../request-record.js";
import { statusName } from "../outcomes.js";

/** By what a request came, as the conventions call it; REST is none of their systems. */
const systems: Readonly<Record<Protocol, string | undefined>> = {
  rest: undefined,
  connect: "connectrpc",
  grpc: "grpc",
  "grpc-web": "grpc",
};

/** The methods of HTTP that the conventions know. Over HTTP/2 a caller may send any word. */
const methods = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY"]);

export const nameOf = (completed: CompletedRequest): string =>
  completed.operation === "" ? methodOf(completed) : completed.operation;

export function attributesOf(completed: CompletedRequest, requestId: string): Attributes {
  const { operation, protocol, outcome, request } = completed;
  const system = systems[protocol];
  const status = statusName(outcome);
  const isGrpc = system === "grpc";
  return {
    "http.request.method": methodOf(completed),
    "network.protocol.version": request.raw.httpVersionMajor === 2 ? "2" : request.raw.httpVersion,
    "offledger.protocol": protocol,
    "offledger.request_id": requestId,
    "offledger.status": status,
    ...(request.routeOptions.url !== undefined && { "http.route": request.routeOptions.url }),
    ...(operation !== "" && { "rpc.method": operation }),
    ...(system !== undefined && {
      "rpc.system.name": system,
      "rpc.response.status_code": isGrpc ? status.toUpperCase() : status,
    }),
    ...(outcome !== 0 && { "error.type": status }),
  };
}

function methodOf({ request }: CompletedRequest): string {
  return methods.has(request.method) ? request.method : "_OTHER";
}
