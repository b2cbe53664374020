/**
 * Errors on the wire: from a cause of causes.ts to Code, HTTP status, body and details, and back. Rules refuse a request; what
 * rejects it before them, or fails, is a rejection.
 */
import type { DescMessage, Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { codeFromString, codeToString } from "@connectrpc/connect/protocol-connect";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { reasons, rejections } from "../domain/causes.js";
import { causesOf, RegistryError } from "../domain/errors.js";
import { RefusedRequest, type RequestRecord } from "../telemetry/request-record.js";
import {
  boundedViolations,
  causesDetail,
  errorInfo,
  type Metadata,
  metadataOf,
  type Violation,
} from "./error-details.js";

interface Row {
  readonly code: Code;
  /** Over REST. Connect and gRPC derive their own from the code. */
  readonly status: number;
}

/** The first of a code, or of a status, is the one it maps to. */
const rows: readonly Row[] = Object.values(reasons).map(toRow);

type UpperSnake<S extends string> = S extends `${infer Word}-${infer Rest}`
  ? `${Uppercase<Word>}_${UpperSnake<Rest>}`
  : Uppercase<S>;
/** Codes of rejections as google.rpc prescribes them. */
export type ErrorReason = UpperSnake<keyof typeof rejections>;
const upperSnake = (code: string): string => code.toUpperCase().replaceAll("-", "_");

/** By the reason of google.rpc.ErrorInfo. */
export const ERROR_REASONS = Object.fromEntries(
  Object.entries(rejections).map(([code, { reason }]) => [upperSnake(code), toRow(reasons[reason])]),
  // It has exactly the codes.
) as Readonly<Record<ErrorReason, Row>>;

function toRow([status, name]: readonly [number, string]): Row {
  const code = codeFromString(name);
  if (code === undefined) throw new Error(`${name} is no code`);
  return { code, status };
}

/** Statuses that have no reason: Node.js or a library rejects the request. */
const otherStatuses: ReadonlyMap<number, Code> = new Map([
  [408, Code.DeadlineExceeded],
  [499, Code.Canceled],
  [505, Code.Unimplemented],
]);

/** The code that an HTTP status stands for; 0 for success. */
export function outcomeOf(status: number): Code | 0 {
  if (status < 400) return 0;
  const code = rows.find((one) => one.status === status)?.code ?? otherStatuses.get(status);
  return code ?? (status < 500 ? Code.InvalidArgument : Code.Internal);
}

/** `error` in the body of a utility operation. */
const nameOf = (code: Code): string => (code === Code.Internal ? "unknown_error" : codeToString(code));

/** The status of an error name, for the generated documents; undefined for an unknown name. */
export const statusOf = (name: string): number | undefined => rows.find(({ code }) => nameOf(code) === name)?.status;

interface RejectionOptions {
  /** Replaces the code of the reason. */
  readonly code?: Code;
  /** Sent as `Retry-After`, and as google.rpc.RetryInfo. Default: 1 where a retry may change something. */
  readonly retrySeconds?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly violations?: readonly Violation[];
}

/** An error for a client that the rules have not made: of any protocol, although only RPC sends its details. */
export function rejection(reason: ErrorReason, message: string, options: RejectionOptions = {}): ConnectError {
  return detailedError(ERROR_REASONS[reason], reason, message, options);
}

const GENERIC = "something went wrong here; the operator's log has the details";

/**
 * The error that a client gets for what an operation throws. What is neither of the rules nor in the table is a defect:
 * reported, and GENERIC for the client. `schema` is the request message, whose field an error may name. A refusal of
 * `request` has a RefusedRequest as its cause.
 */
export function toConnectError(
  error: unknown,
  report: (defect: unknown) => void,
  schema: DescMessage,
  request?: Message,
): ConnectError {
  if (error instanceof RegistryError) {
    const refusal = toRefusal(error, schema);
    if (request !== undefined) refusal.cause = new RefusedRequest(error, schema, request);
    return refusal;
  }
  if (error instanceof ConnectError && error.code !== Code.Internal && rows.some(({ code }) => code === error.code))
    return error;
  report(error);
  return rejection("INTERNAL", GENERIC);
}

function toRefusal(refused: RegistryError, schema: DescMessage): ConnectError {
  const { reason, message, details } = refused;
  const { field = "", problem = message, metadata } = details;
  const path = reason === "invalid" ? protoPath(schema, field) : undefined;
  const violations = path === undefined ? [] : [{ field: path, description: problem }];
  const causes = causesOf(refused);
  const [first] = causes;
  const fields = { ...(first && metadataOf(first)), ...metadata };
  const error = detailedError(toRow(reasons[reason]), upperSnake(first?.code ?? ""), message, { violations }, fields);
  if (causes.length > 1) error.details.push(causesDetail(causes));
  return error;
}

export interface RestError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Paths of the utility API have an error body of their own. */
  readonly body: { readonly error: string } | { readonly error: string; readonly error_description: string };
}

