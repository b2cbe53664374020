/** The metrics of the service itself. docs/observability.md describes each. */
import type { Metric, Registry } from "prom-client";
import type { SourceStatus } from "../../ingest/source/source-status.js";
import type { TemplateCount } from "../../store/port.js";
import { createCounter, createGauge, createHistogram, type Sample } from "./collected-metrics.js";
import type { RequestMetrics } from "./request-metrics.js";
import type { TransferMetrics } from "./transfer-metrics.js";

/** Read on each scrape. */
export interface MetricSources {
  readonly version: string;
  /** Undefined if the service is ready. */
  readonly notReadyReason: () => string | undefined;
  readonly status: () => SourceStatus;
  /** Undefined if the contracts are not in the memory of this process. */
  readonly templateCounts: (() => readonly TemplateCount[] | Promise<readonly TemplateCount[]>) | undefined;
  /** What all requests share. */
  readonly budgets: Readonly<Record<"body_bytes" | "response_bytes" | "requests", BudgetStatus>>;
  /** The streams of changes; undefined if this process has none. */
  readonly watch: WatchStatus | undefined;
  /** Undefined if this process does not look for warnings. */
  readonly warnings: WarningSource | undefined;
  /** Undefined if this process answers no requests. */
  readonly transfers: TransferMetrics | undefined;
}

export interface WatchStatus {
  /** Streams that are open. */
  readonly open: () => number;
  /** From the latest change until all streams had it, in milliseconds. */
  readonly lagMs: () => number;
  /** Events since startup by type. */
  readonly sent: Readonly<Record<"reset" | "changed" | "heartbeat", number>>;
}

export interface BudgetStatus {
  readonly used: number;
  readonly limit: number;
  /** How often something was refused because the budget was used up. */
  readonly refused: number;
}

/** What will fail in the registry, from the latest check in the background. */
export interface WarningSource {
  /** Undefined before the first check is finished. */
  latest(): { readonly checkedAt: number; readonly counts: Readonly<Record<string, number>> } | undefined;
  /** The list as an object for JSON. Waits a moment for a check that is running; undefined if there is none before. */
  list(): Promise<object | undefined>;
}

/** Since startup. */
export interface SpanCounts {
  readonly sent: number;
  readonly failed: number;
}

const DURATION = "offledger_request_duration_seconds";

/** `spans` is undefined if no traces are sent. */
export function addServiceMetrics(
  registry: Registry,
  requests: RequestMetrics,
  sources: MetricSources,
  spans: (() => SpanCounts) | undefined,
): void {
  const metrics = [
    ...requestMetrics(requests),
    ...transferMetrics(sources),
    ...ledgerMetrics(sources),
    ...storeMetrics(sources),
    ...processMetrics(sources),
    ...budgetMetrics(sources),
    ...warningMetrics(sources),
    ...watchMetrics(sources),
  ];
  if (spans !== undefined) metrics.push(spanMetric(spans));
  for (const metric of metrics) registry.registerMetric(metric);
}

const requestMetrics = (requests: RequestMetrics): Metric[] => [
  createCounter({
    name: "offledger_requests_total",
    help: "Completed requests by operation, protocol and status",
    labelNames: ["operation", "protocol", "status"],
    read: () => requests.counts(),
  }),
  createCounter({
    name: "offledger_refusals_total",
    help: "Requests that the rules of the registry refused, by operation and code of the first cause",
    labelNames: ["operation", "code"],
    read: () => requests.refusals(),
  }),
  createCounter({
    name: "offledger_not_modified_total",
    help: "Conditional requests whose response the client had, by operation and protocol",
    labelNames: ["operation", "protocol"],
    read: () => requests.notModified(),
  }),
  createHistogram({
    name: DURATION,
    help: "Time from the arrival of a request to its response",
    read: () => requests.durations(DURATION),
  }),
];

const transferMetrics = ({ transfers }: MetricSources): Metric[] =>
  transfers === undefined
    ? []
    : [
        createCounter({
          name: "offledger_transfer_factories_total",
          help: "Transfer factories given, by registrar, instrument and kind of the transfer",
          labelNames: ["registrar", "instrument", "transfer_kind"],
          read: () => transfers.samples(),
        }),
      ];

const ledgerMetrics = ({ status }: MetricSources): Metric[] => [
  createGauge({
    name: "offledger_ledger_offset",
    help: "Ledger offset of the last applied update",
    read: () => status().offset,
  }),
  createGauge({
    name: "offledger_ledger_lag_seconds",
    help: "Time since the contracts were last known to match the ledger",
    read: () => toSeconds(status().age),
  }),
  createCounter({
    name: "offledger_ledger_reconnects_total",
    help: "Times the update stream was lost or could not be opened",
    read: () => status().reconnects,
  }),
  createGauge({
    name: "offledger_mirroring",
    help: "Whether this process writes to the store: 1 if it does, 0 if it is on standby or cannot",
    read: () => toNumber(status().isLeader),
  }),
];

