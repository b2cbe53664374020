/** Counts requests, where every nanosecond counts: numbers in place, and what Prometheus reads is made when it asks. */
import type { Protocol, RequestObserver } from "../request-record.js";
import { outcomeNumber, statusNames } from "../outcomes.js";
import type { Sample } from "./read-metric.js";

/** Upper bounds of the histogram, in seconds; those of most answers are below the first few. */
const BOUNDS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;
const bucketNames: readonly string[] = [...BOUNDS_S.map(String), "+Inf"];
const boundsMs: readonly number[] = BOUNDS_S.map((bound) => bound * 1000);

/** More operations than there will ever be. Beyond it a defect would fill the memory, here and of Prometheus. */
const MOST_OPERATIONS = 500;

/** Told from the start of a series, so that a first failure is seen as a growth. */
const alwaysTold: ReadonlySet<string> = new Set(["ok", "internal", "unavailable"]);

/** The requests to one operation by one protocol. */
class Tally {
  readonly statuses = new Float64Array(statusNames.length);
  /** Requests in each bucket alone; the last is for what took longer than all bounds. */
  readonly buckets = new Float64Array(boundsMs.length + 1);
  milliseconds = 0;
}

type Tallies = Readonly<Record<Protocol, Tally>>;

export class RequestMetrics {
  readonly #byOperation = new Map<string, Tallies>();

  /** Counts one request. */
  readonly observer: RequestObserver = ({ operation, protocol, outcome, milliseconds }) => {
    const tally = (this.#byOperation.get(operation) ?? this.#begin(operation))[protocol];
    const status = outcomeNumber(outcome);
    tally.statuses[status] = (tally.statuses[status] ?? 0) + 1;
    let bucket = 0;
    while (bucket < boundsMs.length && milliseconds > (boundsMs[bucket] ?? 0)) bucket++;
    tally.buckets[bucket] = (tally.buckets[bucket] ?? 0) + 1;
    tally.milliseconds += milliseconds;
  };

  counts(): Sample[] {
    return this.#told().flatMap(({ labels, tally }) =>
      statusNames.flatMap((status, at) => {
        const value = tally.statuses[at] ?? 0;
        return value === 0 && !alwaysTold.has(status) ? [] : [{ labels: { ...labels, status }, value }];
      }),
    );
  }

  /** The samples of a histogram of that name. */
  durations(name: string): Sample[] {
    return this.#told().flatMap(({ labels, tally }) => {
      let count = 0;
      const told: Sample[] = bucketNames.map((le, at) => {
        count += tally.buckets[at] ?? 0;
        return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
      });
      told.push({ metricName: `${name}_sum`, labels, value: tally.milliseconds / 1000 });
      told.push({ metricName: `${name}_count`, labels, value: count });
      return told;
    });
  }

  #begin(operation: string): Tallies {
    const key = this.#byOperation.size < MOST_OPERATIONS ? operation : "other";
    const known = this.#byOperation.get(key);
    if (known !== undefined) return known;
    const begun = { rest: new Tally(), connect: new Tally(), grpc: new Tally(), "grpc-web": new Tally() };
    this.#byOperation.set(key, begun);
    return begun;
  }

  /** Those that have counted anything. */
  #told(): { readonly labels: Readonly<Record<string, string>>; readonly tally: Tally }[] {
    return [...this.#byOperation].flatMap(([name, tallies]) =>
      Object.entries(tallies)
        .filter(([, tally]) => tally.buckets.some((count) => count > 0))
        .map(([protocol, tally]) => ({ labels: { operation: name === "" ? "none" : name, protocol }, tally })),
    );
  }
}
