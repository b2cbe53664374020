/** Traces, as a receiver of OTLP gets them; and what becomes of requests while there is none. */
import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import type { Config } from "../../src/config/config.js";
import { failingCalls, successfulCalls } from "../fixtures/calls/index.js";
import type { Call } from "../fixtures/protocols.js";
import { until } from "../fixtures/wait.js";
import { nameOf, ways } from "./asking.js";
import { scrape, valueOf } from "./exposition.js";
import { attributesOf, Receiver, type Span } from "./receiver.js";
import { start } from "./starting.js";

const good = successfulCalls["v1 instruments"] as Call;
const missing = failingCalls["an instrument that does not exist"]?.call as Call;
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
  test("hangs below the caller's, by every protocol", async () => {
    const receiver = await Receiver.start();
    const app = await tracing(receiver);
    const begun = Date.now();
    const all = Object.values(ways);
    for (const [at, { ask }] of all.entries()) await ask(app.url, good, { ...sampled, "x-request-id": `id-${at}` });
    const spans = await received(receiver, all.length);
    for (const [at, { protocol }] of all.entries()) {
      const span = spans[at];
      expect(span).toMatchObject({ traceId, parentSpanId: caller, name: nameOf(good), kind: 2, status: { code: 0 } });
      expect(span?.spanId).toMatch(/^[0-9a-f]{16}$/);
      const attributes = attributesOf(span ?? { attributes: [] });
      expect(attributes).toMatchObject({
        "rpc.method": nameOf(good),
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

  test("of REST has the route and not the path, which holds what was asked for", async () => {
    const receiver = await Receiver.start();
    const app = await tracing(receiver);
    const headers = { ...sampled, authorization: "Bearer MARK-token", cookie: "MARK-cookie" };
    await ways.REST?.ask(app.url, missing, headers);
    await fetch(`${app.url}/MARK-path?MARK=1`, { headers });
    const [known, unknown] = await received(receiver, 2);
    expect(attributesOf(known ?? { attributes: [] })).toMatchObject({
      "http.request.method": "GET",
      "http.route": expect.stringContaining("/registry/metadata/v1/instruments/:"),
      "network.protocol.version": "1.1",
      "error.type": "not_found",
    });
    // A caller's mistake is no failure of the service.
    expect(known?.status.code).toBe(0);
    expect(unknown?.name).toBe("GET");
    expect(receiver.text).not.toContain("MARK");
  });

  test("is an error where the service could not answer", async () => {
    const receiver = await Receiver.start();
    const app = await tracing(receiver, { ledgerUrl: new URL("http://127.0.0.1:9"), ledgerParties: ["p::1220"] });
    expect(await ways.gRPC?.ask(app.url, good)).toBe(Code.Unavailable);
    const [span] = await received(receiver, 1);
    expect(span?.status).toEqual({ code: 2, message: "unavailable" });
    expect(attributesOf(span ?? { attributes: [] })["rpc.response.status_code"]).toBe("UNAVAILABLE");
  });

  test("begins a trace where the caller names none, or not by the rules", async () => {
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
    await ways.REST?.ask(app.url, good);
    for (const traceparent of wrong) await ways.REST?.ask(app.url, good, { traceparent });
    const spans = await received(receiver, wrong.length + 1);
    for (const span of spans) expect(span.parentSpanId ?? "").toBe("");
    expect(new Set(spans.map((span) => span.traceId)).size).toBe(wrong.length + 1);
    expect(spans.map((span) => span.traceId)).not.toContain(traceId);
    // A version of the future is read as far as it is known.
    await ways.REST?.ask(app.url, good, { traceparent: `01-${traceId}-${caller}-01-more` });
    expect((await received(receiver, wrong.length + 2)).at(-1)).toMatchObject({ traceId, parentSpanId: caller });
  });
});

test("whoever brings a trace decides whether it is kept, and the share holds for the rest", async () => {
  const receiver = await Receiver.start();
  const app = await tracing(receiver, { tracesPercent: 0 });
  for (let i = 0; i < 20; i++) await ways.REST?.ask(app.url, good);
  await ways.REST?.ask(app.url, good, { traceparent: `00-${traceId}-${caller}-00` });
  await ways.REST?.ask(app.url, good, sampled);
  await app.close();
  expect(receiver.spans.map((span) => span.parentSpanId)).toEqual([caller]);
  const half = await Receiver.start();
  const other = await tracing(half, { tracesPercent: 50 });
  for (let i = 0; i < 200; i++) await ways.REST?.ask(other.url, good);
  await other.close();
  // Out of these bounds once in ten million times.
  expect(half.spans.length).toBeGreaterThan(60);
  expect(half.spans.length).toBeLessThan(140);
});

test("what waits is sent when the service ends", async () => {
  const receiver = await Receiver.start();
  const app = await tracing(receiver);
  for (let i = 0; i < 700; i++) await ways.REST?.ask(app.url, good, sampled);
  await app.close();
  expect(receiver.spans).toHaveLength(700);
});

describe("a receiver that", () => {
  const troubles: readonly (readonly [string, (receiver: Receiver) => URL])[] = [
    ["is away", () => new URL("http://127.0.0.1:9/v1/traces")],
    ["answers 500", (receiver) => ((receiver.answer = 500), new URL(receiver.url))],
    ["answers 503", (receiver) => ((receiver.answer = 503), new URL(receiver.url))],
    ["never answers", (receiver) => ((receiver.answer = "never"), new URL(receiver.url))],
  ];
  test.each(troubles)("%s disturbs no request, and no end", async (_, urlOf) => {
    const receiver = await Receiver.start();
    const app = await start({ tracesUrl: urlOf(receiver), metricsPort: 0, graceSeconds: 1 });
    for (let i = 0; i < 600; i++) expect(await ways.REST?.ask(app.url, good, sampled)).toBeUndefined();
    const begun = performance.now();
    await app.close();
    expect(performance.now() - begun).toBeLessThan(5_000);
  });

  test("never answers makes spans wait up to a bound, and those beyond are counted", async () => {
    const receiver = await Receiver.start();
    receiver.answer = "never";
    const app = await start({ tracesUrl: new URL(receiver.url), metricsPort: 0, graceSeconds: 1 });
    const lost = async () =>
      valueOf((await scrape(app.metricsUrl)).samples, "offledger_trace_spans_total", { result: "failed" }) ?? 0;
    // 4096 wait, and a batch of 512 is under way; another begins every ten seconds.
    for (let i = 0; i < 60 && (await lost()) === 0; i++) {
      await Promise.all(Array.from({ length: 200 }, () => fetch(`${app.url}/livez`).then((answer) => answer.text())));
    }
    expect(await lost()).toBeGreaterThan(0);
  });

  test("refuses for long costs spans, which are counted, and is found again", async () => {
    const receiver = await Receiver.start();
    receiver.answer = 400;
    const app = await tracing(receiver, { metricsPort: 0 });
    await ways.REST?.ask(app.url, good, sampled);
    const spans = async (result: string) =>
      valueOf((await scrape(app.metricsUrl)).samples, "offledger_trace_spans_total", { result });
    await until("the span is given up", async () => (await spans("failed")) === 1);
    expect(await spans("sent")).toBe(0);
    receiver.answer = 200;
    await ways.REST?.ask(app.url, good, sampled);
    await received(receiver, 1);
    await until("the span is counted", async () => (await spans("sent")) === 1);
    expect(await spans("failed")).toBe(1);
  });
});
