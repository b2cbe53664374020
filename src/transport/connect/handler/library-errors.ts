import { Code, ConnectError } from "@connectrpc/connect";
import { errorInfo, type ErrorReason } from "../../errors.js";

/** Messages of connect-es: a prefix, for bytes that are no message, and a whole one, for truncated compressed data. */
const PARSE_ERROR = "parse binary";
const DECOMPRESS_ERROR = "decompression failed";
/** Its message for any other exception. Operations throw ConnectError alone, so over Connect it is the base64 of a GET. */
const OTHER_ERROR = "internal error";
/** How its messages about gRPC and Connect begin. All others about an invalid argument come from the decoder of JSON. */
const PROTOCOL_ERRORS = /^(?:protocol error|timeout |unexpected end flag|missing required |connect)/i;

/**
 * The error as the service's own: with the code and the reason that REST and the fast path give. connect-es has no hook
 * for its errors, so its messages are recognised. Returns the same object where nothing has to change.
 */
export function correctError(error: ConnectError): ConnectError {
  // The service's own errors all have details.
  if (error.details.length > 0) return error;
  const { code, rawMessage, metadata } = error;
  const [known, reason] = diagnose(code, rawMessage);
  const corrected = new ConnectError(rawMessage, known, metadata);
  corrected.details.push(errorInfo(reason));
  return corrected;
}

/** As `correctError`, for Connect. */
export function correctConnectError(error: ConnectError): ConnectError {
  const isBase64 = error.code === Code.Internal && error.rawMessage === OTHER_ERROR && error.details.length === 0;
  if (!isBase64) return correctError(error);
  return correctError(new ConnectError("the message in the query is not base64", Code.InvalidArgument, error.metadata));
}

function diagnose(code: Code, message: string): [Code, ErrorReason] {
  switch (code) {
    case Code.Internal:
      if (message.startsWith(PARSE_ERROR) || message === DECOMPRESS_ERROR) {
        return [Code.InvalidArgument, "MALFORMED_MESSAGE"];
      }
      return [code, message === OTHER_ERROR ? "INTERNAL" : "PROTOCOL_ERROR"];
    case Code.InvalidArgument:
      return [code, PROTOCOL_ERRORS.test(message) ? "PROTOCOL_ERROR" : "MALFORMED_MESSAGE"];
    case Code.ResourceExhausted:
      return [code, "BODY_TOO_LARGE"];
    case Code.DeadlineExceeded:
      return [code, "DEADLINE_EXCEEDED"];
    default:
      return [code, "PROTOCOL_ERROR"];
  }
}
