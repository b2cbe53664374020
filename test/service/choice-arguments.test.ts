/** Typed arguments become the JSON that the ledger encodes, written out by hand here. */
import { create, fromJson, type JsonObject } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { GetSettlementFactoryRequestSchema } from "../../gen/offledger/allocation/v2/allocation_pb.js";
import { GetAllocationFactoryRequestSchema } from "../../gen/offledger/allocation_instruction/v1/allocation_instruction_pb.js";
import { GetTransferFactoryRequestSchema } from "../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import { choiceArgumentsOf, type TypedArguments } from "../../src/service/messages.js";

const extraArgs = { context: { values: {} }, meta: { values: {} } };
const meta = { values: { reason: "rent" } };
const times = { requestedAt: "2026-06-01T00:00:00Z", executeBefore: "2026-06-02T00:00:00.123456Z" };
const gold = { admin: "acme", id: "GOLD" };
const account = { owner: "alice", provider: "bank", id: "checking" };

const side = { transferLegId: "1", side: "SenderSide", otherside: account, amount: "1.5", instrumentId: "GOLD", meta };
const settlement = { executors: ["exchange"], id: "trade", cid: "00aa", meta };

const transferV1 = {
  expectedAdmin: "acme",
  transfer: { sender: "a", receiver: "b", amount: "1.0", instrumentId: gold, ...times, inputHoldingCids: ["00"], meta },
};
const transferV2 = {
  transfer: {
    sender: account,
    receiver: account,
    amount: "1.0",
    instrumentId: gold,
    ...times,
    inputHoldingCids: [],
    meta,
  },
  actors: ["alice"],
};
const allocateV1 = {
  expectedAdmin: "acme",
  allocation: {
    settlement: {
      executor: "exchange",
      settlementRef: { id: "trade", cid: "00aa" },
      requestedAt: times.requestedAt,
      allocateBefore: times.requestedAt,
      settleBefore: times.executeBefore,
      meta,
    },
    transferLegId: "1",
    transferLeg: { sender: "a", receiver: "b", amount: "1.0", instrumentId: gold, meta },
  },
  requestedAt: times.requestedAt,
  inputHoldingCids: ["00"],
};
const allocateV2 = {
  settlement,
  allocation: {
    admin: "acme",
    authorizer: account,
    transferLegSides: [side],
    settlementDeadline: times.executeBefore,
    nextIterationFunding: { GOLD: "2.5" },
    committed: true,
    meta,
  },
  requestedAt: times.requestedAt,
  inputHoldingCids: ["00"],
  actors: ["alice"],
};
const settleBatchV2 = {
  settlement,
  transferLegs: [{ transferLegId: "1", sender: account, receiver: account, amount: "1.5", instrumentId: "GOLD", meta }],
  allocations: [{ allocationCid: "00bb", extraTransferLegSides: [side], nextIterationFunding: { GOLD: "2.5" } }],
  actors: ["exchange"],
};

function convert(typed: TypedArguments): JsonObject {
  if (typed.case === undefined) throw new Error("no typed arguments are set");
  return choiceArgumentsOf(typed);
}

describe("a message with every field", () => {
  test.each([
    ["transferV1", GetTransferFactoryRequestSchema, transferV1],
    ["transferV2", GetTransferFactoryRequestSchema, transferV2],
    ["allocateV1", GetAllocationFactoryRequestSchema, allocateV1],
    ["allocateV2", GetAllocationFactoryRequestSchema, allocateV2],
    ["settleBatchV2", GetSettlementFactoryRequestSchema, settleBatchV2],
  ] as const)("%s", (form, schema, choiceArguments) => {
    // Without ignoring unknown fields: a field that the message lacks would throw.
    const { typedArguments } = fromJson(schema, { [form]: choiceArguments as JsonObject });
    expect(typedArguments.case).toBe(form);
    expect(convert(typedArguments)).toEqual({ ...choiceArguments, extraArgs });
  });
});

test("absent fields are left out, empty texts and lists are written", () => {
  const { typedArguments } = create(GetTransferFactoryRequestSchema, {
    typedArguments: { case: "transferV2", value: { transfer: { sender: { owner: "alice" } } } },
  });
  expect(convert(typedArguments)).toEqual({
    transfer: { sender: { owner: "alice", id: "" }, amount: "", inputHoldingCids: [] },
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
