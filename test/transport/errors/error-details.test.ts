/** The details of google.rpc on refused calls: as clients of several kinds decode them, and their bounds. */
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { status } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contractId, party } from "../../../demo/element.js";
import { BadRequestSchema, ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.js";
import { AllocationService } from "../../../gen/offledger/allocation/v1/allocation_service_pb.js";
import { MetadataService } from "../../../gen/offledger/metadata/v1/metadata_service_pb.js";
import { RefusalSchema } from "../../../gen/offledger/refusal/v1/refusal_pb.js";
import { TransferInstructionService } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_service_pb.js";
import type { Config } from "../../../src/config/config.js";
import { type Cause, RegistryError, unavailable } from "../../../src/domain/errors.js";
import { cut, rejection, toConnectError } from "../../../src/transport/errors.js";
import { grpcStatus } from "../../../src/transport/rpc/errors.js";
import { createServer } from "../../../src/transport/server.js";
import {
  detailsOfStatus,
  grpcHeaders,
  type Refusal,
  type RefusedCall,
  refusedCalls,
  type RpcCall,
} from "../../fixtures/error-details.js";
import { AUDIENCE, ISSUER, JwksServer, Key, NOW } from "../../fixtures/issuer.js";
import { bindPartial } from "../../fixtures/partial-service.js";
import { serveFile } from "../../fixtures/run-service.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";
import { until } from "../../fixtures/wait.js";

const nordic = party("nordic-registrar");
const MAX_HEADER_LIST_BYTES = 8_192;
const method = AllocationService.method.getAllocationWithdrawContext;
const violationsOf = (error: ConnectError) =>
  error.findDetails(BadRequestSchema).flatMap(({ fieldViolations }) => fieldViolations);

function noReport(defect: unknown): void {
  throw new Error(`reported as a defect: ${String(defect)}`);
}
/** A party with a hint of 30 characters: 100 in all. */
const partyOf = (hint: string): string => party(hint.padEnd(30, "-"));
const registrar = partyOf("nordic-registrar");
const issuer = partyOf("identity-issuer");
const synchronizers = [party("global-domain"), party("private-synchronizer")];
const claims = [
  { property: "kycLevel", value: "enhanced-due-diligence" },
  { property: "jurisdiction", value: "NO" },
];

const missing = (n: number) => ({
  code: "credential-missing",
  party: partyOf(`holder-${n}`),
  issuer,
  claims,
  template: "Utility.Credential.V0.Credential:Credential",
});

/** Every field that a cause of the Registry Utility may have. */
const elsewhere = (n: number) => ({
  ...missing(n),
  code: "no-common-synchronizer",
  registrar,
  instrument: "NORDIC-GOVERNMENT-BOND-2031",
  contractId: contractId(`contract ${n}`),
  synchronizers,
});

const registryInfo: RpcCall = {
  method: MetadataService.method.getRegistryInfo,
  request: { registrarParty: nordic },
};

const transfer = (choiceArguments: RpcCall["request"]): RpcCall => ({
  method: TransferInstructionService.method.getTransferFactory,
  request: { registrarParty: nordic, choiceArguments },
});

const withdraw = (allocationId: string): RpcCall => ({
  method: AllocationService.method.getAllocationWithdrawContext,
  request: { registrarParty: nordic, allocationId },
});

async function startService(config: Partial<Config> = {}): Promise<string> {
  const running = await serveFile(undefined, { config, now: NOW });
  stops.push(() => running.close());
  return running.url;
}

const stops: (() => Promise<void>)[] = [];
const key = await Key.make("first", "ES256");
/** What the operation of `throwing` throws. */
let thrown: unknown;
let [url, limited, guarded, guardedWithoutKeys, throwing] = ["", "", "", "", ""];

const fail = () => Promise.reject(thrown);
beforeAll(async () => {
  url = await startService({ maxArgumentKeys: 10, maxBodyBytes: 1_024 });
  limited = await startService({ ratePerClient: 1 });
  const publisher = new JwksServer([key]);
  await publisher.open();
  const auth = { authJwksUrl: publisher.url, authIssuer: ISSUER, authAudience: AUDIENCE, authAlgorithms: ["ES256"] };
  guarded = await startService(auth);
  await until("the service has the keys", async () => {
    const authorization = `Bearer ${await key.sign()}`;
    return (await refusedCalls["Connect by fetch"]?.(guarded, registryInfo, authorization)) === undefined;
  });
  await publisher.close();
  guardedWithoutKeys = await startService(auth);
  const binding = bindPartial(AllocationService, { getAllocationWithdrawContext: fail });
  const server = await createServer([binding], TEST_SERVER_OPTIONS);
  stops.push(() => server.close(1_000));
  throwing = await server.listen("127.0.0.1", 0);
});
afterAll(async () => {
  for (const stop of stops) await stop();
});

/** Repeats bursts of calls until one is refused. */
async function firstRefusal(call: () => Promise<Refusal | undefined>, reason: string): Promise<Refusal> {
  for (let attempt = 0; attempt < 50; attempt++) {
    // oxlint-disable-next-line no-await-in-loop
    const results = await Promise.all(Array.from({ length: 3 }, call));
    const refusal = results.find((result) => result !== undefined && result.reason === reason);
    if (refusal !== undefined) return refusal;
  }
  throw new Error(`no call was refused as ${reason}`);
}

const expected = (code: status, message: RegExp, reason: string, more: Partial<Refusal> = {}) => ({
  code,
  message: expect.stringMatching(message) as string,
  reason,
  domain: "offledger",
  metadata: {},
  retryAfter: undefined,
  retrySeconds: undefined,
  violations: [],
  ...more,
});

const retryIn = (seconds: number) => ({ retryAfter: String(seconds), retrySeconds: seconds });
const bearer = async (more?: { readonly exp: number }) => `Bearer ${await key.sign(more)}`;
/** A call whose operation throws. */
const throwingTo = (call: RefusedCall, error: Error) => {
  thrown = error;
  return call(throwing, withdraw("00"));
};
const wrongAdmin = transfer({ transfer: { instrumentId: { id: "NOK-CASH", admin: 5 } } });
const wrong = (field: string, description: string) => ({ violations: [{ field, description }] });
const tooMany = "has more keys and elements than the limit of 10";
const ofRegistry = { code: "BLOCKLIST_MISSING", metadata: { instrument: "NOK-CASH", "not allowed!": "x" } };

test.each(Object.entries(refusedCalls))("%s gets the details of each error", async (_name, call) => {
  const rows: readonly (readonly [refusal: Promise<Refusal | undefined>, expectation: object])[] = [
    [call(guarded, registryInfo), expected(status.UNAUTHENTICATED, /^bearer token required/, "TOKEN_MISSING")],
    [
      call(guarded, registryInfo, await bearer({ exp: 1 })),
      expected(status.UNAUTHENTICATED, /^token expired/, "TOKEN_INVALID"),
    ],
    [
      call(guardedWithoutKeys, registryInfo, await bearer()),
      expected(status.UNAVAILABLE, /keys of its issuer are unavailable/, "ISSUER_UNAVAILABLE", retryIn(5)),
    ],
    [
      call(url, withdraw("00ab")),
      expected(status.NOT_FOUND, /^allocation 00ab of registrar nordic/, "INSTRUCTION_UNKNOWN", {
        metadata: { registrar: nordic, contractId: "00ab" },
      }),
    ],
    [
      call(url, withdraw("")),
      expected(status.INVALID_ARGUMENT, /^allocationId: /, "INVALID_FIELD", {
        violations: [
          { field: "allocation_id", description: expect.stringMatching(/^must be at least 1 ch/) as string },
        ],
      }),
    ],
    [
      call(url, wrongAdmin),
      expected(
        status.INVALID_ARGUMENT,
        /^choiceArguments\.transfer\.instrumentId\.admin must be/,
        "INVALID_ARGUMENT",
        wrong("choice_arguments.transfer.instrumentId.admin", "must be a string, but is 5"),
      ),
    ],
    [
      call(url, transfer({ a: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] })),
      expected(
        status.INVALID_ARGUMENT,
        new RegExp(`^choiceArguments ${tooMany}$`),
        "ARGUMENTS_TOO_COMPLEX",
        wrong("choice_arguments", tooMany),
      ),
    ],
    [call(url, withdraw("a".repeat(2_000))), expected(status.RESOURCE_EXHAUSTED, /larger than/, "BODY_TOO_LARGE")],
  ];
  const refusals = await Promise.all(rows.map(([refusal]) => refusal));
  expect(refusals).toEqual(rows.map(([, expectation]) => expectation));
  expect(await throwingTo(call, unavailable("no snapshot has been read yet"))).toEqual(
    expected(status.UNAVAILABLE, /^no snapshot has been read yet$/, "NOT_READY", retryIn(1)),
  );
  expect(await throwingTo(call, new RegistryError("invalid", "no blocklist", ofRegistry))).toEqual(
    expected(status.INVALID_ARGUMENT, /^no blocklist$/, "BLOCKLIST_MISSING", { metadata: { instrument: "NOK-CASH" } }),
  );
  expect(await throwingTo(call, new Error("SELECT secret"))).toEqual(
    expected(status.INTERNAL, /^something went wrong here/, "INTERNAL"),
  );
});

