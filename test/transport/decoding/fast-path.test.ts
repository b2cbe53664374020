/** The fast path returns the same messages as the library, or undefined. */
import { create, fromBinary, type JsonObject, type JsonValue, type Message, toBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { GetTransferFactoryRequestSchema } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import { ListInstrumentsRequestSchema } from "../../../gen/offledger/metadata/v1/metadata_pb.js";
import { decodeBinaryFast, decodeJsonFast } from "../../../src/transport/decoding/fast-path.js";

const schema = GetTransferFactoryRequestSchema;
const read = (bytes: Uint8Array): Message | undefined => decodeBinaryFast(schema, Buffer.from(bytes));

/** Encodes a length-delimited field. */
const field = (number: number, content: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([(number << 3) | 2, content.length]), content]);
const arguments_ = (...entries: readonly Uint8Array[]): Buffer => field(2, Buffer.concat(entries));
const entry = (value: Uint8Array, key = "a"): Buffer =>
  field(1, Buffer.concat([field(1, Buffer.from(key)), field(2, value)]));
const nested = (depth: number): JsonObject => (depth === 0 ? {} : { a: nested(depth - 1) });
const written = (choiceArguments: JsonObject): Uint8Array => toBinary(schema, create(schema, { choiceArguments }));

describe("a request of strings, booleans and objects", () => {
  test("keeps the last value of a repeated string or boolean", () => {
    const one = toBinary(schema, create(schema, { registrarParty: "a", excludeDebugFields: true }));
    const other = toBinary(schema, create(schema, { registrarParty: "b" }));
    const bytes = Buffer.concat([one, other, Buffer.from([3 << 3, 0])]);
    expect(read(bytes)).toEqual(fromBinary(schema, bytes));
    expect(read(bytes)).toMatchObject({ registrarParty: "b", excludeDebugFields: false });
  });

  test.each<[string, Uint8Array]>([
    ["an unknown field", field(15, Buffer.from("a"))],
    ["a field of another wire type", Buffer.from([(1 << 3) | 0, 1])],
    ["a length beyond the end", Buffer.from([(1 << 3) | 2, 5, 65])],
    ["an unterminated length", Buffer.from([(1 << 3) | 2, 255, 255, 255, 255, 255])],
    ["an unterminated tag", Buffer.from([128])],
    ["invalid UTF-8", field(1, Buffer.from([0xff]))],
    ["the replacement character", field(1, Buffer.from("\ufffd"))],
    ["an object in two parts", Buffer.concat([arguments_(), arguments_()])],
    ["an empty value", arguments_(entry(Buffer.alloc(0)))],
    ["two values in one", arguments_(entry(Buffer.concat([field(3, Buffer.from("a")), field(3, Buffer.from("b"))])))],
    ["a key without a value", arguments_(field(1, field(1, Buffer.from("a"))))],
    ["a value without a key", arguments_(field(1, field(2, field(3, Buffer.from("a")))))],
    ["a null that is not 0", arguments_(entry(Buffer.from([1 << 3, 1])))],
    ["the key __proto__", arguments_(entry(field(3, Buffer.from("a")), "__proto__"))],
    ["NaN", arguments_(entry(Buffer.from([(2 << 3) | 1, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f])))],
    ["a deeply nested object", written(nested(60))],
    ["a deeply nested list", written({ a: JSON.parse("[".repeat(60) + "]".repeat(60)) as [] })],
  ])("%s is left to the library", (_what, bytes) => {
    expect(read(bytes)).toBeUndefined();
  });

  test("decodes every kind of value", () => {
    const value: JsonObject = { a: null, b: 1.5, c: "é", d: true, e: { f: {} }, g: [[], false, -0.1, "😀"] };
    expect(read(written(value))).toMatchObject({ choiceArguments: value });
  });
});

test("a field of another type is left to the library", () => {
  const page = create(ListInstrumentsRequestSchema, { pageSize: 5 });
  expect(
    decodeBinaryFast(ListInstrumentsRequestSchema, Buffer.from(toBinary(ListInstrumentsRequestSchema, page))),
  ).toBeUndefined();
});

test.each<[string, JsonObject]>([
  ["null", { registrarParty: null }],
  ["a text for a boolean", { excludeDebugFields: "true" }],
  ["a list for an object", { choiceArguments: [] }],
  ["the proto name of a field", { registrar_party: "a" }],
  ["a member of a oneof", { transferV1: {} }],
  ["the key __proto__", { choiceArguments: JSON.parse('{"a":{"__proto__":1}}') as JsonValue }],
  ["a deeply nested object", { choiceArguments: nested(60) }],
])("%s in JSON is left to the library", (_what, json) => {
  expect(decodeJsonFast(schema, json)).toBeUndefined();
});
