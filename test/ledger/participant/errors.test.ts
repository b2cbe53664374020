import type { v3_5 } from "@canton-network/core-ledger-client-types";
import { describe, expect, test } from "vitest";
import {
  LedgerError,
  messageError,
  responseError,
  type LedgerErrorKind,
} from "../../../src/ledger/participant/errors.js";
import type { JsonValue } from "../../../src/domain/json.js";

type CantonError = v3_5.components["schemas"]["JsCantonError"];

function errorBody(code: string, more: Partial<CantonError> = {}): JsonValue {
  const error: CantonError = {
    code,
    cause: "what happened",
    correlationId: "c",
    traceId: "t",
    context: {},
    resources: [],
    errorCategory: 9,
    definiteAnswer: false,
    ...more,
  };
  return JSON.parse(JSON.stringify(error)) as JsonValue;
}

const ofResponse = (body: JsonValue | undefined, status: number): LedgerErrorKind => responseError(body, status).kind;
const ofMessage = (message: JsonValue): LedgerErrorKind | undefined => messageError(message)?.kind;

const codes: readonly (readonly [string, LedgerErrorKind])[] = [
  ["PARTICIPANT_PRUNED_DATA_ACCESSED", "pruned"],
  ["OFFSET_AFTER_LEDGER_END", "ahead"],
  ["PARTICIPANT_DATA_ACCESSED_AFTER_LEDGER_END", "ahead"],
  ["ACCESS_TOKEN_EXPIRED", "denied"],
  ["STALE_STREAM_AUTHORIZATION", "denied"],
  ["PACKAGE_NAMES_NOT_FOUND", "incomplete"],
  ["JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED", "refused"],
];

describe("an error code", () => {
  test.each(codes)("%s is %s, as a response and on a stream, whatever the other fields", (code, kind) => {
    expect(ofResponse(errorBody(code), 400)).toBe(kind);
    expect(ofMessage(errorBody(code, { grpcCodeValue: 9 }))).toBe(kind);
    expect(ofResponse(errorBody(code, { errorCategory: 2, grpcCodeValue: 16 }), 503)).toBe(kind);
  });
});

describe("without a known code, a category", () => {
  test.each<[number, string, LedgerErrorKind]>([
    [1, "SERVER_IS_SHUTTING_DOWN", "busy"],
    [2, "MAXIMUM_NUMBER_OF_STREAMS", "busy"],
    [3, "DEADLINE", "busy"],
    [4, "LEDGER_API_INTERNAL_ERROR", "internal"],
    [6, "NO_TOKEN", "denied"],
    [7, "NO_RIGHT", "denied"],
    [8, "INVALID_ARGUMENT", "refused"],
    [9, "DAML_FAILURE", "refused"],
    [11, "CONTRACT_NOT_FOUND", "refused"],
    [12, "SEEK_AFTER_END", "refused"],
  ])("%i (%s) is %s, whatever the gRPC code and the status", (errorCategory, code, kind) => {
    for (const grpcCodeValue of [3, 10, 14, 16]) {
      expect(ofMessage(errorBody(code, { errorCategory, grpcCodeValue }))).toBe(kind);
      for (const status of [400, 401, 409, 503]) {
        expect(ofResponse(errorBody(code, { errorCategory, grpcCodeValue }), status)).toBe(kind);
      }
    }
  });

  test.each<[string, number | undefined]>([
    ["1 second", 1_000],
    ["5 seconds", 5_000],
    ["200 milliseconds", 200],
    ["1 minute", 60_000],
    ["2 minutes", 60_000],
    ["999999999 seconds", 60_000],
    ["soon", undefined],
    ["-1 seconds", undefined],
    ["1 fortnight", undefined],
  ])("that passes says when to ask again: %s", (retryInfo, retryMs) => {
    expect(responseError(errorBody("X", { errorCategory: 2, retryInfo }), 409).retryMs).toBe(retryMs);
    expect(messageError(errorBody("X", { errorCategory: 2, retryInfo }))?.retryMs).toBe(retryMs);
    expect(responseError(errorBody("OFFSET_AFTER_LEDGER_END", { retryInfo }), 400).retryMs).toBeUndefined();
  });
});

const hidden = (grpcCodeValue: number): JsonValue => errorBody("NA", { errorCategory: -1, grpcCodeValue });

describe("without a category, a gRPC code", () => {
  test.each<[number, LedgerErrorKind, boolean]>([
    [1, "busy", false],
    [4, "busy", false],
    [7, "denied", true],
    [8, "busy", false],
    [10, "busy", false],
    [13, "busy", false],
    [14, "busy", false],
    [16, "denied", false],
  ])("%i is %s, whatever the status; forbidden: %s", (grpcCodeValue, kind, isForbidden) => {
    expect(messageError(hidden(grpcCodeValue))).toMatchObject({ kind, isForbidden });
    for (const status of [400, 409, 500]) {
      expect(responseError(hidden(grpcCodeValue), status)).toMatchObject({ kind, isForbidden, status });
    }
  });

  test("that says nothing leaves a message of a stream a refusal", () => {
    for (const grpcCodeValue of [3, 5, 9, 11]) expect(ofMessage(hidden(grpcCodeValue))).toBe("refused");
  });
});

