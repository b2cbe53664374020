/** The bytes that `grpc-message` carries as they are: printable ASCII except the percent sign (gRPC over HTTP/2). */
const ENCODED = /[^ -$&-~]+/gu;

/** Percent-encodes a message for `grpc-message`. A lone surrogate becomes U+FFFD, because it has no UTF-8. */
export const encodeGrpcMessage = (message: string): string =>
  message.toWellFormed().replaceAll(ENCODED, (part) => encodeURIComponent(part));
