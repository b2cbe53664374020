/** Spans of requests, sent by OTLP. Import this only if traces are sent: the OpenTelemetry libraries slow the start. */
import { randomUUID } from "node:crypto";
import {
  type Context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Logger } from "../../util/logger.js";
import type { SpanCounts } from "../metrics/service-metrics.js";
import { isFailure, statusName } from "../outcomes.js";
import type { ParentSpan } from "../request-ids.js";
import type { CompletedRequest } from "../request-record.js";
import { spanAttributes, spanName } from "./attributes.js";
import { CountingExporter } from "./counting-exporter.js";

/** Spans in the queue, of one to two kilobytes each; more are dropped. */
const MAX_QUEUED = 4_096;
const BATCH_SIZE = 512;
const BATCH_MS = 1_000;
/** Including retries. */
const EXPORT_MS = 10_000;
/** At shutdown the whole queue is sent at once. */
const MAX_CONCURRENT_BATCHES = MAX_QUEUED / BATCH_SIZE;

export interface TracingOptions {
  readonly url: URL;
  /** Share of the traces started here that are sent. */
  readonly percent: number;
  readonly version: string;
  readonly log: Logger;
}

export class Tracing {
  readonly #exporter: CountingExporter;
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;
  #queued = 0;

  constructor({ url, percent, version, log }: TracingOptions) {
    const otlpExporter = new OTLPTraceExporter({
      url: url.href,
      timeoutMillis: EXPORT_MS,
      concurrencyLimit: MAX_CONCURRENT_BATCHES,
    });
    this.#exporter = new CountingExporter(otlpExporter, log, () => performance.now());
    const processor = new BatchSpanProcessor({
      exporter: this.#exporter,
      maxQueueSize: MAX_QUEUED,
      maxExportBatchSize: BATCH_SIZE,
      scheduledDelayMillis: BATCH_MS,
      exportTimeoutMillis: EXPORT_MS + 1_000,
    });
    this.#provider = new TracerProvider({
      resource: resourceFromAttributes({
        "service.name": "offledger",
        "service.version": version,
        "service.instance.id": randomUUID(),
      }),
      sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(percent / 100) }),
      spanProcessors: [processor],
    });
    this.#tracer = this.#provider.getTracer("offledger", version);
  }

  get counts(): SpanCounts {
    return this.#exporter.counts;
  }

  /** Records the span of a request. Returns its trace id; undefined if the trace is not sampled. */
  record(completed: CompletedRequest, parent: ParentSpan | undefined): string | undefined {
    if (parent?.isSampled === false) return undefined;
    const { outcome, startedAt, durationMs } = completed;
    // startedAt is monotonic; a span needs wall-clock time.
    const startTime = Date.now() - (performance.now() - startedAt);
    const options = { kind: SpanKind.SERVER, startTime, attributes: spanAttributes(completed) };
    const span = this.#tracer.startSpan(spanName(completed), options, contextFrom(parent));
    if (!span.isRecording()) return undefined;
    // The processor would drop it without counting.
    if (this.#queued - this.#exporter.exported >= MAX_QUEUED) {
      this.#exporter.drop();
      return undefined;
    }
    this.#queued++;
    if (isFailure(outcome)) span.setStatus({ code: SpanStatusCode.ERROR, message: statusName(outcome) });
    span.end(startTime + durationMs);
    return span.spanContext().traceId;
  }

  /** Sends the queue, for at most `timeoutMs`. */
  async close(timeoutMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    // The exporter has logged any failure.
    await Promise.race([this.#provider.shutdown().catch(() => undefined), timeout]);
    clearTimeout(timer);
  }
}

function contextFrom(parent: ParentSpan | undefined): Context {
  if (parent === undefined) return ROOT_CONTEXT;
  const { traceId, spanId } = parent;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true });
}
