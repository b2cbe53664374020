/** The metrics that Prometheus scrapes: of the service, of the process and of Node.js. */
import { collectDefaultMetrics, Registry } from "prom-client";
import type { Exposition } from "./exposition.js";
import { RequestMetrics } from "./request-metrics.js";
import { addServiceMetrics, type MetricSources, type SpanCounts } from "./service-metrics.js";

/** Shared by all instances: prom-client cannot stop its observers of the event loop and garbage collection. */
let processRegistry: Registry | undefined;

export interface Metrics extends Exposition {
  readonly requests: RequestMetrics;
}

/** `spans` is undefined if no traces are sent. */
export function createMetrics(sources: MetricSources, spans: (() => SpanCounts) | undefined): Metrics {
  const ofProcess = (processRegistry ??= createProcessRegistry());
  const ofService = new Registry();
  const requests = new RequestMetrics();
  addServiceMetrics(ofService, requests, sources, spans);
  return {
    requests,
    contentType: ofService.contentType,
    warnings: sources.warnings,
    metrics: async () => `${await ofService.metrics()}\n${await ofProcess.metrics()}`,
  };
}

function createProcessRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}
