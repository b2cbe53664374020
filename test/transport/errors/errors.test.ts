import { bindPartial } from "../../fixtures/partial-service.js";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AllocationService } from "../../../gen/offledger/allocation/v1/allocation_service_pb.js";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.js";
import type { Contract } from "../../../src/domain/contract.js";
import { contextReply } from "../../../src/service/messages.js";
import { conflict, invalid, notFound, unavailable, unsupported } from "../../../src/domain/errors.js";
import { httpError, rejection, toConnectError, toRestError } from "../../../src/transport/errors.js";
import { createServer, type Server } from "../../../src/transport/server.js";
import { type Call, protocols } from "../../fixtures/protocols.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";

const tokenStandard = "/api/token-standard/v0/registrars/r/registry/allocations/v1/a/choice-contexts/withdraw";
const utility = "/api/utilities/v0/registry/burn/v0/offer/a/choice-contexts/cancel";

/** A copy of the table: code, status, error name of utility operations, and seconds of Retry-After. */
const table = [
  [Code.InvalidArgument, 400, "invalid_argument", undefined],
  [Code.Unauthenticated, 401, "unauthenticated", undefined],
  [Code.PermissionDenied, 403, "permission_denied", undefined],
  [Code.NotFound, 404, "not_found", undefined],
  [Code.Aborted, 409, "aborted", undefined],
  [Code.ResourceExhausted, 429, "resource_exhausted", "1"],
  [Code.Internal, 500, "unknown_error", undefined],
  [Code.Unimplemented, 501, "unimplemented", undefined],
  [Code.Unavailable, 503, "unavailable", "1"],
  [Code.DeadlineExceeded, 504, "deadline_exceeded", undefined],
] as const;

const headersFor = (retryAfter: string | undefined) => (retryAfter === undefined ? {} : { "retry-after": retryAfter });

describe("an error", () => {
  test.each(table)("with code %d has status %d on REST", (code, status, name, retryAfter) => {
    const error = new ConnectError("what is wrong", code);
    const headers = headersFor(retryAfter);
    expect(toRestError(error, tokenStandard)).toEqual({ status, headers, body: { error: "what is wrong" } });
    const ofUtility = { status, headers, body: { error: name, error_description: "what is wrong" } };
    expect(toRestError(error, utility)).toEqual(ofUtility);
    expect(httpError(status, "what is wrong", utility)).toEqual(ofUtility);
  });

  test.each([
    [405, "invalid_argument"],
    [413, "resource_exhausted"],
    [415, "invalid_argument"],
    [431, "invalid_argument"],
  ])("with the HTTP-only status %d keeps its status, and has the name %s", (status, error) => {
    expect(httpError(status, "what is wrong", utility)).toEqual({
      status,
      headers: {},
      body: { error, error_description: "what is wrong" },
    });
  });

  test.each([
    ["BODY_TOO_LARGE", Code.ResourceExhausted, 413],
    ["PATH_TOO_LONG", Code.InvalidArgument, 414],
    ["UNKNOWN_OPERATION", Code.Unimplemented, 404],
    ["OVERLOADED", Code.Unavailable, 503],
  ] as const)("with the reason %s has its status on REST", (reason, code, status) => {
    const error = rejection(reason, "what is wrong");
    expect({ code: error.code, status: toRestError(error, utility).status }).toEqual({ code, status });
  });

  test("with another code than that of its reason has the status of the code", () => {
    const error = rejection("BODY_TOO_LARGE", "what is wrong", { code: Code.InvalidArgument });
    expect(toRestError(error, tokenStandard).status).toBe(400);
  });

  test.each([Code.Canceled, Code.Unknown, Code.OutOfRange, Code.DataLoss])(
    "with the unlisted code %d has status 500",
    (code) => {
      expect(toRestError(new ConnectError("", code), utility)).toMatchObject({
        status: 500,
        body: { error: "unknown_error" },
      });
    },
  );

  test.each([utility, "/api/utilities/"])("at %s has a name and a description", (url) => {
    expect(httpError(404, "what is wrong", url).body).toEqual({
      error: "not_found",
      error_description: "what is wrong",
    });
  });

  test.each(["/", "/api/utilities", "/api/utilities-2/", `/x${utility}`])("at %s has only a message", (url) => {
    expect(httpError(404, "what is wrong", url).body).toEqual({ error: "what is wrong" });
  });
});

