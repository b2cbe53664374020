/** What the log, the metrics and the operator's port say of requests that the rules refused, and its bounds. */
import { create, type JsonObject } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { Registry } from "prom-client";
import { describe, expect, test } from "vitest";
import { GetTransferFactoryRequestSchema } from "../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import type { Cause } from "../../src/domain/errors.js";
import { RequestMetrics } from "../../src/telemetry/request-metrics.js";
import { RefusalLog } from "../../src/telemetry/refusals.js";
import type { CompletedRequest, Refusal } from "../../src/telemetry/request-record.js";
import { type Line, observe } from "./starting.js";

const credentials: Cause = {
  code: "credential-missing",
  message: "bob lacks a credential",
  registrar: "acme::1220",
  instrument: "BOND",
  party: "bob::1220",
  issuer: "kyc::1220",
  claims: [{ property: "kyc", value: "passed" }],
};
const place: Cause = {
  code: "no-common-synchronizer",
  message: "a rule is elsewhere",
  registrar: "acme::1220",
  contractId: "00aa",
  template: "Module:Rule",
  synchronizers: ["global::1220", "private::1220"],
};

/** A completed request that was refused for these causes. */
function refused(causes: readonly Cause[], more: object = {}, choiceArguments: JsonObject = {}): CompletedRequest {
  const request = create(GetTransferFactoryRequestSchema, { choiceArguments });
  const refusal: Refusal = {
    message: "refused",
    causes,
    schema: GetTransferFactoryRequestSchema,
    request,
  };
  const completed = { requestId: "a", operation: "a.B/C", protocol: "grpc", outcome: Code.NotFound, durationMs: 1 };
  return { ...completed, request: { headers: {} }, refusal, ...more } as unknown as CompletedRequest;
}

describe("the log line", () => {
  const COMMON = new Set(
    "level time pid hostname requestId operation protocol status milliseconds client msg".split(" "),
  );
  /** Without the fields that all lines have. */
  async function lineOf(causes: readonly Cause[]): Promise<Line> {
    const { lines } = await observe({ logRequests: "failed" }, async (observers) => {
      for (const observer of observers) observer(refused(causes));
      return { url: "", close: async () => undefined };
    });
    expect(lines).toHaveLength(1);
    return Object.fromEntries(Object.entries(lines[0] ?? {}).filter(([name]) => !COMMON.has(name)));
  }

  test.each<[string, Cause[], Line]>([
    [
      "the first cause without its message",
      [credentials],
      {
        code: "credential-missing",
        registrar: "acme::1220",
        instrument: "BOND",
        party: "bob::1220",
        issuer: "kyc::1220",
        claims: ["kyc=passed"],
      },
    ],
    [
      "of several causes their number, and each code once",
      [place, credentials, credentials],
      {
        code: "no-common-synchronizer",
        causes: 3,
        codes: ["no-common-synchronizer", "credential-missing"],
        registrar: "acme::1220",
        contractId: "00aa",
        template: "Module:Rule",
        synchronizers: ["global::1220", "private::1220"],
      },
    ],
    [
      "the limit that is exceeded",
      [{ code: "limit-exceeded", message: "too many legs", limit: "legs", maximum: 25 }],
      { code: "limit-exceeded", limit: "legs", maximum: 25 },
    ],
    [
      "the wrong field",
      [{ code: "invalid-argument", message: "is empty", field: "choiceArguments.transfer.sender" }],
      { code: "invalid-argument", field: "choiceArguments.transfer.sender" },
    ],
  ])("has %s", async (_what, causes, expected) => expect(await lineOf(causes)).toEqual(expected));

  test("has at most ten codes", async () => {
    const line = await lineOf(Array.from({ length: 24 }, (_, at) => ({ ...credentials, code: `code-${at >> 1}` })));
    expect(line["causes"]).toBe(24);
    expect(line["codes"]).toEqual("0 1 2 3 4 5 6 7 8 9".split(" ").map((at) => `code-${at}`));
  });

  test("is bounded, whatever a registry module says", async () => {
    const long = "x".repeat(10_000);
    const claims = Array.from({ length: 100 }, () => ({ property: long, value: long }));
    const fields = { party: long, contractId: long, field: long, claims, synchronizers: [long] };
    const line = await lineOf([
      { ...credentials, ...fields, code: long },
      { ...credentials, code: `b${long}` },
    ]);
    const cut = "x".repeat(256);
    expect(line).toMatchObject({
      code: "x".repeat(63),
      codes: ["x".repeat(63), `b${"x".repeat(62)}`],
      party: cut,
      contractId: cut,
      field: cut,
      claims: Array<string>(10).fill(cut),
      synchronizers: [cut],
    });
  });
});

