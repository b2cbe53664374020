/** The rules of a request's proto file. */
import { type DescMessage, fromJson, type JsonObject, type Message } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { GetTransferFactoryRequestSchema } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import { ruleCheck } from "../../../src/transport/decoding/validation.js";

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
