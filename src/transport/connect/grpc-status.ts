import { ConnectError } from "@connectrpc/connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { cut } from "../error-details.js";
import { encodeGrpcMessage } from "./grpc-message.js";

/**
 * Longest `grpc-message`. The message is sent twice, here and in `grpc-status-details-bin`, whose base64 takes 4 bytes
 * for 3: with the largest details that is 7 KB, and clients accept 8 KB of headers by default.
 */
const MAX_MESSAGE_BYTES = 2_048;

let last: { readonly error: ConnectError; readonly status: Headers } | undefined;

/**
 * The headers or trailers that tell an error over gRPC and gRPC-Web: `grpc-status`, `grpc-message`,
 * `grpc-status-details-bin`, and those of the error. The result must not be changed.
 */
export function grpcStatus(error: ConnectError): Headers {
  // Load shedding sends the same error again and again, when the CPU is scarce.
  if (last?.error === error) return last.status;
  const status = new Headers();
  const bounded = withBoundedMessage(error);
  setTrailerStatus(status, bounded);
  status.set("grpc-message", encodeGrpcMessage(bounded.rawMessage));
  last = { error, status };
  return status;
}

function withBoundedMessage({ rawMessage, code, metadata, details }: ConnectError): ConnectError {
  const message = cut(rawMessage, MAX_MESSAGE_BYTES, (part) => encodeGrpcMessage(part).length);
  const bounded = new ConnectError(message, code, metadata);
  bounded.details = details;
  return bounded;
}
