/** The record of one request, from arrival to response, for metrics, logs and traces. */
import { Code } from "@connectrpc/connect";
import type { FastifyRequest } from "fastify";
import { requestIdOf } from "./request-ids.js";
import type { Refusal } from "./refusals/refusal.js";

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
