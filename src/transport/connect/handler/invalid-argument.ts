import { Code } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerRequest, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { bytesOf, FRAME_HEADER_BYTES, TRAILERS_FLAG, trailersFrame, withBody } from "./universal-response.js";

/** Messages of connect-es: a prefix, for bytes that are no message, and a whole one, for truncated compressed data. */
const PARSE_ERROR = "parse binary";
const DECOMPRESS_ERROR = "decompression failed";
/** Its message for any other exception. Operations throw ConnectError alone, so it is the base64 of a GET. */
const OTHER_ERROR = "internal error";
const INTERNAL = String(Code.Internal);
const INVALID = String(Code.InvalidArgument);

/**
 * Turns connect-es errors about undecodable requests from `internal` into `invalid_argument`, as REST and the fast path
 * do. connect-es has no hook for them, so its messages are recognised. The result lacks the handler's properties.
 */
export function asInvalidArgument(
  handler: UniversalHandler,
): (request: UniversalServerRequest) => Promise<UniversalServerResponse> {
  return async (request) => {
    const response = await handler(request);
    const { header, trailer, status } = response;
    if (trailer !== undefined && isDecodeError(trailer.get("grpc-status"), trailer.get("grpc-message"))) {
      trailer.set("grpc-status", INVALID);
    }
    if (header?.get("content-type")?.startsWith("application/grpc-web") === true) return correctGrpcWeb(response);
    return status === 500 ? correctConnect(response) : response;
  };
}

async function correctConnect(response: UniversalServerResponse): Promise<UniversalServerResponse> {
  const body = await bytesOf(response);
  const { code, message = "" } = JSON.parse(body.toString()) as { code?: string; message?: string };
  if (code !== "internal" || !(isDecodeMessage(message) || message === OTHER_ERROR)) return withBody(response, body);
  const corrected = message === OTHER_ERROR ? "the message in the query is not base64" : message;
  const text = Buffer.from(JSON.stringify({ code: "invalid_argument", message: corrected }));
  response.header?.set("content-length", String(text.length));
  return { ...withBody(response, text), status: 400 };
}

/** gRPC-Web: the trailers are the last frame of the body, here its only one. */
async function correctGrpcWeb(response: UniversalServerResponse): Promise<UniversalServerResponse> {
  const body = await bytesOf(response);
  if (body[0] !== TRAILERS_FLAG) return withBody(response, body);
  const trailers = body.subarray(FRAME_HEADER_BYTES).toString();
  const field = (name: string) => new RegExp(`^${name}: ?(.*)\\r$`, "m").exec(trailers)?.[1];
  if (!isDecodeError(field("grpc-status"), field("grpc-message"))) return withBody(response, body);
  return withBody(response, trailersFrame(trailers.replace(/^grpc-status: ?\d+/m, `grpc-status: ${INVALID}`)));
}

function isDecodeError(status: string | null | undefined, message: string | null | undefined): boolean {
  return status === INTERNAL && isDecodeMessage(decodeURIComponent(message ?? ""));
}

const isDecodeMessage = (message: string): boolean => message.startsWith(PARSE_ERROR) || message === DECOMPRESS_ERROR;
