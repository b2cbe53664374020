/** Refuses what an rpc cannot read: 415 with the body of Connect, and the content types that it serves. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { formatValue } from "../../domain/errors.js";
import { drainBody } from "../bodies.js";
import { protocolOf } from "../reject.js";
import { connectErrorBody } from "./errors.js";

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
