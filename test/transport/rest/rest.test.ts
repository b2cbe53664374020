/** The message of a REST request: from its path, its body and its query. */
import type { DescMessage, DescMethod, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { GetAllocationFactoryRequestSchema } from "../../../gen/offledger/allocation_instruction/v1/allocation_instruction_pb.js";
import { AllocationService } from "../../../gen/offledger/allocation/v2/allocation_service_pb.js";
import { BurnService } from "../../../gen/offledger/burn/v0/burn_service_pb.js";
import { GetBurnRequestCreateContextRequestSchema } from "../../../gen/offledger/burn/v0/burn_pb.js";
import { ListInstrumentsRequestSchema } from "../../../gen/offledger/metadata/v1/metadata_pb.js";
import { InstrumentConfigurationService } from "../../../gen/offledger/instrument_configuration/v0/instrument_configuration_service_pb.js";
import { GetTransferInstructionContextRequestSchema } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import { TransferInstructionService } from "../../../gen/offledger/transfer_instruction/v2/transfer_instruction_service_pb.js";
import { fromJsonValue } from "../../../src/transport/decoding/decode.js";
import { bindingOf } from "../../../src/transport/rest/bindings.js";
import { type Query, queryFields, requestReader } from "../../../src/transport/rest/rest.js";

const factory = AllocationService.method.getSettlementFactory;
const reject = TransferInstructionService.method.getTransferInstructionRejectContext;
const burn = BurnService.method.getBurnOfferCancelContext;
const lookUp = InstrumentConfigurationService.method.getInstrumentConfiguration;

/** Decodes a request whose path has "a" and "b". Returns the fields of the message without its type. */
function decode(method: DescMethod, body: JsonValue) {
  const binding = bindingOf(method);
  if (binding === undefined) throw new Error(`${method.name} has no binding`);
  const before = structuredClone(body);
  const parameters = Object.fromEntries(binding.inPath.map(({ name }, at) => [name, ["a", "b"][at]]));
  const { $typeName, ...fields } = requestReader(method.input, binding)(parameters, body);
  expect([$typeName, body]).toEqual([method.input.typeName, before]);
  return fields;
}

/** The message of the error that it throws, which must be invalid_argument. */
function refusalOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof ConnectError && error.code === Code.InvalidArgument) return error.rawMessage;
    throw error;
  }
  throw new Error("the request was accepted");
}

const ofPath = { registrarParty: "a", transferInstructionId: "b", excludeDebugFields: false };
const unknown = { text: "a", number: 5, nothing: null, list: [[]], object: { a: {} }, registrar_Party: "b" };

test.each<[string, DescMethod, JsonValue, JsonObject]>([
  [
    "path and body together",
    reject,
    { meta: { a: 1 }, excludeDebugFields: true },
    { ...ofPath, meta: { a: 1 }, excludeDebugFields: true },
  ],
  ["no field of the path in camel case", reject, { registrarParty: "body", transferInstructionId: "body" }, ofPath],
  ["no field of the path in snake case", reject, { registrar_party: "body", transfer_instruction_id: "body" }, ofPath],
  ["no field of the path of the wrong type", reject, { registrarParty: 5, registrar_party: {} }, ofPath],
  [
    "fields of the body in both spellings",
    reject,
    { exclude_debug_fields: true },
    { ...ofPath, excludeDebugFields: true },
  ],
  [
    "no body where the operation has none",
    burn,
    { burnOfferId: "body", burn_offer_id: 5, meta: 5 },
    { burnOfferId: "a" },
  ],
  ["no null where the operation has no body", burn, null, { burnOfferId: "a" }],
])("a message has %s", (_what, method, body, fields) => expect(decode(method, body)).toEqual(fields));

test("unknown fields of a nested message are ignored, in both spellings", () => {
  for (const name of ["instrumentIdentifier", "instrument_identifier"])
    expect(decode(lookUp, { ...unknown, registrar: "r", [name]: { ...unknown, id: "USD" } })).toMatchObject({
      registrar: "r",
      instrumentIdentifier: { id: "USD" },
    });
});

