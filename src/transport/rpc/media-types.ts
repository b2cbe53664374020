/** Which protocol a request is of, and the content types of an rpc: for others 415 with the body of Connect. */
import type { IncomingMessage } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { formatValue } from "../../domain/errors.js";
import type { Protocol } from "../../telemetry/request-record.js";
import { drainBody } from "../bodies.js";
import { connectErrorBody } from "./errors.js";

export function protocolOf({ raw, routeOptions }: FastifyRequest): Protocol {
  if (routeOptions.config.isRpc !== true) return "rest";
  return grpcProtocolOf(raw) ?? "connect";
}

/** The protocol of a request by its content type; undefined if it is neither gRPC nor gRPC-Web. */
export function grpcProtocolOf({ headers }: Pick<IncomingMessage, "headers">): "grpc" | "grpc-web" | undefined {
  const type = headers["content-type"] ?? "";
  if (type.startsWith("application/grpc-web")) return "grpc-web";
  return type.startsWith("application/grpc") ? "grpc" : undefined;
}

const CONTENT_TYPES = [
  "application/json",
  "application/proto",
  "application/connect+json",
  "application/connect+proto",
  "application/grpc",
  "application/grpc+proto",
  "application/grpc+json",
  "application/grpc-web",
  "application/grpc-web+proto",
  "application/grpc-web+json",
];

/** What reads requests: connect-es, or the routes of unary calls. */
interface Served {
  readonly supportedContentType: (contentType: string) => boolean;
}

/** Whether the handler reads a content type. connect-es also takes some that it refuses later, as of gRPC-Web in base64. */
export function servesContentType({ supportedContentType }: Served, type = ""): boolean {
  const [mediaType = ""] = type.split(";", 1);
  return supportedContentType(type) && CONTENT_TYPES.includes(mediaType.trim().toLowerCase());
}

/** Of a request whose content type, or the encoding in the query of a GET, is none that the handler serves. */
export function rejectMediaType(request: FastifyRequest, reply: FastifyReply, { supportedContentType }: Served): void {
  request.record.protocol = protocolOf(request);
  void drainBody(request.raw);
  const types = CONTENT_TYPES.filter((type) => supportedContentType(type));
  reply.header("accept-post", types.join(", "));
  void reply
    .code(415)
    .type("application/json")
    .send(connectErrorBody(415, describe(request, types)));
}

function describe({ method, headers }: FastifyRequest, types: readonly string[]): string {
  if (method === "GET") {
    return "the query of a GET must have encoding=json or encoding=proto";
  }
  const { "content-type": type = "" } = headers;
  const [json = ""] = types;
  const given = type === "" ? "absent" : formatValue(type);
  return `the content-type must be one of ${types.join(", ")}, but is ${given}; for JSON add the header "content-type: ${json}"`;
}
