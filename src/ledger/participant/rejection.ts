import type { JsonValue } from "../../domain/json.js";

/** A response that is not a success. */
export interface Rejection {
  readonly status: number;
  /** The participant's error code; empty if the response is not an error of its API. */
  readonly code: string;
  /** The participant's message; else the text of the response. */
  readonly cause: string;
  readonly grpcCode: number;
  readonly category: number;
}

/** A Daml exception may have a long payload. */
const MAX_CAUSE_LENGTH = 4_000;
/** Of a response that is not an error of the API, such as the page of a proxy. */
const MAX_TEXT_LENGTH = 300;

const GRPC_PERMISSION_DENIED = 7;
const GRPC_UNAUTHENTICATED = 16;
/** The categories of errors that Canton calls retryable: transient failures, and contention on resources. */
const RETRYABLE_CATEGORIES: ReadonlySet<number> = new Set([1, 2]);

/** Reads an error of the JSON Ledger API. `body` is undefined if the text is not JSON. */
export function readRejection(status: number, body: JsonValue | undefined, text: string): Rejection {
  const fields = typeof body === "object" && body !== null && !Array.isArray(body) ? body : {};
  const { code, cause, grpcCodeValue, errorCategory } = fields;
  const isError = typeof code === "string" && code !== "" && typeof cause === "string";
  return {
    status,
    code: isError ? code : "",
    cause: isError ? cut(cause, MAX_CAUSE_LENGTH) : cut(text, MAX_TEXT_LENGTH),
    grpcCode: typeof grpcCodeValue === "number" ? grpcCodeValue : -1,
    category: typeof errorCategory === "number" ? errorCategory : -1,
  };
}

/** Whether the participant rejects the caller: the token, or the rights of its user. */
export const isDenied = ({ status, grpcCode }: Rejection): boolean =>
  status === 401 || status === 403 || grpcCode === GRPC_UNAUTHENTICATED || grpcCode === GRPC_PERMISSION_DENIED;

/** Whether the participant, or a proxy, fails now for reasons that have nothing to do with the request. */
export const isTransient = ({ status, category }: Rejection): boolean =>
  status === 429 || (status >= 500 && status !== 501) || RETRYABLE_CATEGORIES.has(category);

/** Whether the participant has judged the request: an error of its API. One that is denied or transient is none. */
export const isRejection = (rejection: Rejection): boolean =>
  rejection.code !== "" && rejection.status >= 400 && rejection.status < 500;

/** Cutting a surrogate pair in half would give a string that protobuf cannot encode. */
const cut = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length).toWellFormed()}…` : text.toWellFormed();
