/** Metrics, request log and traces, each if configured. */
import { Code } from "@connectrpc/connect";
import type { Logger } from "pino";
import type { Config } from "../config/config.js";
import { type AppConfig, limitsOf } from "../config/limits.js";
import type { Metrics, MetricSources } from "./metrics.js";
import { refusalFields, RefusalLog } from "./refusals.js";
import type { RequestMetrics } from "./request-metrics.js";
import {
  type CompletedRequest,
  isFailure,
  readClientAddress,
  readParentSpan,
  type RequestObserver,
  statusName,
} from "./request-record.js";
import type { Tracing } from "./tracing.js";

interface Telemetry {
  readonly observers: readonly RequestObserver[];
  /** Undefined without the operator's port. They may be read after `close`. */
  readonly metrics: Metrics | undefined;
  /** What the operator's port shows of requests; undefined without that port. */
  readonly requests: RequestHistory | undefined;
  /** Sends pending spans for at most `timeoutMs`. */
  close(timeoutMs: number): Promise<void>;
}

export interface RequestHistory {
  /** Since when requests are counted, in milliseconds since 1970. */
  readonly since: number;
  readonly counts: RequestMetrics;
  readonly refusals: RefusalLog;
}

/** Collects metrics if the configuration has a port for them. */
export async function startTelemetry(config: AppConfig, log: Logger, sources: MetricSources): Promise<Telemetry> {
  const tracing = await startTracing(config, log, sources.version);
  const observers: RequestObserver[] = [];
  let metrics: Metrics | undefined;
  let requests: RequestHistory | undefined;
  if (config.metricsPort !== undefined) {
    const { createMetrics } = await import("./metrics.js");
    metrics = createMetrics(sources, tracing === undefined ? undefined : () => tracing.counts);
    requests = { since: Date.now(), counts: metrics.requests, refusals: new RefusalLog() };
    observers.push(requests.counts.observer, requests.refusals.observer);
  }
  if (tracing !== undefined || config.logRequests !== "none") {
    observers.push(requestObserver(new RequestLog(log, config.logRequests), tracing));
  }
  return {
    observers,
    metrics,
    requests,
    async close(timeoutMs) {
      await tracing?.close(timeoutMs);
    },
  };
}

async function startTracing(config: AppConfig, log: Logger, version: string): Promise<Tracing | undefined> {
  const { sendsTraces, tracesRatio: ratio } = limitsOf(config);
  if (!sendsTraces) return undefined;
  const { Tracing: LoadedTracing } = await import("./tracing.js");
  return new LoadedTracing({ ratio, version, log });
}

/** Logs and traces a request under the same ids. Returns early if the request is neither logged nor traced. */
function requestObserver(requestLog: RequestLog, tracing: Tracing | undefined): RequestObserver {
  return (completed) => {
    const isLogged = requestLog.isLogged(completed);
    if (!isLogged && tracing === undefined) return;
    const { request } = completed;
    const parent = readParentSpan(request);
    if (!isLogged && parent?.isSampled === false) return;
    const traceId = tracing?.record(completed, parent) ?? parent?.traceId;
    if (isLogged) requestLog.write(completed, traceId);
  };
}

/** One line per request, without anything that was sent but what a refusal is about. */
export class RequestLog {
  readonly #log: Logger;
  readonly #logged: Config["logRequests"];

  constructor(log: Logger, logged: Config["logRequests"]) {
    this.#log = log;
    this.#logged = logged;
  }

  /** Whether a request is logged. Lets the caller skip creating ids. */
  isLogged(request: Judged): boolean {
    if (this.#logged === "none" || (this.#logged === "failed" && !isFailed(request))) return false;
    return this.#log.isLevelEnabled(levelOf(request));
  }

  /** `traceId` is undefined if the request has no trace. */
  write(completed: CompletedRequest, traceId: string | undefined): void {
    const { request, requestId, operation, protocol, outcome, durationMs, refusal } = completed;
    const fields = {
      requestId,
      operation: operation === "" ? "none" : operation,
      protocol,
      status: statusName(outcome),
      milliseconds: Math.round(durationMs * 1000) / 1000,
      traceId,
      client: readClientAddress(request),
      ...(refusal !== undefined && refusalFields(refusal)),
    };
    this.#log[levelOf(completed)](fields, "request");
  }
}

type Judged = Pick<CompletedRequest, "operation" | "outcome">;

/** A probe that is told the truth has not failed: ReadinessLog tells of it once. */
const isFailed = ({ operation, outcome }: Judged): boolean =>
  outcome !== 0 && !(outcome === Code.Unavailable && /\.health\./.test(operation));

/** A caller's mistake is not a warning: the operator cannot fix it. */
function levelOf(judged: Judged): "info" | "warn" {
  const { outcome } = judged;
  if (!isFailed(judged)) return "info";
  return outcome === Code.ResourceExhausted || isFailure(outcome) ? "warn" : "info";
}
