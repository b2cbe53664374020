/**
 * The metrics that Prometheus scrapes: of the service, of the process and of Node.js. docs/observability.md describes each.
 * Import this only if they are served: prom-client slows the start.
 */
import { Code } from "@connectrpc/connect";
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { SourceStatus } from "../ingest/source.js";
import type { RequestCounts } from "../service/console-data.js";
import type { TemplateCount } from "../state/port.js";
import { refusalCode } from "./refusals.js";
import { type Outcome, type Protocol, type RequestObserver, statusName } from "./request-record.js";
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
  /** Streams that are open. */
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
export interface WarningSource {
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

/** Whether a series may be exported: at most `max`, which bounds memory here and in Prometheus. */
function bounded(max: number): (series: readonly unknown[]) => boolean {
  const known = new Set<string>();
  return (series) => {
    const key = JSON.stringify(series);
    if (known.has(key)) return true;
    if (known.size >= max) return false;
    known.add(key);
    return true;
  };
}

const OTHER = "other";
/** What requests without an operation have in its place. */
const NONE = "none";

/** What an operator judges apart: each group of operations has objectives of its own, probes and streams have none. */
type Group = "factories" | "contexts" | "metadata" | "probes" | "streams" | typeof NONE;

function groupOf(operation: string): Group {
  if (operation === "") return NONE;
  if (/\/(?:Watch|ServerReflectionInfo)$/.test(operation)) return "streams";
  if (/\.health\./.test(operation)) return "probes";
  if (/\.metadata\./.test(operation)) return "metadata";
  return operation.endsWith("Factory") ? "factories" : "contexts";
}

/** Upper bounds in seconds. Most responses fall below the first few. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Exported at zero too, so that Prometheus sees the first failure as an increase. */
const ALWAYS_EXPORTED = ["ok", "internal", "unavailable"];

/** A registry module may make up codes. */
const MAX_REFUSAL_SERIES = 2_000;

export class RequestMetrics {
  readonly #requests: Counter<"group" | "operation" | "protocol" | "status">;
  readonly #refusals: Counter<"operation" | "code">;
  readonly #notModified: Counter<"operation" | "protocol">;
  readonly #durations: Histogram<"group" | "operation" | "protocol">;
  readonly #known = new Set<string>();
  readonly #hasOwnSeries = bounded(MAX_REFUSAL_SERIES);

  constructor(registry = new Registry()) {
    const registers = [registry];
    this.#requests = new Counter({
      name: "offledger_requests_total",
      help: "Completed requests by group of operations, operation, protocol and status",
      labelNames: ["group", "operation", "protocol", "status"],
      registers,
    });
    this.#refusals = new Counter({
      name: "offledger_refusals_total",
      help: "Requests that the rules of the registry refused, by operation and code of the first cause",
      labelNames: ["operation", "code"],
      registers,
    });
    this.#notModified = new Counter({
      name: "offledger_not_modified_total",
      help: "Conditional requests whose response the client had, by operation and protocol",
      labelNames: ["operation", "protocol"],
      registers,
    });
    this.#durations = new Histogram({
      name: "offledger_request_duration_seconds",
      help: "Time from the arrival of a request to its response; of streams there is none",
      labelNames: ["group", "operation", "protocol"],
      buckets: BUCKETS,
      registers,
    });
  }

  readonly observer: RequestObserver = ({ operation, protocol, outcome, durationMs, isNotModified, refusal }) => {
    const labels = { operation: operation === "" ? NONE : operation, protocol };
    const group = groupOf(operation);
    const grouped = { group, ...labels };
    this.#count(operation, protocol, outcome);
    if (group !== "streams") this.#durations.observe(grouped, durationMs / 1000);
    if (isNotModified) this.#notModified.inc(labels);
    if (refusal === undefined) return;
    const code = refusalCode(refusal);
    this.#refusals.inc({ operation, code: this.#hasOwnSeries([operation, code]) ? code : OTHER });
  };

  /** Counts a request that was refused before its operation was known. */
  readonly countRefused = (protocol: Protocol): void => this.#count("", protocol, Code.Unavailable);

  #count(operation: string, protocol: Protocol, outcome: Outcome): void {
    const labels = { operation: operation === "" ? NONE : operation, protocol };
    const grouped = { group: groupOf(operation), ...labels };
    const key = `${protocol} ${operation}`;
    if (!this.#known.has(key)) {
      this.#known.add(key);
      for (const status of ALWAYS_EXPORTED) this.#requests.inc({ ...grouped, status }, 0);
      this.#notModified.inc(labels, 0);
    }
    this.#requests.inc({ ...grouped, status: statusName(outcome) });
  }

  /** The requests of each operation over all protocols, and its refusals by code. */
  async byOperation(): Promise<RequestCounts["operations"]> {
    const [requests, refusals] = await Promise.all([this.#requests.get(), this.#refusals.get()]);
    const totals = new Map<string, number>();
    for (const { labels, value } of requests.values) {
      const { operation = "" } = labels;
      totals.set(String(operation), (totals.get(String(operation)) ?? 0) + value);
    }
    return [...totals].map(([operation, total]) => ({
      operation: operation === NONE ? "" : operation,
      requests: total,
      refusals: new Map(
        refusals.values
          .filter(({ labels }) => labels.operation === operation)
          .map(({ labels, value }) => [String(labels.code), value]),
      ),
    }));
  }
}

const KINDS = ["self", "direct", "offer"] as const;
type Kind = (typeof KINDS)[number];

/** The series of "other" are three of the 1,000 for each process. */
const MAX_TRANSFER_SERIES = 1_000 - KINDS.length;
const MAX_LABEL_LENGTH = 300;

export class TransferMetrics {
  readonly #factories: Counter<"registrar" | "instrument" | "transfer_kind">;
  readonly #hasOwnSeries = bounded(MAX_TRANSFER_SERIES);

  constructor(registry = new Registry()) {
    this.#factories = new Counter({
      name: "offledger_transfer_factories_total",
      help: "Transfer factories given, by registrar, instrument and kind of the transfer",
      labelNames: ["registrar", "instrument", "transfer_kind"],
      registers: [registry],
    });
  }

  /** Counts an answer that was given. Never throws. */
  count(registrar: string, instrumentId: string | undefined, kind: Kind): void {
    // A registry module may be plain JavaScript.
    if (!KINDS.includes(kind)) return;
    const series = [labelOf(registrar), labelOf(instrumentId), kind];
    const [party = "", instrument = ""] = this.#hasOwnSeries(series) ? series : [OTHER, OTHER];
    this.#factories.inc({ registrar: party, instrument, transfer_kind: kind });
  }
}

function labelOf(value: unknown): string {
  // Of a registry that does not say which instrument a transfer is of.
  if (typeof value !== "string") return "unknown";
  return value.length > MAX_LABEL_LENGTH ? OTHER : value;
}

/** One value, or one for each value of the label; undefined if there is none at present. */
type Collected = number | undefined | Readonly<Record<string, number>>;
type Read = () => Collected | Promise<Collected>;

/** Adds the metrics that are read on each scrape. */
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

/** Replaces the values of a metric by those that are read now. */
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
