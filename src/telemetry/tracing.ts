/** Spans of requests, sent by OTLP. Import this only if traces are sent: the OpenTelemetry libraries slow the start. */
import { randomUUID } from "node:crypto";
import {
  type Attributes,
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
  type ReadableSpan,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { withTimeout } from "../util/async.js";
import type { Logger } from "../util/logger.js";
import {
  type CompletedRequest,
  isFailure,
  type ParentSpan,
  type Protocol,
  refusalCode,
  statusName,
} from "./request-record.js";

/** Spans in the queue, of one to two kilobytes each; more are dropped. */
const MAX_QUEUED = 4_096;
const BATCH_SIZE = 512;
const BATCH_MS = 1_000;
/** Longer than the exporter tries by default, so that its error is the one that is logged. */
const EXPORT_MS = 11_000;
/** At shutdown the whole queue is sent at once. */
const MAX_CONCURRENT_BATCHES = MAX_QUEUED / BATCH_SIZE;

/** Since startup. */
export interface SpanCounts {
  readonly sent: number;
  readonly failed: number;
}

interface TracingOptions {
  /** Share of the traces started here that are sent. */
  readonly ratio: number;
  readonly version: string;
  readonly log: Logger;
}

export class Tracing {
  readonly #exporter: CountingExporter;
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;
  #queued = 0;

  /** The exporter reads OTEL_EXPORTER_OTLP_… itself: where spans go, headers, compression, time. */
  constructor({ ratio, version, log }: TracingOptions) {
    const otlpExporter = new OTLPTraceExporter({ concurrencyLimit: MAX_CONCURRENT_BATCHES });
    this.#exporter = new CountingExporter(otlpExporter, log, () => performance.now());
    const processor = new BatchSpanProcessor({
      exporter: this.#exporter,
      maxQueueSize: MAX_QUEUED,
      maxExportBatchSize: BATCH_SIZE,
      scheduledDelayMillis: BATCH_MS,
      exportTimeoutMillis: EXPORT_MS,
    });
    this.#provider = new TracerProvider({
      resource: resourceFromAttributes({
        "service.name": "offledger",
        "service.version": version,
        "service.instance.id": randomUUID(),
      }),
      sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
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
    // The exporter has logged any failure.
    const sent = this.#provider.shutdown().catch(() => undefined);
    await withTimeout(sent, timeoutMs, () => undefined);
  }
}

function contextFrom(parent: ParentSpan | undefined): Context {
  if (parent === undefined) return ROOT_CONTEXT;
  const { traceId, spanId } = parent;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true });
}

/** Protocols as `rpc.system.name`; REST is no rpc system. */
const rpcSystems: Readonly<Record<Protocol, string | undefined>> = {
  rest: undefined,
  connect: "connectrpc",
  grpc: "grpc",
  "grpc-web": "grpc",
};

/** HTTP methods of the conventions. Over HTTP/2 a caller may send any word. */
const knownMethods = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY"]);

const spanName = (completed: CompletedRequest): string =>
  completed.operation === "" ? methodOf(completed) : completed.operation;

/** By OpenTelemetry's semantic conventions, without anything that was sent. */
function spanAttributes(completed: CompletedRequest): Attributes {
  const { operation, protocol, outcome, request, requestId, refusal } = completed;
  const rpcSystem = rpcSystems[protocol];
  const status = statusName(outcome);
  return {
    "http.request.method": methodOf(completed),
    "network.protocol.version": request.raw.httpVersionMajor === 2 ? "2" : request.raw.httpVersion,
    "offledger.protocol": protocol,
    "offledger.request_id": requestId,
    "offledger.status": status,
    ...(refusal !== undefined && { "offledger.code": refusalCode(refusal) }),
    ...(request.routeOptions.url !== undefined && { "http.route": request.routeOptions.url }),
    ...(operation !== "" && { "rpc.method": operation }),
    ...(rpcSystem !== undefined && {
      "rpc.system.name": rpcSystem,
      "rpc.response.status_code": rpcSystem === "grpc" ? status.toUpperCase() : status,
    }),
    ...(outcome !== 0 && { "error.type": status }),
  };
}

const methodOf = ({ request }: CompletedRequest): string =>
  knownMethods.has(request.method) ? request.method : "_OTHER";

const LOG_INTERVAL_MS = 60_000;

type ResultCallback = Parameters<SpanExporter["export"]>[1];

/** Counts the spans that another exporter sent or failed to send, and logs failures at intervals. */
export class CountingExporter implements SpanExporter {
  readonly #counts = { sent: 0, failed: 0 };
  #exported = 0;
  #loggedAt: number | undefined;

  constructor(
    private readonly inner: SpanExporter,
    private readonly log: Logger,
    private readonly clock: () => number,
  ) {}

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
    this.inner.export(spans, (result) => {
      // The enum of result codes is in a package that is not a dependency here; each failure has an error.
      if (result.error === undefined) this.#counts.sent += spans.length;
      else this.#fail(spans.length, result.error);
      onResult(result);
    });
  }

  forceFlush(): Promise<void> {
    return this.inner.forceFlush?.() ?? Promise.resolve();
  }

  shutdown(): Promise<void> {
    return this.inner.shutdown();
  }

  #fail(spans: number, error: Error): void {
    this.#counts.failed += spans;
    const now = this.clock();
    if (this.#loggedAt !== undefined && now - this.#loggedAt < LOG_INTERVAL_MS) return;
    this.#loggedAt = now;
    const { failed } = this.#counts;
    this.log.warn(
      { reason: describe(error), failed, hint: "check OTEL_EXPORTER_OTLP_ENDPOINT and its receiver" },
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
