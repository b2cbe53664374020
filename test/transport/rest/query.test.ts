import type { DescMessage, JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { GetBurnRequestCreateContextRequestSchema } from "../../../gen/offledger/burn/v0/burn_pb.js";
import { ListInstrumentsRequestSchema } from "../../../gen/offledger/metadata/v1/metadata_pb.js";
import { VerifyTransferProofRequestSchema } from "../../../gen/offledger/transfer/v0/transfer_pb.js";
import { GetTransferInstructionContextRequestSchema } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import { type Query, queryFields } from "../../../src/transport/rest/rest-request.js";

/** A string and an integer. */
const page = ListInstrumentsRequestSchema;
/** A boolean. */
const choice = GetTransferInstructionContextRequestSchema;
/** A list, and a message. */
const burn = GetBurnRequestCreateContextRequestSchema;
/** Messages in a message. */
const proof = VerifyTransferProofRequestSchema;

/** Returns the error of a query. */
function catchError(schema: DescMessage, query: Query): { readonly code: Code; readonly message: string } {
  try {
    queryFields(schema, query);
  } catch (error) {
    if (error instanceof ConnectError) return { code: error.code, message: error.rawMessage };
    throw error;
  }
  throw new Error("the query was accepted");
}

test("an empty query has no fields", () => {
  expect(queryFields(page, {})).toEqual({});
});

describe("the name of a parameter", () => {
  test.each<[string, DescMessage, Query, JsonObject]>([
    ["may be the JSON name", page, { pageToken: "a" }, { pageToken: "a" }],
    ["may be the proto name", page, { page_token: "a" }, { pageToken: "a" }],
    [
      "of a nested field has dots",
      burn,
      { "instrumentId.id": "USD", "instrumentId.admin": "acme" },
      { instrumentId: { id: "USD", admin: "acme" } },
    ],
    [
      "may mix the two",
      burn,
      { "instrument_id.id": "USD", "instrumentId.admin": "acme" },
      { instrumentId: { id: "USD", admin: "acme" } },
    ],
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
    ["given twice", { pages: ["1", "2"] }],
  ])("%s is ignored", (_what, query) => {
    expect(queryFields(page, query)).toEqual({});
  });

  test("of an unknown field in a nested message is ignored", () => {
    const query = { "transfer.amounts": "1", "transfer.instrumentId.nothing": "2", "transfer.sender": "alice" };
    expect(queryFields(proof, query)).toMatchObject({ transfer: { sender: "alice" } });
    expect(JSON.stringify(queryFields(proof, query))).not.toMatch(/amounts|nothing/);
  });

  test("does not reach a prototype", () => {
    queryFields(burn, { "__proto__.polluted": "1", "instrumentId.__proto__.polluted": "2" });
    expect({}).not.toHaveProperty("polluted");
  });
});

describe("the value", () => {
  test.each<[string, DescMessage, Query, JsonObject]>([
    ["of a string is taken as it is", page, { pageToken: "5" }, { pageToken: "5" }],
    ["of a string may look like a boolean", page, { pageToken: "true" }, { pageToken: "true" }],
    ["of a string may be empty", page, { pageToken: "" }, { pageToken: "" }],
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
    ["of a list may be single", burn, { holdingContractIds: "a" }, { holdingContractIds: ["a"] }],
    [
      "of a list may be repeated",
      burn,
      { holding_contract_ids: ["a", "b", "a"] },
      { holdingContractIds: ["a", "b", "a"] },
    ],
    ["of a list is not split at commas", burn, { holdingContractIds: "a,b" }, { holdingContractIds: ["a,b"] }],
    [
      "of a list in a nested message",
      proof,
      { "transfer.inputHoldingCids": ["a", "b"] },
      { transfer: { inputHoldingCids: ["a", "b"] } },
    ],
  ])("%s", (_what, schema, query, fields) => {
    expect(queryFields(schema, query)).toEqual(fields);
  });

  test.each(["1.5", "x", "", " 5", "0x10", "1e3", "+5", "--5", "٣"])("%j is rejected for a number", (text) => {
    expect(() => queryFields(page, { pageSize: text })).toThrow(
      `pageSize must be an integer, but is ${JSON.stringify(text)}`,
    );
  });

  test.each(["", "1", "TRUE", "yes"])("%j stays a string for a boolean", (text) => {
    expect(queryFields(choice, { excludeDebugFields: text })).toEqual({ excludeDebugFields: text });
  });
});

describe("a repeated field is rejected by the name in the query", () => {
  test.each<[string, DescMessage, Query, string]>([
    ["a number", page, { pageSize: ["1", "2"] }, "pageSize"],
    ["the same number", page, { pageSize: ["1", "1"] }, "pageSize"],
    ["a string", page, { page_token: ["a", "b"] }, "page_token"],
    ["a boolean", choice, { excludeDebugFields: ["true", "true"] }, "excludeDebugFields"],
    ["a nested field", proof, { "transfer.sender": ["a", "b"] }, "transfer.sender"],
    ["under both names", page, { pageSize: "1", page_size: "2" }, "page_size"],
    [
      "a nested field under both names",
      burn,
      { "instrumentId.id": "USD", "instrument_id.id": "EUR" },
      "instrument_id.id",
    ],
  ])("%s", (_what, schema, query, name) => {
    const { code, message } = catchError(schema, query);
    expect(code).toBe(Code.InvalidArgument);
    expect(message).toContain(name);
  });
});