test.each<[string, DescMethod, JsonValue]>([
  ["the body must be a JSON object, but is null", factory, null],
  ["the body must be a JSON object, but is a list", factory, []],
  ['the body must be a JSON object, but is "{}"', factory, "{}"],
  ["the body must be a JSON object, but is true", lookUp, true],
  ["choiceArguments must be an object, but is a list", factory, { choiceArguments: [] }],
  ['choiceArguments must be an object, but is "{}"', factory, { choiceArguments: "{}" }],
  ['excludeDebugFields must be a boolean, but is "true"', factory, { excludeDebugFields: "true" }],
  ["meta must be an object, but is a list", reject, { meta: [] }],
  ["registrar must be a string, but is 5", lookUp, { registrar: 5 }],
  ['instrumentIdentifier must be an object, but is "USD"', lookUp, { instrumentIdentifier: "USD" }],
  // A field of the same name at the top level is unknown and ignored.
  ["instrumentIdentifier.id must be a string, but is 5", lookUp, { id: "unknown", instrumentIdentifier: { id: 5 } }],
])("%s", (message, method, body) => expect(refusalOf(() => decode(method, body))).toBe(message));

test("the wrong element of a map is named by its key", () => {
  const json = { allocateV2: { allocation: { nextIterationFunding: { USD: "1.0", EUR: true } } } };
  expect(refusalOf(() => fromJsonValue(GetAllocationFactoryRequestSchema, json))).toBe(
    "allocateV2.allocation.nextIterationFunding.EUR must be a string, but is true",
  );
});

test("a long value is truncated in the message", () => {
  const message = refusalOf(() => decode(factory, { excludeDebugFields: "x".repeat(10_000) }));
  expect(message).toMatch(/^excludeDebugFields must be a boolean, but is "x+…$/);
  expect(message.length).toBeLessThan(200);
});

const page = ListInstrumentsRequestSchema;
/** A boolean. */
const choice = GetTransferInstructionContextRequestSchema;
/** A list, and a message. */
const burnRequest = GetBurnRequestCreateContextRequestSchema;

test.each<[string, DescMessage, Query, JsonObject]>([
  ["nothing", page, {}, {}],
  ["the JSON name", page, { pageToken: "a" }, { pageToken: "a" }],
  ["the proto name", page, { page_token: "a" }, { pageToken: "a" }],
  [
    "unknown names",
    page,
    { pages: "1", PageSize: "2", PAGE_SIZE: "3", "page-size": "4", "": "5", " pageSize": "6" },
    {},
  ],
  [
    "names of Object.prototype",
    page,
    { constructor: "1", ["__proto__"]: "2", toString: "3", "constructor.prototype": "4" },
    {},
  ],
  ["fields within a scalar", page, { "pageSize.value": "1", "pageToken.": "2", ".pageToken": "3" }, {}],
  ["any characters", page, { pageToken: "é & = 😀" }, { pageToken: "é & = 😀" }],
  ["a number", page, { pageSize: "25" }, { pageSize: 25 }],
  ["a negative number", page, { pageSize: "-1" }, { pageSize: -1 }],
  ["a number past its type, for validation", page, { pageSize: "1099511627776" }, { pageSize: 1_099_511_627_776 }],
  ["true", choice, { excludeDebugFields: "true" }, { excludeDebugFields: true }],
  ["false", choice, { exclude_debug_fields: "false" }, { excludeDebugFields: false }],
  [
    "another text for a boolean, for validation",
    choice,
    { excludeDebugFields: "TRUE" },
    { excludeDebugFields: "TRUE" },
  ],
  ["a list", burnRequest, { holding_contract_ids: ["a", "b", "a"] }, { holdingContractIds: ["a", "b", "a"] }],
  ["a list that is not split at commas", burnRequest, { holdingContractIds: "a,b" }, { holdingContractIds: ["a,b"] }],
])("a query has %s", (_what, schema, query, fields) => expect(queryFields(schema, query)).toEqual(fields));

test("a query does not reach a prototype", () => {
  queryFields(burnRequest, { ["__proto__"]: "1", "__proto__.polluted": "1" });
  expect({}).not.toHaveProperty("polluted");
});

test.each<[DescMessage, Query, string]>(
  [
    ...["1.5", "x", "", " 5", "1e3"].map((text): [DescMessage, Query, string] => [
      page,
      { pageSize: text },
      `pageSize must be an integer, but is ${JSON.stringify(text)}`,
    ]),
    [page, { pageSize: ["1", "2"] }, "pageSize"],
    [page, { page_token: ["a", "b"] }, "page_token"],
    [page, { pageSize: "1", page_size: "2" }, "page_size"],
  ].map((row) => row as [DescMessage, Query, string]),
)("a query is refused: %#", (schema, query, message) => {
  expect(refusalOf(() => queryFields(schema, query))).toContain(message);
});
