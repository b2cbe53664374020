import { ConnectError } from "@connectrpc/connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { memoizeLast } from "../../util/memoize-last.js";
import { cut } from "../error-details.js";
import { encodeGrpcMessage } from "./grpc-message.js";

/**
 * Longest `grpc-message`. The message is sent twice, here and in `grpc-status-details-bin`, whose base64 takes 4 bytes
 * for 3: with the largest details that is 7 KB, and clients accept 8 KB of headers by default.
 */
const MAX_MESSAGE_BYTES = 2_048;

/**
 * The headers or trailers that carry an error over gRPC and gRPC-Web: `grpc-status`, `grpc-message`,
 * `grpc-status-details-bin`, and those of the error. The result must not be changed. Memoized because load shedding
 * sends one error many times, when the CPU is scarce.
 */
export const grpcStatus = memoizeLast((error: ConnectError): Headers => {
  const status = new Headers();
  const bounded = withBoundedMessage(error);
  setTrailerStatus(status, bounded);
  status.set("grpc-message", encodeGrpcMessage(bounded.rawMessage));
  return status;
});

function withBoundedMessage({ rawMessage, code, metadata, details }: ConnectError): ConnectError {
  const message = cut(rawMessage, MAX_MESSAGE_BYTES, (part) => encodeGrpcMessage(part).length);
  const bounded = new ConnectError(message, code, metadata);
  bounded.details = details;
  return bounded;
}