/** The REST form of an error: with the status of its reason, or else of its code. */
export function toRestError(error: ConnectError, path: string): RestError {
  const { rawMessage, metadata } = error;
  const ofReason = (ERROR_REASONS as Readonly<Record<string, Row>>)[reasonOf(error)];
  const row = [ofReason, ...rows].find((one) => one?.code === error.code) ?? ERROR_REASONS.INTERNAL;
  return { status: row.status, headers: Object.fromEntries(metadata), body: restBody(row.code, rawMessage, path) };
}

/** An error of HTTP itself, before there is an operation: unknown path, wrong content type. */
export function httpError(status: number, message: string, path: string): RestError {
  return { status, headers: {}, body: restBody(outcomeOf(status) || Code.Internal, message, path) };
}

const restBody = (code: Code, message: string, path: string): RestError["body"] =>
  isUtility(path) ? { error: nameOf(code), error_description: message } : { error: message };

export const isUtility = (path: string): boolean => path.startsWith("/api/utilities/");

/** The reason of google.rpc.ErrorInfo; empty without it. */
export function reasonOf({ details: [info] }: ConnectError): string {
  if (info === undefined || !("desc" in info) || info.desc.typeName !== ErrorInfoSchema.typeName) return "";
  const { reason = "" } = info.value as { readonly reason?: string };
  return reason;
}

/** Puts the refusal of a failed operation on the record of its request. Call it before the error is sent. */
export function recordRefusal(record: RequestRecord, error: unknown): void {
  if (error instanceof ConnectError && error.cause instanceof RefusedRequest) record.refusal = error.cause;
}

/** `metadata` belongs to the reason. */
function detailedError(
  row: Row,
  reason: string,
  message: string,
  { code = row.code, headers, violations = [], retrySeconds = isTemporary(row) ? 1 : undefined }: RejectionOptions,
  metadata: Metadata = {},
): ConnectError {
  const error = new ConnectError(message, code, headers);
  const { details } = error;
  details.push(errorInfo(reason, metadata));
  if (retrySeconds !== undefined) {
    error.metadata.set("retry-after", String(retrySeconds));
    details.push({ desc: RetryInfoSchema, value: { retryDelay: { seconds: BigInt(retrySeconds) } } });
  }
  const fieldViolations = boundedViolations(violations);
  if (fieldViolations.length > 0) details.push({ desc: BadRequestSchema, value: { fieldViolations } });
  return error;
}

const isTemporary = ({ status }: Row): boolean => status === 429 || status === 503;

/**
 * The path of a field in JSON names -> its path in names of the proto files. Keys within a Struct stay as they are.
 * Undefined where the message has no such field.
 */
export function protoPath(schema: DescMessage, jsonPath: string): string | undefined {
  const [, first = "", index = "", rest] = /^([^.[]*)((?:\[\d+\])*)(?:\.(.*))?$/s.exec(jsonPath) ?? [];
  const field = schema.fields.find(({ jsonName }) => jsonName === first);
  if (field === undefined) return undefined;
  const name = field.name + index;
  if (rest === undefined) return name;
  const isOpaque = field.message === undefined || field.message.typeName.startsWith("google.protobuf.");
  const inner = isOpaque ? rest : protoPath(field.message, rest);
  return inner === undefined ? undefined : `${name}.${inner}`;
}