describe("without any of them, a status", () => {
  test.each<[number, LedgerErrorKind, boolean]>([
    [400, "refused", false],
    [401, "denied", false],
    [403, "denied", true],
    [404, "refused", false],
    [408, "busy", false],
    [409, "busy", false],
    [413, "refused", false],
    [429, "busy", false],
    [500, "busy", false],
    [502, "busy", false],
    [503, "busy", false],
    [504, "busy", false],
  ])("%i is %s; forbidden: %s", (status, kind, isForbidden) => {
    for (const body of [undefined, null, "text", 5, [], {}, { error: "x" }, hidden(2)]) {
      expect(responseError(body, status)).toMatchObject({ kind, isForbidden, status });
    }
  });
});

test("a token that is not accepted is said to live too long perhaps; one that expires on a stream is not", () => {
  expect(messageError(hidden(16))?.message).toContain("lives longer than the participant's maximum");
  expect(responseError(undefined, 401).message).toContain("lives longer than the participant's maximum");
  expect(messageError(hidden(7))?.message).not.toContain("maximum");
  expect(messageError(errorBody("ACCESS_TOKEN_EXPIRED"))?.message).not.toContain("maximum");
});

test("a path that is not there is named, and an error of the API is not taken for one", () => {
  const url = "http://ledger.example/base/v2/updates";
  expect(responseError({ errors: ["HttpMethod(GET)"], status: 404, ledgerApiError: null }, 404, url)).toMatchObject({
    kind: "refused",
    message: `there is no JSON Ledger API at ${url} (status 404): check the path of OFFLEDGER_LEDGER_URL`,
  });
  expect(responseError(errorBody("UPDATE_NOT_FOUND", { errorCategory: 11 }), 404, url).message).not.toContain(url);
});

describe("on a stream, a message that is not an error", () => {
  test.each<[string, JsonValue]>([
    ["null", null],
    ["a text", "code"],
    ["a list", ["code", "cause"]],
    ["an empty object", {}],
    ["an update", { update: { OffsetCheckpoint: { value: { offset: 5 } } } }],
    ["an active contract", { workflowId: "", contractEntry: { JsEmpty: {} } }],
    ["a code without a cause", { code: "X" }],
    ["a cause without a code", { cause: "x" }],
    ["a code that is no text", { code: 5, cause: "x" }],
  ])("%s gives none", (_what, value) => {
    expect(messageError(value)).toBeUndefined();
  });
});

describe("the message of an error", () => {
  test("has the status, the code and the cause", () => {
    const error = responseError(errorBody("SOME_CODE"), 400);
    expect(error).toBeInstanceOf(LedgerError);
    expect(error).toMatchObject({
      name: "LedgerError",
      code: "SOME_CODE",
      message: "the participant answered status 400, SOME_CODE: what happened",
    });
    expect(messageError(errorBody("SOME_CODE"))?.message).toBe("the participant answered SOME_CODE: what happened");
  });

  test("says if there is no code and no cause", () => {
    const error = responseError(undefined, 500);
    expect(error.code).toBeUndefined();
    expect(error.message).toBe("the participant answered status 500, no code: no cause given");
  });

  test("is bounded for a long cause", () => {
    expect(responseError(errorBody("X", { cause: "y".repeat(1_000_000) }), 400).message.length).toBeLessThan(400);
  });
});

test.each(["constructor", "toString", "__proto__", "hasOwnProperty"])(
  "a code that every object has a property of, %s, is a code like others",
  (code) => {
    expect(ofResponse(errorBody(code), 400)).toBe("refused");
    expect(ofResponse(errorBody(code, { errorCategory: -1 }), 401)).toBe("denied");
    expect(ofMessage(errorBody(code, { errorCategory: -1, grpcCodeValue: 14 }))).toBe("busy");
  },
);

const missing = (code: string, cause: string) => {
  const error = responseError(errorBody(code, { cause }), 404);
  return [error.kind, error.missing];
};

describe("what the participant does not have", () => {
  test.each<[string, string, string[]]>([
    ["PACKAGE_NAMES_NOT_FOUND", "The following package names …: [utility-credential-v0].", ["utility-credential-v0"]],
    ["PACKAGE_NAMES_NOT_FOUND", "The following package names …: [a-v0, b-v1].", ["a-v0", "b-v1"]],
    ["PACKAGE_NAMES_NOT_FOUND", `names: [${"a".repeat(400)}, b]`, ["a".repeat(400), "b"]],
    ["PACKAGE_NAMES_NOT_FOUND", "no list", []],
    ["NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME", "pairs …: [(app-v0,Nope:Nope)].", ["app-v0:Nope:Nope"]],
    ["NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME", "[(a,M.N:E),(b,M:F)]", ["a:M.N:E", "b:M:F"]],
  ])("is read from %s: %s", (code, cause, names) => {
    expect(missing(code, cause)).toEqual(["incomplete", names]);
  });

  test("is nothing in another error", () => {
    expect(missing("INVALID_ARGUMENT", "[a, b]")).toEqual(["refused", []]);
  });
});
