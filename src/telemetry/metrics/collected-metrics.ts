/** Metrics whose values are read when Prometheus scrapes them. */
import { Counter, Gauge, type Metric } from "prom-client";

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A sample of a histogram: a bucket, the sum or the count. */
export interface HistogramSample extends Sample {
  readonly metricName: string;
}

interface Definition {
  readonly name: string;
  readonly help: string;
}

interface CollectedDefinition extends Definition {
  readonly labelNames?: readonly string[];
  /** A number is the value of a metric without labels. Undefined, or an error, means no sample at present. */
  readonly read: () => number | undefined | readonly Sample[] | Promise<readonly Sample[]>;
}

export function createGauge({ name, help, labelNames = [], read }: CollectedDefinition): Metric {
  return new Gauge({
    name,
    help,
    labelNames: [...labelNames],
    registers: [],
    async collect() {
      const samples = await collectSamples(read);
      clear(this, labelNames);
      for (const { labels, value } of samples) this.set(labels, value);
    },
  });
}

export function createCounter({ name, help, labelNames = [], read }: CollectedDefinition): Metric {
  return new Counter({
    name,
    help,
    labelNames: [...labelNames],
    registers: [],
    async collect() {
      const samples = await collectSamples(read);
      clear(this, labelNames);
      for (const { labels, value } of samples) this.inc(labels, value);
    },
  });
}

/** A histogram whose buckets are counted elsewhere. That of prom-client takes only single observations. */
export function createHistogram({ name, help, read }: Definition & { readonly read: () => HistogramSample[] }): Metric {
  const histogram = {
    name,
    get: () => Promise.resolve({ name, help, type: "histogram", aggregator: "sum", values: read() }),
    reset() {},
  };
  // A registry calls only these members.
  return histogram as unknown as Metric;
}

async function collectSamples(read: CollectedDefinition["read"]): Promise<readonly Sample[]> {
  try {
    const result = await read();
    if (result === undefined) return [];
    return typeof result === "number" ? [{ labels: {}, value: result }] : result;
  } catch {
    // For instance a store before its first snapshot.
    return [];
  }
}

function clear(metric: Gauge | Counter, labelNames: readonly string[]): void {
  metric.reset();
  // reset() leaves 0 in a metric without labels.
  if (labelNames.length === 0) metric.remove();
}
