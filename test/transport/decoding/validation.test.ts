/** The fast rule check accepts exactly the requests that protovalidate accepts. */
import { type DescMessage, fromJson, type JsonObject, type Message, ScalarType } from "@bufbuild/protobuf";
import { createValidator } from "@bufbuild/protovalidate";
import { ConnectError } from "@connectrpc/connect";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { GetAllocationContextRequestSchema } from "../../../gen/offledger/allocation/v1/allocation_pb.js";
import { GetBurnOfferContextRequestSchema } from "../../../gen/offledger/burn/v0/burn_pb.js";
import { GetTransferFactoryRequestSchema } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import { GetTransferInstructionContextRequestSchema } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import { ruleCheck } from "../../../src/transport/decoding/validation.js";

const validator = createValidator();

const schemas: readonly DescMessage[] = [
  GetTransferFactoryRequestSchema,
  GetTransferInstructionContextRequestSchema,
  GetAllocationContextRequestSchema,
  GetBurnOfferContextRequestSchema,
];

/** Strings around the limits, with one or two UTF-16 units per character. */
const text = fc
  .tuple(
    fc.constantFrom("x", "é", "😀"),
    fc.constantFrom(0, 1, 2, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 3000),
  )
  .map(([unit, count]) => unit.repeat(count));

/** Undefined where it is accepted. */
function problemOf(schema: DescMessage, request: Message): string | undefined {
  try {
    ruleCheck(schema)(request);
    return undefined;
  } catch (error) {
    if (error instanceof ConnectError) return error.rawMessage;
    throw error;
  }
}

describe.each(schemas.map((schema) => [schema.name, schema] as const))("%s", (_name, schema) => {
  test("is rejected exactly when the library rejects it", () => {
    const fields = schema.fields.map((field): [string, fc.Arbitrary<JsonObject[string]>] => [
      field.jsonName,
      field.fieldKind === "message"
        ? fc.constant({})
        : field.fieldKind === "scalar" && field.scalar === ScalarType.STRING
          ? text
          : fc.boolean(),
    ]);
    const oneOfEach = (json: object) =>
      schema.oneofs.every((oneof) => oneof.fields.filter(({ jsonName }) => jsonName in json).length < 2);
    // Two members of a oneof are refused when the message is read.
    const arbitrary = fc.record(Object.fromEntries(fields), { requiredKeys: [] }).filter(oneOfEach);
    let rejected = 0;
    fc.assert(
      fc.property(arbitrary, (json) => {
        const request = fromJson(schema, json as JsonObject);
        const isWrong = problemOf(schema, request) !== undefined;
        if (isWrong) rejected++;
        expect(isWrong).toBe(validator.validate(schema, request).kind !== "valid");
      }),
      { numRuns: 300 },
    );
    expect(rejected).toBeGreaterThan(0);
    expect(rejected).toBeLessThan(300);
  });
});

describe("arguments of a factory's choice", () => {
  const schema = GetTransferFactoryRequestSchema;
  const parties = {
    sender: { owner: "alice" },
    receiver: { owner: "bob" },
    instrumentId: { admin: "acme", id: "GOLD" },
  };
  const transferV2 = { transfer: parties };
  const twice = "transferV2: choiceArguments and transferV2 are set, but only one of them can be";

  test.each<[string, JsonObject, string | undefined]>([
    ["given as JSON", { registrarParty: "acme", choiceArguments: {} }, undefined],
    ["typed", { registrarParty: "acme", transferV2 }, undefined],
    ["missing", { registrarParty: "acme" }, "choiceArguments: value is required"],
    ["missing, with the registrar", {}, "; choiceArguments: value is required"],
    ["given twice", { registrarParty: "acme", choiceArguments: {}, transferV2 }, twice],
    [
      "typed without a sender",
      { registrarParty: "acme", transferV2: { transfer: { ...parties, sender: null } } },
      "transferV2.transfer.sender: value is required",
    ],
  ])("are %s", (_case, json, message) => {
    const problem = problemOf(schema, fromJson(schema, json));
    expect([problem === undefined, problem ?? ""]).toEqual([
      message === undefined,
      expect.stringContaining(message ?? "") as string,
    ]);
  });
});
