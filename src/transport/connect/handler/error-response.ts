import { Code, ConnectError } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerRequest, UniversalServerResponse } from "@connectrpc/connect/protocol";
import {
  codeToHttpStatus,
  endStreamFlag,
  endStreamFromJson,
  endStreamToJson,
  errorFromJsonBytes,
  errorToJsonBytes,
} from "@connectrpc/connect/protocol-connect";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { trailerParse } from "@connectrpc/connect/protocol-grpc-web";
import { JSON_WRITE_OPTIONS } from "../../encoding/encodable-response.js";
import { grpcStatus } from "../grpc-status.js";
import { correctConnectError, correctError } from "./library-errors.js";
import { bytesOf, FRAME_HEADER_BYTES, frameOf, TRAILERS_FLAG, trailersFrame, withBody } from "./universal-response.js";

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
    if (contentType.startsWith("application/grpc-web")) {
      return withBody(response, correctTrailersFrame(await bytesOf(response)));
    }
    // connect-es refuses other methods and content types without a body.
    return response.status >= 400 && contentType === "application/json" ? correctConnect(response) : response;
  };
}

/**
 * As `withCorrectedErrors`, for the response to a stream, whose error comes after its messages. `onError` gets the code of
 * an error in the body; that of gRPC is in the trailers.
 */
export function withCorrectedEnd(
  response: UniversalServerResponse,
  onError: (code: Code) => void,
): UniversalServerResponse {
  const { body, trailer, header } = response;
  if (body === undefined) return response;
  const contentType = header?.get("content-type") ?? "";
  if (trailer !== undefined) return { ...response, body: thenCorrect(body, trailer) };
  if (contentType.startsWith("application/grpc-web"))
    return { ...response, body: mapFrames(body, (frame) => correctTrailersFrame(frame, onError)) };
  return contentType.startsWith("application/connect")
    ? { ...response, body: mapFrames(body, (frame) => correctEndFrame(frame, onError)) }
    : response;
}

/** The trailers of gRPC are complete when the messages end. */
async function* thenCorrect(messages: AsyncIterable<Uint8Array>, trailers: Headers): AsyncGenerator<Uint8Array> {
  yield* messages;
  correctTrailers(trailers);
}

/** connect-es yields frame by frame. */
async function* mapFrames(
  frames: AsyncIterable<Uint8Array>,
  correct: (frame: Uint8Array) => Uint8Array,
): AsyncGenerator<Uint8Array> {
  for await (const frame of frames) yield correct(frame);
}

function correctTrailers(trailers: Headers, onError?: (code: Code) => void): void {
  const error = findTrailerError(trailers);
  if (error === undefined) return;
  const corrected = correctError(error);
  onError?.(corrected.code);
  // Its metadata is all trailers. connect-es also encodes spaces and colons, which some clients show undecoded.
  grpcStatus(corrected).forEach((value, name) => trailers.set(name, value));
}

/** gRPC-Web: the trailers are the last frame of the body, in a unary error its only one. */
function correctTrailersFrame(bytes: Uint8Array, onError?: (code: Code) => void): Uint8Array {
  if (bytes[0] !== TRAILERS_FLAG) return bytes;
  const trailers = trailerParse(bytes.subarray(FRAME_HEADER_BYTES));
  correctTrailers(trailers, onError);
  return trailersFrame(trailers);
}

/** Connect: the end of a stream is a frame of JSON. */
function correctEndFrame(bytes: Uint8Array, onError: (code: Code) => void): Uint8Array {
  if (bytes[0] !== endStreamFlag) return bytes;
  const { error } = endStreamFromJson(bytes.subarray(FRAME_HEADER_BYTES));
  if (error === undefined) return bytes;
  const corrected = correctError(error);
  onError(corrected.code);
  if (corrected === error) return bytes;
  // The metadata of the error is that of the frame.
  const end = endStreamToJson(new Headers(), corrected, JSON_WRITE_OPTIONS);
  return frameOf(endStreamFlag, Buffer.from(JSON.stringify(end)));
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