const storeMetrics = ({ templateCounts, status }: MetricSources): Metric[] => [
  createGauge({
    name: "offledger_store_contracts",
    help: "Contracts in the memory of this process by template",
    labelNames: ["template"],
    read: async () => (templateCounts === undefined ? [] : sumByTemplate(await templateCounts())),
  }),
  createGauge({
    name: "offledger_database_connections",
    help: "Connections in the database pool by state",
    labelNames: ["state"],
    read: () => {
      const { pool } = status();
      if (pool === undefined) return [];
      return [
        { labels: { state: "in_use" }, value: pool.inUse },
        { labels: { state: "idle" }, value: pool.idle },
      ];
    },
  }),
  createGauge({
    name: "offledger_database_waiting",
    help: "Queries waiting for a database connection",
    read: () => status().pool?.waiting,
  }),
];

const processMetrics = ({ version, notReadyReason }: MetricSources): Metric[] => [
  createGauge({
    name: "offledger_ready",
    help: "Whether /readyz reports ready: 1 or 0",
    read: () => toNumber(notReadyReason() === undefined),
  }),
  createGauge({
    name: "offledger_build_info",
    help: "Version of the service; always 1",
    labelNames: ["version"],
    read: () => [{ labels: { version }, value: 1 }],
  }),
];

const budgetMetrics = ({ budgets }: MetricSources): Metric[] => {
  const samples = (field: keyof BudgetStatus) =>
    Object.entries(budgets).map(([budget, status]) => ({ labels: { budget }, value: status[field] }));
  const labelNames = ["budget"];
  return [
    createGauge({
      name: "offledger_budget_used",
      help: "What requests under way use: bytes of bodies, bytes of responses not taken yet, and their number",
      labelNames,
      read: () => samples("used"),
    }),
    createGauge({
      name: "offledger_budget_limit",
      help: "The most that requests under way may use",
      labelNames,
      read: () => samples("limit"),
    }),
    createCounter({
      name: "offledger_budget_refused_total",
      help: "Refusals because a budget was used up",
      labelNames,
      read: () => samples("refused"),
    }),
  ];
};

const watchMetrics = ({ watch }: MetricSources): Metric[] =>
  watch === undefined
    ? []
    : [
        createGauge({
          name: "offledger_watch_streams",
          help: "Open streams of changes",
          read: () => watch.open(),
        }),
        createGauge({
          name: "offledger_watch_lag_seconds",
          help: "Time from the latest change of the store until all waiting streams had it",
          read: () => toSeconds(watch.lagMs()),
        }),
        createCounter({
          name: "offledger_watch_events_total",
          help: "Events sent on streams of changes by type: reset, changed or heartbeat",
          labelNames: ["type"],
          read: () => Object.entries(watch.sent).map(([type, value]) => ({ labels: { type }, value })),
        }),
      ];

const warningMetrics = ({ warnings }: MetricSources): Metric[] =>
  warnings === undefined
    ? []
    : [
        createGauge({
          name: "offledger_registry_warnings",
          help: "What will fail in the registry, by kind; GET /warnings lists it",
          labelNames: ["kind"],
          read: () =>
            Object.entries(warnings.latest()?.counts ?? {}).map(([kind, value]) => ({ labels: { kind }, value })),
        }),
        createGauge({
          name: "offledger_registry_checked_timestamp_seconds",
          help: "When the check behind offledger_registry_warnings began, in seconds since 1970",
          read: () => toSeconds(warnings.latest()?.checkedAt),
        }),
      ];

const spanMetric = (spans: () => SpanCounts): Metric =>
  createCounter({
    name: "offledger_trace_spans_total",
    help: "Spans for OFFLEDGER_TRACES_URL by result: sent or failed",
    labelNames: ["result"],
    read: () => Object.entries(spans()).map(([result, value]) => ({ labels: { result }, value: Number(value) })),
  });

/** Adds up the packages of a template: package ids change with each upgrade. */
function sumByTemplate(templateCounts: readonly TemplateCount[]): Sample[] {
  const counts = new Map<string, number>();
  for (const { template, count } of templateCounts)
    counts.set(template.qualifiedName, (counts.get(template.qualifiedName) ?? 0) + count);
  return [...counts].map(([template, value]) => ({ labels: { template }, value }));
}

const toSeconds = (milliseconds: number | undefined): number | undefined =>
  milliseconds === undefined ? undefined : milliseconds / 1000;

const toNumber = (value: boolean | undefined): number | undefined => (value === undefined ? undefined : Number(value));
