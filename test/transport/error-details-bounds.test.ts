/** The bounds of error details: clients of gRPC accept 8 KB of headers by default. */
import { readdirSync, readFileSync } from "node:fs";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BadRequestSchema, ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { AllocationService } from "../../gen/offledger/allocation/v1/allocation_service_pb.js";
import { RefusalSchema } from "../../gen/offledger/refusal/v1/refusal_pb.js";
import { RegistryError } from "../../src/domain/errors.js";
import { grpcStatus } from "../../src/transport/connect/grpc-status.js";
import { cut, refusal } from "../../src/transport/error-details.js";
import { toConnectError } from "../../src/transport/errors.js";
import { createServer, type Server } from "../../src/transport/server.js";
import { detailsOfStatus, grpcHeaders } from "../fixtures/error-details.js";
import { bindPartial } from "../fixtures/partial-service.js";
import { TEST_SERVER_OPTIONS } from "../fixtures/server-options.js";

const MAX_HEADER_LIST_BYTES = 8_192;
const method = AllocationService.method.getAllocationWithdrawContext;
const violationsOf = (error: ConnectError) =>
  error.findDetails(BadRequestSchema).flatMap(({ fieldViolations }) => fieldViolations);

function noReport(defect: unknown): void {
  throw new Error(`reported as a defect: ${String(defect)}`);
}

describe("violations", () => {
  test("are at most 20, the first ones", () => {
    const violations = Array.from({ length: 50 }, (_, index) => ({ field: `f${index}`, description: "wrong" }));
    const fields = violationsOf(refusal("INVALID_FIELD", "", { violations })).map(({ field }) => field);
    expect(fields).toEqual(Array.from({ length: 20 }, (_, index) => `f${index}`));
  });

  test("are cut", () => {
    const violations = [{ field: "a.".repeat(500), description: "ä".repeat(500) }];
    const [violation] = violationsOf(refusal("INVALID_FIELD", "", { violations }));
    expect(violation?.field).toMatch(/^(a\.)+a?…$/);
    expect(violation?.description).toMatch(/^ä+…$/);
    expect(Buffer.byteLength(violation?.field ?? "")).toBeLessThanOrEqual(256);
    expect(Buffer.byteLength(violation?.description ?? "")).toBeLessThanOrEqual(256);
    expect(Buffer.byteLength(violation?.description ?? "")).toBeGreaterThan(250);
  });

  test("stay out of an error without any", () => {
    expect(refusal("INVALID_FIELD", "").findDetails(BadRequestSchema)).toEqual([]);
  });
});

const fieldOf = (field: string) =>
  violationsOf(toConnectError(new RegistryError("invalid", "wrong", { field }), noReport, method.input));

describe("an error of a registry", () => {
  test("names its field in names of the proto files", () => {
    expect(fieldOf("allocationId")).toEqual([
      expect.objectContaining({ field: "allocation_id", description: "wrong" }),
    ]);
    // The message has no such field: it is of a contract's payload.
    expect(fieldOf("instrument.id")).toEqual([]);
    expect(fieldOf("")).toEqual([]);
  });

  test("names no field unless it is invalid", () => {
    const error = new RegistryError("not-found", "missing", { field: "allocationId" });
    expect(violationsOf(toConnectError(error, noReport, method.input))).toEqual([]);
  });

  test.each(["", "two words", "A", "X".repeat(64), "9LIVES"])("has no code of the form %j", (code) => {
    const [info] = toConnectError(new RegistryError("conflict", "", { code }), noReport).findDetails(ErrorInfoSchema);
    expect(info?.reason).toBe("CONFLICT");
  });

  test.each(["SUPPLY_CAPPED", "supply-capped", "supply_capped"])("has the code %j as a reason", (code) => {
    const [info] = toConnectError(new RegistryError("conflict", "", { code }), noReport).findDetails(ErrorInfoSchema);
    expect(info?.reason).toBe("SUPPLY_CAPPED");
  });

  test("names the causes that fit, and how many do not", () => {
    const causes = Array.from({ length: 50 }, (_, n) => ({
      code: "credential-missing",
      message: `${n}`,
      party: `party-${n}::1220${"a".repeat(60)}`,
      claims: [{ property: "kyc", value: "yes" }],
    }));
    const error = toConnectError(new RegistryError("not-found", "many", { causes }), noReport);
    const [detail] = error.findDetails(RefusalSchema);
    expect(detail?.causes.length).toBeGreaterThan(5);
    expect(detail?.causes.length).toBe(50 - (detail?.omitted ?? 0));
    expect(detail?.causes[1]).toMatchObject({ code: "credential-missing", message: "", party: causes[1]?.party });
    expect(detail === undefined ? 0 : toBinary(RefusalSchema, detail).length).toBeLessThan(920);
    expect(error.findDetails(ErrorInfoSchema)[0]).toMatchObject({
      reason: "CREDENTIAL_MISSING",
      metadata: { party: causes[0]?.party, claims: "kyc = yes" },
    });
  });

  test("has bounded metadata", () => {
    const metadata = { good: "1", "two words": "2", ["n".repeat(65)]: "3", large: "x".repeat(1_000) };
    const error = toConnectError(new RegistryError("conflict", "", { code: "MINE", metadata }), noReport);
    expect(error.findDetails(ErrorInfoSchema)).toEqual([
      create(ErrorInfoSchema, { reason: "MINE", domain: "offledger", metadata: { good: "1" } }),
    ]);
  });
});

