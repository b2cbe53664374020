import type { DescMessage } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { type RegistryErrorReason, causesOf, RegistryError } from "../../domain/errors.js";
import { protoPath } from "../decoding/proto-path.js";
import { detailedError, refusal } from "./error-details.js";
import { reasonOf } from "./error-reasons.js";
import { metadataOf, refusalDetail } from "./refusal-detail.js";

interface Row {
  readonly reason: RegistryErrorReason | undefined;
  readonly code: Code;
  readonly status: number;
  /** `error` in the body of a utility operation. */
  readonly name: string;
  /** Seconds for `Retry-After`; undefined where a retry changes nothing. */
  readonly retryAfter?: number;
}

const failure: Row = { reason: undefined, code: Code.Internal, status: 500, name: "unknown_error" };

/** The one table: RegistryError <-> Code <-> HTTP status <-> body. The first row of a code is the one it maps to. */
const table: readonly Row[] = [
  { reason: "invalid", code: Code.InvalidArgument, status: 400, name: "invalid_argument" },
  { reason: undefined, code: Code.Unauthenticated, status: 401, name: "unauthenticated" },
  { reason: undefined, code: Code.PermissionDenied, status: 403, name: "permission_denied" },
  { reason: "not-found", code: Code.NotFound, status: 404, name: "not_found" },
  { reason: undefined, code: Code.InvalidArgument, status: 405, name: "invalid_argument" },
  { reason: "conflict", code: Code.Aborted, status: 409, name: "aborted" },
  { reason: undefined, code: Code.DeadlineExceeded, status: 504, name: "deadline_exceeded" },
  { reason: undefined, code: Code.DeadlineExceeded, status: 408, name: "deadline_exceeded" },
  { reason: undefined, code: Code.ResourceExhausted, status: 429, name: "resource_exhausted", retryAfter: 1 },
  { reason: undefined, code: Code.ResourceExhausted, status: 413, name: "resource_exhausted" },
  { reason: undefined, code: Code.InvalidArgument, status: 414, name: "invalid_argument" },
  { reason: undefined, code: Code.InvalidArgument, status: 415, name: "invalid_argument" },
  failure,
  { reason: "unsupported", code: Code.Unimplemented, status: 501, name: "unimplemented" },
  { reason: "unavailable", code: Code.Unavailable, status: 503, name: "unavailable", retryAfter: 1 },
];

/** The HTTP status of an error name, for the generated documents; undefined for an unknown name. */
export function statusOf(name: string): number | undefined {
  return table.find((row) => row.name === name)?.status;
}

/** The code that a REST status stands for; 0 for success. */
export function outcomeOf(status: number): Code | 0 {
  if (status < 400) return 0;
  // Statuses that only Connect uses.
  if (status === 499) return Code.Canceled;
  if (status === 505) return Code.Unimplemented;
  return table.find((row) => row.status === status)?.code ?? (status < 500 ? Code.InvalidArgument : Code.Internal);
}

/** All that a client learns of a defect. */
const GENERIC = "something went wrong here; the operator's log has the details";

/**
 * An error for Connect and gRPC. One without a row in the table is a defect: reported, and GENERIC for the client.
 * `schema` is the request message, whose field an error may name.
 */
export function toConnectError(error: unknown, report: (defect: unknown) => void, schema?: DescMessage): ConnectError {
  if (error instanceof RegistryError) return ofRegistry(error, schema);
  if (error instanceof ConnectError && rowBy("code", error.code) !== failure) return error;
  report(error);
  return refusal("INTERNAL", GENERIC);
}

function ofRegistry(refused: RegistryError, schema: DescMessage | undefined): ConnectError {
  const { reason, message, details } = refused;
  const { field = "", problem = message, metadata } = details;
  const path = reason === "invalid" && schema !== undefined ? protoPath(schema, field) : undefined;
  const violations = path === undefined ? [] : [{ field: path, description: problem }];
  const { code, retryAfter: retrySeconds } = rowBy("reason", reason);
  const causes = causesOf(refused);
  const [first] = causes;
  const fields = { ...metadataOf(first), ...metadata };
  const error = detailedError(code, reasonOf(first?.code ?? ""), message, { retrySeconds, violations }, fields);
  if (causes.length > 1) error.details.push(refusalDetail(causes));
  // For the log and the operator's port.
  error.cause = refused;
  return error;
}

export interface RestError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: TokenStandardError | UtilityError;
}

interface TokenStandardError {
  readonly error: string;
}

interface UtilityError {
  readonly error: string;
  readonly error_description: string;
}

/** The REST form of an error. Paths of the utility API have an error body of their own. */
export function toRestError({ code, rawMessage, metadata }: ConnectError, path: string): RestError {
  const error = restError(rowBy("code", code), rawMessage, path);
  return { ...error, headers: { ...error.headers, ...Object.fromEntries(metadata) } };
}

/** An error of HTTP itself, before there is an operation: unknown path, body too large. */
export function httpError(status: number, message: string, path: string): RestError {
  const row = table.find((known) => known.status === status) ?? { ...rowBy("code", Code.InvalidArgument), status };
  return restError(row, message, path);
}

function restError({ status, name, retryAfter }: Row, message: string, path: string): RestError {
  return {
    status,
    headers: retryAfter === undefined ? {} : { "retry-after": String(retryAfter) },
    body: isUtility(path) ? { error: name, error_description: message } : { error: message },
  };
}

function rowBy<K extends "reason" | "code">(column: K, value: Row[K]): Row {
  return table.find((row) => row[column] === value) ?? failure;
}

export const isUtility = (path: string): boolean => path.startsWith("/api/utilities/");
