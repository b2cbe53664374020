/** The fast path returns the same messages as the library, or leaves them to it. */
import {
  create,
  fromBinary,
  fromJson,
  type JsonObject,
  type Message,
  toBinary,
  toJsonString,
} from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ListInstrumentsRequestSchema } from "../../../gen/offledger/metadata/v1/metadata_pb.js";
import { GetTransferFactoryRequestSchema } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import { configureTexts } from "../../../src/transport/decoding/decode.js";
import { decodeBinaryFast, decodeJsonFast } from "../../../src/transport/decoding/fast-path.js";

// As the server: the library alone would drop one at the start of a string.
configureTexts();

const schema = GetTransferFactoryRequestSchema;
const read = (bytes: Uint8Array): Message | undefined => decodeBinaryFast(schema, Buffer.from(bytes));

const text = fc.string({ unit: "grapheme", maxLength: 200 }).filter((value) => !value.includes("\ufffd"));
const object = fc.dictionary(
  text.filter((name) => name !== "__proto__"),
  fc
    .jsonValue({ maxDepth: 4, stringUnit: "grapheme" })
    .filter((value) => !/__proto__|\ufffd/.test(JSON.stringify(value))),
  { maxKeys: 6 },
);
const fields = fc.record(
  { registrarParty: text, choiceArguments: object, excludeDebugFields: fc.boolean() },
  { requiredKeys: [] },
);
// What fast-check gives is JSON.
const written = (given: object): Buffer =>
  Buffer.from(toBinary(schema, create(schema, given as { choiceArguments?: JsonObject })));

test("strings, booleans and objects are decoded as by the library", () => {
  fc.assert(
    fc.property(fields, (given) => {
      const bytes = written(given);
      const message = read(bytes);
      if (message === undefined) throw new Error("it was not decoded");
      const expected = fromBinary(schema, bytes);
      expect(message).toEqual(expected);
      expect(toJsonString(schema, message as typeof expected)).toBe(toJsonString(schema, expected));
      // As JSON.parse gives it: 1e400 or -0 are no JSON.
      const json = JSON.parse(JSON.stringify(given)) as JsonObject;
      expect(decodeJsonFast(schema, json)).toEqual(fromJson(schema, json));
    }),
    { numRuns: 500 },
  );
});

/** Encodes a length-delimited field. */
const field = (number: number, content: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([(number << 3) | 2, content.length]), content]);
const arguments_ = (...entries: readonly Uint8Array[]): Buffer => field(2, Buffer.concat(entries));
const entry = (value: Uint8Array, key = "a"): Buffer =>
  field(1, Buffer.concat([field(1, Buffer.from(key)), field(2, value)]));
const nested = (depth: number): JsonObject => (depth === 0 ? {} : { a: nested(depth - 1) });

test.each<[string, Uint8Array]>([
  ["an unknown field", field(15, Buffer.from("a"))],
  ["a field of another wire type", Buffer.from([(1 << 3) | 0, 1])],
  ["a length beyond the end", Buffer.from([(1 << 3) | 2, 5, 65])],
  ["an unterminated length", Buffer.from([(1 << 3) | 2, 255, 255, 255, 255, 255])],
  ["an unterminated tag", Buffer.from([128])],
  ["invalid UTF-8", field(1, Buffer.from([0xff]))],
  ["an object in two parts", Buffer.concat([arguments_(), arguments_()])],
  ["an empty value", arguments_(entry(Buffer.alloc(0)))],
  ["two values in one", arguments_(entry(Buffer.concat([field(3, Buffer.from("a")), field(3, Buffer.from("b"))])))],
  ["a key without a value", arguments_(field(1, field(1, Buffer.from("a"))))],
  ["a value without a key", arguments_(field(1, field(2, field(3, Buffer.from("a")))))],
  ["a null that is not 0", arguments_(entry(Buffer.from([1 << 3, 1])))],
  ["the key __proto__", arguments_(entry(field(3, Buffer.from("a")), "__proto__"))],
  ["NaN", arguments_(entry(Buffer.from([(2 << 3) | 1, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f])))],
  ["a deeply nested object", written({ choiceArguments: nested(60) })],
  ["a deeply nested list", written({ choiceArguments: { a: JSON.parse("[".repeat(60) + "]".repeat(60)) as [] } })],
])("%s is left to the library", (_what, bytes) => expect(read(bytes)).toBeUndefined());

test("no bytes are decoded differently from the library", () => {
  // The last value of a repeated field counts.
  const repeated = Buffer.concat([
    written({ registrarParty: "a", excludeDebugFields: true }),
    Buffer.from([3 << 3, 0]),
  ]);
  expect(read(repeated)).toEqual(fromBinary(schema, repeated));
  fc.assert(
    fc.property(fields, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }), (given, changes) => {
      const bytes = written(given);
      for (const [at, byte] of changes) if (bytes.length > 0) bytes[at % bytes.length] = byte;
      const message = read(bytes);
      fc.pre(message !== undefined);
      expect(message).toEqual(fromBinary(schema, bytes));
    }),
    { numRuns: 1_000 },
  );
});

test("a field of another type is left to the library", () => {
  const page = toBinary(ListInstrumentsRequestSchema, create(ListInstrumentsRequestSchema, { pageSize: 5 }));
  expect(decodeBinaryFast(ListInstrumentsRequestSchema, Buffer.from(page))).toBeUndefined();
});

test.each<[string, JsonObject]>([
  ["null", { registrarParty: null }],
  ["a text for a boolean", { excludeDebugFields: "true" }],
  ["a list for an object", { choiceArguments: [] }],
  ["the proto name of a field", { registrar_party: "a" }],
  ["a member of a oneof", { transferV1: {} }],
  ["the key __proto__", { choiceArguments: JSON.parse('{"a":{"__proto__":1}}') as JsonObject }],
  ["a deeply nested object", { choiceArguments: nested(60) }],
])("%s in JSON is left to the library", (_what, json) => expect(decodeJsonFast(schema, json)).toBeUndefined());
