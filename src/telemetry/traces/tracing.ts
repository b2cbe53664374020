/** Spans of requests, sent by OTLP. To be loaded only where traces are sent: its libraries take their time to load. */
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
import type { Parent } from "../request-ids.js";
import type { CompletedRequest } from "../request-record.js";
import { isFailure, statusName } from "../outcomes.js";
import type { SpanCounts } from "../metrics/service-metrics.js";
import { attributesOf, nameOf } from "./attributes.js";
import { CountingExporter } from "./counting-exporter.js";

/** Spans that wait to be sent at most; what comes beyond is let go. A span takes one to two kilobytes. */
const MOST_WAITING = 4_096;
/** Spans that are sent at once, and how long to wait for so many, in milliseconds. */
const BATCH = 512;
const BATCH_MS = 1_000;
/** How long the receiver has to take a batch, with all attempts, in milliseconds. */
const SEND_MS = 10_000;
/** Batches under way at most; at the end all that waits is sent at once. */
const MOST_UNDER_WAY = MOST_WAITING / BATCH;

export interface TracingOptions {
  readonly url: URL;
  /** Share of the traces begun here that are sent. */
  readonly percent: number;
  readonly version: string;
  readonly log: Logger;
}

export class Tracing {
  readonly #exporter: CountingExporter;
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;
  /** Spans that were made to be sent. */
  #made = 0;

  constructor({ url, percent, version, log }: TracingOptions) {
    const toReceiver = new OTLPTraceExporter({
      url: url.href,
      timeoutMillis: SEND_MS,
      concurrencyLimit: MOST_UNDER_WAY,
    });
    this.#exporter = new CountingExporter(toReceiver, log, () => performance.now());
    const processor = new BatchSpanProcessor({
      exporter: this.#exporter,
      maxQueueSize: MOST_WAITING,
      maxExportBatchSize: BATCH,
      scheduledDelayMillis: BATCH_MS,
      exportTimeoutMillis: SEND_MS + 1_000,
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

  /** Makes the span of a request. Gives the id of its trace; undefined where the trace is not kept. */
  record(completed: CompletedRequest, parent: Parent | undefined, requestId: string): string | undefined {
    if (parent?.isSampled === false) return undefined;
    const { outcome, startedAt, milliseconds } = completed;
    // Of the two clocks this is the one that is set right.
    const startTime = Date.now() - (performance.now() - startedAt);
    const options = { kind: SpanKind.SERVER, startTime, attributes: attributesOf(completed, requestId) };
    const span = this.#tracer.startSpan(nameOf(completed), options, contextOf(parent));
    if (!span.isRecording()) return undefined;
    // The processor would let it go in silence.
    if (this.#made - this.#exporter.handed >= MOST_WAITING) {
      this.#exporter.drop();
      return undefined;
    }
    this.#made++;
    if (isFailure(outcome)) span.setStatus({ code: SpanStatusCode.ERROR, message: statusName(outcome) });
    span.end(startTime + milliseconds);
    return span.spanContext().traceId;
  }

  /** Sends what waits, for as long as that may take. */
  async close(withinMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, withinMs);
    });
    // What could not be sent has been told.
    await Promise.race([this.#provider.shutdown().catch(() => undefined), late]);
    clearTimeout(timer);
  }
}

function contextOf(parent: Parent | undefined): Context {
  if (parent === undefined) return ROOT_CONTEXT;
  const { traceId, spanId } = parent;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true });
}
