/** What a caller says of a request that may be told: its id, and the trace that it belongs to. Nothing else of its head. */
import { randomUUID } from "node:crypto";
import type { FastifyRequest } from "fastify";

/** The caller's span, as `traceparent` names it. */
export interface Parent {
  readonly traceId: string;
  readonly spanId: string;
  /** Whether the caller keeps the trace. */
  readonly isSampled: boolean;
}

const requestIds = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's id for a request, or one made here where there is none, or none that fits. */
export function requestIdOf({ headers }: FastifyRequest): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && requestIds.test(given) ? given : randomUUID();
}

/** Version, trace, span and flags; later versions may have more behind them. */
const traceparents = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** Longer than any version is likely to be. */
const LONGEST = 128;
const SAMPLED = 1;

/** The caller's span by the W3C's rules; undefined where none is named, or not by the rules. */
export function parentOf({ headers }: FastifyRequest): Parent | undefined {
  const { traceparent } = headers;
  if (typeof traceparent !== "string" || traceparent.length > LONGEST) return undefined;
  const [, version = "", traceId = "", spanId = "", flags = "", more] = traceparents.exec(traceparent) ?? [];
  if (version === "" || version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 };
}

/** Where a request came from. Undefined where its connection is gone, which some of its kinds say by throwing. */
export function addressOf(request: FastifyRequest): string | undefined {
  try {
    return request.ip;
  } catch {
    return undefined;
  }
}
