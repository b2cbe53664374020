import type { v3_5 } from "@canton-network/core-ledger-client-types";
import { describe, expect, test } from "vitest";
import { messageError, responseError, type LedgerErrorKind } from "../../../src/ledger/participant/errors.js";
import type { JsonValue } from "../../../src/util/json.js";

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
const hidden = (grpcCodeValue: number): JsonValue => errorBody("NA", { errorCategory: -1, grpcCodeValue });

test.each<[string, LedgerErrorKind]>([
  ["PARTICIPANT_PRUNED_DATA_ACCESSED", "pruned"],
  ["OFFSET_AFTER_LEDGER_END", "ahead"],
  ["PARTICIPANT_DATA_ACCESSED_AFTER_LEDGER_END", "ahead"],
  ["ACCESS_TOKEN_EXPIRED", "denied"],
  ["STALE_STREAM_AUTHORIZATION", "denied"],
  ["PACKAGE_NAMES_NOT_FOUND", "incomplete"],
  ["NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME", "incomplete"],
  ["NO_INTERFACE_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME", "incomplete"],
  ["JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED", "refused"],
])("the code %s is %s, as a response and on a stream, whatever the other fields", (code, kind) => {
  expect(ofResponse(errorBody(code), 400)).toBe(kind);
  expect(ofMessage(errorBody(code, { grpcCodeValue: 9 }))).toBe(kind);
  expect(ofResponse(errorBody(code, { errorCategory: 2, grpcCodeValue: 16 }), 503)).toBe(kind);
});

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
])("without a known code, category %i (%s) is %s, whatever gRPC code and status", (errorCategory, code, kind) => {
  for (const grpcCodeValue of [3, 10, 14, 16]) {
    const body = errorBody(code, { errorCategory, grpcCodeValue });
    expect(ofMessage(body)).toBe(kind);
    for (const status of [400, 401, 409, 503]) expect(ofResponse(body, status)).toBe(kind);
  }
});

test.each<[number, LedgerErrorKind, boolean]>([
  [1, "busy", false],
  [3, "refused", false],
  [4, "busy", false],
  [5, "refused", false],
  [7, "denied", true],
  [8, "busy", false],
  [9, "refused", false],
  [10, "busy", false],
  [13, "busy", false],
  [14, "busy", false],
  [16, "denied", false],
])("without a category, gRPC code %i is %s, whatever the status; forbidden: %s", (grpcCode, kind, isForbidden) => {
  expect(messageError(hidden(grpcCode))).toMatchObject({ kind, details: { isForbidden } });
  for (const status of kind === "refused" ? [400, 404] : [400, 409, 500]) {
    expect(responseError(hidden(grpcCode), status)).toMatchObject({ kind, details: { isForbidden, status } });
  }
});

