/** Refusals in the shape in which the JSON Ledger API tells of errors. */
import type { CantonError } from "./messages.js";

/**
 * The codes that this participant knows, each with its category and its gRPC
 * code, as Canton assigns them. Category and gRPC code belong together; the HTTP
 * status follows from the gRPC code.
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
  CONTRACT_EVENTS_NOT_FOUND: [11, 5],
  UPDATE_NOT_FOUND: [11, 5],
  PACKAGE_NAMES_NOT_FOUND: [11, 5],
  JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED: [2, 10],
  ACCESS_TOKEN_EXPIRED: [2, 10],
  STALE_STREAM_AUTHORIZATION: [2, 10],
  PARTICIPANT_BACKPRESSURE: [2, 8],
  SERVER_IS_SHUTTING_DOWN: [1, 14],
  LEDGER_API_INTERNAL_ERROR: [4, 13],
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
/** Categories that say something may be tried again; the participant then says after how long. */
const retried: ReadonlySet<number> = new Set([1, 2, 12]);
/** Categories, those of authentication, of which the participant tells nobody more than the gRPC code. */
const secret: ReadonlySet<number> = new Set([6, 7]);

/** Ends a call with an error. */
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

export interface RefusalOptions {
  /** Where it is not the one that follows from the code. */
  readonly status?: number;
  readonly context?: Readonly<Record<string, string>>;
  /** As Scala writes durations: "1 second", "5 seconds". */
  readonly retryInfo?: string;
}

/**
 * An error as the participant would tell it. What an error of authentication is
 * about it does not tell: its code is NA, its category -1.
 */
export function refusal(code: ErrorCode, cause: string, options: RefusalOptions = {}): Refusal {
  const [category, grpcCodeValue] = codes[code];
  const isSecret = secret.has(category);
  const correlationId = "0af7651916cd43dd8448eb211c80319c";
  const retryInfo = options.retryInfo ?? (retried.has(category) ? "1 second" : undefined);
  return new Refusal(options.status ?? statuses[grpcCodeValue] ?? 500, {
    code: isSecret ? "NA" : code,
    cause: isSecret ? "A security-sensitive error has been received" : cause,
    correlationId,
    traceId: correlationId,
    context: { ...options.context },
    resources: [],
    errorCategory: isSecret ? -1 : category,
    grpcCodeValue,
    ...(retryInfo !== undefined && { retryInfo }),
    ...(!isSecret && { definiteAnswer: false }),
  });
}

/** What the published documents call optional and would have left out, Canton sends as null. */
export function whole(error: CantonError): object {
  return { ...error, retryInfo: error.retryInfo ?? null, definiteAnswer: error.definiteAnswer ?? null };
}
