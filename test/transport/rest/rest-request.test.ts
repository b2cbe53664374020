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

/** The fields of the message that a request makes, without its type. */
function fieldsOf(method: DescMethod, parameters: Record<string, string>, body: JsonValue, binding?: Binding) {
  const [own] = bindingsOf(method);
  const used = binding ?? own;
  if (used === undefined) throw new Error(`${method.name} has no binding`);
  const { $typeName, ...fields } = requestReader(method.input, used)(parameters, body);
  expect($typeName).toBe(method.input.typeName);
  return fields;
}

/** Why a request makes no message. */
function refusal(method: DescMethod, body: JsonValue): { readonly code: Code; readonly message: string } {
  try {
    fieldsOf(method, { p0: "path", p1: "path" }, body);
  } catch (error) {
    if (error instanceof ConnectError) return { code: error.code, message: error.rawMessage };
    throw error;
  }
  throw new Error("the request was not refused");
}

/** Lists or objects in one another. */
const nested = (open: string, middle: string, close: string, depth: number): JsonValue =>
  JSON.parse(open.repeat(depth) + middle + close.repeat(depth)) as JsonValue;

describe("path and body together", () => {
  test("make the message", () => {
    expect(fieldsOf(reject, { p0: "registrar", p1: "00ab" }, { meta: { a: 1 }, excludeDebugFields: true })).toEqual({
      registrarParty: "registrar",
      transferInstructionId: "00ab",
      meta: { a: 1 },
      excludeDebugFields: true,
    });
  });

  test("of an empty body make what the path says", () => {
    expect(fieldsOf(reject, { p0: "registrar", p1: "00ab" }, {})).toEqual({
      registrarParty: "registrar",
      transferInstructionId: "00ab",
      excludeDebugFields: false,
    });
  });

  test("leave the choice arguments as they were sent", () => {
    const choiceArguments = {
      number: 1.5,
      text: 'é "\\ \u2028',
      nothing: null,
      flag: false,
      list: [1, "a", null, { b: [] }],
      object: { "": {}, "a.b": "10.0000000000" },
    };
    expect(fieldsOf(factory, { p0: "registrar" }, { choiceArguments })).toMatchObject({ choiceArguments });
  });

  test("leave the body as it was", () => {
    const body = { registrarParty: "body", choiceArguments: {} };
    fieldsOf(factory, { p0: "path" }, body);
    expect(body).toEqual({ registrarParty: "body", choiceArguments: {} });
  });

  test.each<[string, JsonObject]>([
    ["camel case", { registrarParty: "body", transferInstructionId: "body" }],
    ["snake case", { registrar_party: "body", transfer_instruction_id: "body" }],
    ["both", { registrarParty: "body", registrar_party: "body", transferInstructionId: "body" }],
    ["the wrong type", { registrarParty: 5, registrar_party: {}, transfer_instruction_id: [] }],
    ["null", { registrarParty: null, registrar_party: null }],
  ])("take from the path alone what the path names, though the body names it in %s", (_spelling, body) => {
    expect(fieldsOf(reject, { p0: "path 0", p1: "path 1" }, body)).toMatchObject({
      registrarParty: "path 0",
      transferInstructionId: "path 1",
    });
  });

  test("read fields of the body in both spellings", () => {
    expect(fieldsOf(reject, { p0: "a", p1: "b" }, { exclude_debug_fields: true })).toMatchObject({
      excludeDebugFields: true,
    });
    const instrument_identifier = { id: "USD" };
    expect(fieldsOf(lookUp, {}, { registrar: "r", instrument_identifier })).toMatchObject({
      instrumentIdentifier: { id: "USD" },
    });
  });

  test("ignore fields that are unknown, at every depth and of every type", () => {
    const unknown = { text: "a", number: 5, nothing: null, list: [[]], object: { a: {} }, registrar_Party: "b" };
    expect(
      fieldsOf(lookUp, {}, { ...unknown, registrar: "r", instrumentIdentifier: { ...unknown, id: "USD" } }),
    ).toMatchObject({ registrar: "r", instrumentIdentifier: { id: "USD" } });
    expect(fieldsOf(reject, { p0: "a", p1: "b" }, unknown)).toEqual({
      registrarParty: "a",
      transferInstructionId: "b",
      excludeDebugFields: false,
    });
  });

  test("take null for absent", () => {
    const fields = fieldsOf(reject, { p0: "a", p1: "b" }, { meta: null, excludeDebugFields: null });
    expect(fields).toEqual({ registrarParty: "a", transferInstructionId: "b", excludeDebugFields: false });
  });

  test("take nothing from the body where the operation has none", () => {
    expect(fieldsOf(burn, { p0: "path" }, { burnOfferId: "body", burn_offer_id: 5, meta: 5 })).toEqual({
      burnOfferId: "path",
    });
  });
});

describe("an operation that has no body does not look at one", () => {
  test.each<JsonValue>([[], null, 5, "text", true])("that is %j", (body) => {
    expect(fieldsOf(burn, { p0: "path" }, body)).toEqual({ burnOfferId: "path" });
  });
});