/** The error that the rules make of these causes. */
function refusalOf(causes: readonly Omit<Cause, "message">[]): RegistryError {
  const all = causes.map((cause, n): Cause => {
    const message = `no Credential of ${issuer} for ${cause.party} that claims kycLevel = enhanced-due-diligence (${n})`;
    return { ...cause, message };
  });
  return new RegistryError("not-found", all.map((cause) => cause.message).join("; "), { causes: all });
}

async function refused(call: RefusedCall, causes: readonly Omit<Cause, "message">[]) {
  const error = refusalOf(causes);
  thrown = error;
  const refusal = await call(throwing, withdraw(contractId("allocation")));
  if (refusal === undefined) throw new Error("the call was not refused");
  return { ...refusal, whole: error.message };
}
describe.each(Object.entries(refusedCalls))("%s", (name, call: RefusedCall) => {
  test("gets the time to wait at a rate limit", async () => {
    const refusal = await firstRefusal(() => call(limited, registryInfo), "RATE_LIMITED");
    expect(refusal).toEqual(
      expected(status.RESOURCE_EXHAUSTED, /^rate limit exceeded: 1 /, "RATE_LIMITED", retryIn(1)),
    );
  });

  test("gets every field of one cause", async () => {
    const { metadata, reason, message, refusal, whole } = await refused(call, [elsewhere(0)]);
    expect(reason).toBe("NO_COMMON_SYNCHRONIZER");
    expect(metadata).toEqual({
      registrar,
      instrument: "NORDIC-GOVERNMENT-BOND-2031",
      party: partyOf("holder-0"),
      issuer,
      claims: "kycLevel = enhanced-due-diligence, jurisdiction = NO",
      contractId: contractId("contract 0"),
      template: "Utility.Credential.V0.Credential:Credential",
      synchronizers: synchronizers.join(", "),
    });
    expect(message).toBe(whole);
    expect(refusal).toBeUndefined();
  });

  test("gets the causes that its protocol has room for, and how many there are more", async () => {
    /** Where Connect has the details. */
    const inBody = name.includes("Connect");
    const causes = Array.from({ length: 24 }, (_, n) => missing(n));
    const { refusal, metadata, message, whole } = await refused(call, causes);
    const kept = refusal?.causes.length ?? 0;
    expect(refusal).toEqual({ causes: causes.slice(0, kept), omitted: 24 - kept });
    expect(metadata).toMatchObject({ party: partyOf("holder-0"), issuer });
    expect(metadata).not.toHaveProperty("omitted");
    expect(kept).toBeGreaterThanOrEqual(inBody ? 24 : 8);
    expect(message.length).toBeGreaterThan(inBody ? 4_000 : 900);
    expect(whole.startsWith(message.replace(/…$/, ""))).toBe(true);
    expect(message.endsWith("…")).toBe(!inBody);
  });

  test("gets the other fields and causes where one is far too long", async () => {
    const long = { ...elsewhere(0), claims: [{ property: "p".repeat(9_000), value: "v" }] };
    const { refusal, metadata } = await refused(call, [long, missing(1), missing(2)]);
    expect(refusal).toEqual({ causes: [missing(1), missing(2)], omitted: 1 });
    expect(metadata).toEqual({
      registrar,
      instrument: "NORDIC-GOVERNMENT-BOND-2031",
      party: partyOf("holder-0"),
      issuer,
      contractId: contractId("contract 0"),
      template: "Utility.Credential.V0.Credential:Credential",
      synchronizers: synchronizers.join(", "),
      omitted: "claims",
    });
  });
});
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

  test.each([
    ["", "CONFLICT"],
    ["two words", "CONFLICT"],
    ["X".repeat(64), "CONFLICT"],
    ["9LIVES", "CONFLICT"],
    ["SUPPLY_CAPPED", "SUPPLY_CAPPED"],
    ["supply-capped", "SUPPLY_CAPPED"],
  ])("with the code %j has the reason %s", (code, reason) => {
    const [info] = toConnectError(new RegistryError("conflict", "", { code }), noReport).findDetails(ErrorInfoSchema);
    expect(info?.reason).toBe(reason);
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
    expect(detail?.causes.map((cause) => cause.party.length)).toEqual([
      ...Array.from({ length: 34 }, () => 1_900),
      100,
    ]);
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
  ["exactly 10", 10, "exactly 10"],
  ["more than 10", 10, "more th…"],
  ["ääää", 8, "ääää"],
  ["äääää", 8, "ää…"],
  ["\u{1F600}\u{1F600}\u{1F600}", 11, "\u{1F600}\u{1F600}…"],
  ["lone \uD800", 100, "lone \uFFFD"],
])("%j in %i bytes is %j", (text, maxBytes, result) => {
  expect(cut(text, maxBytes)).toBe(result);
});

