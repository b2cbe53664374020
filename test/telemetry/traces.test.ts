/** Traces as an OTLP receiver gets them, and what is counted of a receiver that fails. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { Code } from "@connectrpc/connect";
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import type { CompletedRequest } from "../../src/telemetry/request-record.js";
import { CountingExporter, Tracing } from "../../src/telemetry/tracing.js";
import { callNamed } from "../fixtures/calls/index.js";
import { start as startProgram } from "../fixtures/program.js";
import { until } from "../fixtures/wait.js";
import { nameOf, protocolClients } from "./protocol-clients.js";
import { start } from "./starting.js";

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number };
}
interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code: number; readonly message?: string };
}
interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

afterEach(() => vi.unstubAllEnvs());

const attributesOf = ({ attributes }: { readonly attributes: readonly Attribute[] }): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));

/** Receives OTLP over HTTP in JSON. Its `status` may change; 0 answers nothing. */
async function receiving(status = 200) {
  const receiver = {
    status,
    url: new URL("http://localhost/v1/traces"),
    text: "",
    spans: [] as Span[],
    resource: {} as Record<string, unknown>,
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (receiver.status === 0) return;
      const bytes = Buffer.concat(chunks);
      const text = (request.headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes).toString();
      if (receiver.status === 200) {
        receiver.text += text;
        for (const { resource, scopeSpans } of (JSON.parse(text) as Export).resourceSpans) {
          receiver.resource = attributesOf(resource);
          receiver.spans.push(...scopeSpans.flatMap(({ spans }) => spans));
        }
      }
      response.writeHead(receiver.status, { "content-type": "application/json" }).end("{}");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  receiver.url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`);
  vi.stubEnv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", receiver.url.href);
  return receiver;
}

const valid = callNamed("v1 instruments");
const missing = callNamed("an instrument that does not exist");
const traceId = "0af7651916cd43dd8448eb211c80319c";
const caller = "b7ad6b7169203331";
const sampled = { traceparent: `00-${traceId}-${caller}-01` };

test("spans: name, parent, time and attributes, without anything that was sent", async () => {
  const receiver = await receiving();
  const app = await start({ sendsTraces: true });
  const begun = Date.now();
  const headers = { ...sampled, "x-request-id": "id-0", authorization: "Bearer MARK-token", cookie: "MARK-cookie" };
  for (const name of ["REST", "Connect over HTTP/2", "gRPC", "gRPC-Web"])
    await protocolClients[name]?.send(app.url, name === "REST" ? missing : valid, headers);
  await fetch(`${app.url}/MARK-path?MARK=1`, { method: "PATCH", headers });
  await fetch(`${app.url}/MARK-path`);
  await app.close();
  const { spans } = receiver;
  const common = { "offledger.request_id": "id-0", "offledger.status": "ok" };
  const rpc = {
    ...common,
    "http.request.method": "POST",
    "rpc.method": nameOf(valid),
    "http.route": `/${nameOf(valid)}`,
  };
  expect(spans.map(attributesOf)).toEqual([
    {
      ...common,
      "http.request.method": "GET",
      "http.route": missing.path
        .replace(/registrars\/[^/]+/, "registrars/:registrar_party")
        .replace(/[^/]+$/, ":instrument_id"),
      "network.protocol.version": "1.1",
      "rpc.method": nameOf(missing),
      "offledger.protocol": "rest",
      "offledger.status": "not_found",
      "offledger.code": "instrument-unknown",
      "error.type": "not_found",
    },
    {
      ...rpc,
      "network.protocol.version": "2",
      "offledger.protocol": "connect",
      "rpc.system.name": "connectrpc",
      "rpc.response.status_code": "ok",
    },
    {
      ...rpc,
      "network.protocol.version": "2",
      "offledger.protocol": "grpc",
      "rpc.system.name": "grpc",
      "rpc.response.status_code": "OK",
    },
    {
      ...rpc,
      "network.protocol.version": "1.1",
      "offledger.protocol": "grpc-web",
      "rpc.system.name": "grpc",
      "rpc.response.status_code": "OK",
    },
    {
      ...common,
      "http.request.method": "PATCH",
      "network.protocol.version": "1.1",
      "offledger.protocol": "rest",
      "offledger.status": "not_found",
      "error.type": "not_found",
    },
    expect.objectContaining({ "http.request.method": "GET" }),
  ]);
  expect(spans.map(({ name }) => name)).toEqual([
    nameOf(missing),
    ...Array<string>(3).fill(nameOf(valid)),
    "PATCH",
    "GET",
  ]);
  for (const span of spans.slice(0, 5)) {
    // A caller's mistake is not a failure of the service.
    expect(span).toMatchObject({ traceId, parentSpanId: caller, kind: 2, status: { code: 0 } });
    const [from, to] = [Number(span.startTimeUnixNano) / 1e6, Number(span.endTimeUnixNano) / 1e6];
    expect([begun - 100 < from, from < to, to < Date.now() + 100]).toEqual([true, true, true]);
  }
  // Without a parent a trace begins here.
  expect(spans[5]?.parentSpanId ?? "").toBe("");
  expect(spans[5]?.traceId).not.toBe(traceId);
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
  const { "service.instance.id": instance, ...resource } = receiver.resource;
  expect(resource).toEqual({ "service.name": "offledger", "service.version": expect.any(String) as string });
  expect(instance).toMatch(/^[0-9a-f-]{36}$/);
  expect(receiver.text).not.toContain("MARK");
});

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const request = { method: "GET", raw: { httpVersionMajor: 1, httpVersion: "1.1" }, routeOptions: {} };
const sent = { requestId: "a", operation: "", protocol: "rest", outcome: 0, durationMs: 1 };
const completed = { ...sent, request, startedAt: performance.now() } as unknown as CompletedRequest;

test("the caller's sampled flag decides, and the percentage of other traces", async () => {
  const receiver = await receiving();
  const [none, half] = [0, 0.5].map((ratio) => new Tracing({ ratio, version: "1", log }));
  for (let i = 0; i < 20; i++) expect(none?.record(completed, undefined)).toBeUndefined();
  expect(none?.record(completed, { traceId, spanId: caller, isSampled: false })).toBeUndefined();
  expect(none?.record(completed, { traceId, spanId: caller, isSampled: true })).toBe(traceId);
  await none?.close(5_000);
  expect(receiver.spans.map((span) => span.parentSpanId)).toEqual([caller]);
  // Closing sends the whole queue.
  for (let i = 0; i < 2_000; i++) half?.record(completed, undefined);
  await half?.close(5_000);
  // Outside these bounds once in a million runs.
  expect(receiver.spans.length).toBeGreaterThan(890);
  expect(receiver.spans.length).toBeLessThan(1_110);
});

test("a failure of the service is an error, and a method that HTTP does not have is another", async () => {
  const receiver = await receiving();
  const tracing = new Tracing({ ratio: 1, version: "1", log });
  tracing.record({ ...completed, protocol: "grpc", outcome: Code.Unavailable }, undefined);
  tracing.record({ ...completed, request: { ...completed.request, method: "MARK" } }, undefined);
  await tracing.close(5_000);
  const [failed, other] = receiver.spans;
  expect(failed?.status).toEqual({ code: 2, message: "unavailable" });
  expect(attributesOf(failed ?? { attributes: [] })["rpc.response.status_code"]).toBe("UNAVAILABLE");
  expect(other?.name).toBe("_OTHER");
  expect(receiver.text).not.toContain("MARK");
});

test("a receiver that never answers: 4,096 spans wait, others are counted, and closing does not wait", async () => {
  await receiving(0);
  const tracing = new Tracing({ ratio: 1, version: "1", log });
  for (let i = 0; i < 5_000; i++) tracing.record(completed, undefined);
  expect(tracing.counts.failed).toBeGreaterThan(0);
  expect(tracing.counts.failed).toBeLessThanOrEqual(5_000 - 4_096);
  const begun = performance.now();
  await tracing.close(100);
  expect(performance.now() - begun).toBeLessThan(5_000);
});

test("a receiver that rejects spans: they are counted, and later ones are sent", async () => {
  const receiver = await receiving(400);
  const tracing = new Tracing({ ratio: 1, version: "1", log });
  onTestFinished(() => tracing.close(0));
  tracing.record(completed, undefined);
  await until("the span is dropped", () => tracing.counts.failed === 1);
  receiver.status = 200;
  tracing.record(completed, undefined);
  await until("the span is sent", () => tracing.counts.sent === 1);
  expect(receiver.spans).toHaveLength(1);
  expect(tracing.counts.failed).toBe(1);
});

test("OpenTelemetry's variables say where spans go, and how many of the traces started here", async () => {
  const receiver = await receiving();
  const env = { OFFLEDGER_PORT: "0", OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url.origin, OTEL_TRACES_SAMPLER_ARG: "0" };
  const url = await startProgram(["serve"], env).listens();
  const get = async (headers: Readonly<Record<string, string>>) => (await fetch(url + valid.path, { headers })).status;
  expect([await get({}), await get(sampled)]).toEqual([200, 200]);
  await until("a span is received", () => receiver.spans.length > 0);
  expect(receiver.spans.map((span) => span.traceId)).toEqual([traceId]);
});

test("failures are logged once a minute, with the number of spans lost so far; a long reason is cut", async () => {
  const lines: object[] = [];
  const warn = (details: object, message: string) => void lines.push({ ...details, message });
  const clock = { now: 0 };
  const fails: { error?: Error } = { error: new Error("x".repeat(100_000)) };
  const exporter: SpanExporter = {
    // The enum of its codes is in a package that is no dependency.
    export: (_spans, done) => done({ ...fails } as never),
    shutdown: () => Promise.resolve(),
  };
  const counting = new CountingExporter(exporter, { info: warn, warn, error: warn }, () => clock.now);
  // Only their number matters.
  const send = (count: number) => counting.export(Array<ReadableSpan>(count), () => undefined);
  for (; clock.now < 60_000; clock.now += 1_000) send(10);
  const hint = "check OTEL_EXPORTER_OTLP_ENDPOINT and its receiver";
  const message = "trace export failed; spans dropped";
  expect(lines).toEqual([{ reason: "x".repeat(200), failed: 10, hint, message }]);
  // Without a message its code says what it is.
  fails.error = Object.assign(new Error(), { code: 413 });
  send(10);
  expect(lines.slice(1)).toEqual([{ reason: "413", failed: 610, hint, message }]);
  delete fails.error;
  clock.now = 1_000_000;
  send(5);
  expect(lines).toHaveLength(2);
  expect(counting.counts).toEqual({ sent: 5, failed: 610 });
});
