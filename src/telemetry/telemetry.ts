/** Metrics, request log and traces, each if configured. */
import type { Logger } from "pino";
import { type AppConfig, limitsOf } from "../config/limits.js";
import type { Metrics, MetricSources } from "./metrics.js";
import { RefusalLog } from "./refusals.js";
import type { RequestMetrics } from "./request-metrics.js";
import { requestObserver, type RequestObserver } from "./request-record.js";
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
  if (tracing !== undefined || config.logRequests !== "none")
    observers.push(requestObserver(log, config.logRequests, tracing));
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
