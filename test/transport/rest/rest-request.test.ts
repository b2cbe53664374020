/** The message of a REST request: from its path, its body and its query. */
import type { DescMessage, DescMethod, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { AllocationService } from "../../../gen/offledger/allocation/v2/allocation_service_pb.js";
import { BurnService } from "../../../gen/offledger/burn/v0/burn_service_pb.js";
import { GetBurnRequestCreateContextRequestSchema } from "../../../gen/offledger/burn/v0/burn_pb.js";
import { ListInstrumentsRequestSchema } from "../../../gen/offledger/metadata/v1/metadata_pb.js";
import { InstrumentConfigurationService } from "../../../gen/offledger/instrument_configuration/v0/instrument_configuration_service_pb.js";
import { VerifyTransferProofRequestSchema } from "../../../gen/offledger/transfer/v0/transfer_pb.js";
import { GetTransferInstructionContextRequestSchema } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import { TransferInstructionService } from "../../../gen/offledger/transfer_instruction/v2/transfer_instruction_service_pb.js";
import { type Binding, bindingsOf } from "../../../src/transport/rest/http-rules.js";
import { parsePathTemplate } from "../../../src/transport/rest/path-template.js";
import { type Query, queryFields, requestReader } from "../../../src/transport/rest/rest-request.js";

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

/** The code and message of the error that it throws. */
function catchError(run: () => unknown): { readonly code: Code; readonly message: string } {
  try {
    run();
  } catch (error) {
    if (error instanceof ConnectError) return { code: error.code, message: error.rawMessage };
    throw error;
  }
  throw new Error("the request was accepted");
}
const errorOf = (method: DescMethod, body: JsonValue) =>
  catchError(() => decode(method, { p0: "path", p1: "path" }, body));

describe("path and body together", () => {
  test("form the message", () => {
    expect(decode(reject, { p0: "registrar", p1: "00ab" }, { meta: { a: 1 }, excludeDebugFields: true })).toEqual({
      registrarParty: "registrar",
      transferInstructionId: "00ab",
      meta: { a: 1 },
      excludeDebugFields: true,
    });
  });

  test("do not modify the body", () => {
    const body = { registrarParty: "body", choiceArguments: {} };
    decode(factory, { p0: "path" }, body);
    expect(body).toEqual({ registrarParty: "body", choiceArguments: {} });
  });

  test.each<[string, JsonObject]>([
    ["camel case", { registrarParty: "body", transferInstructionId: "body" }],
    ["snake case", { registrar_party: "body", transfer_instruction_id: "body" }],
    ["the wrong type", { registrarParty: 5, registrar_party: {}, transfer_instruction_id: [] }],
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

  test("ignore a body of any type when the operation has none", () => {
    for (const body of [[], null, 5]) expect(decode(burn, { p0: "path" }, body)).toEqual({ burnOfferId: "path" });
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
    ['"{}"', "{}"],
    ["true", true],
  ])("as %s", (what, body) => {
    const refused = { code: Code.InvalidArgument, message: `the body must be a JSON object, but is ${what}` };
    expect(errorOf(factory, body)).toEqual(refused);
    expect(errorOf(lookUp, body)).toEqual(refused);
  });
});

describe("a field of the wrong type is rejected by its JSON name", () => {
  test.each<[string, DescMethod, JsonObject]>([
    ["choiceArguments must be an object, but is a list", factory, { choiceArguments: [] }],
    ['choiceArguments must be an object, but is "{}"', factory, { choiceArguments: "{}" }],
    ['excludeDebugFields must be a boolean, but is "true"', factory, { excludeDebugFields: "true" }],
    ["meta must be an object, but is a list", reject, { meta: [] }],
    ["registrar must be a string, but is 5", lookUp, { registrar: 5 }],
    ['instrumentIdentifier must be an object, but is "USD"', lookUp, { instrumentIdentifier: "USD" }],
  ])("%s", (message, method, body) => {
    expect(errorOf(method, body)).toEqual({ code: Code.InvalidArgument, message });
  });

  test("and by its path", () => {
    const name = "id";
    // A field of the same name at the top level is unknown and ignored.
    const body = { registrar: "r", [name]: "unknown", instrumentIdentifier: { [name]: 5 } };
    const { code, message } = errorOf(lookUp, body);
    expect(code).toBe(Code.InvalidArgument);
    expect(message).toBe(`instrumentIdentifier.${name} must be a string, but is 5`);
  });
  test("and a long value is truncated", () => {
    const { message } = errorOf(factory, { excludeDebugFields: "x".repeat(10_000) });
    expect(message).toMatch(/^excludeDebugFields must be a boolean, but is "x+…$/);
    expect(message.length).toBeLessThan(200);
  });
});

const page = ListInstrumentsRequestSchema;
/** A boolean. */
const choice = GetTransferInstructionContextRequestSchema;
/** A list, and a message. */
const burnRequest = GetBurnRequestCreateContextRequestSchema;
/** Messages in a message. */
const proof = VerifyTransferProofRequestSchema;

test("an empty query has no fields", () => {
  expect(queryFields(page, {})).toEqual({});
});

describe("the name of a query parameter", () => {
  test.each<[string, DescMessage, Query, JsonObject]>([
    ["may be the JSON name", page, { pageToken: "a" }, { pageToken: "a" }],
    ["may be the proto name", page, { page_token: "a" }, { pageToken: "a" }],
    [
      "may have several levels",
      proof,
      { "transfer.instrument_id.id": "USD", "transfer.sender": "alice", updateId: "1220" },
      { transfer: { instrumentId: { id: "USD" }, sender: "alice" }, updateId: "1220" },
    ],
  ])("%s", (_what, schema, query, fields) => {
    expect(queryFields(schema, query)).toEqual(fields);
  });

  test.each<[string, Query]>([
    ["of an unknown field", { pages: "1", PageSize: "2", PAGE_SIZE: "3", "page-size": "4", "": "5", " pageSize": "6" }],
    [
      "of a property of Object.prototype",
      { constructor: "1", ["__proto__"]: "2", toString: "3", "constructor.prototype": "4" },
    ],
    ["of a field within a scalar", { "pageSize.value": "1", "pageToken.": "2", ".pageToken": "3" }],
  ])("%s is ignored", (_what, query) => {
    expect(queryFields(page, query)).toEqual({});
  });

  test("of an unknown field in a nested message is ignored", () => {
    const query = { "transfer.amounts": "1", "transfer.instrumentId.nothing": "2", "transfer.sender": "alice" };
    expect(queryFields(proof, query)).toMatchObject({ transfer: { sender: "alice" } });
    expect(JSON.stringify(queryFields(proof, query))).not.toMatch(/amounts|nothing/);
  });

  test("does not reach a prototype", () => {
    queryFields(burnRequest, { "__proto__.polluted": "1", "instrumentId.__proto__.polluted": "2" });
    expect({}).not.toHaveProperty("polluted");
  });
});

describe("the value of a query parameter", () => {
  test.each<[string, DescMessage, Query, JsonObject]>([
    ["of a string has any characters", page, { pageToken: "é & = 😀" }, { pageToken: "é & = 😀" }],
    ["of a number is parsed", page, { pageSize: "25" }, { pageSize: 25 }],
    ["of a number may be negative", page, { pageSize: "-1" }, { pageSize: -1 }],
    [
      "of a number may exceed the type, which validation rejects later",
      page,
      { pageSize: "1099511627776" },
      { pageSize: 1_099_511_627_776 },
    ],
    ["of a boolean is true", choice, { excludeDebugFields: "true" }, { excludeDebugFields: true }],
    ["of a boolean is false", choice, { exclude_debug_fields: "false" }, { excludeDebugFields: false }],
    [
      "of a list may be repeated",
      burnRequest,
      { holding_contract_ids: ["a", "b", "a"] },
      { holdingContractIds: ["a", "b", "a"] },
    ],
    ["of a list is not split at commas", burnRequest, { holdingContractIds: "a,b" }, { holdingContractIds: ["a,b"] }],
    [
      "of a list in a nested message",
      proof,
      { "transfer.inputHoldingCids": ["a", "b"] },
      { transfer: { inputHoldingCids: ["a", "b"] } },
    ],
  ])("%s", (_what, schema, query, fields) => {
    expect(queryFields(schema, query)).toEqual(fields);
  });

  test.each(["1.5", "x", "", " 5", "1e3"])("%j is rejected for a number", (text) => {
    expect(() => queryFields(page, { pageSize: text })).toThrow(
      `pageSize must be an integer, but is ${JSON.stringify(text)}`,
    );
  });

  test("another text stays a string for a boolean, which validation rejects", () => {
    expect(queryFields(choice, { excludeDebugFields: "TRUE" })).toEqual({ excludeDebugFields: "TRUE" });
  });
});

describe("a repeated field is rejected by the name in the query", () => {
  test.each<[string, DescMessage, Query, string]>([
    ["a number", page, { pageSize: ["1", "2"] }, "pageSize"],
    ["a string", page, { page_token: ["a", "b"] }, "page_token"],
    ["a nested field", proof, { "transfer.sender": ["a", "b"] }, "transfer.sender"],
    ["under both names", page, { pageSize: "1", page_size: "2" }, "page_size"],
    [
      "a nested field under both names",
      burnRequest,
      { "instrumentId.id": "USD", "instrument_id.id": "EUR" },
      "instrument_id.id",
    ],
  ])("%s", (_what, schema, query, name) => {
    const { code, message } = catchError(() => queryFields(schema, query));
    expect(code).toBe(Code.InvalidArgument);
    expect(message).toContain(name);
  });
});
