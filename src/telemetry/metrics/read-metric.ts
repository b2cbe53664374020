/** Metrics whose values are looked up when they are asked for. */
import type { Metric, MetricType, Registry } from "prom-client";

export interface Sample {
  /** Where it is not the metric's own, as for the parts of a histogram. */
  readonly metricName?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface ReadMetric {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  /** A number is the one sample of a metric without labels; undefined where there is none now. */
  readonly read: () => number | undefined | readonly Sample[] | Promise<readonly Sample[]>;
}

/** Adds a metric to a registry. One whose reading throws has no samples. */
export function addReading(registry: Registry, { name, help, type, read }: ReadMetric): void {
  const metric = {
    name,
    async get() {
      return { name, help, type: type as unknown as MetricType, aggregator: "sum", values: await samples(read) };
    },
    reset() {},
  };
  // A registry asks no more of a metric than this.
  registry.registerMetric(metric as unknown as Metric);
}

async function samples(read: ReadMetric["read"]): Promise<readonly Sample[]> {
  try {
    const found = await read();
    if (found === undefined) return [];
    return typeof found === "number" ? [{ value: found }] : found;
  } catch {
    // Such as a store before its first snapshot.
    return [];
  }
}
