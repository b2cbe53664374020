/** What Prometheus reads: the service's own metrics, and those of its process. */
import { collectDefaultMetrics, Registry } from "prom-client";
import { addProductMetrics, type SpanCounts, type MetricSources } from "./service-metrics.js";
import type { Exposition } from "./listener.js";
import { RequestMetrics } from "./request-metrics.js";

/** Of the process there is one, and what looks at its event loop and its collections cannot be stopped: so it is begun once. */
let ofProcess: Registry | undefined;

export interface Metrics extends Exposition {
  readonly requests: RequestMetrics;
}

/** `spans` is undefined where no traces are sent. */
export function createMetrics(watched: MetricSources, spans: (() => SpanCounts) | undefined): Metrics {
  if (ofProcess === undefined) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
  }
  const [process, own, requests] = [ofProcess, new Registry(), new RequestMetrics()];
  addProductMetrics(own, requests, watched, spans);
  return {
    requests,
    contentType: own.contentType,
    metrics: async () => `${await own.metrics()}\n${await process.metrics()}`,
  };
}
