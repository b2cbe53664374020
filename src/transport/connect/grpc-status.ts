import { ConnectError } from "@connectrpc/connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { memoizeLast } from "../../util/memoize-last.js";
import { cut } from "../errors.js";
import { grpcDetails } from "./grpc-details.js";
import { encodeGrpcMessage } from "./grpc-message.js";

/** Longest `grpc-message`. */
const MAX_MESSAGE_BYTES = 2_048;
/**
 * Of `grpc-message` and `grpc-status-details-bin` together. Clients accept 8 KiB of headers by default. The rest is for
 * the other headers, those of CORS and of proxies included, and for the 32 bytes that HTTP/2 counts for each.
 */
const MAX_STATUS_BYTES = 6_656;
/** Tags, code and the length of the message in google.rpc.Status, and what base64 rounds up. */
const FRAMING_BYTES = 16;

/**
 * What the details leave to the message, which is sent twice: as `grpc-message`, and in `grpc-status-details-bin`, whose
 * base64 takes 4 bytes for 3. Python rejects the details if the two differ.
 */
const messageBytes = (detailBytes: number): number =>
  Math.min(MAX_MESSAGE_BYTES, Math.floor((3 * MAX_STATUS_BYTES - 4 * (detailBytes + FRAMING_BYTES)) / 7));

/**
 * The headers or trailers that carry an error over gRPC and gRPC-Web: `grpc-status`, `grpc-message`,
 * `grpc-status-details-bin`, and those of the error. The result must not be changed. Memoized because load shedding
 * sends one error many times, when the CPU is scarce.
 */
export const grpcStatus = memoizeLast((error: ConnectError): Headers => {
  const status = new Headers();
  const bounded = bound(error);
  setTrailerStatus(status, bounded);
  status.set("grpc-message", encodeGrpcMessage(bounded.rawMessage));
  return status;
});

function bound(error: ConnectError): ConnectError {
  const { details, bytes } = grpcDetails(error);
  const message = cut(error.rawMessage, messageBytes(bytes), (part) => encodeGrpcMessage(part).length);
  const bounded = new ConnectError(message, error.code, error.metadata);
  bounded.details = details;
  return bounded;
}
