/** The bounds of error details: clients of gRPC accept 8 KB of headers by default. */
import { readdirSync, readFileSync } from "node:fs";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BadRequestSchema, ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.js";
import { AllocationService } from "../../../gen/offledger/allocation/v1/allocation_service_pb.js";
import { RefusalSchema } from "../../../gen/offledger/refusal/v1/refusal_pb.js";
import { RegistryError } from "../../../src/domain/errors.js";
import { grpcStatus } from "../../../src/transport/rpc/errors.js";
import { cut, rejection, toConnectError } from "../../../src/transport/errors.js";
import { createServer, type Server } from "../../../src/transport/server.js";
import { detailsOfStatus, grpcHeaders } from "../../fixtures/error-details.js";
import { bindPartial } from "../../fixtures/partial-service.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";

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
    const fields = violationsOf(rejection("INVALID_FIELD", "", { violations })).map(({ field }) => field);
    expect(fields).toEqual(Array.from({ length: 20 }, (_, index) => `f${index}`));
  });

  test("are cut", () => {
    const violations = [{ field: "a.".repeat(500), description: "ä".repeat(500) }];
    const [violation] = violationsOf(rejection("INVALID_FIELD", "", { violations }));
    expect(violation?.field).toMatch(/^(a\.)+a?…$/);
    expect(violation?.description).toMatch(/^ä+…$/);
    expect(Buffer.byteLength(violation?.field ?? "")).toBeLessThanOrEqual(256);
    expect(Buffer.byteLength(violation?.description ?? "")).toBeLessThanOrEqual(256);
    expect(Buffer.byteLength(violation?.description ?? "")).toBeGreaterThan(250);
  });

  test("stay out of an error without any", () => {
    expect(rejection("INVALID_FIELD", "").findDetails(BadRequestSchema)).toEqual([]);
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

  test("names at most 100 causes, and how many more there are", () => {
    const causes = Array.from({ length: 150 }, (_, n) => ({
      code: "credential-missing",
      message: `${n}`,
      party: `party-${n}::1220${"a".repeat(60)}`,
      claims: [{ property: "kyc", value: "yes" }],
    }));
    const error = toConnectError(new RegistryError("not-found", "many", { causes }), noReport);
    const [detail] = error.findDetails(RefusalSchema);
    expect([detail?.causes.length, detail?.omitted]).toEqual([100, 50]);
    expect(detail?.causes[1]).toMatchObject({ code: "credential-missing", message: "", party: causes[1]?.party });
    expect(error.findDetails(ErrorInfoSchema)[0]).toMatchObject({
      reason: "CREDENTIAL_MISSING",
      metadata: { party: causes[0]?.party, claims: "kyc = yes" },
    });
  });

  test("names causes of at most 64 KiB together and 2 KiB each", () => {
    const sizes = [3_000, ...Array.from({ length: 60 }, () => 1_900), 100];
    const causes = sizes.map((bytes, n) => ({ code: "mine", message: `${n}`, party: "p".repeat(bytes) }));
    const [detail] = toConnectError(new RegistryError("conflict", "", { causes }), noReport).findDetails(RefusalSchema);
    // The first is too large, and the last takes the room that another of 1,900 bytes does not.
    expect(detail?.causes.map(({ party }) => party.length)).toEqual([...Array.from({ length: 34 }, () => 1_900), 100]);
    expect(detail?.omitted).toBe(27);
    expect(detail === undefined ? 0 : toBinary(RefusalSchema, detail).length).toBeLessThanOrEqual(65_536);
  });

  test("has bounded metadata, which names what is left out", () => {
    const large = "x".repeat(1_700);
    const metadata = { larger: `${large}x`, good: "1", "two words": "2", ["n".repeat(65)]: "3", large, small: "4" };
    const error = toConnectError(new RegistryError("conflict", "", { code: "MINE", metadata }), noReport);
    expect(error.findDetails(ErrorInfoSchema)).toEqual([
      create(ErrorInfoSchema, {
        reason: "MINE",
        domain: "offledger",
        metadata: { good: "1", large, small: "4", omitted: "larger" },
      }),
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
  const header = grpcStatus(rejection("INVALID_ARGUMENT", character.repeat(100_000))).get("grpc-message") ?? "";
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
  const causes = Array.from({ length: 200 }, (_, n) => ({
    code: "credential-missing",
    message: `${n}`,
    party: "p".repeat(n % 60),
    claims: Array.from({ length: n % 7 }, () => ({ property: "ä".repeat(50), value: "v".repeat(90) })),
  }));
  const ofManyCauses = new RegistryError("not-found", "x".repeat(50_000), { ...details, causes });
  let thrown = largest;
  const fail = (): Promise<never> => Promise.reject(thrown);
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
    ["on the fast path", {}, largest],
    ["through connect-es", { "grpc-timeout": "50S" }, largest],
    ["on the fast path, with many causes", {}, ofManyCauses],
    ["through connect-es, with many causes", { "grpc-timeout": "50S" }, ofManyCauses],
  ])("fits the headers of gRPC %s", async (_where, more, error) => {
    thrown = error;
    const headers = { ...more, "x-request-id": "i".repeat(128), origin: `https://${"o".repeat(60)}.example` };
    const received = await grpcHeaders(url, `/${AllocationService.typeName}/${method.name}`, request, headers);
    const size = Object.entries(received).reduce(
      (sum, [name, value]) => sum + name.length + String(value).length + 32,
      0,
    );
    // Proxies add headers of their own.
    expect(size).toBeLessThan(MAX_HEADER_LIST_BYTES - 512);
    // It uses the room that there is; encoded, "ä" takes more of it than in the details.
    expect(size).toBeGreaterThan(MAX_HEADER_LIST_BYTES - (error === largest ? 2_048 : 1_024));
    const message = decodeURIComponent(String(received["grpc-message"]));
    const status = Buffer.from(String(received["grpc-status-details-bin"]), "base64");
    expect(message.length).toBeGreaterThan(150);
    const code = error === largest ? Code.InvalidArgument : Code.NotFound;
    expect(detailsOfStatus(status, code, message).map(([type]) => type)).toEqual([
      "google.rpc.ErrorInfo",
      error === largest ? "google.rpc.BadRequest" : "offledger.refusal.v1.Refusal",
    ]);
  });

  test("keeps its message over Connect", async () => {
    thrown = largest;
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
      // Connect-fastify sends it to nobody.
      "transport/rpc/rpc.ts",
      // The client is gone.
      "transport/watch/server-sent-events.ts",
      // Copies with a shorter message.
      "transport/rpc/errors.ts",
      "transport/errors.ts",
    ].toSorted(),
  );
});
