import { Code } from "@connectrpc/connect";

/** The reasons of google.rpc.ErrorInfo, each with its code. docs/errors.md explains them to clients. */
export const ERROR_REASONS = {
  /** The bytes are no message of the operation: malformed, or a field has the wrong type. */
  MALFORMED_MESSAGE: Code.InvalidArgument,
  /** A field violates a constraint of the proto files. */
  INVALID_FIELD: Code.InvalidArgument,
  /** A Struct exceeds a limit on its structure. */
  ARGUMENTS_TOO_COMPLEX: Code.InvalidArgument,
  /** The registry rejects the request. */
  INVALID_ARGUMENT: Code.InvalidArgument,
  MALFORMED_URL: Code.InvalidArgument,
  PATH_TOO_LONG: Code.InvalidArgument,
  /** The request violates gRPC or Connect. These protocols prescribe other codes for some violations. */
  PROTOCOL_ERROR: Code.InvalidArgument,
  TOKEN_MISSING: Code.Unauthenticated,
  TOKEN_INVALID: Code.Unauthenticated,
  /** The operator's port, without a token: the request has to come from this machine. */
  ACCESS_DENIED: Code.PermissionDenied,
  NOT_FOUND: Code.NotFound,
  CONFLICT: Code.Aborted,
  UNKNOWN_OPERATION: Code.Unimplemented,
  /** The service is not configured for the request, or its participant does not support it. */
  UNSUPPORTED: Code.Unimplemented,
  RATE_LIMITED: Code.ResourceExhausted,
  TOO_MANY_STREAMS: Code.ResourceExhausted,
  TOO_MANY_MESSAGES: Code.ResourceExhausted,
  BODY_TOO_LARGE: Code.ResourceExhausted,
  /** The client's deadline, or the maximum time between two messages of a stream. */
  DEADLINE_EXCEEDED: Code.DeadlineExceeded,
  /** No current snapshot of the ledger, or its source cannot be asked. */
  NOT_READY: Code.Unavailable,
  OVERLOADED: Code.Unavailable,
  SHUTTING_DOWN: Code.Unavailable,
  STREAM_EXPIRED: Code.Unavailable,
  /** The issuer's keys cannot be fetched. */
  ISSUER_UNAVAILABLE: Code.Unavailable,
  /** A defect. */
  INTERNAL: Code.Internal,
} as const;

export type ErrorReason = keyof typeof ERROR_REASONS;

/** The reason for the code of a cause: google.rpc prescribes UPPER_SNAKE_CASE. */
export const reasonOf = (code: string): string => code.toUpperCase().replaceAll("-", "_");
