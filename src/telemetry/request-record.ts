/** One request from its arrival to its answer, for those who watch: metrics, logs, traces. */
import { Code } from "@connectrpc/connect";
import type { FastifyRequest } from "fastify";

/** By what a request came. Everything that is no rpc path is REST. */
export type Protocol = "rest" | "connect" | "grpc" | "grpc-web";

/** How a request ended: as Connect and gRPC have it, and zero where all is well. */
export type Outcome = Code | 0;

/** What is known of a request when it has been answered. */
export interface CompletedRequest {
  /** Its head. A watcher tells nothing of the header `authorization`. */
  readonly request: FastifyRequest;
  /** The full name of the rpc, such as `offledger.health.v1.HealthService/GetLiveness`; empty where there is none of that path. */
  readonly operation: string;
  readonly protocol: Protocol;
  readonly outcome: Outcome;
  /** When it came, in milliseconds of `performance.now()`. */
  readonly startedAt: number;
  /** From its arrival until its answer was handed to the connection. */
  readonly milliseconds: number;
}

/** Is told of each request once, when it has been answered. Must be quick, and must not throw. */
export type RequestObserver = (completed: CompletedRequest) => void;

/** A request that is under way. */
export class RequestRecord implements CompletedRequest {
  readonly request: FastifyRequest;
  readonly startedAt: number;
  operation = "";
  protocol: Protocol = "rest";
  outcome: Outcome = 0;
  milliseconds = 0;
  /** Whether a hook may have set headers for the answer. Whoever knows that none has says so: to look for them takes its time. */
  mayHaveReplyHeaders = true;
  readonly #observers: readonly RequestObserver[];
  #hasEnded = false;

  constructor(request: FastifyRequest, observers: readonly RequestObserver[]) {
    this.request = request;
    this.#observers = observers;
    this.startedAt = performance.now();
  }

  /** What is told first holds. */
  end(outcome: Outcome): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.outcome = outcome;
    // Nobody asks for the time where nobody watches.
    if (this.#observers.length > 0) this.milliseconds = performance.now() - this.startedAt;
    for (const observer of this.#observers) observer(this);
  }
}

declare module "fastify" {
  interface FastifyRequest {
    /** Set before anything else looks at a request. */
    record: RequestRecord;
  }
  interface FastifyContextConfig {
    /** The full name of the rpc that a route serves. */
    operation?: string;
    /** Whether the route is that of Connect, gRPC and gRPC-Web, which tell errors each in its own way. */
    isRpc?: boolean;
  }
}
