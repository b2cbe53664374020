/** Traces as an OTLP receiver gets them, and requests while the receiver fails. */
import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import type { Config } from "../../src/config/config.js";
import { callNamed } from "../fixtures/calls/index.js";
import { until } from "../fixtures/wait.js";
import { nameOf, protocolClients } from "./protocol-clients.js";
import { scrape, valueOf } from "./exposition.js";
import { attributesOf, Receiver, type Span } from "./receiver.js";
import { start } from "./starting.js";

const valid = callNamed("v1 instruments");
const missing = callNamed("an instrument that does not exist");
const traceId = "0af7651916cd43dd8448eb211c80319c";
const caller = "b7ad6b7169203331";
const sampled = { traceparent: `00-${traceId}-${caller}-01` };

const tracing = (receiver: Receiver, more: Partial<Config> = {}) =>
  start({ tracesUrl: new URL(receiver.url), ...more });

async function received(receiver: Receiver, count: number): Promise<readonly Span[]> {
  await until(`${count} spans are received`, () => receiver.spans.length >= count);
  return receiver.spans;
}

describe("a span", () => {
  test("is a child of the caller's span, on every protocol", async () => {
    const receiver = await Receiver.start();
    const app = await tracing(receiver);
    const begun = Date.now();
    const all = Object.values(protocolClients);
    for (const [at, { send }] of all.entries()) await send(app.url, valid, { ...sampled, "x-request-id": `id-${at}` });
    const spans = await received(receiver, all.length);
    for (const [at, { protocol }] of all.entries()) {
      const span = spans[at];
      expect(span).toMatchObject({ traceId, parentSpanId: caller, name: nameOf(valid), kind: 2, status: { code: 0 } });
      expect(span?.spanId).toMatch(/^[0-9a-f]{16}$/);
      const attributes = attributesOf(span ?? { attributes: [] });
      expect(attributes).toMatchObject({
        "rpc.method": nameOf(valid),
        "offledger.protocol": protocol,
        "offledger.request_id": `id-${at}`,
        "offledger.status": "ok",
      });
      expect(attributes["rpc.system.name"]).toBe({ connect: "connectrpc", grpc: "grpc", "grpc-web": "grpc" }[protocol]);
      expect(attributes).not.toHaveProperty("error.type");
      const [from, to] = [Number(span?.startTimeUnixNano) / 1e6, Number(span?.endTimeUnixNano) / 1e6];
      expect(from).toBeGreaterThan(begun - 100);
      expect(to).toBeGreaterThan(from);
      expect(to).toBeLessThan(Date.now() + 100);
    }
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(all.length);
    expect(receiver.resource).toMatchObject({ "service.name": "offledger", "service.version": expect.any(String) });
  });

  test("of REST has the route, not the path, which contains parameters", async () => {
    const receiver = await Receiver.start();
    const app = await tracing(receiver);
    const headers = { ...sampled, authorization: "Bearer MARK-token", cookie: "MARK-cookie" };
    await protocolClients.REST?.send(app.url, missing, headers);
    await fetch(`${app.url}/MARK-path?MARK=1`, { headers });
    const [known, unknown] = await received(receiver, 2);
    expect(attributesOf(known ?? { attributes: [] })).toMatchObject({
      "http.request.method": "GET",
      "http.route": expect.stringContaining("/registry/metadata/v1/instruments/:"),
      "network.protocol.version": "1.1",
      "error.type": "not_found",
      "offledger.code": expect.any(String),
    });
    // A caller's mistake is not a failure of the service.
    expect(known?.status.code).toBe(0);
    expect(unknown?.name).toBe("GET");
    expect(attributesOf(unknown ?? { attributes: [] })).not.toHaveProperty("offledger.code");
    expect(receiver.text).not.toContain("MARK");
  });

  test("is an error if the service failed", async () => {
    const receiver = await Receiver.start();
    const app = await tracing(receiver, { ledgerUrl: new URL("http://127.0.0.1:9"), ledgerParties: ["p::1220"] });
    expect(await protocolClients.gRPC?.send(app.url, valid)).toBe(Code.Unavailable);
    const [span] = await received(receiver, 1);
    expect(span?.status).toEqual({ code: 2, message: "unavailable" });
    expect(attributesOf(span ?? { attributes: [] })["rpc.response.status_code"]).toBe("UNAVAILABLE");
  });

  test("starts a trace if traceparent is missing or malformed", async () => {
    const receiver = await Receiver.start();
    const app = await tracing(receiver);
    const wrong = [
      `00-${"0".repeat(32)}-${caller}-01`,
      `00-${traceId}-${"0".repeat(16)}-01`,
      `00-${traceId.toUpperCase()}-${caller}-01`,
      `00-${traceId}-${caller}-01-more`,
      `ff-${traceId}-${caller}-01`,
      `00-${traceId}-${caller}`,
      `01-${traceId}-${caller}-01-${"x".repeat(100)}`,
    ];
    await protocolClients.REST?.send(app.url, valid);
    for (const traceparent of wrong) await protocolClients.REST?.send(app.url, valid, { traceparent });
    const spans = await received(receiver, wrong.length + 1);
    for (const span of spans) expect(span.parentSpanId ?? "").toBe("");
    expect(new Set(spans.map((span) => span.traceId)).size).toBe(wrong.length + 1);
    expect(spans.map((span) => span.traceId)).not.toContain(traceId);
    // Of a later version the known fields are read.
    await protocolClients.REST?.send(app.url, valid, { traceparent: `01-${traceId}-${caller}-01-more` });
    expect((await received(receiver, wrong.length + 2)).at(-1)).toMatchObject({ traceId, parentSpanId: caller });
  });
});