test.each<[number, LedgerErrorKind, boolean]>([
  [400, "refused", false],
  [401, "denied", false],
  [403, "denied", true],
  [404, "refused", false],
  [405, "refused", false],
  [408, "busy", false],
  [409, "busy", false],
  [413, "refused", false],
  [429, "busy", false],
  [500, "busy", false],
  [502, "busy", false],
  [504, "busy", false],
])("without any of them, status %i is %s; forbidden: %s", (status, kind, isForbidden) => {
  for (const body of [undefined, null, "text", 5, [], {}, { error: "x" }, hidden(2)]) {
    expect(responseError(body, status)).toMatchObject({ kind, details: { isForbidden, status } });
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
])("an error that passes says when to ask again: %s", (retryInfo, retryMs) => {
  expect(responseError(errorBody("X", { errorCategory: 2, retryInfo }), 409).details.retryMs).toBe(retryMs);
  expect(messageError(errorBody("X", { errorCategory: 2, retryInfo }))?.details.retryMs).toBe(retryMs);
  expect(responseError(errorBody("OFFSET_AFTER_LEDGER_END", { retryInfo }), 400).details.retryMs).toBeUndefined();
});

test.each<[string, JsonValue]>([
  ["null", null],
  ["a text", "code"],
  ["a list", ["code", "cause"]],
  ["an empty object", {}],
  ["an update", { update: { OffsetCheckpoint: { value: { offset: 5 } } } }],
  ["a code without a cause", { code: "X" }],
  ["a cause without a code", { cause: "x" }],
  ["a code that is no text", { code: 5, cause: "x" }],
])("a message of a stream that is no error gives none: %s", (_what, value) => {
  expect(messageError(value)).toBeUndefined();
});

describe("the message of an error", () => {
  const url = new URL("http://ledger.example/base/v2/updates");
  const ofPath = { errors: ["HttpMethod(GET)"], status: 404, ledgerApiError: null };

  const notFound = errorBody("UPDATE_NOT_FOUND", { errorCategory: 11 });
  const otherPath = `there is no JSON Ledger API at ${url.href} (status 404): check the path of OFFLEDGER_LEDGER_URL`;
  const answered = "the participant answered";

  test.each<[string, { readonly message: string } | undefined, string]>([
    ["its status, code and cause", responseError(errorBody("X"), 400), `${answered} status 400, X: what happened`],
    ["on a stream, code and cause", messageError(errorBody("X")), `${answered} X: what happened`],
    ["if it has none", responseError(undefined, 500), `${answered} status 500, no code: no cause given`],
    ["a path that is not there", responseError(ofPath, 404, url), otherPath],
    ["no path", responseError(notFound, 404, url), `${answered} status 404, UPDATE_NOT_FOUND: what happened`],
  ])("says %s", (_what, error, message) => {
    expect(error).toMatchObject({ name: "LedgerError", message });
  });

  test("says that a token that is not accepted may live too long, but not of one that expires on a stream", () => {
    const hint = "lives longer than the participant's maximum";
    expect(messageError(hidden(16))?.message).toContain(hint);
    expect(responseError(undefined, 401).message).toContain(hint);
    expect(messageError(hidden(7))?.message).not.toContain("maximum");
    expect(messageError(errorBody("ACCESS_TOKEN_EXPIRED"))?.message).not.toContain("maximum");
  });

  test.each([
    ["on a stream", messageError(hidden(7))],
    ["of a response", responseError(hidden(7), 403)],
    ["of a response without a body", responseError(undefined, 403)],
  ])("says what a hidden denial may mean: a right, or the user itself: %s", (_where, error) => {
    expect(error?.message).toMatch(
      /lacks a right, or is unknown or deactivated: .* right to read as each of OFFLEDGER_LEDGER_PARTIES/,
    );
  });

  test("is bounded for a long cause", () => {
    expect(responseError(errorBody("X", { cause: "y".repeat(1_000_000) }), 400).message.length).toBeLessThan(400);
  });
});

test.each(["constructor", "toString", "__proto__"])("%s is a code like others", (code) => {
  expect(ofResponse(errorBody(code), 400)).toBe("refused");
  expect(ofResponse(errorBody(code, { errorCategory: -1 }), 401)).toBe("denied");
});

test.each<[string, string, LedgerErrorKind, string[]]>([
  ["PACKAGE_NAMES_NOT_FOUND", "package names …: [utility-credential-v0].", "incomplete", ["utility-credential-v0"]],
  ["PACKAGE_NAMES_NOT_FOUND", "package names …: [a-v0, b-v1].", "incomplete", ["a-v0", "b-v1"]],
  ["PACKAGE_NAMES_NOT_FOUND", `names: [${"a".repeat(400)}, b]`, "incomplete", ["a".repeat(400), "b"]],
  ["PACKAGE_NAMES_NOT_FOUND", "no list", "incomplete", []],
  ["NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME", "[(app-v0,N:N)].", "incomplete", ["app-v0:N:N"]],
  ["NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME", "[(a,M.N:E),(b,M:F)]", "incomplete", ["a:M.N:E", "b:M:F"]],
  ["NO_INTERFACE_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME", "[(a,M.N:I)].", "incomplete", ["a:M.N:I"]],
  ["INVALID_ARGUMENT", "[a, b]", "refused", []],
])("what the participant does not have is read from %s: %s", (code, cause, kind, names) => {
  expect(responseError(errorBody(code, { cause }), 404)).toMatchObject({ kind, details: { missing: names } });
});
