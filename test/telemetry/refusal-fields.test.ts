/** What the log says of a refusal, and what the metrics count. */
import { create } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { pino } from "pino";
import { Registry } from "prom-client";
import { expect, onTestFinished, test } from "vitest";
import { AllocationService } from "../../gen/offledger/allocation/v1/allocation_service_pb.js";
import { type Cause, notFound } from "../../src/domain/errors.js";
import { RequestMetrics } from "../../src/telemetry/metrics.js";
import type { CompletedRequest, RequestObserver } from "../../src/telemetry/request-record.js";
import { startTelemetry } from "../../src/telemetry/telemetry.js";
import { createServer } from "../../src/transport/server.js";
import { callNamed } from "../fixtures/calls/index.js";
import { bindPartial } from "../fixtures/partial-service.js";
import type { Call } from "../fixtures/protocols.js";
import { quiet } from "../fixtures/run-service.js";
import { TEST_SERVER_OPTIONS } from "../fixtures/server-options.js";
import { until } from "../fixtures/wait.js";
import { scrape, valueOf } from "./exposition.js";
import { nameOf, protocolClients } from "./protocol-clients.js";
import { start } from "./starting.js";

const withdraw: Call = {
  method: AllocationService.method.getAllocationWithdrawContext,
  request: { registrarParty: "acme::1220", allocationId: "00aa" },
  path: "/api/token-standard/v0/registrars/acme%3A%3A1220/registry/allocations/v1/00aa/choice-contexts/withdraw",
  body: {},
};

const credentials: Cause = {
  code: "credentials-missing",
  message: "bob lacks a credential",
  registrar: "acme::1220",
  instrument: "BOND",
  party: "bob::1220",
  issuer: "kyc::1220",
  claims: [{ property: "kyc", value: "passed" }],
};

/** Serves an operation that is refused for the next of these causes. */
async function refusing(observers: readonly RequestObserver[], causes: () => readonly Cause[]): Promise<string> {
  const refuse = async () => {
    throw notFound("refused", { causes: causes() });
  };
  const binding = bindPartial(AllocationService, { getAllocationWithdrawContext: refuse });
  const server = await createServer([binding], { ...TEST_SERVER_OPTIONS, observers });
  onTestFinished(() => server.close(1_000));
  return server.listen("127.0.0.1", 0);
}

type Line = Readonly<Record<string, unknown>>;

/** What is logged of a request that is refused for these causes, without the fields that all lines have. */
async function lineOf(causes: readonly Cause[]): Promise<Line> {
  const lines: Line[] = [];
  const log = pino({ base: {} }, { write: (line: string) => void lines.push(JSON.parse(line) as Line) });
  const config = { ...quiet(), logRequests: "failed" } as const;
  const sources = {} as Parameters<typeof startTelemetry>[2];
  const telemetry = await startTelemetry(config, log, sources);
  onTestFinished(() => telemetry.close(0));
  const url = await refusing(telemetry.observers, () => causes);
  await protocolClients.gRPC?.send(url, withdraw);
  await until("the request is logged", () => lines.length > 0);
  const [line = {}] = lines;
  const common = "level time requestId operation protocol status milliseconds client msg".split(" ");
  expect(common.filter((name) => !(name in line))).toEqual([]);
  return Object.fromEntries(Object.entries(line).filter(([name]) => !common.includes(name)));
}

test("a line has the code of the first cause and what it is about, but no message", async () => {
  expect(await lineOf([credentials])).toEqual({
    code: "credentials-missing",
    registrar: "acme::1220",
    instrument: "BOND",
    party: "bob::1220",
    issuer: "kyc::1220",
    claims: ["kyc=passed"],
  });
  const place: Cause = {
    code: "no-common-synchronizer",
    message: "a rule is elsewhere",
    registrar: "acme::1220",
    contractId: "00aa",
    template: "Module:Rule",
    synchronizers: ["global::1220", "private::1220"],
  };
  expect(await lineOf([place, credentials, credentials])).toEqual({
    code: "no-common-synchronizer",
    causes: 3,
    codes: ["no-common-synchronizer", "credentials-missing"],
    registrar: "acme::1220",
    contractId: "00aa",
    template: "Module:Rule",
    synchronizers: ["global::1220", "private::1220"],
  });
});