test.each(["a", "ä", "\n"])("a message of many %j has a bounded header", (character) => {
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
  const request = toBinary(method.input, create(method.input, { registrarParty: "r", allocationId: "a" }));

  test.each([
    ["on the fast path", {}, largest],
    ["through connect-es", { "grpc-timeout": "50S" }, largest],
    ["on the fast path, with many causes", {}, ofManyCauses],
    ["through connect-es, with many causes", { "grpc-timeout": "50S" }, ofManyCauses],
  ])("fits the headers of gRPC %s", async (_where, more, error) => {
    thrown = error;
    const headers = { ...more, "x-request-id": "i".repeat(128), origin: `https://${"o".repeat(60)}.example` };
    const received = await grpcHeaders(throwing, `/${AllocationService.typeName}/${method.name}`, request, headers);
    const size = Object.entries(received).reduce(
      (sum, [name, value]) => sum + name.length + String(value).length + 32,
      0,
    );
    // Proxies add headers of their own.
    expect(size).toBeLessThan(MAX_HEADER_LIST_BYTES - 512);
    // It uses the room that there is; encoded, "ä" takes more of it than in the details.
    expect(size).toBeGreaterThan(MAX_HEADER_LIST_BYTES - (error === largest ? 2_048 : 1_024));
    const message = decodeURIComponent(String(received["grpc-message"]));
    const bytes = Buffer.from(String(received["grpc-status-details-bin"]), "base64");
    expect(message.length).toBeGreaterThan(150);
    const code = error === largest ? Code.InvalidArgument : Code.NotFound;
    expect(detailsOfStatus(bytes, code, message).map(([type]) => type)).toEqual([
      "google.rpc.ErrorInfo",
      error === largest ? "google.rpc.BadRequest" : "offledger.refusal.v1.Refusal",
    ]);
  });

  test("keeps its message over Connect", async () => {
    thrown = largest;
    const response = await fetch(`${throwing}/${AllocationService.typeName}/${method.name}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ registrarParty: "r", allocationId: "a" }),
    });
    const { message } = (await response.json()) as { message: string };
    expect(message).toBe(largest.message);
  });
});
