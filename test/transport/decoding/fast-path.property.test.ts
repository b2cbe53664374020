/** The fast path returns the same messages as the library, or undefined. */
import {
  create,
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonObject,
  type Message,
  toBinary,
  toJsonString,
} from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { GetTransferFactoryRequestSchema } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import { decodeBinaryFast, decodeJsonFast } from "../../../src/transport/decoding/fast-path.js";
import { configureTexts } from "../../../src/transport/decoding/decode.js";

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

describe("a request of strings, booleans and objects", () => {
  test("is decoded as by the library", () => {
    fc.assert(
      fc.property(fields, (given) => {
        // What fast-check gives is JSON.
        const init = given as { choiceArguments?: JsonObject };
        const bytes = toBinary(schema, create(schema, init));
        const message = read(bytes);
        if (message === undefined) throw new Error("it was not decoded");
        const expected = fromBinary(schema, bytes);
        expect(message).toEqual(expected);
        expect(toJsonString<DescMessage>(schema, message)).toBe(toJsonString(schema, expected));
      }),
      { numRuns: 500 },
    );
  });

  test("is never decoded differently from the library, for any bytes", () => {
    fc.assert(
      fc.property(fields, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }), (given, changes) => {
        const bytes = Buffer.from(toBinary(schema, create(schema, given as { choiceArguments?: JsonObject })));
        for (const [at, byte] of changes) if (bytes.length > 0) bytes[at % bytes.length] = byte;
        const message = read(bytes);
        fc.pre(message !== undefined);
        expect(message).toEqual(fromBinary(schema, bytes));
      }),
      { numRuns: 3_000 },
    );
  });
});

describe("a request in JSON", () => {
  test("is decoded as by the library", () => {
    fc.assert(
      fc.property(fields, (given) => {
        // As JSON.parse gives it: 1e400 or -0 are no JSON.
        const json = JSON.parse(JSON.stringify(given)) as JsonObject;
        expect(decodeJsonFast(schema, json)).toEqual(fromJson(schema, json));
      }),
      { numRuns: 500 },
    );
  });

  const anything = fc.dictionary(
    fc.constantFrom("registrarParty", "registrar_party", "choiceArguments", "choice_arguments", "excludeDebugFields"),
    fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom("a", true, { __proto__: null }, { ["__proto__"]: "a" })),
  );

  test("is never decoded differently from the library, whatever its values", () => {
    let decoded = 0;
    fc.assert(
      fc.property(anything, (given) => {
        const json = JSON.parse(JSON.stringify(given)) as JsonObject;
        const message = decodeJsonFast(schema, json);
        fc.pre(message !== undefined);
        decoded++;
        expect(message).toEqual(fromJson(schema, json));
      }),
      { numRuns: 1_000 },
    );
    expect(decoded).toBeGreaterThan(0);
  });
});
