/**
 * The metrics that Prometheus scrapes: of the service, of the process and of Node.js. docs/observability.md describes each.
 * Import this only if they are served: prom-client slows the start.
 */
import { collectDefaultMetrics, Counter, Gauge, Registry } from "prom-client";
import type { SourceStatus } from "../ingest/source.js";
import type { TemplateCount } from "../state/port.js";
import { RequestMetrics, TransferMetrics } from "./request-metrics.js";
import type { SpanCounts } from "./tracing.js";

/** Read on each scrape. */
export interface MetricSources {
  readonly version: string;
  /** Undefined if the service is ready. */
  readonly notReadyReason: () => string | undefined;
  readonly status: () => SourceStatus;
  /** Throws if no contracts are in the memory of this process, yet or ever. */
  readonly templateCounts: () => readonly TemplateCount[];
  /** What all requests share. */
  readonly budgets: Readonly<Record<"body_bytes" | "response_bytes" | "requests" | "streams", BudgetStatus>>;
  /** The streams of changes; undefined if this process has none. */
  readonly watch: WatchStatus | undefined;
  /** Undefined if this process does not look for warnings. */
  readonly warnings: WarningSource | undefined;
}

interface WatchStatus {
  readonly open: () => number;
  /** From the latest change until all streams had it, in milliseconds. */
  readonly lagMs: () => number;
  /** Events since startup by type. */
  readonly sent: Readonly<Record<"reset" | "changed" | "heartbeat", number>>;
}

interface BudgetStatus {
  readonly used: number;
  readonly limit: number;
  /** How often something was refused because the budget was used up. */
  readonly refused: number;
}

/** What will fail in the registry, from the latest check in the background. */
interface WarningSource {
  /** Undefined before the first check is finished. */
  latest(): { readonly checkedAt: number; readonly counts: Readonly<Record<string, number>> } | undefined;
  /** The list as an object for JSON. Waits a moment for a check that is running; undefined if there is none before. */
  list(): Promise<object | undefined>;
}

/** What the operator's port shows to Prometheus and to people. */
export interface Exposition {
  readonly contentType: string;
  metrics(): Promise<string>;
  /** Undefined if `/warnings` is not served. */
  readonly warnings: WarningSource | undefined;
}

export interface Metrics extends Exposition {
  readonly requests: RequestMetrics;
  readonly transfers: TransferMetrics;
}

/** Shared by all instances: prom-client cannot stop its observers of the event loop and garbage collection. */
let ofProcess: Registry | undefined;

/** `spans` is undefined if no traces are sent. */
export function createMetrics(sources: MetricSources, spans: (() => SpanCounts) | undefined): Metrics {
  if (ofProcess === undefined) collectDefaultMetrics({ register: (ofProcess = new Registry()) });
  const ofService = new Registry();
  const requests = new RequestMetrics(ofService);
  const transfers = new TransferMetrics(ofService);
  addCollected(ofService, sources, spans);
  const registry = Registry.merge([ofService, ofProcess]);
  return {
    requests,
    transfers,
    contentType: registry.contentType,
    warnings: sources.warnings,
    metrics: () => registry.metrics(),
  };
}

/** One value, or one for each value of the label; undefined if there is none at present. */
type Collected = number | undefined | Readonly<Record<string, number>>;
type Read = () => Collected | Promise<Collected>;

