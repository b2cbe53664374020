/** Requests that are read without the library: the same messages, and the rest left to it. */
import { type DescMessage, fromJson, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { GetFactoryRequestSchema } from "../../../gen/offledger/choice_context/v1/choice_context_pb.js";
import { ListInstrumentsRequestSchema } from "../../../gen/offledger/metadata/v1/metadata_pb.js";
import { VerifyTransferProofRequestSchema } from "../../../gen/offledger/transfer/v0/transfer_pb.js";
import { fastDecodeJson } from "../../../src/transport/decoding/fast-json.js";

const read = (json: JsonObject) => fastDecodeJson(GetFactoryRequestSchema, json);
const nested = (depth: number): JsonObject => (depth === 0 ? {} : { a: nested(depth - 1) });

describe("a request of texts, booleans and objects", () => {
  test.each<JsonObject>([
    {},
    { registrarParty: "a::1220", choiceArguments: { transfer: { amount: "1.0", list: [1, null, { b: "é😀" }] } } },
    { registrar_party: "a::1220", exclude_debug_fields: true, choice_arguments: {} },
    { registrarParty: "", excludeDebugFields: false, unknown: [1] },
  ])("%j is read as the library reads it", (json) => {
    const message = read(json);
    const expected = fromJson(GetFactoryRequestSchema, json, { ignoreUnknownFields: true });
    if (message === undefined) throw new Error("it was left to the library");
    expect(toBinary<DescMessage>(GetFactoryRequestSchema, message)).toEqual(
      toBinary(GetFactoryRequestSchema, expected),
    );
  });

  test.each<[string, JsonObject]>([
    ["a text that is a number", { registrarParty: 1 }],
    ["null", { registrarParty: null }],
    ["half a character", { registrarParty: "\ud800" }],
    ["half a character deep within", { choiceArguments: { a: ["\udc00"] } }],
    ["half a character as a name", { choiceArguments: { "\ud800": 1 } }],
    ["a boolean that is a text", { excludeDebugFields: "true" }],
    ["a field under both its names", { registrarParty: "a", registrar_party: "a" }],
    ["an object that is a list", { choiceArguments: [] }],
    ["an object that is nested deep", { choiceArguments: nested(60) }],
  ])("%s is left to the library", (_what, json) => {
    expect(read(json)).toBeUndefined();
  });
});

test.each([ListInstrumentsRequestSchema, VerifyTransferProofRequestSchema])(
  "a message with fields of other types is left to the library: $name",
  (schema) => {
    expect(fastDecodeJson(schema, {})).toBeUndefined();
  },
);
