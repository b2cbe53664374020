/** What the service notes of a request: over each protocol its record, its log line, its count and what was refused. */
import { fromJson, toJson } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import type { FastifyRequest } from "fastify";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type CompletedRequest, readParentSpan, requestIdOf, statusName } from "../../src/telemetry/request-record.js";
import { acme } from "../fixtures/calls/build.js";
import { callNamed } from "../fixtures/calls/index.js";
import type { observedService } from "../fixtures/observed-service.js";
import { type Call, sendRest } from "../fixtures/protocols.js";
import { until } from "../fixtures/wait.js";
import { nameOf, protocolClients, type Send } from "./protocol-clients.js";
import { type Observed, observe } from "./starting.js";

const valid = callNamed("v1 instruments");
/** To the same operation, and refused before the rules are asked. */
const invalid = callNamed("a page of no instruments");
const REFUSED = "a transfer instruction that does not exist";
const CODE = "instruction-unknown";
const offer = callNamed(REFUSED);
const [contractId] = /00[0-9a-f]{136}/.exec(offer.path) ?? [];
const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/** A body without a length. */
const chunked: Send = async (url, { path, body }, headers = {}) => {
  const stream = new Blob([JSON.stringify(body)]).stream();
  const init = { method: "POST", headers: { ...headers, "content-type": "application/json" }, body: stream };
  return (await fetch(url + path, { ...init, duplex: "half" })).ok ? undefined : Code.NotFound;
};

describe("a request", () => {
  let observed: Observed;
  beforeAll(async () => {
    observed = await observe({ logRequests: "all", metricsPort: { host: "127.0.0.1", port: 0 } });
  });
  afterAll(() => observed.close());

  test.each([...Object.entries(protocolClients), ["REST, chunked", { protocol: "rest", send: chunked }] as const])(
    "over %s",
    async (_name, { protocol, send }) => {
      const { url, lines, requests } = observed;
      lines.length = 0;
      const sent: readonly (readonly [id: string, call: Call, code: Code | undefined, status: string])[] = [
        ["id-0", valid, undefined, "ok"],
        ["id-1", invalid, Code.InvalidArgument, "invalid_argument"],
        ["id-2", offer, Code.NotFound, "not_found"],
      ];
      const made = send === chunked ? sent.slice(2) : sent;
      const kept = requests.refusals.latest().length;
      for (const [at, [id, call, code]] of made.entries()) {
        expect(await send(url, call, { "x-request-id": id, ...(at === 0 && { traceparent }) })).toBe(code);
        await until("it is logged", () => lines.length === at + 1);
      }
      for (const [at, [requestId, call, , status]] of made.entries()) {
        expect(lines[at]).toEqual({
          level: 30,
          time: expect.any(Number) as number,
          pid: process.pid,
          hostname: expect.any(String) as string,
          requestId,
          operation: nameOf(call),
          protocol,
          status,
          milliseconds: expect.any(Number) as number,
          ...(at === 0 && { traceId: "0af7651916cd43dd8448eb211c80319c" }),
          client: "127.0.0.1",
          ...(call === offer && { code: CODE, registrar: acme, contractId }),
          msg: "request",
        });
        expect(lines[at]?.["milliseconds"]).toBeGreaterThan(0);
        expect(String(lines[at]?.["milliseconds"])).toMatch(/^\d+(\.\d{1,3})?$/);
      }
      const message = `transfer instruction ${contractId} of registrar ${acme} is not known here: it does not exist or has been archived`;
      const [refusal, ...others] = requests.refusals.latest();
      expect(others).toHaveLength(kept);
      expect(refusal).toEqual({
        requestId: "id-2",
        time: expect.any(Number) as number,
        operation: nameOf(offer),
        protocol,
        status: "not_found",
        message,
        causes: [expect.objectContaining({ message }) as object],
        request: toJson(offer.method.input, fromJson(offer.method.input, offer.request)),
      });
    },
  );
});

async function observing(...args: Parameters<typeof observe>): Promise<Observed> {
  const observed = await observe(...args);
  onTestFinished(() => observed.close());
  return observed;
}