function addCollected(registry: Registry, sources: MetricSources, spans: (() => SpanCounts) | undefined): void {
  const { version, notReadyReason, status, templateCounts, budgets, watch, warnings } = sources;
  const collecting = (read: Read, label: string | undefined) => ({
    labelNames: label === undefined ? [] : [label],
    registers: [registry],
    collect(this: Gauge | Counter) {
      return collect(this, read, label);
    },
  });
  const gauge = (name: string, help: string, read: Read, label?: string) =>
    new Gauge({ name, help, ...collecting(read, label) });
  const counter = (name: string, help: string, read: Read, label?: string) =>
    new Counter({ name, help, ...collecting(read, label) });

  gauge("offledger_ledger_offset", "Ledger offset of the last applied update", () => status().offset);
  gauge("offledger_ledger_lag_seconds", "Time since the contracts were last known to match the ledger", () =>
    toSeconds(status().age),
  );
  counter(
    "offledger_ledger_reconnects_total",
    "Times the update stream was lost or could not be opened",
    () => status().reconnects,
  );
  gauge(
    "offledger_foreign_contracts",
    "Contracts left out since the last snapshot because no registrar of ours has signed them",
    () => status().foreign,
  );
  gauge(
    "offledger_mirroring",
    "Whether this process writes to the store: 1 if it does, 0 if it is on standby or cannot",
    () => toNumber(status().isLeader),
  );
  gauge(
    "offledger_store_contracts",
    "Contracts in the memory of this process by template",
    () => countByTemplate(templateCounts()),
    "template",
  );
  gauge(
    "offledger_database_connections",
    "Connections in the database pool by state",
    () => connectionsByState(status()),
    "state",
  );
  gauge(
    "offledger_heap_share",
    "Share of the usable heap that the contracts of a database take with all else; above 1 they do not fit",
    () => status().heapShare,
  );
  gauge("offledger_database_waiting", "Queries waiting for a database connection", () => status().pool?.waiting);
  gauge("offledger_ready", "Whether /readyz reports ready: 1 or 0", () => Number(notReadyReason() === undefined));
  gauge("offledger_build_info", "Version of the service; always 1", () => ({ [version]: 1 }), "version");

  const ofBudgets = (field: keyof BudgetStatus) => () =>
    Object.fromEntries(Object.entries(budgets).map(([budget, current]) => [budget, current[field]]));
  gauge(
    "offledger_budget_used",
    "What requests under way use: bytes of bodies, bytes of responses not taken yet, and their number",
    ofBudgets("used"),
    "budget",
  );
  gauge("offledger_budget_limit", "The most that requests under way may use", ofBudgets("limit"), "budget");
  counter("offledger_budget_refused_total", "Refusals because a budget was used up", ofBudgets("refused"), "budget");

  if (warnings !== undefined) {
    gauge(
      "offledger_registry_warnings",
      "What will fail in the registry, by kind; GET /warnings lists it",
      () => warnings.latest()?.counts,
      "kind",
    );
    gauge(
      "offledger_registry_checked_timestamp_seconds",
      "When the check behind offledger_registry_warnings began, in seconds since 1970",
      () => toSeconds(warnings.latest()?.checkedAt),
    );
  }
  if (watch !== undefined) {
    gauge("offledger_watch_streams", "Open streams of changes", () => watch.open());
    gauge(
      "offledger_watch_lag_seconds",
      "Time from the latest change of the store until all waiting streams had it",
      () => toSeconds(watch.lagMs()),
    );
    counter(
      "offledger_watch_events_total",
      "Events sent on streams of changes by type: reset, changed or heartbeat",
      () => watch.sent,
      "type",
    );
  }
  if (spans !== undefined)
    counter(
      "offledger_trace_spans_total",
      "Spans for the receiver of traces by result: sent or failed",
      () => ({ ...spans() }),
      "result",
    );
}

async function collect(metric: Gauge | Counter, read: Read, label: string | undefined): Promise<void> {
  let values: Collected;
  try {
    values = await read();
  } catch {
    // For instance a store before its first snapshot.
  }
  metric.reset();
  if (typeof values === "number") metric.inc(values);
  // reset() leaves 0 in a metric without labels.
  else if (label === undefined) metric.remove();
  else for (const [value, count] of Object.entries(values ?? {})) metric.inc({ [label]: value }, count);
}

/** Adds up the packages of a template: package ids change with each upgrade. */
function countByTemplate(templateCounts: readonly TemplateCount[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { template, count } of templateCounts)
    counts[template.qualifiedName] = (counts[template.qualifiedName] ?? 0) + count;
  return counts;
}

const connectionsByState = ({ pool }: SourceStatus): Collected => pool && { in_use: pool.inUse, idle: pool.idle };

const toSeconds = (milliseconds: number | undefined): number | undefined =>
  milliseconds === undefined ? undefined : milliseconds / 1000;

const toNumber = (value: boolean | undefined): number | undefined => (value === undefined ? undefined : Number(value));
