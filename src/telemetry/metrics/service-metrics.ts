/** The service's own metrics. docs/observability.md says what each of them means. */
import type { Registry } from "prom-client";
import type { SourceStatus } from "../../ingest/source/source-status.js";
import type { TemplateCount } from "../../store/port.js";
import { addReading, type ReadMetric, type Sample } from "./read-metric.js";
import type { RequestMetrics } from "./request-metrics.js";

/** What is looked at when metrics are asked for. */
export interface MetricSources {
  readonly version: string;
  /** Why the service is not ready; undefined where it is. */
  readonly notReadyReason: () => string | undefined;
  readonly status: () => SourceStatus;
  /** How many contracts are held; undefined where they are not in the memory of this process. */
  readonly templateCounts: (() => readonly TemplateCount[] | Promise<readonly TemplateCount[]>) | undefined;
}

/** How many spans have been sent, and how many could not be. */
export interface SpanCounts {
  readonly sent: number;
  readonly failed: number;
}

const DURATION = "offledger_request_duration_seconds";

export function addProductMetrics(
  registry: Registry,
  requests: RequestMetrics,
  watched: MetricSources,
  spans: (() => SpanCounts) | undefined,
): void {
  const all = [...ofRequests(requests), ...ofLedger(watched), ...ofStore(watched), ...ofProcess(watched)];
  if (spans !== undefined) all.push(ofSpans(spans));
  for (const metric of all) addReading(registry, metric);
}

const ofRequests = (requests: RequestMetrics): ReadMetric[] => [
  {
    name: "offledger_requests_total",
    help: "Requests that have been answered, by operation, protocol and status",
    type: "counter",
    read: () => requests.counts(),
  },
  {
    name: DURATION,
    help: "Time from the arrival of a request to its answer",
    type: "histogram",
    read: () => requests.durations(DURATION),
  },
];

const ofLedger = ({ status }: MetricSources): ReadMetric[] => [
  {
    name: "offledger_ledger_offset",
    help: "Offset of the ledger up to which the contracts are known",
    type: "gauge",
    read: () => status().offset,
  },
  {
    name: "offledger_ledger_lag_seconds",
    help: "Time since the contracts were last known to equal the ledger's",
    type: "gauge",
    read: () => inSeconds(status().age),
  },
  {
    name: "offledger_ledger_reconnects_total",
    help: "How often the stream of updates was lost and had to be opened again",
    type: "counter",
    read: () => status().reconnects,
  },
  {
    name: "offledger_mirroring",
    help: "Whether this process feeds the store: 1, or 0 where it stands by or cannot",
    type: "gauge",
    read: () => asNumber(status().isLeader),
  },
];

const ofStore = ({ templateCounts, status }: MetricSources): ReadMetric[] => [
  {
    name: "offledger_store_contracts",
    help: "Contracts in the memory of this process, by template",
    type: "gauge",
    read: async () => (templateCounts === undefined ? [] : byTemplate(await templateCounts())),
  },
  {
    name: "offledger_database_connections",
    help: "Connections of the pool to the database, by state",
    type: "gauge",
    read: () => {
      const { pool } = status();
      if (pool === undefined) return [];
      return [
        { labels: { state: "in_use" }, value: pool.inUse },
        { labels: { state: "idle" }, value: pool.idle },
      ];
    },
  },
  {
    name: "offledger_database_waiting",
    help: "Questions that wait for a connection to the database",
    type: "gauge",
    read: () => status().pool?.waiting,
  },
];

const ofProcess = ({ version, notReadyReason }: MetricSources): ReadMetric[] => [
  {
    name: "offledger_ready",
    help: "Whether the service is ready, as /readyz tells: 1 or 0",
    type: "gauge",
    read: () => asNumber(notReadyReason() === undefined),
  },
  {
    name: "offledger_build_info",
    help: "The version that runs; always 1",
    type: "gauge",
    read: () => [{ labels: { version }, value: 1 }],
  },
];

const ofSpans = (spans: () => SpanCounts): ReadMetric => ({
  name: "offledger_trace_spans_total",
  help: "Spans that were sent to OFFLEDGER_TRACES_URL, and that could not be",
  type: "counter",
  read: () => Object.entries(spans()).map(([result, value]) => ({ labels: { result }, value: Number(value) })),
});

/** Packages of one template are counted together: their ids change with every upgrade. */
function byTemplate(templateCounts: readonly TemplateCount[]): Sample[] {
  const counts = new Map<string, number>();
  for (const { template, count } of templateCounts)
    counts.set(template.qualifiedName, (counts.get(template.qualifiedName) ?? 0) + count);
  return [...counts].map(([template, value]) => ({ labels: { template }, value }));
}

const inSeconds = (milliseconds: number | undefined): number | undefined =>
  milliseconds === undefined ? undefined : milliseconds / 1000;

const asNumber = (holds: boolean | undefined): number | undefined => (holds === undefined ? undefined : Number(holds));
