/** Typed arguments become the JSON that the ledger encodes. */
import { create, fromJson, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { GetSettlementFactoryRequestSchema } from "../../gen/offledger/allocation/v2/allocation_pb.js";
import { GetAllocationFactoryRequestSchema } from "../../gen/offledger/allocation_instruction/v1/allocation_instruction_pb.js";
import { GetTransferFactoryRequestSchema } from "../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import { choiceArgumentsOf, type TypedArguments } from "../../src/service/messages.js";
import { exampleRequests } from "../fixtures/openapi-examples.js";
import { own } from "../openapi/published.js";

const extraArgs = { context: { values: {} }, meta: { values: {} } };

function convert(typed: TypedArguments): JsonObject {
  if (typed.case === undefined) throw new Error("no typed arguments are set");
  return choiceArgumentsOf(typed);
}

// The examples are written by hand, and have every field.
test.each([
  ["transferV1", GetTransferFactoryRequestSchema, "getTransferFactory"],
  ["transferV2", GetTransferFactoryRequestSchema, "getTransferFactoryV2"],
  ["allocateV1", GetAllocationFactoryRequestSchema, "getAllocationFactory"],
  ["allocateV2", GetAllocationFactoryRequestSchema, "getAllocationFactoryV2"],
  ["settleBatchV2", GetSettlementFactoryRequestSchema, "getSettlementFactory"],
] as const)("%s: the example of the document, without what is null but a map", (form, schema, operation) => {
  const { body = {} } = exampleRequests(own).find(({ operationId }) => operationId === operation) ?? {};
  const { extraArgs: _, ...given } = body["choiceArguments"] as JsonObject;
  // Without ignoring unknown fields: a field that the message lacks would throw.
  const { typedArguments } = fromJson(schema, { [form]: given });
  expect(typedArguments.case).toBe(form);
  const written = (name: string, value: JsonValue) => value ?? (name === "nextIterationFunding" ? {} : undefined);
  const present: unknown = JSON.parse(JSON.stringify(given), written);
  expect(convert(typedArguments)).toEqual({ ...(present as object), extraArgs });
});

test("absent fields are left out, empty texts and lists are written, and a map is an object", () => {
  const account = { owner: "alice", provider: "bank", id: "" };
  const { typedArguments } = create(GetAllocationFactoryRequestSchema, {
    typedArguments: {
      case: "allocateV2",
      value: { allocation: { authorizer: account, nextIterationFunding: { GOLD: "2.5" } } },
    },
  });
  expect(convert(typedArguments)).toEqual({
    allocation: {
      admin: "",
      authorizer: account,
      transferLegSides: [],
      nextIterationFunding: { GOLD: "2.5" },
      committed: false,
    },
    inputHoldingCids: [],
    actors: [],
    extraArgs,
  });
});

test("a time that has no JSON is refused", () => {
  const { typedArguments } = create(GetTransferFactoryRequestSchema, {
    typedArguments: { case: "transferV1", value: { transfer: { requestedAt: { seconds: 1n << 60n } } } },
  });
  expect(() => convert(typedArguments)).toThrow(/^transferV1 cannot be encoded: .*Timestamp/);
});
