import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { createAsyncIterable } from "@connectrpc/connect/protocol";
import { rejection } from "../../errors.js";
import { grpcStatus } from "../grpc-status.js";
import { trailersFrame } from "./universal-response.js";

const MESSAGE = "a string is not well-formed Unicode";

/**
 * The response to a gRPC or gRPC-Web request whose error connect-es cannot write: the error quotes the request, and a
 * lone surrogate, which JSON may hold, cannot be percent-encoded. Undefined for Connect, whose errors are JSON.
 */
export function unencodableErrorResponse(header: Headers): UniversalServerResponse | undefined {
  const contentType = header.get("content-type") ?? "";
  if (!contentType.startsWith("application/grpc")) return undefined;
  const head = new Headers({ "content-type": contentType });
  const trailer = grpcStatus(rejection("MALFORMED_MESSAGE", MESSAGE));
  if (!contentType.startsWith("application/grpc-web")) return { status: 200, header: head, trailer };
  return { status: 200, header: head, body: createAsyncIterable([trailersFrame(trailer)]) };
}
