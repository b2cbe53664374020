/** Errors in the format of the JSON Ledger API. */
import type { CantonError } from "./messages.js";

/**
 * Error codes with the category and the gRPC code that Canton assigns to them. The HTTP status follows from the gRPC
 * code.
 */
const codes = {
  PARTICIPANT_PRUNED_DATA_ACCESSED: [9, 9],
  PARTICIPANT_DATA_ACCESSED_AFTER_LEDGER_END: [9, 9],
  OFFSET_AFTER_LEDGER_END: [12, 11],
  OFFSET_OUT_OF_RANGE: [9, 9],
  NEGATIVE_OFFSET: [8, 3],
  NON_POSITIVE_OFFSET: [8, 3],
  INVALID_ARGUMENT: [8, 3],
  INVALID_FIELD: [8, 3],
  MISSING_FIELD: [8, 3],
  COMMAND_PREPROCESSING_FAILED: [8, 3],
  DAML_AUTHORIZATION_ERROR: [8, 3],
  UNHANDLED_EXCEPTION: [9, 9],
  DAML_FAILURE: [9, 9],
  INVALID_PRESCRIBED_SYNCHRONIZER_ID: [9, 9],
  INVALID_TOKEN: [8, 3],
  USER_NOT_FOUND: [11, 5],
  FAILED_TO_PREPARE_TRANSACTION: [8, 3],
  PROTO_DESERIALIZATION_FAILURE: [8, 3],
  UNKNOWN_INFORMEES: [11, 5],
  CONTRACT_NOT_FOUND: [11, 5],
  CONTRACT_EVENTS_NOT_FOUND: [11, 5],
  UPDATE_NOT_FOUND: [11, 5],
  PACKAGE_NAMES_NOT_FOUND: [11, 5],
  NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME: [11, 5],
  TEMPLATES_OR_INTERFACES_NOT_FOUND: [11, 5],
  JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED: [2, 10],
  ACCESS_TOKEN_EXPIRED: [2, 10],
  STALE_STREAM_AUTHORIZATION: [2, 10],
  MAXIMUM_NUMBER_OF_STREAMS: [2, 10],
  PARTICIPANT_BACKPRESSURE: [2, 10],
  SERVER_IS_SHUTTING_DOWN: [1, 14],
  LEDGER_API_INTERNAL_ERROR: [4, 13],
  // An internal error that is shown to nobody.
  HIDDEN_INTERNAL_ERROR: [5, 13],
  UNAUTHENTICATED: [6, 16],
  PERMISSION_DENIED: [7, 7],
} as const satisfies Readonly<Record<string, readonly [category: number, grpcCode: number]>>;

export type ErrorCode = keyof typeof codes;

const statuses: Readonly<Record<number, number>> = {
  3: 400,
  5: 404,
  7: 403,
  8: 429,
  9: 400,
  10: 409,
  11: 400,
  13: 500,
  14: 503,
  16: 401,
};
/** Retryable categories. Their errors have retryInfo. */
const retried: ReadonlySet<number> = new Set([1, 2, 12]);
/** Security-sensitive categories. Their errors show the gRPC code only. */
const secret: ReadonlySet<number> = new Set([5, 6, 7]);

/** Errors of the JSON API itself, not of the participant behind it. */
const ofJsonApi: ReadonlySet<string> = new Set([
  "LEDGER_API_INTERNAL_ERROR",
  "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED",
]);

const definite = { definite_answer: "false" };

export class Refusal extends Error {
  readonly status: number;
  readonly error: CantonError;

  constructor(status: number, error: CantonError) {
    super(`${error.code}: ${error.cause}`);
    this.name = "Refusal";
    this.status = status;
    this.error = error;
  }
}

interface RefusalOptions {
  /** Overrides the status that follows from the code. */
  readonly status?: number;
  readonly context?: Readonly<Record<string, string>>;
  /** Pairs of a type and a value, for example of a contract that is not found. */
  readonly resources?: readonly (readonly [string, string])[];
  /** As Scala writes durations: "1 second", "5 seconds". */
  readonly retryInfo?: string;
}

/**
 * An error as a participant sends it. Security-sensitive errors hide their cause: their code is NA, their category -1.
 */
export function refusal(code: ErrorCode, cause: string, options: RefusalOptions = {}): Refusal {
  const [category, grpcCodeValue] = codes[code];
  const isSecret = secret.has(category);
  const isOwn = isSecret || ofJsonApi.has(code);
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const retryInfo = options.retryInfo ?? (retried.has(category) ? "1 second" : undefined);
  return new Refusal(options.status ?? statuses[grpcCodeValue] ?? 500, {
    code: isSecret ? "NA" : code,
    cause: isSecret ? "A security-sensitive error has been received" : cause,
    traceId,
    ...(isOwn && { correlationId: traceId }),
    ...(isOwn && !isSecret && { definiteAnswer: false }),
    context: isOwn
      ? (options.context ?? {})
      : { participant: "'scripted'", tid: traceId, category: String(category), ...definite, ...options.context },
    resources: (options.resources ?? []).map(([type, value]) => [type, value]),
    errorCategory: isSecret ? -1 : category,
    grpcCodeValue,
    ...(retryInfo !== undefined && { retryInfo }),
  });
}

/** Canton sends absent optional fields as null, although the published documents omit them. */
export function withNulls(error: CantonError): object {
  const { correlationId = null, retryInfo = null, definiteAnswer = null } = error;
  return { ...error, correlationId, retryInfo, definiteAnswer };
}
