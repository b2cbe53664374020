/** The fast JSON decoder returns the same messages as the library, or undefined. */
import { type DescMessage, fromJson, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { GetTransferFactoryRequestSchema } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import { ListInstrumentsRequestSchema } from "../../../gen/offledger/metadata/v1/metadata_pb.js";
import { VerifyTransferProofRequestSchema } from "../../../gen/offledger/transfer/v0/transfer_pb.js";
import { fastDecodeJson } from "../../../src/transport/decoding/fast-json.js";

const read = (json: JsonObject) => fastDecodeJson(GetTransferFactoryRequestSchema, json);
const nested = (depth: number): JsonObject => (depth === 0 ? {} : { a: nested(depth - 1) });

describe("a request of strings, booleans and objects", () => {
  test.each<JsonObject>([
    {},
    { registrarParty: "a::1220", choiceArguments: { transfer: { amount: "1.0", list: [1, null, { b: "é😀" }] } } },
    { registrar_party: "a::1220", exclude_debug_fields: true, choice_arguments: {} },
    { registrarParty: "", excludeDebugFields: false, unknown: [1] },
  ])("%j is decoded as by the library", (json) => {
    const message = read(json);
    const expected = fromJson(GetTransferFactoryRequestSchema, json, { ignoreUnknownFields: true });
    if (message === undefined) throw new Error("it was not decoded");
    expect(toBinary<DescMessage>(GetTransferFactoryRequestSchema, message)).toEqual(
      toBinary(GetTransferFactoryRequestSchema, expected),
    );
  });

  test.each<[string, JsonObject]>([
    ["a number for a string", { registrarParty: 1 }],
    ["null", { registrarParty: null }],
    ["a lone surrogate", { registrarParty: "\ud800" }],
    ["a nested lone surrogate", { choiceArguments: { a: ["\udc00"] } }],
    ["a lone surrogate in a key", { choiceArguments: { "\ud800": 1 } }],
    ["a string for a boolean", { excludeDebugFields: "true" }],
    ["a field under both its names", { registrarParty: "a", registrar_party: "a" }],
    ["a list for an object", { choiceArguments: [] }],
    ["a deeply nested object", { choiceArguments: nested(60) }],
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