describe("a path variable that leads into a message", () => {
  const binding: Binding = {
    httpMethod: "POST",
    path: parsePathTemplate("/{instrument_identifier.id}/{registrar}"),
    hasBody: true,
  };
  const parameters = { p0: "USD", p1: "registrar" };

  test.each<[string, JsonObject, JsonObject]>([
    ["makes the message where the body has none", {}, { id: "USD" }],
    [
      "leaves the other fields of the body's message",
      { instrumentIdentifier: { source: "s", id: "body" } },
      { source: "s", id: "USD" },
    ],
    [
      "leaves them in the spelling of the proto file as well",
      { instrument_identifier: { source: "s", id: 5 } },
      { source: "s", id: "USD" },
    ],
    ["stands in place of what is no message", { instrumentIdentifier: "body" }, { id: "USD" }],
    ["stands in place of null", { instrumentIdentifier: null }, { id: "USD" }],
    ["stands in place of a list", { instrument_identifier: [1] }, { id: "USD" }],
  ])("%s", (_what, body, instrumentIdentifier) => {
    const before = structuredClone(body);
    const fields = fieldsOf(lookUp, parameters, body, binding);
    expect(fields).toMatchObject({ registrar: "registrar", instrumentIdentifier });
    expect(body).toEqual(before);
  });

  test("is a defect of ours where it names no field", () => {
    const unknown = { ...binding, path: parsePathTemplate("/{instrument_identifier.nothing}") };
    expect(() => fieldsOf(lookUp, parameters, {}, unknown)).toThrow(/InstrumentIdentifier has no field nothing/);
    expect(() => fieldsOf(lookUp, parameters, {}, unknown)).not.toThrow(ConnectError);
  });
});

describe("a body that is no object is refused", () => {
  test.each<[string, JsonValue]>([
    ["null", null],
    ["a list", []],
    ["a list", [{}]],
    ['"{}"', "{}"],
    ["0", 0],
    ["true", true],
  ])("as %s", (what, body) => {
    const refused = { code: Code.InvalidArgument, message: `the body must be a JSON object, and is ${what}` };
    expect(refusal(factory, body)).toEqual(refused);
    expect(refusal(lookUp, body)).toEqual(refused);
  });
});

describe("a field of the wrong type is refused by its JSON name", () => {
  test.each<[string, DescMethod, JsonObject]>([
    ["choiceArguments has to be an object, and is a list", factory, { choiceArguments: [] }],
    ["choiceArguments has to be an object, and is a list", factory, { choice_arguments: [1] }],
    ['choiceArguments has to be an object, and is "{}"', factory, { choiceArguments: "{}" }],
    ["choiceArguments has to be an object, and is 5", factory, { choiceArguments: 5 }],
    ["choiceArguments has to be an object, and is false", factory, { choiceArguments: false }],
    ['excludeDebugFields has to be a boolean, and is "true"', factory, { excludeDebugFields: "true" }],
    ["excludeDebugFields has to be a boolean, and is 1", factory, { excludeDebugFields: 1 }],
    ["excludeDebugFields has to be a boolean, and is an object", factory, { exclude_debug_fields: {} }],
    ["excludeDebugFields has to be a boolean, and is a list", factory, { excludeDebugFields: [] }],
    ['meta has to be an object, and is ""', reject, { meta: "" }],
    ["meta has to be an object, and is a list", reject, { meta: [] }],
    ["registrar has to be a string, and is 5", lookUp, { registrar: 5 }],
    ["registrar has to be a string, and is a list", lookUp, { registrar: ["r"] }],
    ['instrumentIdentifier has to be an object, and is "USD"', lookUp, { instrumentIdentifier: "USD" }],
    ["instrumentIdentifier has to be an object, and is true", lookUp, { instrument_identifier: true }],
  ])("%s", (message, method, body) => {
    expect(refusal(method, body)).toEqual({ code: Code.InvalidArgument, message });
  });

  test.each(["source", "id", "scheme"])("and by the way that leads to it: instrumentIdentifier.%s", (name) => {
    // A field of the same name at the top is unknown, and nobody's fault.
    const body = { registrar: "r", [name]: "unknown", instrumentIdentifier: { [name]: 5 } };
    const { code, message } = refusal(lookUp, body);
    expect(code).toBe(Code.InvalidArgument);
    expect(message).toBe(`instrumentIdentifier.${name} has to be a string, and is 5`);
  });

  test("and a long value is cut short", () => {
    const { message } = refusal(factory, { excludeDebugFields: "x".repeat(10_000) });
    expect(message).toMatch(/^excludeDebugFields has to be a boolean, and is "x+…$/);
    expect(message.length).toBeLessThan(200);
  });
});

describe("a body that is nested too deep is refused", () => {
  test.each<[string, JsonObject]>([
    ["objects", { choiceArguments: nested('{"a":', "{}", "}", 200) }],
    ["very many objects", { choiceArguments: nested('{"a":', "{}", "}", 50_000) }],
    ["lists", { choiceArguments: { list: nested("[", "", "]", 200) } }],
    ["very many lists", { choiceArguments: { list: nested("[", "", "]", 50_000) } }],
  ])("by %s", (_what, body) => {
    expect(refusal(factory, body)).toEqual({ code: Code.InvalidArgument, message: "the body is nested too deep" });
  });

  test.each<[string, DescMethod]>([
    ["choiceArguments", factory],
    ["excludeDebugFields", factory],
    ["meta", reject],
    ["registrar", lookUp],
  ])("also where the type of %s is wrong", (field, method) => {
    const { code, message } = refusal(method, { [field]: nested("[", "", "]", 50_000) });
    expect(code).toBe(Code.InvalidArgument);
    expect(message).toMatch(new RegExp(`^${field} has to be|nested too deep`));
  });

  test("but not where the field is unknown", () => {
    expect(fieldsOf(burn, { p0: "a" }, { unknown: nested("[", "", "]", 50_000) })).toEqual({ burnOfferId: "a" });
  });

  test("and not at the depth of real choice arguments", () => {
    const choiceArguments = nested('{"a":', "{}", "}", 20) as JsonObject;
    expect(fieldsOf(factory, { p0: "a" }, { choiceArguments })).toMatchObject({ choiceArguments });
  });
});