test.each([
  ["short", 10, "short"],
  ["exactly 10", 10, "exactly 10"],
  ["more than 10", 10, "more th…"],
  ["ääää", 8, "ääää"],
  ["äääää", 8, "ää…"],
  ["\u{1F600}\u{1F600}\u{1F600}", 11, "\u{1F600}\u{1F600}…"],
  ["lone \uD800", 100, "lone \uFFFD"],
  ["", 3, ""],
])("%j in %i bytes is %j", (text, maxBytes, expected) => {
  expect(cut(text, maxBytes)).toBe(expected);
});

test.each(["a", "ä", "%", "\u{1F600}", "\uD800", "\n"])("a message of many %j has a bounded header", (character) => {
  const header = grpcStatus(refusal("INVALID_ARGUMENT", character.repeat(100_000))).get("grpc-message") ?? "";
  expect(header.length).toBeLessThanOrEqual(2_048);
  expect(header.length).toBeGreaterThan(2_000);
  expect(decodeURIComponent(header)).toMatch(/…$/);
});

describe("the largest error", () => {
  const details = {
    field: `allocationId.${"ä".repeat(10_000)}`,
    problem: "\u{1F600}".repeat(10_000),
    code: `X${"Y".repeat(62)}`,
    metadata: Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`name${index}`, "value".repeat(10)])),
  };
  const largest = new RegistryError("invalid", "ä".repeat(50_000), details);
  const fail = (): Promise<never> => Promise.reject(largest);
  const request = toBinary(method.input, create(method.input, { registrarParty: "r", allocationId: "a" }));
  let server: Server;
  let url: string;
  beforeAll(async () => {
    const binding = bindPartial(AllocationService, { getAllocationWithdrawContext: fail });
    server = await createServer([binding], TEST_SERVER_OPTIONS);
    url = await server.listen("127.0.0.1", 0);
  });
  afterAll(() => server.close(1_000));

  test.each([
    ["on the fast path", {}],
    ["through connect-es", { "grpc-timeout": "50S" }],
  ])("fits the headers of gRPC %s", async (_where, headers) => {
    const received = await grpcHeaders(url, `/${AllocationService.typeName}/${method.name}`, request, headers);
    const size = Object.entries(received).reduce(
      (sum, [name, value]) => sum + name.length + String(value).length + 32,
      0,
    );
    expect(size).toBeLessThan(MAX_HEADER_LIST_BYTES);
    const message = decodeURIComponent(String(received["grpc-message"]));
    const status = Buffer.from(String(received["grpc-status-details-bin"]), "base64");
    expect(detailsOfStatus(status, Code.InvalidArgument, message).map(([type]) => type)).toEqual([
      "google.rpc.ErrorInfo",
      "google.rpc.BadRequest",
    ]);
  });

  test("keeps its message over Connect", async () => {
    const response = await fetch(`${url}/${AllocationService.typeName}/${method.name}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ registrarParty: "r", allocationId: "a" }),
    });
    const { message } = (await response.json()) as { message: string };
    expect(message).toBe(largest.message);
  });
});

test("errors for clients are made with their details", () => {
  const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  const makers = files.filter((file) => readFileSync(`src/${file}`, "utf8").includes("new ConnectError("));
  expect(makers.toSorted()).toEqual(
    [
      // The error is for connect-fastify, which sends it to nobody.
      "transport/connect/handler/adapt.ts",
      // The client is gone.
      "transport/connect/handler/received-body.ts",
      "transport/watch/server-sent-events.ts",
      "transport/connect/handler/error-response.ts",
      "transport/connect/handler/library-errors.ts",
      // Copies with a shorter message.
      "transport/connect/grpc-status.ts",
      "transport/error-details.ts",
    ].toSorted(),
  );
});