/** Fails the test: this error is not a defect. */
function noReport(defect: unknown): void {
  throw new Error(`reported as a defect: ${String(defect)}`);
}

describe("a domain error", () => {
  test.each([
    ["invalid", invalid, Code.InvalidArgument, 400, undefined],
    ["not-found", notFound, Code.NotFound, 404, undefined],
    ["conflict", conflict, Code.Aborted, 409, undefined],
    ["unavailable", unavailable, Code.Unavailable, 503, "1"],
    ["unsupported", unsupported, Code.Unimplemented, 501, undefined],
  ] as const)("for the reason %s", (reason, make, code, status, retryAfter) => {
    const error = toConnectError(make("what is wrong"), noReport);
    expect(make("").reason).toBe(reason);
    expect(error).toBeInstanceOf(ConnectError);
    expect(error.code).toBe(code);
    expect(error.rawMessage).toBe("what is wrong");
    expect(error.metadata.get("retry-after") ?? undefined).toBe(retryAfter);
    expect(toRestError(error, tokenStandard)).toEqual({
      status,
      headers: headersFor(retryAfter),
      body: { error: "what is wrong" },
    });
  });

  test("of the transport is passed on unchanged", () => {
    const error = rejection("MALFORMED_MESSAGE", "the body must be a JSON object");
    expect(error.code).toBe(Code.InvalidArgument);
    expect(error.rawMessage).toBe("the body must be a JSON object");
    expect(toConnectError(error, noReport)).toBe(error);
  });
});

const secret = 'SELECT "secret" FROM contracts';

describe("a defect", () => {
  test.each<[string, unknown]>([
    ["an Error", new Error(secret)],

    ["an object", { message: secret, code: Code.NotFound, reason: "invalid" }],
    ["nothing", undefined],

    ["a ConnectError that calls itself internal", new ConnectError(secret, Code.Internal)],

    ["a ConnectError of a code that the table does not have", new ConnectError(secret, Code.DataLoss)],
  ])("that is %s is reported and hidden", (_what, defect) => {
    const reported: unknown[] = [];
    const error = toConnectError(defect, (one) => reported.push(one));
    expect(reported).toEqual([defect]);
    expect(reported[0]).toBe(defect);
    expect(error.code).toBe(Code.Internal);
    expect(error.rawMessage).toMatch(/^something went wrong here/);
    expect(error.cause).toBeUndefined();
    expect([...error.metadata]).toEqual([]);
    expect(error.details).toEqual([
      { desc: ErrorInfoSchema, value: { reason: "INTERNAL", domain: "offledger", metadata: {} } },
    ]);
    for (const url of [tokenStandard, utility]) {
      const rest = toRestError(error, url);
      expect(rest.status).toBe(500);
      expect(JSON.stringify(rest)).not.toContain("secret");
    }
  });
});

/** The rules never disclose a contract in reassignment. This one cannot be encoded. */
const unencodable: Contract = {
  contractId: "secret-contract",
  template: { packageName: "package", qualifiedName: "Module:Entity", parse: () => undefined },
  templateId: "package:Module:Entity",
  payload: "{}",
  fields: null,
  indexKeys: [],
  createdEventBlob: "AAAA",
  createdAt: "2026-01-05T09:00:00Z",
  createdMicros: 0,
  synchronizerId: undefined,
  reassignmentCounter: 1,
  supply: undefined,
  slots: undefined,
};

const withdraw = async () => contextReply({ values: [], disclosed: [unencodable] }, false);

describe("over the protocols", () => {
  const tokenStandardCall: Call = {
    method: AllocationService.method.getAllocationWithdrawContext,
    request: { registrarParty: "r", allocationId: "a" },
    path: tokenStandard,
    body: {},
  };
  let server: Server;
  let url: string;

  beforeAll(async () => {
    const bindings = [bindPartial(AllocationService, { getAllocationWithdrawContext: withdraw })];
    server = await createServer(bindings, TEST_SERVER_OPTIONS);
    url = await server.listen("127.0.0.1", 0);
  });
  afterAll(() => server.close(1_000));

  test("a response that cannot be encoded is a defect", async () => {
    for (const [name, call] of Object.entries(protocols)) {
      const outcome = await call(url, tokenStandardCall);
      expect(outcome).toMatchObject({ ok: false, code: name === "REST" ? Code.Unknown : Code.Internal });
      expect(JSON.stringify(outcome)).not.toContain("secret-contract");
    }
  });
});
