/** The metrics of requests, and of the transfer factories that they are given. */
import { Code } from "@connectrpc/connect";
import { Counter, Histogram, Registry } from "prom-client";
import { TRANSFER_KINDS, type TransferKind } from "../domain/choice-context.js";
import type { OperationCount } from "../service/console-data.js";
import { type Outcome, type Protocol, refusalCode, type RequestObserver, statusName } from "./request-record.js";

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
    const labels = this.#count(operation, protocol, outcome);
    if (labels.group !== "streams") this.#durations.observe(labels, durationMs / 1000);
    if (isNotModified) this.#notModified.inc({ operation: labels.operation, protocol });
    if (refusal === undefined) return;
    const code = refusalCode(refusal);
    this.#refusals.inc({ operation, code: this.#hasOwnSeries([operation, code]) ? code : OTHER });
  };

  /** Counts a request that was refused before its operation was known. */
  readonly countRefused = (protocol: Protocol): void => void this.#count("", protocol, Code.Unavailable);

  /** Returns the labels of the request, but its status. */
  #count(operation: string, protocol: Protocol, outcome: Outcome) {
    const labels = { group: groupOf(operation), operation: operation === "" ? NONE : operation, protocol };
    const key = `${protocol} ${operation}`;
    if (!this.#known.has(key)) {
      this.#known.add(key);
      for (const status of ALWAYS_EXPORTED) this.#requests.inc({ ...labels, status }, 0);
      this.#notModified.inc({ operation: labels.operation, protocol }, 0);
    }
    this.#requests.inc({ ...labels, status: statusName(outcome) });
    return labels;
  }

  /** The requests of each operation over all protocols, by its name, and its refusals by code. */
  async byOperation(): Promise<OperationCount[]> {
    const [requests, refusals] = await Promise.all([this.#requests.get(), this.#refusals.get()]);
    const totals = new Map<string, number>();
    for (const { labels, value } of requests.values) {
      const operation = labels.operation === NONE ? "" : String(labels.operation);
      totals.set(operation, (totals.get(operation) ?? 0) + value);
    }
    return [...totals]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([operation, total]) => ({
        operation,
        requests: BigInt(total),
        refusals: Object.fromEntries(
          refusals.values
            .filter(({ labels }) => labels.operation === operation)
            .map(({ labels, value }) => [String(labels.code).toWellFormed(), BigInt(value)]),
        ),
      }));
  }
}

/** The series of "other" are three of the 1,000 for each process. */
const MAX_TRANSFER_SERIES = 1_000 - TRANSFER_KINDS.length;
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
  count(registrar: string, instrumentId: string | undefined, kind: TransferKind): void {
    // A registry module may be plain JavaScript.
    if (!TRANSFER_KINDS.includes(kind)) return;
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
