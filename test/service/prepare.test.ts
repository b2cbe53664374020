/** The context of an answer in a command, as a participant receives it. */
import { create, toJson } from "@bufbuild/protobuf";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Participant } from "../scripted-participant/participant.js";
import { type Call, PrepareRequestSchema, PrepareResponseSchema } from "../../gen/offledger/explain/v1/explain_pb.js";
import { notFound } from "../../src/domain/errors.js";
import type { JsonObject } from "../../src/domain/json.js";
import { ParticipantPreparer } from "../../src/ledger/participant/prepare.js";
import { type CallContext, prepare } from "../../src/service/prepare.js";
import { contractOf } from "../fixtures/replies.js";
import { endpointAt } from "../ledger/participant/servers.js";

const blob = Buffer.from("a blob").toString("base64");
const factory = contractOf({ contractId: "factory", payload: {}, blob, synchronizer: "B" });
const rule = contractOf({ contractId: "rule", payload: {}, blob, synchronizer: "B" });

/** The answer for a factory, with a value of every form. */
const context: CallContext = {
  factoryId: "factory",
  disclosed: [factory, rule],
  offset: 41,
  values: [
    { name: "ns/rule", alias: "rule", value: { tag: "AV_ContractId", value: "rule", contract: rule } },
    { name: "ns/enabled", value: { tag: "AV_Bool", value: false } },
    { name: "ns/count", value: { tag: "AV_Int", value: "9007199254740993" } },
    {
      name: "ns/credentials",
      value: { tag: "AV_List", value: [{ tag: "AV_ContractId", value: "rule" }] },
    },
    {
      name: "ns/rewards",
      value: { tag: "AV_Map", value: [{ name: "alice::1220", value: { tag: "AV_Decimal", value: "1.5" } }] },
    },
  ],
};

const request = {
  call: { operation: "offledger.transfer_instruction.v1.TransferInstructionService/GetTransferFactory" },
  actAs: ["alice::1220", "bob::1220"],
  templateId: "#splice-api-token-transfer-instruction-v1:Splice.Api.Token.TransferInstructionV1:TransferFactory",
  choice: "TransferFactory_Transfer",
};

let participant: Participant;
beforeEach(async () => {
  participant = await Participant.start();
});
afterEach(() => participant.stop());

/** Asks the participant. Returns the response, the body that the participant received, and the calls that were answered. */
async function ask(more: { contractId?: string; choiceArgument?: JsonObject } = {}, answer: CallContext = context) {
  const calls: Call[] = [];
  const contextOf = async (call: Call) => {
    calls.push(call);
    return answer;
  };
  const preparer = new ParticipantPreparer(endpointAt(new URL(participant.url)), "user");
  const response = await prepare(create(PrepareRequestSchema, { ...request, ...more }), contextOf, preparer);
  return { response: toJson(PrepareResponseSchema, response), body: participant.requests.at(-1)?.body, calls };
}

/** The choice argument that the participant received. */
async function argumentFor(choiceArgument: JsonObject, answer = context): Promise<unknown> {
  const { body } = await ask({ choiceArgument }, answer);
  const { commands } = body as { commands: { ExerciseCommand: { choiceArgument: JsonObject } }[] };
  return commands[0]?.ExerciseCommand.choiceArgument;
}

/** `context.values` as the JSON Ledger API has them, written by hand. */
const values = {
  "ns/rule": { tag: "AV_ContractId", value: "rule" },
  rule: { tag: "AV_ContractId", value: "rule" },
  "ns/enabled": { tag: "AV_Bool", value: false },
  "ns/count": { tag: "AV_Int", value: "9007199254740993" },
  "ns/credentials": { tag: "AV_List", value: [{ tag: "AV_ContractId", value: "rule" }] },
  "ns/rewards": { tag: "AV_Map", value: { "alice::1220": { tag: "AV_Decimal", value: "1.5" } } },
};

test("the participant receives the command with the context and the disclosed contracts", async () => {
  const transfer = { sender: "alice::1220", receiver: "bob::1220", amount: "1.0" };
  const { body } = await ask({ choiceArgument: { transfer } });
  expect(body).toEqual({
    userId: "user",
    commandId: expect.any(String),
    actAs: ["alice::1220", "bob::1220"],
    // The participant requires these.
    readAs: [],
    synchronizerId: "",
    packageIdSelectionPreference: [],
    verboseHashing: false,
    commands: [
      {
        ExerciseCommand: {
          templateId:
            "#splice-api-token-transfer-instruction-v1:Splice.Api.Token.TransferInstructionV1:TransferFactory",
          contractId: "factory",
          choice: "TransferFactory_Transfer",
          choiceArgument: { transfer, extraArgs: { context: { values }, meta: { values: {} } } },
        },
      },
    ],
    disclosedContracts: [
      {
        templateId: "package:Module:Entity",
        contractId: "factory",
        createdEventBlob: "YSBibG9i",
        synchronizerId: "sync-B",
      },
      {
        templateId: "package:Module:Entity",
        contractId: "rule",
        createdEventBlob: "YSBibG9i",
        synchronizerId: "sync-B",
      },
    ],
  });
});

