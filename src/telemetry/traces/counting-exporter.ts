import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";
import type { Logger } from "../../util/logger.js";
import type { SpanCounts } from "../metrics/service-metrics.js";

const LOG_INTERVAL_MS = 60_000;

type ResultCallback = Parameters<SpanExporter["export"]>[1];

/** Counts the spans that another exporter sent or failed to send, and logs failures at intervals. */
export class CountingExporter implements SpanExporter {
  readonly #inner: SpanExporter;
  readonly #log: Logger;
  readonly #clock: () => number;
  readonly #counts = { sent: 0, failed: 0 };
  #exported = 0;
  #loggedAt: number | undefined;

  constructor(inner: SpanExporter, log: Logger, clock: () => number) {
    this.#inner = inner;
    this.#log = log;
    this.#clock = clock;
  }

  get counts(): SpanCounts {
    return this.#counts;
  }

  /** Spans that reached this exporter, with any result. */
  get exported(): number {
    return this.#exported;
  }

  /** Counts a span that was dropped before it reached this exporter. */
  drop(): void {
    this.#counts.failed++;
  }

  export(spans: ReadableSpan[], onResult: ResultCallback): void {
    this.#exported += spans.length;
    this.#inner.export(spans, (result) => {
      // The enum of result codes is in a package that is not a dependency here; each failure has an error.
      if (result.error === undefined) this.#counts.sent += spans.length;
      else this.#fail(spans.length, result.error);
      onResult(result);
    });
  }

  forceFlush(): Promise<void> {
    return this.#inner.forceFlush?.() ?? Promise.resolve();
  }

  shutdown(): Promise<void> {
    return this.#inner.shutdown();
  }

  #fail(spans: number, error: Error): void {
    this.#counts.failed += spans;
    const now = this.#clock();
    if (this.#loggedAt !== undefined && now - this.#loggedAt < LOG_INTERVAL_MS) return;
    this.#loggedAt = now;
    const { failed } = this.#counts;
    this.#log.warn(
      { reason: describe(error), failed, hint: "check OFFLEDGER_TRACES_URL and its receiver" },
      "trace export failed; spans dropped",
    );
  }
}

/** Cut short: the message may contain the response of the receiver. */
function describe(error: Error): string {
  const { message } = error;
  if (message !== "") return message.slice(0, 200);
  return "code" in error ? String(error.code) : error.name;
}