test("the metrics have a series for each operation and code; beyond 2,000 the code is other", async () => {
  const registry = new Registry();
  const metrics = new RequestMetrics(registry);
  const count = (at: number) =>
    metrics.observer(refused([{ ...credentials, code: `code-${at}` }], { operation: `operation-${at % 2}` }));
  for (let at = 0; at < 3_000; at++) count(at);
  count(0);
  const counted = await registry.getSingleMetric("offledger_refusals_total")?.get();
  // One series `other` for each operation.
  expect(counted?.values).toHaveLength(2_002);
  const [first, second, ...more] = await metrics.byOperation();
  expect(first).toMatchObject({ operation: "operation-0", requests: 1_501n, refusals: { "code-0": 2n } });
  expect(second).toMatchObject({ operation: "operation-1", requests: 1_500n, refusals: { other: 500n } });
  expect(more).toEqual([]);
});

function keeping() {
  let time = 0;
  const log = new RefusalLog(() => ++time);
  const keep = (requestId: string, choiceArguments: JsonObject = {}, causes: readonly Cause[] = [credentials]) =>
    log.observer(refused(causes, { requestId }, choiceArguments));
  return { log, keep, ids: () => log.latest().map(({ requestId }) => requestId) };
}
const padding = (bytes: number, of = "x"): JsonObject => ({ padding: of.repeat(bytes) });

describe("what is kept", () => {
  const OVERHEAD = '{"choiceArguments":{"padding":""}}'.length;

  test("are the latest 200, and the latest of an id", () => {
    const { log, keep, ids } = keeping();
    keep("twice");
    for (let at = 0; at < 205; at++) keep(`id-${at}`);
    keep("twice");
    expect(ids()).toEqual(["twice", ...Array.from({ length: 199 }, (_, at) => `id-${204 - at}`)]);
    expect(log.find("twice")?.time).toBe(207);
    expect(log.find("id-5")).toBeUndefined();
    log.observer({ ...refused([]), requestId: "granted", refusal: undefined });
    expect(log.find("granted")).toBeUndefined();
  });

  test.each<[string, JsonObject, boolean]>([
    ["128 KiB", padding(131_072 - OVERHEAD), true],
    ["a byte more", padding(131_072 - OVERHEAD + 1), false],
    ["more bytes than characters", padding(65_536, "ä"), false],
    ["900 kB", padding(900_000), false],
    ["many fields", Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`field-${at}`, at])), false],
  ])("of a request of %s", (_size, choiceArguments, isKept) => {
    const { log, keep } = keeping();
    keep("id", choiceArguments);
    expect(log.find("id")).toMatchObject({ requestId: "id", request: isKept ? { choiceArguments } : undefined });
  });

  test("are requests of 4 MiB in all, the newest", () => {
    const { log, keep, ids } = keeping();
    for (let at = 0; at < 60; at++) keep(`id-${at}`, padding(131_072 - OVERHEAD));
    const kept = log.latest().filter(({ request }) => request !== undefined);
    expect(kept.map(({ requestId }) => requestId)).toEqual(ids().slice(0, 32));
    expect(ids()).toHaveLength(60);
  });

  test("are the first causes, as many as there is room for, and the begin of a message", () => {
    const { log, keep } = keeping();
    keep(
      "id",
      {},
      Array.from({ length: 500 }, () => ({ code: "a", message: "x".repeat(1_000) })),
    );
    expect(log.find("id")?.causes).toHaveLength(7);
    const completed = refused([credentials]);
    const refusal = { ...completed.refusal, message: "x".repeat(5_000) } as Refusal;
    log.observer({ ...completed, refusal });
    expect(log.latest()[0]?.message).toHaveLength(4_000);
  });
});