test("the caller's sampled flag decides, and the percentage applies to other traces", async () => {
  const receiver = await Receiver.start();
  const app = await tracing(receiver, { tracesPercent: 0 });
  for (let i = 0; i < 20; i++) await protocolClients.REST?.send(app.url, valid);
  await protocolClients.REST?.send(app.url, valid, { traceparent: `00-${traceId}-${caller}-00` });
  await protocolClients.REST?.send(app.url, valid, sampled);
  await app.close();
  expect(receiver.spans.map((span) => span.parentSpanId)).toEqual([caller]);
  const half = await Receiver.start();
  const other = await tracing(half, { tracesPercent: 50 });
  for (let i = 0; i < 200; i++) await protocolClients.REST?.send(other.url, valid);
  await other.close();
  // Outside these bounds once in ten million runs.
  expect(half.spans.length).toBeGreaterThan(60);
  expect(half.spans.length).toBeLessThan(140);
});

test("the queue is sent at shutdown", async () => {
  const receiver = await Receiver.start();
  const app = await tracing(receiver);
  for (let i = 0; i < 700; i++) await protocolClients.REST?.send(app.url, valid, sampled);
  await app.close();
  expect(receiver.spans).toHaveLength(700);
});

describe("a receiver that", () => {
  const failures: readonly (readonly [string, (receiver: Receiver) => URL])[] = [
    ["is unreachable", () => new URL("http://127.0.0.1:9/v1/traces")],
    ["answers 500", (receiver) => ((receiver.answer = 500), new URL(receiver.url))],
    ["answers 503", (receiver) => ((receiver.answer = 503), new URL(receiver.url))],
    ["never answers", (receiver) => ((receiver.answer = "never"), new URL(receiver.url))],
  ];
  test.each(failures)("%s affects neither requests nor shutdown", async (_, urlOf) => {
    const receiver = await Receiver.start();
    const app = await start({ tracesUrl: urlOf(receiver), metricsPort: 0, graceSeconds: 1 });
    for (let i = 0; i < 600; i++) expect(await protocolClients.REST?.send(app.url, valid, sampled)).toBeUndefined();
    const begun = performance.now();
    await app.close();
    expect(performance.now() - begun).toBeLessThan(5_000);
  });

  test("never answers: the queue is bounded, and dropped spans are counted", async () => {
    const receiver = await Receiver.start();
    receiver.answer = "never";
    const app = await start({ tracesUrl: new URL(receiver.url), metricsPort: 0, graceSeconds: 1 });
    const lost = async () =>
      valueOf((await scrape(app.metricsUrl)).samples, "offledger_trace_spans_total", { result: "failed" }) ?? 0;
    // 4096 are queued and a batch of 512 is being sent; another starts every ten seconds.
    for (let i = 0; i < 60 && (await lost()) === 0; i++) {
      await Promise.all(Array.from({ length: 200 }, () => fetch(`${app.url}/livez`).then((answer) => answer.text())));
    }
    expect(await lost()).toBeGreaterThan(0);
  });

  test("rejects spans: they are counted, and later ones are sent", async () => {
    const receiver = await Receiver.start();
    receiver.answer = 400;
    const app = await tracing(receiver, { metricsPort: 0 });
    await protocolClients.REST?.send(app.url, valid, sampled);
    const spans = async (result: string) =>
      valueOf((await scrape(app.metricsUrl)).samples, "offledger_trace_spans_total", { result });
    await until("the span is dropped", async () => (await spans("failed")) === 1);
    expect(await spans("sent")).toBe(0);
    receiver.answer = 200;
    await protocolClients.REST?.send(app.url, valid, sampled);
    await received(receiver, 1);
    await until("the span is counted", async () => (await spans("sent")) === 1);
    expect(await spans("failed")).toBe(1);
  });
});