/** A service that nobody asks. */
const served = async () => ({ url: "", close: async () => undefined });

/** A service that has failed in some ways. */
const failed: typeof observedService = async (observers) => {
  const completed = { request: { headers: {}, ip: "::1" }, requestId: "a", operation: "a.B/C", protocol: "rest" };
  for (const outcome of [Code.Unavailable, Code.ResourceExhausted, Code.Internal, Code.NotFound, Code.Canceled])
    for (const observer of observers) observer({ ...completed, outcome, durationMs: 1 } as unknown as CompletedRequest);
  return served();
};

describe("the log", () => {
  test("of failed requests has no others, a line without an operation no path", async () => {
    const { url, lines } = await observing({ logRequests: "failed" });
    expect(await protocolClients.gRPC?.send(url, valid)).toBeUndefined();
    await fetch(`${url}/no/such/path`);
    await until("it is logged", () => lines.length > 0);
    expect(lines).toMatchObject([{ level: 30, operation: "none", protocol: "rest", status: "not_found" }]);
    expect(JSON.stringify(lines)).not.toMatch(/such|traceId/);
  });

  test("of none has none", async () => {
    const { url, lines, requests } = await observing({
      logRequests: "none",
      metricsPort: { host: "127.0.0.1", port: 0 },
    });
    await sendRest(url, offer);
    await until("the request is over", () => requests.refusals.latest().length > 0);
    expect(lines).toEqual([]);
  });

  test("of a failure of the service has level 40", async () => {
    const { lines } = await observing({ logRequests: "failed" }, failed);
    expect(lines.map(({ level, status }) => `${String(level)} ${String(status)}`)).toEqual([
      "40 unavailable",
      "40 resource_exhausted",
      "40 internal",
      "30 not_found",
      "30 canceled",
    ]);
  });
});

test("the operator's port decides whether requests are kept", async () => {
  expect((await observing({}, served)).requests).toBeUndefined();
});

test.each([
  [0, "ok"],
  [Code.Canceled, "canceled"],
  [Code.Unauthenticated, "unauthenticated"],
  [99, "unknown"],
])("status %i is %s", (outcome, name) => {
  expect(statusName(outcome as 0)).toBe(name);
});

const parse = (value: string) => readParentSpan({ headers: { traceparent: value } } as unknown as FastifyRequest);

describe("traceparent", () => {
  const [version, traceId, spanId, flags] = traceparent.split("-") as [string, string, string, string];

  test.each([
    [traceparent, true],
    [`00-${traceId}-${spanId}-00`, false],
    [`00-${traceId}-${spanId}-03`, true],
    // Of a later version the known fields are read.
    [`01-${traceId}-${spanId}-01-more`, true],
  ])("%s is read", (value, isSampled) => expect(parse(value)).toEqual({ traceId, spanId, isSampled }));

  test.each([
    "",
    `00-${"0".repeat(32)}-${spanId}-01`,
    `00-${traceId}-${"0".repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `${traceparent}-more`,
    `ff-${traceId}-${spanId}-${flags}`,
    `${version}-${traceId}-${spanId}`,
    `01-${traceId}-${spanId}-01-${"x".repeat(100)}`,
  ])("%s is ignored", (value) => expect(parse(value)).toBeUndefined());
});

describe("a request id", () => {
  const MADE = /^[0-9a-f]{16}-[1-9]\d*$/;

  test.each(["A.b_c-1", "x".repeat(128)])("%s is the caller's", (id) => {
    expect(requestIdOf({ "x-request-id": id })).toBe(id);
  });

  test.each([
    ...'with space,x/y,a\r\nb,a\n,\na,a\0,a\u2028,ä,a"b,a;b'.split(","),
    "a,b",
    "",
    "x".repeat(129),
    ["a", "b"],
    undefined,
  ])("%j is replaced by one of its own", (id) => {
    const headers = id === undefined ? {} : { "x-request-id": id as string };
    const made = [requestIdOf(headers), requestIdOf(headers)];
    for (const one of made) expect(one).toMatch(MADE);
    expect(new Set(made).size).toBe(2);
  });
});
