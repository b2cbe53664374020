import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";
import type { Logger } from "../../util/logger.js";
import type { SpanCounts } from "../metrics/service-metrics.js";

/** How often it is told at most that spans cannot be sent, in milliseconds. */
const TELL_MS = 60_000;

type Done = Parameters<SpanExporter["export"]>[1];

/** Counts what is sent and what is not, and tells the operator of the latter, now and then. */
export class CountingExporter implements SpanExporter {
  readonly #inner: SpanExporter;
  readonly #log: Logger;
  readonly #clock: () => number;
  readonly #counts = { sent: 0, failed: 0 };
  #handed = 0;
  #told: number | undefined;

  constructor(inner: SpanExporter, log: Logger, clock: () => number) {
    this.#inner = inner;
    this.#log = log;
    this.#clock = clock;
  }

  get counts(): SpanCounts {
    return this.#counts;
  }

  /** Spans that have been handed to it, whatever became of them. */
  get handed(): number {
    return this.#handed;
  }

  /** A span is let go that never came here. The reason is told where sending fails. */
  drop(): void {
    this.#counts.failed++;
  }

  export(spans: ReadableSpan[], done: Done): void {
    this.#handed += spans.length;
    this.#inner.export(spans, (result) => {
      // Its enum is of a package that is not ours; whoever fails says why.
      if (result.error === undefined) this.#counts.sent += spans.length;
      else this.#fail(spans.length, result.error);
      done(result);
    });
  }

  forceFlush(): Promise<void> {
    return this.#inner.forceFlush?.() ?? Promise.resolve();
  }

  shutdown(): Promise<void> {
    return this.#inner.shutdown();
  }

  #fail(spans: number, error: Error | undefined): void {
    this.#counts.failed += spans;
    const now = this.#clock();
    if (this.#told !== undefined && now - this.#told < TELL_MS) return;
    this.#told = now;
    const { failed } = this.#counts;
    this.#log.warn(
      { reason: reasonOf(error), failed, todo: "check OFFLEDGER_TRACES_URL and the receiver there" },
      "traces cannot be sent, and are let go; requests are answered all the same",
    );
  }
}

/** Without what the receiver may have sent back. */
function reasonOf(error: Error | undefined): string {
  if (error === undefined) return "the receiver does not take them";
  const { message } = error;
  if (message !== "") return message.slice(0, 200);
  return "code" in error ? String(error.code) : error.name;
}
