/** Errors: their form of REST, and the bounds of their details. Each of them by each protocol is in matrix.test.ts. */
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contractId, party } from "../../demo/element.js";
import { BadRequestSchema, ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { AllocationService } from "../../gen/offledger/allocation/v1/allocation_service_pb.js";
import { RefusalSchema } from "../../gen/offledger/refusal/v1/refusal_pb.js";
import { type Cause, RegistryError } from "../../src/domain/errors.js";
import { cut } from "../../src/transport/error-details.js";
import { httpError, rejection, toConnectError, toRestError } from "../../src/transport/errors.js";
import { grpcStatus } from "../../src/transport/rpc/errors.js";
import { createServer, type Server } from "../../src/transport/server.js";
import { onAllocation } from "../fixtures/calls/operations.js";
import { bindPartial } from "../fixtures/partial-service.js";
import { connectError, type Form, grpcError, requestForms, sendForm } from "../fixtures/requests-in-forms.js";
import { TEST_SERVER_OPTIONS } from "../fixtures/server-options.js";

const utility = "/api/utilities/v0/registry/burn/v0/offer/a/choice-contexts/cancel";
const method = AllocationService.method.getAllocationWithdrawContext;
const MAX_HEADER_LIST_BYTES = 8_192;

/** Fails the test: this error is not a defect. */
function noReport(defect: unknown): void {
  throw new Error(`reported as a defect: ${String(defect)}`);
}
const ofRegistry = (...args: ConstructorParameters<typeof RegistryError>) =>
  toConnectError(new RegistryError(...args), noReport, method.input);
const violationsOf = (error: ConnectError) =>
  error.findDetails(BadRequestSchema).flatMap(({ fieldViolations }) => fieldViolations);

describe("over REST", () => {
  test.each([
    [405, "invalid_argument"],
    [413, "resource_exhausted"],
    [415, "invalid_argument"],
    [431, "invalid_argument"],
    [408, "deadline_exceeded"],
    [418, "invalid_argument"],
    [505, "unimplemented"],
    [502, "unknown_error"],
  ])("the status %d of HTTP has the name %s", (status, error) => {
    const body = { error, error_description: "what is wrong" };
    expect(httpError(status, "what is wrong", utility)).toEqual({ status, headers: {}, body });
  });

  test("the status is that of the code where the reason has another code, and 500 for a code that is in no row", () => {
    const error = rejection("BODY_TOO_LARGE", "what is wrong", { code: Code.InvalidArgument });
    expect(toRestError(error, "/").status).toBe(400);
    for (const code of [Code.Canceled, Code.Unknown, Code.OutOfRange, Code.DataLoss])
      expect(toRestError(new ConnectError("", code), utility)).toMatchObject({
        status: 500,
        body: { error: "unknown_error" },
      });
  });

  test.each([
    [utility, true],
    ["/api/utilities/", true],
    ["/", false],
    ["/api/utilities", false],
    ["/api/utilities-2/", false],
    [`/x${utility}`, false],
  ])("at %s it has a name: %s", (url, hasName) => {
    const body = hasName ? { error: "not_found", error_description: "wrong" } : { error: "wrong" };
    expect(httpError(404, "wrong", url).body).toEqual(body);
  });
});

test.each<[string, unknown]>([
  ["an Error", new Error("secret")],
  ["an object", { message: "secret", code: Code.NotFound, reason: "invalid" }],
  ["nothing", undefined],
  ["a ConnectError that calls itself internal", new ConnectError("secret", Code.Internal)],
  ["a ConnectError of a code that the table does not have", new ConnectError("secret", Code.DataLoss)],
])("%s is a defect: reported, and hidden", (_what, defect) => {
  const reported: unknown[] = [];
  const error = toConnectError(defect, (one) => reported.push(one), method.input);
  expect(reported).toEqual([defect]);
  expect([error.code, error.cause, [...error.metadata]]).toEqual([Code.Internal, undefined, []]);
  expect(error.rawMessage).toMatch(/^something went wrong here/);
  const info = { reason: "INTERNAL", domain: "offledger", metadata: {} };
  expect(error.details).toEqual([{ desc: ErrorInfoSchema, value: info }]);
});

test("an error of the transport is passed on", () => {
  const error = rejection("MALFORMED_MESSAGE", "the body must be a JSON object");
  expect(toConnectError(error, noReport, method.input)).toBe(error);
});

describe("violations", () => {
  test("are the first 20, and cut", () => {
    const many = Array.from({ length: 50 }, (_, index) => ({ field: `f${index}`, description: "wrong" }));
    expect(violationsOf(rejection("INVALID_FIELD", "", { violations: many })).map(({ field }) => field)).toEqual(
      Array.from({ length: 20 }, (_, index) => `f${index}`),
    );
    const violations = [{ field: "a.".repeat(500), description: "ä".repeat(500) }];
    const [violation] = violationsOf(rejection("INVALID_FIELD", "", { violations }));
    expect(violation?.field).toMatch(/^(a\.)+a?…$/);
    expect(violation?.description).toMatch(/^ä+…$/);
    expect(Buffer.byteLength(violation?.field ?? "")).toBeLessThanOrEqual(256);
    const size = Buffer.byteLength(violation?.description ?? "");
    expect([size <= 256, size > 250]).toEqual([true, true]);
  });

  test("of a registry name the field as the proto files do, if the message has it and it is invalid", () => {
    const fieldOf = (field: string) => violationsOf(ofRegistry("invalid", "wrong", { field })).map((one) => one.field);
    expect([fieldOf("allocationId"), fieldOf("instrument.id"), fieldOf("")]).toEqual([["allocation_id"], [], []]);
    expect(violationsOf(ofRegistry("not-found", "missing", { field: "allocationId" }))).toEqual([]);
  });
});

describe("an error of a registry", () => {
  test.each([
    ["", "CONFLICT"],
    ["two words", "CONFLICT"],
    ["X".repeat(64), "CONFLICT"],
    ["9LIVES", "CONFLICT"],
    ["SUPPLY_CAPPED", "SUPPLY_CAPPED"],
    ["supply-capped", "SUPPLY_CAPPED"],
  ])("with the code %j has the reason %s", (code, reason) => {
    expect(ofRegistry("conflict", "", { code }).findDetails(ErrorInfoSchema)[0]?.reason).toBe(reason);
  });

  test("names at most 100 causes, and how many more there are", () => {
    const causes = Array.from({ length: 150 }, (_, n) => ({
      code: "credential-missing",
      message: `${n}`,
      party: `party-${n}::1220${"a".repeat(60)}`,
      claims: [{ property: "kyc", value: "yes" }],
    }));
    const error = ofRegistry("not-found", "many", { causes });
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
    const [detail] = ofRegistry("conflict", "", { causes }).findDetails(RefusalSchema);
    // The first is too large, and the last takes the room that another of 1,900 bytes does not.
    const kept = [...Array.from({ length: 34 }, () => 1_900), 100];
    expect([detail?.causes.map((cause) => cause.party.length), detail?.omitted]).toEqual([kept, 27]);
  });

  test("has bounded metadata, which names what is left out", () => {
    const large = "x".repeat(1_700);
    const metadata = { larger: `${large}x`, good: "1", "two words": "2", ["n".repeat(65)]: "3", large, small: "4" };
    expect(ofRegistry("conflict", "", { code: "MINE", metadata }).findDetails(ErrorInfoSchema)).toMatchObject([
      { reason: "MINE", metadata: { good: "1", large, small: "4", omitted: "larger" } },
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
])("%j in %i bytes is %j", (text, maxBytes, result) => expect(cut(text, maxBytes)).toBe(result));

test.each(["a", "ä", "\n"])("a message of many %j has a bounded header", (character) => {
  const header = grpcStatus(rejection("INVALID_ARGUMENT", character.repeat(100_000))).get("grpc-message") ?? "";
  expect([header.length <= 2_048, header.length > 2_000, decodeURIComponent(header).endsWith("…")]).toEqual([
    true,
    true,
    true,
  ]);
});

/** A party with a hint of 30 characters: 100 in all. */
const partyOf = (hint: string): string => party(hint.padEnd(30, "-"));
const issuer = partyOf("identity-issuer");
const missing = (n: number) => ({
  code: "credential-missing",
  party: partyOf(`holder-${n}`),
  issuer,
  claims: [
    { property: "kycLevel", value: "enhanced-due-diligence" },
    { property: "jurisdiction", value: "NO" },
  ],
  template: "Utility.Credential.V0.Credential:Credential",
});
/** Every field that a cause of the Registry Utility may have. */
const elsewhere = {
  ...missing(0),
  code: "no-common-synchronizer",
  registrar: partyOf("nordic-registrar"),
  instrument: "NORDIC-GOVERNMENT-BOND-2031",
  contractId: contractId("contract 0"),
  synchronizers: [party("global-domain"), party("private-synchronizer")],
};
const { code: _, claims: _claims, synchronizers, ...plain } = elsewhere;
const metadata = {
  ...plain,
  claims: "kycLevel = enhanced-due-diligence, jurisdiction = NO",
  synchronizers: synchronizers.join(", "),
};

describe("on the wire", () => {
  let thrown: RegistryError;
  let server: Server;
  let url: string;
  const fail = () => Promise.reject(thrown);
  beforeAll(async () => {
    server = await createServer(
      [bindPartial(AllocationService, { getAllocationWithdrawContext: fail })],
      TEST_SERVER_OPTIONS,
    );
    url = await server.listen("127.0.0.1", 0);
  });
  afterAll(() => server.close(1_000));

  const send = (form: Form, headers: Record<string, string> = {}) => {
    const request = requestForms[form](onAllocation("v1", "withdraw", contractId("allocation"), "r"));
    return sendForm(url, form, { ...request, headers: { ...request.headers, ...headers } });
  };
  async function refused(form: Form, all: readonly Omit<Cause, "message">[]) {
    const causes = all.map((cause, n): Cause => ({
      ...cause,
      message: `no Credential of ${issuer} that claims kycLevel = enhanced-due-diligence (${n})`,
    }));
    thrown = new RegistryError("not-found", causes.map((cause) => cause.message).join("; "), { causes });
    const { message, details } = await (form.startsWith("Connect")
      ? send(form).then(connectError)
      : send(form).then(grpcError));
    return {
      message,
      info: details["google.rpc.ErrorInfo"],
      refusal: details["offledger.refusal.v1.Refusal"] as { causes: readonly object[]; omitted?: number } | undefined,
    };
  }

  test.each<Form>(["Connect JSON", "Connect JSON with a deadline", "gRPC", "gRPC with a deadline", "gRPC-Web"])(
    "over %s a refusal has every field of one cause, and as many causes as there is room for",
    async (form) => {
      const one = await refused(form, [elsewhere]);
      expect(one.info).toEqual({ reason: "NO_COMMON_SYNCHRONIZER", domain: "offledger", metadata });
      expect([one.message, one.refusal]).toEqual([thrown.message, undefined]);

      /** Where Connect has the details. */
      const inBody = form.startsWith("Connect");
      const causes = Array.from({ length: 24 }, (__, n) => missing(n));
      const { refusal, info, message } = await refused(form, causes);
      const kept = refusal?.causes.length ?? 0;
      expect(refusal).toEqual({ causes: causes.slice(0, kept), ...(kept < 24 && { omitted: 24 - kept }) });
      expect(info).toMatchObject({ metadata: { party: partyOf("holder-0"), issuer } });
      expect(kept).toBeGreaterThanOrEqual(inBody ? 24 : 8);
      expect(message.length).toBeGreaterThan(inBody ? 2_000 : 900);
      expect(thrown.message.startsWith(message.replace(/…$/, ""))).toBe(true);
      expect(message.endsWith("…")).toBe(!inBody);

      const long = { ...elsewhere, claims: [{ property: "p".repeat(9_000), value: "v" }] };
      const others = await refused(form, [long, missing(1), missing(2)]);
      expect(others.refusal).toEqual({ causes: [missing(1), missing(2)], omitted: 1 });
      const bounded = { ...metadata, claims: undefined, omitted: "claims" };
      expect(others.info).toEqual({ reason: "NO_COMMON_SYNCHRONIZER", domain: "offledger", metadata: bounded });
    },
  );

  const details = {
    field: `allocationId.${"ä".repeat(10_000)}`,
    problem: "\u{1F600}".repeat(10_000),
    code: `X${"Y".repeat(62)}`,
    metadata: Object.fromEntries(Array.from({ length: 100 }, (__, index) => [`name${index}`, "value".repeat(10)])),
  };
  const largest = new RegistryError("invalid", "ä".repeat(50_000), details);
  const causes = Array.from({ length: 200 }, (__, n) => ({
    code: "credential-missing",
    message: `${n}`,
    party: "p".repeat(n % 60),
    claims: Array.from({ length: n % 7 }, () => ({ property: "ä".repeat(50), value: "v".repeat(90) })),
  }));
  const ofManyCauses = new RegistryError("not-found", "x".repeat(50_000), { ...details, causes });

  test.each<[Form, string, RegistryError]>([
    ["gRPC", "google.rpc.BadRequest", largest],
    ["gRPC with a deadline", "google.rpc.BadRequest", largest],
    ["gRPC", "offledger.refusal.v1.Refusal", ofManyCauses],
    ["gRPC with a deadline", "offledger.refusal.v1.Refusal", ofManyCauses],
  ])("over %s the largest error with %s fits the headers of clients", async (form, detail, error) => {
    thrown = error;
    const response = await send(form, { "x-request-id": "i".repeat(128), origin: `https://${"o".repeat(60)}.example` });
    const size = Object.entries(response.headers).reduce(
      (sum, [name, value]) => sum + name.length + String(value).length + 32,
      0,
    );
    // Proxies add headers of their own. It uses the room that there is; encoded, "ä" takes more of it than in the details.
    expect(size).toBeLessThan(MAX_HEADER_LIST_BYTES - 512);
    expect(size).toBeGreaterThan(MAX_HEADER_LIST_BYTES - (error === largest ? 2_048 : 1_024));
    const { message, details: sent } = grpcError(response);
    expect(message.length).toBeGreaterThan(150);
    expect(Object.keys(sent)).toEqual(["google.rpc.ErrorInfo", detail]);
  });

  test("over Connect it keeps its message", async () => {
    thrown = largest;
    expect(connectError(await send("Connect JSON")).message).toBe(largest.message);
  });
});
