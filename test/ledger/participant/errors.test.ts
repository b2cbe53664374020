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
];

describe("an error code", () => {
  test.each(codes)("%s is %s, as a response and on a stream, whatever the other fields", (code, kind) => {
    expect(ofResponse(errorBody(code), 400)).toBe(kind);
    expect(ofMessage(errorBody(code, { grpcCodeValue: 9 }))).toBe(kind);
    expect(ofResponse(errorBody(code, { grpcCodeValue: 16 }), 503)).toBe(kind);
  });
});

describe("a status", () => {
  test.each<[number, LedgerErrorKind]>([
    [400, "refused"],
    [401, "denied"],
    [403, "denied"],
    [404, "refused"],
    [413, "refused"],
    [429, "busy"],
    [502, "busy"],
    [503, "busy"],
    [504, "busy"],
  ])("%i is %s, with a body of the documented shape, another body, and none", (status, kind) => {
    expect(ofResponse(errorBody("SOME_CODE"), status)).toBe(kind);
    for (const body of [undefined, null, "text", 5, [], {}, { error: "x" }]) {
      expect(ofResponse(body, status)).toBe(kind);
    }
  });

  test("counts for more than a gRPC code", () => {
    expect(ofResponse(errorBody("X", { grpcCodeValue: 16 }), 503)).toBe("busy");
    expect(ofResponse(errorBody("X", { grpcCodeValue: 14 }), 401)).toBe("denied");
  });
});

describe("on a stream, a gRPC code", () => {
  test.each<[number, string, LedgerErrorKind]>([
    [3, "INVALID_ARGUMENT", "refused"],
    [5, "NOT_FOUND", "refused"],
    [7, "PERMISSION_DENIED", "denied"],
    [8, "RESOURCE_EXHAUSTED", "busy"],
    [14, "UNAVAILABLE", "busy"],
    [16, "UNAUTHENTICATED", "denied"],
  ])("%i (%s) is %s", (grpcCodeValue, _name, kind) => {
    expect(ofMessage(errorBody("NA", { grpcCodeValue }))).toBe(kind);
    expect(ofResponse(errorBody("NA", { grpcCodeValue }), 400)).toBe(kind);
  });

  test("that is missing leaves the error a refusal", () => {
    expect(ofMessage(errorBody("NA"))).toBe("refused");
  });
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
    expect(ofResponse(errorBody(code), 401)).toBe("denied");
    expect(ofMessage(errorBody(code, { grpcCodeValue: 14 }))).toBe("busy");
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
