/** Counts requests in plain numbers: a label lookup per request would cost more. Samples are created on scrape. */
import type { Protocol, RequestObserver } from "../request-record.js";
import { outcomeNumber, statusNames } from "../outcomes.js";
import type { HistogramSample, Sample } from "./collected-metrics.js";
import { RefusalCounts } from "./refusal-counts.js";

/** Upper bounds of the histogram. Most responses fall below the first few. */
const BOUNDS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;
const bucketNames: readonly string[] = [...BOUNDS_S.map(String), "+Inf"];
const boundsMs: readonly number[] = BOUNDS_S.map((bound) => bound * 1000);

/** Bounds memory, also that of Prometheus, if a defect creates operation names. */
const MAX_OPERATIONS = 500;

/** Exported at zero too, so that Prometheus sees the first failure as an increase. */
const alwaysExported: ReadonlySet<string> = new Set(["ok", "internal", "unavailable"]);

/** Of one operation and protocol. */
class Counts {
  readonly statuses = new Float64Array(statusNames.length);
  /** Not cumulative. The last bucket has no bound. */
  readonly buckets = new Float64Array(boundsMs.length + 1);
  durationMs = 0;
  notModified = 0;
}

type CountsByProtocol = Readonly<Record<Protocol, Counts>>;

export interface RequestCount {
  readonly operation: string;
  readonly requests: number;
  /** By code. */
  readonly refusals: ReadonlyMap<string, number>;
}

const total = (counts: Float64Array): number => counts.reduce((sum, count) => sum + count, 0);

export class RequestMetrics {
  readonly #byOperation = new Map<string, CountsByProtocol>();
  readonly #refusals = new RefusalCounts();

  readonly observer: RequestObserver = ({ operation, protocol, outcome, durationMs, isNotModified, refusal }) => {
    // Only operations are refused by rules, and their number is bounded.
    if (refusal !== undefined) this.#refusals.add(operation, refusal);
    const counts = (this.#byOperation.get(operation) ?? this.#addOperation(operation))[protocol];
    const status = outcomeNumber(outcome);
    counts.statuses[status] = (counts.statuses[status] ?? 0) + 1;
    let bucket = 0;
    while (bucket < boundsMs.length && durationMs > (boundsMs[bucket] ?? 0)) bucket++;
    counts.buckets[bucket] = (counts.buckets[bucket] ?? 0) + 1;
    counts.durationMs += durationMs;
    if (isNotModified) counts.notModified++;
  };

  counts(): Sample[] {
    return this.#series().flatMap(({ labels, counts }) =>
      statusNames.flatMap((status, index) => {
        const value = counts.statuses[index] ?? 0;
        return value === 0 && !alwaysExported.has(status) ? [] : [{ labels: { ...labels, status }, value }];
      }),
    );
  }

  /** The requests of each operation over all protocols, and its refusals by code; the operation is empty if there is none. */
  byOperation(): RequestCount[] {
    return [...this.#byOperation].map(([operation, byProtocol]) => ({
      operation,
      requests: Object.values(byProtocol).reduce((sum, { statuses }) => sum + total(statuses), 0),
      refusals: this.#refusals.of(operation),
    }));
  }

  refusals(): Sample[] {
    return this.#refusals.samples();
  }

  notModified(): Sample[] {
    return this.#series().map(({ labels, counts }) => ({ labels, value: counts.notModified }));
  }

  durations(name: string): HistogramSample[] {
    return this.#series().flatMap(({ labels, counts }) => {
      let count = 0;
      const samples: HistogramSample[] = bucketNames.map((le, index) => {
        count += counts.buckets[index] ?? 0;
        return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
      });
      samples.push({ metricName: `${name}_sum`, labels, value: counts.durationMs / 1000 });
      samples.push({ metricName: `${name}_count`, labels, value: count });
      return samples;
    });
  }

  #addOperation(operation: string): CountsByProtocol {
    const key = this.#byOperation.size < MAX_OPERATIONS ? operation : "other";
    const existing = this.#byOperation.get(key);
    if (existing !== undefined) return existing;
    const added = { rest: new Counts(), connect: new Counts(), grpc: new Counts(), "grpc-web": new Counts() };
    this.#byOperation.set(key, added);
    return added;
  }

  /** The pairs of operation and protocol that had requests. */
  #series(): { readonly labels: Readonly<Record<string, string>>; readonly counts: Counts }[] {
    return [...this.#byOperation].flatMap(([operation, byProtocol]) =>
      Object.entries(byProtocol)
        .filter(([, counts]) => counts.buckets.some((count) => count > 0))
        .map(([protocol, counts]) => ({
          labels: { operation: operation === "" ? "none" : operation, protocol },
          counts,
        })),
    );
  }
}
