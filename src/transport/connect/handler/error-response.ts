import { Code, ConnectError } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerRequest, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { codeToHttpStatus, errorFromJsonBytes, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { trailerParse } from "@connectrpc/connect/protocol-grpc-web";
import { JSON_WRITE_OPTIONS } from "../../encoding/json-options.js";
import { grpcStatus } from "../grpc-status.js";
import { correctConnectError, correctError } from "./library-errors.js";
import { bytesOf, FRAME_HEADER_BYTES, TRAILERS_FLAG, trailersFrame, withBody } from "./universal-response.js";

/**
 * Gives the errors of a unary handler of connect-es the form of the others: the same codes, details on every error, and
 * over gRPC a bounded message. The result lacks the handler's properties.
 */
export function withCorrectedErrors(
  handler: UniversalHandler,
): (request: UniversalServerRequest) => Promise<UniversalServerResponse> {
  return async (request) => {
    const response = await handler(request);
    if (response.trailer !== undefined) correctTrailers(response.trailer);
    const contentType = response.header?.get("content-type") ?? "";
    if (contentType.startsWith("application/grpc-web")) return correctGrpcWeb(response);
    // connect-es refuses other methods and content types without a body.
    return response.status >= 400 && contentType === "application/json" ? correctConnect(response) : response;
  };
}

/** Corrects the trailers of gRPC once they are complete. */
export function correctTrailers(trailers: Headers): void {
  const error = findTrailerError(trailers);
  if (error === undefined) return;
  // Its metadata is all trailers. connect-es also encodes spaces and colons, which some clients show undecoded.
  grpcStatus(correctError(error)).forEach((value, name) => trailers.set(name, value));
}

async function correctConnect(response: UniversalServerResponse): Promise<UniversalServerResponse> {
  const body = await bytesOf(response);
  const error = errorFromJsonBytes(body, undefined, new ConnectError("", Code.Internal));
  const corrected = correctConnectError(error);
  if (corrected === error) return withBody(response, body);
  const bytes = errorToJsonBytes(corrected, JSON_WRITE_OPTIONS);
  response.header?.set("content-length", String(bytes.length));
  return { ...withBody(response, bytes), status: codeToHttpStatus(corrected.code) };
}

/** gRPC-Web: the trailers are the last frame of the body, in an error its only one. */
async function correctGrpcWeb(response: UniversalServerResponse): Promise<UniversalServerResponse> {
  const body = await bytesOf(response);
  if (body[0] !== TRAILERS_FLAG) return withBody(response, body);
  const trailers = trailerParse(body.subarray(FRAME_HEADER_BYTES));
  correctTrailers(trailers);
  return withBody(response, trailersFrame(trailers));
}
