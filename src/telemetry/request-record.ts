/** The record of one request, from arrival to response, for metrics, logs and traces, and its line in the log. */
import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { DescMessage, Message } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import type { FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { Config } from "../config/config.js";
import { type Cause, causesOf, type RegistryError } from "../domain/errors.js";
import type { Tracing } from "./tracing.js";

/** Any path that is not an rpc counts as REST. */
export type Protocol = "rest" | "connect" | "grpc" | "grpc-web";

/** The code of Connect and gRPC; 0 for success. */
export type Outcome = Code | 0;

export interface CompletedRequest {
  /** Observers must not export its headers: they may contain a token. */
  readonly request: FastifyRequest;
  /** The caller's, or made by the service: the same in the response, the log and the trace. */
  readonly requestId: string;
  /** Full name of the rpc, such as `offledger.health.v1.HealthService/GetLiveness`; empty if the path has none. */
  readonly operation: string;
  readonly protocol: Protocol;
  readonly outcome: Outcome;
  /** Time of arrival, as `performance.now()`. */
  readonly startedAt: number;
  /** From arrival until the response was handed to the connection. */
  readonly durationMs: number;
  /** Whether the client has the response, which was not sent. */
  readonly isNotModified: boolean;
  /** Set if the rules of the registry refused the request. */
  readonly refusal: Refusal | undefined;
}

/** The cause of the error that the client gets: an operation knows the message, its sender the record. */
export class RefusedRequest {
  readonly message: string;
  /** At least one. */
  readonly causes: readonly Cause[];

  constructor(
    readonly error: RegistryError,
    readonly schema: DescMessage,
    readonly request: Message,
  ) {
    this.message = error.message;
    this.causes = causesOf(error);
  }
}

/** Why the rules of the registry refused a request, and what was asked. */
export type Refusal = Omit<RefusedRequest, "error">;

/** Called once for each completed request. Must be fast and must not throw. */
export type RequestObserver = (completed: CompletedRequest) => void;

export class RequestRecord implements CompletedRequest {
  readonly request: FastifyRequest;
  readonly startedAt: number;
  operation = "";
  protocol: Protocol = "rest";
  outcome: Outcome = 0;
  durationMs = 0;
  isNotModified = false;
  refusal: Refusal | undefined = undefined;
  readonly #observers: readonly RequestObserver[];
  #isComplete = false;
  #requestId: string | undefined;

  constructor(request: FastifyRequest, observers: readonly RequestObserver[]) {
    this.request = request;
    this.#observers = observers;
    this.startedAt = performance.now();
  }

  /** Read or made when it is first needed: the response of a client that is gone has none. */
  get requestId(): string {
    return (this.#requestId ??= requestIdOf(this.request.raw.headers));
  }

  /** Calls the observers. Only the first call counts. */
  complete(outcome: Outcome): void {
    if (this.#isComplete) return;
    this.#isComplete = true;
    this.outcome = outcome;
    // Without observers, save reading the clock.
    if (this.#observers.length > 0) this.durationMs = performance.now() - this.startedAt;
    for (const observer of this.#observers) observer(this);
  }
}

declare module "fastify" {
  interface FastifyRequest {
    record: RequestRecord;
  }
  interface FastifyContextConfig {
    operation?: string;
    /** Whether the route serves Connect, gRPC and gRPC-Web, each with its own form of errors. */
    isRpc?: boolean;
  }
}

/** Names in metrics, logs and traces: `ok`, then the codes as Connect writes them, such as `not_found`. */
const statusNames: readonly string[] = [
  "ok",
  ...Object.values(Code)
    .filter((code): code is Code => typeof code === "number")
    .toSorted((a, b) => a - b)
    .map(codeToString),
];

/** A peer may send any number: those that are not a code are `unknown`. */
export const statusName = (outcome: Outcome): string => statusNames[outcome] ?? "unknown";

/** Failures of the service rather than mistakes of the caller, by OpenTelemetry's conventions for gRPC servers. */
const failures: ReadonlySet<Outcome> = new Set([
  Code.Unknown,
  Code.DeadlineExceeded,
  Code.Unimplemented,
  Code.Internal,
  Code.Unavailable,
  Code.DataLoss,
]);

export const isFailure = (outcome: Outcome): boolean => failures.has(outcome);

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

/** The caller's span by W3C Trace Context; undefined if the header is missing or malformed. */
export function readParentSpan({ headers }: FastifyRequest): ParentSpan | undefined {
  const { traceparent } = headers;
  if (typeof traceparent !== "string" || traceparent.length > MAX_TRACEPARENT_LENGTH) return undefined;
  const [, version = "", traceId = "", spanId = "", flags = "", rest] = TRACEPARENT.exec(traceparent) ?? [];
  if (version === "" || version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** The client's address; undefined once the connection is closed. */
function readClientAddress(request: FastifyRequest): string | undefined {
  try {
    return request.ip;
  } catch {
    // The HTTP/2 compatibility API throws on a closed connection.
    return undefined;
  }
}

/** Logs and traces a request under the same ids. */
export function requestObserver(
  log: Logger,
  logged: Config["logRequests"],
  tracing: Pick<Tracing, "record"> | undefined,
): RequestObserver {
  return (completed) => {
    const isChosen = logged === "all" || (logged === "failed" && isFailed(completed));
    const isLogged = isChosen && log.isLevelEnabled(levelOf(completed));
    if (!isLogged && tracing === undefined) return;
    const parent = readParentSpan(completed.request);
    const traceId = tracing?.record(completed, parent) ?? parent?.traceId;
    if (isLogged) log[levelOf(completed)](logFields(completed, traceId), "request");
  };
}

/** What the log says of a request: nothing that was sent but what a refusal is about. */
function logFields(completed: CompletedRequest, traceId: string | undefined): object {
  const { request, requestId, operation, protocol, outcome, durationMs, refusal } = completed;
  return {
    requestId,
    operation: operation === "" ? "none" : operation,
    protocol,
    status: statusName(outcome),
    milliseconds: Math.round(durationMs * 1000) / 1000,
    traceId,
    client: readClientAddress(request),
    ...(refusal !== undefined && refusalFields(refusal)),
  };
}

/** A probe that is told the truth has not failed: ReadinessLog tells of it once. */
const isFailed = ({ operation, outcome }: CompletedRequest): boolean =>
  outcome !== 0 && !(outcome === Code.Unavailable && /\.health\./.test(operation));

/** A caller's mistake is not a warning: the operator cannot fix it. */
const levelOf = (completed: CompletedRequest): "info" | "warn" =>
  isFailed(completed) && (completed.outcome === Code.ResourceExhausted || isFailure(completed.outcome))
    ? "warn"
    : "info";

/** The code of a cause. A registry module may give one of any length. */
const boundedCode = ({ code }: Cause): string => code.slice(0, 63);

/** The code of the first cause, for logs, metrics and traces. */
export const refusalCode = ({ causes: [first] }: Refusal): string => (first === undefined ? "" : boundedCode(first));

/** Longer than any party or contract id of Canton. */
const MAX_LENGTH = 256;
const MAX_LISTED = 10;

/**
 * What the log says of a refusal: the first cause without its message; of several causes their number and their codes,
 * each code once. Lengths are bounded.
 */
function refusalFields(refusal: Refusal): object {
  const { causes } = refusal;
  const [first] = causes;
  const { registrar, instrument, party, issuer, claims, contractId, template, synchronizers } = first ?? {};
  return {
    code: refusalCode(refusal),
    // A logger leaves out what is undefined.
    causes: causes.length > 1 ? causes.length : undefined,
    codes: causes.length > 1 ? codesOf(causes) : undefined,
    registrar: cut(registrar),
    instrument: cut(instrument),
    party: cut(party),
    issuer: cut(issuer),
    claims: listed(claims?.map(({ property, value }) => `${property}=${value}`)),
    contractId: cut(contractId),
    template: cut(template),
    synchronizers: listed(synchronizers),
    field: cut(first?.field),
    limit: cut(first?.limit),
    maximum: first?.maximum,
  };
}

/** A settlement may lack hundreds of credentials: they have one code. */
const codesOf = (causes: Refusal["causes"]): readonly string[] =>
  [...new Set(causes.map(boundedCode))].slice(0, MAX_LISTED);

const cut = (text: string | undefined): string | undefined => text?.slice(0, MAX_LENGTH);
const listed = (texts: readonly string[] | undefined): readonly string[] | undefined =>
  texts?.slice(0, MAX_LISTED).map((text) => text.slice(0, MAX_LENGTH));
