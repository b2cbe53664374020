/** What the service tells of itself: metrics, a log of requests, traces, each where the configuration asks for it. */
import type { Logger } from "pino";
import type { Config } from "../config/config.js";
import { parentOf, requestIdOf } from "./request-ids.js";
import type { RequestObserver } from "./request-record.js";
import type { MetricsListener } from "./metrics/listener.js";
import type { MetricSources } from "./metrics/service-metrics.js";
import { RequestLog } from "./request-log.js";
import type { Tracing } from "./traces/tracing.js";

export interface Telemetry {
  /** To be told of each request. */
  readonly observers: readonly RequestObserver[];
  /** Where metrics are; undefined where none are served. */
  readonly metricsUrl: string | undefined;
  /** Sends what waits to be sent, for as long as that may take, and lets go of everything. */
  close(withinMs: number): Promise<void>;
}

type TelemetryConfig = Pick<Config, "logRequests" | "metricsPort" | "metricsHost" | "tracesUrl" | "tracesPercent">;

/** Throws SettingError where metrics cannot be listened for. */
export async function startTelemetry(config: TelemetryConfig, log: Logger, watched: MetricSources): Promise<Telemetry> {
  const tracing = await tracingOf(config, log, watched.version);
  const observers: RequestObserver[] = [];
  let listener: MetricsListener | undefined;
  if (config.metricsPort !== undefined) {
    // Loaded only where they are wanted, since that takes its time.
    const { createMetrics } = await import("./metrics/metrics.js");
    const { listenForMetrics } = await import("./metrics/listener.js");
    const metrics = createMetrics(watched, tracing === undefined ? undefined : () => tracing.counts);
    listener = await listenForMetrics(config.metricsHost, config.metricsPort, metrics);
    observers.push(metrics.requests.observer);
    log.info({ url: listener.url }, "metrics are served");
  }
  if (tracing !== undefined || config.logRequests !== "none") {
    observers.push(telling(new RequestLog(log, config.logRequests), tracing));
  }
  return {
    observers,
    metricsUrl: listener?.url,
    async close(withinMs) {
      await tracing?.close(withinMs);
      await listener?.close();
    },
  };
}

async function tracingOf(
  { tracesUrl, tracesPercent }: TelemetryConfig,
  log: Logger,
  version: string,
): Promise<Tracing | undefined> {
  if (tracesUrl === undefined) return undefined;
  const { Tracing: Loaded } = await import("./traces/tracing.js");
  return new Loaded({ url: tracesUrl, percent: tracesPercent, version, log });
}

/** Logs and traces a request under the same ids, and costs next to nothing where it does neither. */
function telling(requestLog: RequestLog, tracing: Tracing | undefined): RequestObserver {
  return (completed) => {
    const isLogged = requestLog.wants(completed.outcome);
    if (!isLogged && tracing === undefined) return;
    const { request } = completed;
    const parent = parentOf(request);
    if (!isLogged && parent?.isSampled === false) return;
    const requestId = requestIdOf(request);
    const traceId = tracing?.record(completed, parent, requestId) ?? parent?.traceId;
    if (isLogged) requestLog.write(completed, { requestId, traceId });
  };
}
