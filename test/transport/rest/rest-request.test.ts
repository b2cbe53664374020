import type { DescMethod, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { AllocationService } from "../../../gen/offledger/allocation/v2/allocation_service_pb.js";
import { BurnService } from "../../../gen/offledger/burn/v0/burn_service_pb.js";
import { InstrumentConfigurationService } from "../../../gen/offledger/instrument_configuration/v0/instrument_configuration_service_pb.js";
import { TransferInstructionService } from "../../../gen/offledger/transfer_instruction/v2/transfer_instruction_service_pb.js";
import { type Binding, bindingsOf } from "../../../src/transport/rest/http-rules.js";
import { parsePathTemplate } from "../../../src/transport/rest/path-template.js";
import { requestReader } from "../../../src/transport/rest/rest-request.js";

const factory = AllocationService.method.getSettlementFactory;
const reject = TransferInstructionService.method.getTransferInstructionRejectContext;
const burn = BurnService.method.getBurnOfferCancelContext;
const lookUp = InstrumentConfigurationService.method.getInstrumentConfiguration;

/** Decodes a request. Returns the fields of the message without its type. */
function decode(method: DescMethod, parameters: Record<string, string>, body: JsonValue, binding?: Binding) {
  const [own] = bindingsOf(method);
  const used = binding ?? own;
  if (used === undefined) throw new Error(`${method.name} has no binding`);
  const { $typeName, ...fields } = requestReader(method.input, used)(parameters, body);
  expect($typeName).toBe(method.input.typeName);
  return fields;
}

/** Returns the error of a request. */
function catchError(method: DescMethod, body: JsonValue): { readonly code: Code; readonly message: string } {
  try {
    decode(method, { p0: "path", p1: "path" }, body);
  } catch (error) {
    if (error instanceof ConnectError) return { code: error.code, message: error.rawMessage };
    throw error;
  }
  throw new Error("the request was accepted");
}

/** Nested lists or objects. */
const nested = (open: string, middle: string, close: string, depth: number): JsonValue =>
  JSON.parse(open.repeat(depth) + middle + close.repeat(depth)) as JsonValue;

describe("path and body together", () => {
  test("form the message", () => {
    expect(decode(reject, { p0: "registrar", p1: "00ab" }, { meta: { a: 1 }, excludeDebugFields: true })).toEqual({
      registrarParty: "registrar",
      transferInstructionId: "00ab",
      meta: { a: 1 },
      excludeDebugFields: true,
    });
  });

  test("form the message from the path when the body is empty", () => {
    expect(decode(reject, { p0: "registrar", p1: "00ab" }, {})).toEqual({
      registrarParty: "registrar",
      transferInstructionId: "00ab",
      excludeDebugFields: false,
    });
  });

  test("keep the choice arguments unchanged", () => {
    const choiceArguments = {
      number: 1.5,
      text: 'é "\\ \u2028',
      nothing: null,
      flag: false,
      list: [1, "a", null, { b: [] }],
      object: { "": {}, "a.b": "10.0000000000" },
    };
    expect(decode(factory, { p0: "registrar" }, { choiceArguments })).toMatchObject({ choiceArguments });
  });

  test("do not modify the body", () => {
    const body = { registrarParty: "body", choiceArguments: {} };
    decode(factory, { p0: "path" }, body);
    expect(body).toEqual({ registrarParty: "body", choiceArguments: {} });
  });

  test.each<[string, JsonObject]>([
    ["camel case", { registrarParty: "body", transferInstructionId: "body" }],
    ["snake case", { registrar_party: "body", transfer_instruction_id: "body" }],
    ["both", { registrarParty: "body", registrar_party: "body", transferInstructionId: "body" }],
    ["the wrong type", { registrarParty: 5, registrar_party: {}, transfer_instruction_id: [] }],
    ["null", { registrarParty: null, registrar_party: null }],
  ])("take path parameters from the path only, also when the body has them in %s", (_spelling, body) => {
    expect(decode(reject, { p0: "path 0", p1: "path 1" }, body)).toMatchObject({
      registrarParty: "path 0",
      transferInstructionId: "path 1",
    });
  });

  test("accept body fields in both spellings", () => {
    expect(decode(reject, { p0: "a", p1: "b" }, { exclude_debug_fields: true })).toMatchObject({
      excludeDebugFields: true,
    });
    const instrument_identifier = { id: "USD" };
    expect(decode(lookUp, {}, { registrar: "r", instrument_identifier })).toMatchObject({
      instrumentIdentifier: { id: "USD" },
    });
  });

  test("ignore unknown fields at every depth and of every type", () => {
    const unknown = { text: "a", number: 5, nothing: null, list: [[]], object: { a: {} }, registrar_Party: "b" };
    expect(
      decode(lookUp, {}, { ...unknown, registrar: "r", instrumentIdentifier: { ...unknown, id: "USD" } }),
    ).toMatchObject({ registrar: "r", instrumentIdentifier: { id: "USD" } });
    expect(decode(reject, { p0: "a", p1: "b" }, unknown)).toEqual({
      registrarParty: "a",
      transferInstructionId: "b",
      excludeDebugFields: false,
    });
  });

  test("treat null as absent", () => {
    const fields = decode(reject, { p0: "a", p1: "b" }, { meta: null, excludeDebugFields: null });
    expect(fields).toEqual({ registrarParty: "a", transferInstructionId: "b", excludeDebugFields: false });
  });

  test("ignore the body when the operation has none", () => {
    expect(decode(burn, { p0: "path" }, { burnOfferId: "body", burn_offer_id: 5, meta: 5 })).toEqual({
      burnOfferId: "path",
    });
  });
});

describe("an operation without a body ignores one", () => {
  test.each<JsonValue>([[], null, 5, "text", true])("that is %j", (body) => {
    expect(decode(burn, { p0: "path" }, body)).toEqual({ burnOfferId: "path" });
  });
});

describe("a path variable of a nested field", () => {
  const binding: Binding = {
    httpMethod: "POST",
    path: parsePathTemplate("/{instrument_identifier.id}/{registrar}"),
    hasBody: true,
  };
  const parameters = { p0: "USD", p1: "registrar" };

  test.each<[string, JsonObject, JsonObject]>([
    ["creates the message when the body has none", {}, { id: "USD" }],
    [
      "keeps the other fields of the message in the body",
      { instrumentIdentifier: { source: "s", id: "body" } },
      { source: "s", id: "USD" },
    ],
    [
      "keeps them in the proto spelling, too",
      { instrument_identifier: { source: "s", id: 5 } },
      { source: "s", id: "USD" },
    ],
    ["replaces a value that is not a message", { instrumentIdentifier: "body" }, { id: "USD" }],
    ["replaces null", { instrumentIdentifier: null }, { id: "USD" }],
    ["replaces a list", { instrument_identifier: [1] }, { id: "USD" }],
  ])("%s", (_what, body, instrumentIdentifier) => {
    const before = structuredClone(body);
    const fields = decode(lookUp, parameters, body, binding);
    expect(fields).toMatchObject({ registrar: "registrar", instrumentIdentifier });
    expect(body).toEqual(before);
  });

  test("throws an unexpected error when the field does not exist", () => {
    const unknown = { ...binding, path: parsePathTemplate("/{instrument_identifier.nothing}") };
    expect(() => decode(lookUp, parameters, {}, unknown)).toThrow(/InstrumentIdentifier has no field nothing/);
    expect(() => decode(lookUp, parameters, {}, unknown)).not.toThrow(ConnectError);
  });
});

describe("a body that is not an object is rejected", () => {
  test.each<[string, JsonValue]>([
    ["null", null],
    ["a list", []],
    ["a list", [{}]],
    ['"{}"', "{}"],
    ["0", 0],
    ["true", true],
  ])("as %s", (what, body) => {
    const refused = { code: Code.InvalidArgument, message: `the body must be a JSON object, but is ${what}` };
    expect(catchError(factory, body)).toEqual(refused);
    expect(catchError(lookUp, body)).toEqual(refused);
  });
});

describe("a field of the wrong type is rejected by its JSON name", () => {
  test.each<[string, DescMethod, JsonObject]>([
    ["choiceArguments must be an object, but is a list", factory, { choiceArguments: [] }],
    ["choiceArguments must be an object, but is a list", factory, { choice_arguments: [1] }],
    ['choiceArguments must be an object, but is "{}"', factory, { choiceArguments: "{}" }],
    ["choiceArguments must be an object, but is 5", factory, { choiceArguments: 5 }],
    ["choiceArguments must be an object, but is false", factory, { choiceArguments: false }],
    ['excludeDebugFields must be a boolean, but is "true"', factory, { excludeDebugFields: "true" }],
    ["excludeDebugFields must be a boolean, but is 1", factory, { excludeDebugFields: 1 }],
    ["excludeDebugFields must be a boolean, but is an object", factory, { exclude_debug_fields: {} }],
    ["excludeDebugFields must be a boolean, but is a list", factory, { excludeDebugFields: [] }],
    ['meta must be an object, but is ""', reject, { meta: "" }],
    ["meta must be an object, but is a list", reject, { meta: [] }],
    ["registrar must be a string, but is 5", lookUp, { registrar: 5 }],
    ["registrar must be a string, but is a list", lookUp, { registrar: ["r"] }],
    ['instrumentIdentifier must be an object, but is "USD"', lookUp, { instrumentIdentifier: "USD" }],
    ["instrumentIdentifier must be an object, but is true", lookUp, { instrument_identifier: true }],
  ])("%s", (message, method, body) => {
    expect(catchError(method, body)).toEqual({ code: Code.InvalidArgument, message });
  });

  test.each(["source", "id", "scheme"])("and by its path: instrumentIdentifier.%s", (name) => {
    // A field of the same name at the top level is unknown and ignored.
    const body = { registrar: "r", [name]: "unknown", instrumentIdentifier: { [name]: 5 } };
    const { code, message } = catchError(lookUp, body);
    expect(code).toBe(Code.InvalidArgument);
    expect(message).toBe(`instrumentIdentifier.${name} must be a string, but is 5`);
  });

  test("and a long value is truncated", () => {
    const { message } = catchError(factory, { excludeDebugFields: "x".repeat(10_000) });
    expect(message).toMatch(/^excludeDebugFields must be a boolean, but is "x+…$/);
    expect(message.length).toBeLessThan(200);
  });
});

describe("a body that is nested too deep is rejected", () => {
  test.each<[string, JsonObject]>([
    ["objects", { choiceArguments: nested('{"a":', "{}", "}", 200) }],
    ["very many objects", { choiceArguments: nested('{"a":', "{}", "}", 50_000) }],
    ["lists", { choiceArguments: { list: nested("[", "", "]", 200) } }],
    ["very many lists", { choiceArguments: { list: nested("[", "", "]", 50_000) } }],
  ])("%s", (_what, body) => {
    const { code, message } = catchError(factory, body);
    expect(code).toBe(Code.InvalidArgument);
    expect(message).toContain("recursion depth of 100");
  });

  test.each<[string, DescMethod]>([
    ["choiceArguments", factory],
    ["excludeDebugFields", factory],
    ["meta", reject],
    ["registrar", lookUp],
  ])("also when the type of %s is wrong", (field, method) => {
    const { code, message } = catchError(method, { [field]: nested("[", "", "]", 50_000) });
    expect(code).toBe(Code.InvalidArgument);
    expect(message).toMatch(new RegExp(`^${field} must be|recursion depth`));
  });

  test("but not in an unknown field", () => {
    expect(decode(burn, { p0: "a" }, { unknown: nested("[", "", "]", 50_000) })).toEqual({ burnOfferId: "a" });
  });

  test("and not at the depth of real choice arguments", () => {
    const choiceArguments = nested('{"a":', "{}", "}", 20) as JsonObject;
    expect(decode(factory, { p0: "a" }, { choiceArguments })).toMatchObject({ choiceArguments });
  });
});
