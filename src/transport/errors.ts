import { Code, ConnectError } from "@connectrpc/connect";
import { type RegistryErrorReason, RegistryError } from "../domain/errors.js";

/** One outcome that is not an answer, as every protocol shows it. */
interface Row {
  /** Undefined where no registry gives it. */
  readonly reason: RegistryErrorReason | undefined;
  readonly code: Code;
  readonly status: number;
  /** `error` in the body of a utility operation. */
  readonly name: string;
  /** Seconds for `Retry-After`; undefined where asking again changes nothing by itself. */
  readonly retryAfter?: number;
}

const failure: Row = { reason: undefined, code: Code.Internal, status: 500, name: "unknown_error" };

/** The one table: registry error <-> code <-> status <-> body. The first row of a code is the one it leads to. */
const table: readonly Row[] = [
  { reason: "invalid", code: Code.InvalidArgument, status: 400, name: "invalid_argument" },
  { reason: undefined, code: Code.Unauthenticated, status: 401, name: "unauthenticated" },
  { reason: undefined, code: Code.PermissionDenied, status: 403, name: "permission_denied" },
  { reason: "not-found", code: Code.NotFound, status: 404, name: "not_found" },
  { reason: "conflict", code: Code.Aborted, status: 409, name: "aborted" },
  { reason: undefined, code: Code.DeadlineExceeded, status: 504, name: "deadline_exceeded" },
  { reason: undefined, code: Code.DeadlineExceeded, status: 408, name: "deadline_exceeded" },
  { reason: undefined, code: Code.ResourceExhausted, status: 429, name: "resource_exhausted", retryAfter: 1 },
  { reason: undefined, code: Code.ResourceExhausted, status: 413, name: "resource_exhausted" },
  { reason: undefined, code: Code.InvalidArgument, status: 414, name: "invalid_argument" },
  { reason: undefined, code: Code.InvalidArgument, status: 415, name: "invalid_argument" },
  failure,
  { reason: "unavailable", code: Code.Unavailable, status: 503, name: "unavailable", retryAfter: 1 },
];

/** The status of an outcome by its name, for what is written about operations; undefined where there is none of that name. */
export function statusOf(name: string): number | undefined {
  return table.find((row) => row.name === name)?.status;
}

/** The outcome that a status of a REST path stands for; zero where all is well. */
export function outcomeOf(status: number): Code | 0 {
  if (status < 400) return 0;
  // Of these the protocols of Connect alone make use.
  if (status === 499) return Code.Canceled;
  if (status === 405 || status === 501) return Code.Unimplemented;
  return table.find((row) => row.status === status)?.code ?? (status < 500 ? Code.InvalidArgument : Code.Internal);
}

/** What a defect of ours looks like from outside, whatever it was. */
const GENERIC = "something went wrong here; the operator's log has the details";

/**
 * An error as the protocols of Connect tell it. What is not an outcome of the
 * table is a defect: it is handed to `report` and shows nothing of itself.
 */
export function toConnectError(error: unknown, report: (defect: unknown) => void): ConnectError {
  if (error instanceof RegistryError) return connectError(rowBy("reason", error.reason), error.message);
  if (error instanceof ConnectError && rowBy("code", error.code) !== failure) return error;
  report(error);
  return new ConnectError(GENERIC, Code.Internal);
}

/** A request that is not of its form. */
export function malformed(message: string): ConnectError {
  return new ConnectError(message, Code.InvalidArgument);
}

/** An error as a REST path tells it. */
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

/** The REST form of an outcome, in the family of operations that `path` belongs to. */
export function toRestError({ code, rawMessage, metadata }: ConnectError, path: string): RestError {
  const error = restError(rowBy("code", code), rawMessage, path);
  return { ...error, headers: { ...error.headers, ...Object.fromEntries(metadata) } };
}

/** A failure of HTTP itself, before there is an operation: no such path, body too large. */
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

function connectError({ code, retryAfter }: Row, message: string): ConnectError {
  return new ConnectError(message, code, retryAfter === undefined ? undefined : { "retry-after": String(retryAfter) });
}

function rowBy<K extends "reason" | "code">(column: K, value: Row[K]): Row {
  return table.find((row) => row[column] === value) ?? failure;
}

/** The utility operations have an error body of their own. */
export const isUtility = (path: string): boolean => path.startsWith("/api/utilities/");