test("the answer has the verdict, and the offset of the context", async () => {
  const { response, calls } = await ask();
  expect(response).toEqual({
    succeeds: true,
    synchronizer: "sync-B",
    trafficCost: expect.stringMatching(/^\d+$/),
    offset: "41",
  });
  expect(calls.map(({ operation }) => operation)).toEqual([
    "offledger.transfer_instruction.v1.TransferInstructionService/GetTransferFactory",
  ]);
});

test("a rejection is an answer", async () => {
  const { response } = await ask({}, { ...context, disclosed: [factory] });
  expect(response).toEqual({
    error: "Contract could not be found with id rule",
    errorCode: "CONTRACT_NOT_FOUND",
    offset: "41",
  });
});

const contractIdOf = (body: unknown) =>
  (body as { commands: { ExerciseCommand: { contractId: string } }[] }).commands[0]?.ExerciseCommand.contractId;

describe("the contract on which the choice is exercised", () => {
  test("is that of the request, also where the answer has a factory", async () => {
    expect(contractIdOf((await ask({ contractId: "rule" })).body)).toBe("rule");
  });

  test("must be in the request where the answer has no factory", async () => {
    const answer = { ...context, factoryId: undefined };
    expect(contractIdOf((await ask({ contractId: "offer" }, answer)).body)).toBe("offer");
    const asked = participant.requests.length;
    await expect(ask({}, answer)).rejects.toMatchObject({
      reason: "invalid",
      message: "contractId is missing: the answer to the call has no factory",
    });
    expect(participant.requests).toHaveLength(asked);
  });
});

describe("the choice argument", () => {
  const complete = { extraArgs: { context: { values }, meta: { values: {} } } };

  test.each<[string, JsonObject]>([
    ["is empty", {}],
    ["has empty extraArgs", { extraArgs: {} }],
    ["has extraArgs that are null", { extraArgs: null }],
    ["has an empty context", { extraArgs: { context: {} } }],
    ["has empty values", { extraArgs: { context: { values: {} }, meta: { values: {} } } }],
  ])("that %s gets the whole context", async (_what, argument) => {
    expect(await argumentFor(argument)).toEqual(complete);
  });

  test("keeps its values, its metadata and what else it has", async () => {
    const argument = {
      actors: ["alice::1220"],
      extraArgs: {
        context: {
          values: { "ns/enabled": { tag: "AV_Bool", value: true }, own: { tag: "AV_Text", value: "mine" } },
          other: 1,
        },
        meta: { values: { reason: "a test" } },
        more: [],
      },
    };
    expect(await argumentFor(argument)).toEqual({
      actors: ["alice::1220"],
      extraArgs: {
        context: {
          values: { ...values, "ns/enabled": { tag: "AV_Bool", value: true }, own: { tag: "AV_Text", value: "mine" } },
          other: 1,
        },
        meta: { values: { reason: "a test" } },
        more: [],
      },
    });
  });

  test("of an answer without values has an empty context", async () => {
    expect(await argumentFor({}, { ...context, values: [] })).toEqual({
      extraArgs: { context: { values: {} }, meta: { values: {} } },
    });
  });

  test.each<[string, JsonObject]>([
    ["choiceArgument.extraArgs", { extraArgs: "none" }],
    ["choiceArgument.extraArgs.context", { extraArgs: { context: [] } }],
    ["choiceArgument.extraArgs.context.values", { extraArgs: { context: { values: 5 } } }],
  ])("whose %s is not an object is rejected, and the participant is not asked", async (field, choiceArgument) => {
    await expect(ask({ choiceArgument })).rejects.toMatchObject({
      reason: "invalid",
      message: `${field} must be an object`,
      details: { field },
    });
    expect(participant.requests).toEqual([]);
  });
});

test("a call that fails fails in the same way, and the participant is not asked", async () => {
  const refused = notFound("the offer is not known here");
  const preparer = new ParticipantPreparer(endpointAt(new URL(participant.url)), "user");
  const prepared = prepare(create(PrepareRequestSchema, request), () => Promise.reject(refused), preparer);
  await expect(prepared).rejects.toBe(refused);
  expect(participant.requests).toEqual([]);
});

test("without a user who may prepare the call is not answered, and the message says what to set", async () => {
  let isAsked = false;
  const contextOf = async () => {
    isAsked = true;
    return context;
  };
  await expect(prepare(create(PrepareRequestSchema, request), contextOf, undefined)).rejects.toMatchObject({
    reason: "unsupported",
    message: "no command can be tried: set OFFLEDGER_LEDGER_URL and OFFLEDGER_PREPARE_USER_ID",
  });
  expect(isAsked).toBe(false);
});
