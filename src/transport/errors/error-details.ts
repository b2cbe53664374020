// The details of google.rpc that errors carry over Connect, gRPC and gRPC-Web. They are bounded when they are made: all
// of them fit the headers of gRPC, see grpc-details.ts.
import { Code, ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "../../../gen/google/rpc/error_details_pb.js";
import { ERROR_REASONS, type ErrorReason } from "./error-reasons.js";

/** One wrong field of a request. */
export interface Violation {
  /** Its path in names of the proto files, as google.rpc prescribes; see proto/google/rpc. */
  readonly field: string;
  readonly description: string;
}

export interface RefusalOptions {
  /** Replaces the code of the reason. */
  readonly code?: Code;
  /** Sent as `Retry-After`, and as google.rpc.RetryInfo. */
  readonly retrySeconds?: number | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly violations?: readonly Violation[] | undefined;
}

const DOMAIN = "offledger";

const MAX_VIOLATIONS = 20;
const MAX_FIELD_BYTES = 256;
const MAX_DESCRIPTION_BYTES = 256;
/** Together with the metadata they fit MAX_DETAILS_BYTES of grpc-details.ts. */
const MAX_VIOLATIONS_BYTES = 1_024;
/** All fields of a cause take about 1,300 bytes with parties of 100 and contract ids of 138 characters. */
const MAX_METADATA_BYTES = 1_792;
/** Names what is left out of the metadata. */
const OMITTED = "omitted";
const MAX_OMITTED_BYTES = 256;
/** Tags and lengths around two strings. */
const FRAMING_BYTES = 10;

/** An error for a client: of any protocol, although only RPC sends its details. */
export function refusal(reason: ErrorReason, message: string, options: RefusalOptions = {}): ConnectError {
  return detailedError(options.code ?? ERROR_REASONS[reason], reason, message, options);
}

/** As `refusal`, with any reason. `metadata` belongs to the reason. */
export function detailedError(
  code: Code,
  reason: string,
  message: string,
  { retrySeconds, headers, violations = [] }: RefusalOptions,
  metadata: Readonly<Record<string, string>> = {},
): ConnectError {
  const retryAfter = retrySeconds === undefined ? {} : { "retry-after": String(retrySeconds) };
  const error = new ConnectError(message, code, { ...headers, ...retryAfter });
  const { details } = error;
  details.push(errorInfo(reason, metadata));
  if (retrySeconds !== undefined) {
    details.push({ desc: RetryInfoSchema, value: { retryDelay: { seconds: BigInt(retrySeconds) } } });
  }
  const fieldViolations = boundedViolations(violations);
  if (fieldViolations.length > 0) details.push({ desc: BadRequestSchema, value: { fieldViolations } });
  return error;
}

export function errorInfo(
  reason: string,
  metadata: Readonly<Record<string, string>> = {},
): ConnectError["details"][number] {
  return { desc: ErrorInfoSchema, value: { reason, domain: DOMAIN, metadata: boundedMetadata(metadata) } };
}

function boundedViolations(violations: readonly Violation[]): Violation[] {
  const kept: Violation[] = [];
  let bytes = 0;
  for (const violation of violations.slice(0, MAX_VIOLATIONS)) {
    const field = cut(violation.field, MAX_FIELD_BYTES);
    const description = cut(violation.description, MAX_DESCRIPTION_BYTES);
    bytes += FRAMING_BYTES + Buffer.byteLength(field) + Buffer.byteLength(description);
    if (bytes > MAX_VIOLATIONS_BYTES) break;
    kept.push({ field, description });
  }
  return kept;
}

/**
 * The values that fit, without names that google.rpc does not allow. The longest are left out first, and `omitted` names
 * them.
 */
function boundedMetadata(metadata: Readonly<Record<string, string>>): Record<string, string> {
  const valid = Object.entries(metadata).filter(
    // A registry module may be plain JavaScript.
    ([name, value]) => /^[a-zA-Z0-9_-]{1,64}$/.test(name) && typeof value === "string",
  );
  const sized = valid.map(([name, value]) => ({ name, bytes: FRAMING_BYTES + name.length + Buffer.byteLength(value) }));
  let bytes = 0;
  const omitted = new Set<string>();
  for (const one of sized.toSorted((left, right) => left.bytes - right.bytes)) {
    bytes += one.bytes;
    if (bytes > MAX_METADATA_BYTES) omitted.add(one.name);
  }
  const kept = valid.filter(([name]) => !omitted.has(name)).map(([name, value]) => [name, value.toWellFormed()]);
  if (omitted.size > 0) kept.push([OMITTED, cut([...omitted].join(", "), MAX_OMITTED_BYTES)]);
  return Object.fromEntries(kept) as Record<string, string>;
}

/** The text, cut to a size in UTF-8. Lone surrogates, which protobuf cannot encode, become U+FFFD. */
export function cut(text: string, maxBytes: number, sizeOf = utf8Bytes): string {
  // No part is smaller than one byte for each of its units.
  const wellFormed = text.slice(0, maxBytes + 1).toWellFormed();
  if (text.length <= maxBytes && sizeOf(wellFormed) <= maxBytes) return wellFormed;
  let bytes = sizeOf(ELLIPSIS);
  let end = 0;
  for (const character of wellFormed) {
    bytes += sizeOf(character);
    if (bytes > maxBytes) break;
    end += character.length;
  }
  return wellFormed.slice(0, end) + ELLIPSIS;
}

const ELLIPSIS = "…";
const utf8Bytes = (text: string): number => Buffer.byteLength(text);
