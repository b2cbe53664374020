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

export function createGauge(definition: CollectedDefinition): Metric {
  return new Gauge({
    ...configurationOf(definition),
    collect() {
      return collect(this, definition, (labels, value) => this.set(labels, value));
    },
  });
}

export function createCounter(definition: CollectedDefinition): Metric {
  return new Counter({
    ...configurationOf(definition),
    collect() {
      return collect(this, definition, (labels, value) => this.inc(labels, value));
    },
  });
}

const configurationOf = ({ name, help, labelNames = [] }: CollectedDefinition) => ({
  name,
  help,
  labelNames: [...labelNames],
  registers: [],
});

/** Replaces the samples of a metric by those that are read now. */
async function collect(
  metric: Gauge | Counter,
  { labelNames = [], read }: CollectedDefinition,
  add: (labels: Sample["labels"], value: number) => void,
): Promise<void> {
  const samples = await readSamples(read);
  metric.reset();
  // reset() leaves 0 in a metric without labels.
  if (labelNames.length === 0) metric.remove();
  for (const { labels, value } of samples) add(labels, value);
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

async function readSamples(read: CollectedDefinition["read"]): Promise<readonly Sample[]> {
  try {
    const result = await read();
    if (result === undefined) return [];
    return typeof result === "number" ? [{ labels: {}, value: result }] : result;
  } catch {
    // For instance a store before its first snapshot.
    return [];
  }
}
