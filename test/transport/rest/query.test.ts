import type { DescMessage, JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { GetBurnRequestCreateContextRequestSchema } from "../../../gen/offledger/burn/v0/burn_pb.js";
import { ListInstrumentsRequestSchema } from "../../../gen/offledger/metadata/v1/metadata_pb.js";
import { VerifyTransferProofRequestSchema } from "../../../gen/offledger/transfer/v0/transfer_pb.js";
import { GetTransferInstructionContextRequestSchema } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import { type Query, queryFields } from "../../../src/transport/rest/query.js";

/** A text and a whole number. */
const page = ListInstrumentsRequestSchema;
/** A boolean. */
const choice = GetTransferInstructionContextRequestSchema;
/** A list, and a message. */
const burn = GetBurnRequestCreateContextRequestSchema;
/** Messages in a message. */
const proof = VerifyTransferProofRequestSchema;

/** Why a query makes no fields. */
function refusal(schema: DescMessage, query: Query): { readonly code: Code; readonly message: string } {
  try {
    queryFields(schema, query);
  } catch (error) {
    if (error instanceof ConnectError) return { code: error.code, message: error.rawMessage };
    throw error;
  }
  throw new Error("the query was not refused");
}

test("no query gives no fields", () => {
  expect(queryFields(page, {})).toEqual({});
});

describe("the name of a parameter", () => {
  test.each<[string, DescMessage, Query, JsonObject]>([
    ["may be that in JSON", page, { pageToken: "a" }, { pageToken: "a" }],
    ["may be that in the proto file", page, { page_token: "a" }, { pageToken: "a" }],
    [
      "of a nested field has points",
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
      "may lead deeper",
      proof,
      { "transfer.instrument_id.id": "USD", "transfer.sender": "alice", updateId: "1220" },
      { transfer: { instrumentId: { id: "USD" }, sender: "alice" }, updateId: "1220" },
    ],
  ])("%s", (_what, schema, query, fields) => {
    expect(queryFields(schema, query)).toEqual(fields);
  });

  test.each<[string, Query]>([
    ["of no field", { pages: "1", PageSize: "2", PAGE_SIZE: "3", "page-size": "4", "": "5", " pageSize": "6" }],
    ["of what every object has", { constructor: "1", ["__proto__"]: "2", toString: "3", "constructor.prototype": "4" }],
    ["of nothing within a field that is no message", { "pageSize.value": "1", "pageToken.": "2", ".pageToken": "3" }],
    ["given twice", { pages: ["1", "2"] }],
  ])("%s is ignored", (_what, query) => {
    expect(queryFields(page, query)).toEqual({});
  });

  test("of no field in a nested message is ignored", () => {
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
    ["of a text stands for itself", page, { pageToken: "5" }, { pageToken: "5" }],
    ["of a text may look like a boolean", page, { pageToken: "true" }, { pageToken: "true" }],
    ["of a text may be empty", page, { pageToken: "" }, { pageToken: "" }],
    ["of a text has any characters", page, { pageToken: "é & = 😀" }, { pageToken: "é & = 😀" }],
    ["of a number is one", page, { pageSize: "25" }, { pageSize: 25 }],
    ["of a number may be negative", page, { pageSize: "-1" }, { pageSize: -1 }],
    [
      "of a number may be more than it can hold, which is for others to say",
      page,
      { pageSize: "1099511627776" },
      { pageSize: 1_099_511_627_776 },
    ],
    ["of a boolean is true", choice, { excludeDebugFields: "true" }, { excludeDebugFields: true }],
    ["of a boolean is false", choice, { exclude_debug_fields: "false" }, { excludeDebugFields: false }],
    ["of a list may be one", burn, { holdingContractIds: "a" }, { holdingContractIds: ["a"] }],
    ["of a list may be many", burn, { holding_contract_ids: ["a", "b", "a"] }, { holdingContractIds: ["a", "b", "a"] }],
    ["of a list has no commas", burn, { holdingContractIds: "a,b" }, { holdingContractIds: ["a,b"] }],
    [
      "of a list in a nested message",
      proof,
      { "transfer.inputHoldingCids": ["a", "b"] },
      { transfer: { inputHoldingCids: ["a", "b"] } },
    ],
  ])("%s", (_what, schema, query, fields) => {
    expect(queryFields(schema, query)).toEqual(fields);
  });

  test.each(["1.5", "x", "", " 5", "0x10", "1e3", "+5", "--5", "٣"])(
    "of a number that is none, %j, is refused",
    (text) => {
      expect(() => queryFields(page, { pageSize: text })).toThrow(
        `pageSize must be an integer, and is ${JSON.stringify(text)}`,
      );
    },
  );

  test.each(["", "1", "TRUE", "yes"])("of a boolean that is none, %j, stays a text", (text) => {
    expect(queryFields(choice, { excludeDebugFields: text })).toEqual({ excludeDebugFields: text });
  });
});

describe("a field that is given twice is refused, by the name that was given", () => {
  test.each<[string, DescMessage, Query, string]>([
    ["a number", page, { pageSize: ["1", "2"] }, "pageSize"],
    ["the same number", page, { pageSize: ["1", "1"] }, "pageSize"],
    ["a text", page, { page_token: ["a", "b"] }, "page_token"],
    ["a boolean", choice, { excludeDebugFields: ["true", "true"] }, "excludeDebugFields"],
    ["a nested field", proof, { "transfer.sender": ["a", "b"] }, "transfer.sender"],
    ["under both of its names", page, { pageSize: "1", page_size: "2" }, "page_size"],
    [
      "a nested field under both of its names",
      burn,
      { "instrumentId.id": "USD", "instrument_id.id": "EUR" },
      "instrument_id.id",
    ],
  ])("%s", (_what, schema, query, name) => {
    const { code, message } = refusal(schema, query);
    expect(code).toBe(Code.InvalidArgument);
    expect(message).toContain(name);
  });
});