test("a line names the limit that is exceeded, and the wrong field", async () => {
  expect(await lineOf([{ code: "limit-exceeded", message: "too many legs", limit: "legs", maximum: 25 }])).toEqual({
    code: "limit-exceeded",
    limit: "legs",
    maximum: 25,
  });
  const field = "choiceArguments.transfer.sender";
  expect(await lineOf([{ code: "invalid-argument", message: "is empty", field }])).toEqual({
    code: "invalid-argument",
    field,
  });
});

test("a line has the codes of all causes, at most ten", async () => {
  const causes = Array.from({ length: 24 }, (_, at) => ({ ...credentials, code: `code-${at >> 1}` }));
  const line = await lineOf(causes);
  expect(line["causes"]).toBe(24);
  expect(line["codes"]).toEqual("0 1 2 3 4 5 6 7 8 9".split(" ").map((at) => `code-${at}`));
});

test("a line is bounded, whatever a registry module says", async () => {
  const long = "x".repeat(100_000);
  const claims = Array.from({ length: 1_000 }, () => ({ property: long, value: long }));
  const line = await lineOf([
    { ...credentials, code: long, party: long, contractId: long, claims, synchronizers: [long] },
    { ...credentials, code: `b${long}` },
  ]);
  expect(String(line["code"])).toHaveLength(63);
  expect(line["codes"]).toEqual(["x".repeat(63), `b${"x".repeat(62)}`]);
  expect(String(line["party"])).toHaveLength(256);
  expect(line["claims"]).toHaveLength(10);
  expect(JSON.stringify(line).length).toBeLessThan(5_000);
});

test("refusals are counted by operation and code, over every protocol", async () => {
  const app = await start({ metricsPort: 0 });
  const missing = callNamed("a transfer instruction that does not exist");
  const clients = Object.values(protocolClients);
  for (const { send } of clients) {
    await send(app.url, missing);
    await send(app.url, callNamed("v1 instruments"));
    // Refused before the rules are asked.
    await send(app.url, callNamed("a page of no instruments"));
  }
  const { samples } = await scrape(app.metricsUrl);
  const counted = samples.filter(({ name }) => name === "offledger_refusals_total");
  expect(counted.map(({ labels, value }) => [labels.operation, value])).toEqual([[nameOf(missing), clients.length]]);
  expect(
    valueOf(samples, "offledger_requests_total", { operation: nameOf(missing), protocol: "grpc", status: "not_found" }),
  ).toBe(1);
});

const refused = (operation: string, code: string) =>
  ({
    operation,
    protocol: "rest",
    outcome: Code.NotFound,
    durationMs: 1,
    isNotModified: false,
    refusal: {
      reason: "not-found",
      message: "refused",
      causes: [{ ...credentials, code }],
      schema: AllocationService.method.getAllocationWithdrawContext.input,
      request: create(AllocationService.method.getAllocationWithdrawContext.input),
    },
  }) as unknown as CompletedRequest;

test("codes that a registry module makes up are counted as other beyond 2,000", async () => {
  const registry = new Registry();
  const metrics = new RequestMetrics(registry);
  for (let at = 0; at < 3_000; at++) metrics.observer(refused(`operation-${at % 2}`, `code-${at}`));
  metrics.observer(refused("operation-0", "code-0"));
  const counted = await registry.getSingleMetric("offledger_refusals_total")?.get();
  // One series `other` for each operation.
  expect(counted?.values).toHaveLength(2_002);
  expect(counted?.values.reduce((sum, { value }) => sum + value, 0)).toBe(3_001);
  const [first, second] = await metrics.byOperation();
  expect([first?.operation, first?.requests, first?.refusals.get("code-0")]).toEqual(["operation-0", 1_501, 2]);
  expect([second?.operation, second?.requests, second?.refusals.get("other")]).toEqual(["operation-1", 1_500, 500]);
});
