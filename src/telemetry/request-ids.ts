/** What logs and traces may contain of a request's header: request id, parent span, client address. */
import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { FastifyRequest } from "fastify";

/** The header of requests and of all responses, in the form of raw header lists. */
export const REQUEST_ID = "x-request-id";

export interface ParentSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Whether the caller records the trace. */
  readonly isSampled: boolean;
}

/** No control character, space or separator: the id stands in headers and logs as it is. */
const WELL_FORMED = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * Before the number of each id made here. 64 random bits of the process: among a million processes two share them with a
 * probability of 3 in 100 million. A random id for each request would cost more. Ids are unique, not secret: the number
 * says how many the process has made.
 */
const PREFIX = `${randomBytes(8).toString("hex")}-`;
let made = 0;

/** Makes an id for a request whose caller gave none. */
export const makeRequestId = (): string => PREFIX + ++made;

/** The caller's `x-request-id`; another one for each call if it is missing or malformed. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers[REQUEST_ID];
  if (given === undefined) return makeRequestId();
  return typeof given === "string" && WELL_FORMED.test(given) ? given : makeRequestId();
}

/** As `requestIdOf`, for a response that is sent without the request's record: a record that reads the headers later has the same id. */
export const fixRequestId = (headers: IncomingHttpHeaders): string => (headers[REQUEST_ID] = requestIdOf(headers));

/** Version, trace, span and flags; later versions may append fields. */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const MAX_TRACEPARENT_LENGTH = 128;
const SAMPLED_FLAG = 1;

/** The caller's span by W3C Trace Context; undefined if the header is missing or malformed. */
export function readParentSpan({ headers }: FastifyRequest): ParentSpan | undefined {
  const { traceparent } = headers;
  if (typeof traceparent !== "string" || traceparent.length > MAX_TRACEPARENT_LENGTH) return undefined;
  const [, version = "", traceId = "", spanId = "", flags = "", rest] = TRACEPARENT.exec(traceparent) ?? [];
  if (version === "" || version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED_FLAG) !== 0 };
}

/** The client's address; undefined once the connection is closed. */
export function readClientAddress(request: FastifyRequest): string | undefined {
  try {
    return request.ip;
  } catch {
    // The HTTP/2 compatibility API throws on a closed connection.
    return undefined;
  }
}
