/** What logs and traces may contain of a request's header: request id, parent span, client address. */
import { randomUUID } from "node:crypto";
import type { FastifyRequest } from "fastify";

export interface ParentSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Whether the caller records the trace. */
  readonly isSampled: boolean;
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's `x-request-id`; a random one if it is missing or malformed. */
export function readRequestId({ headers }: FastifyRequest): string {
  const requestId = headers["x-request-id"];
  return typeof requestId === "string" && REQUEST_ID.test(requestId) ? requestId : randomUUID();
}

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
