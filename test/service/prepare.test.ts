/** The context of an answer in a command, as a participant receives it. */
import { create, toJson } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { PrepareRequestSchema, PrepareResponseSchema } from "../../gen/offledger/explain/v1/explain_pb.js";
import { notFound } from "../../src/domain/errors.js";
import type { JsonObject } from "../../src/util/json.js";
import type { ExerciseCommand, Preparer, Verdict } from "../../src/domain/ledger.js";
import { type CallContext, prepare } from "../../src/service/prepare.js";
import { contractOf } from "../fixtures/replies.js";

const blob = Buffer.from("a blob").toString("base64");
const factory = contractOf({ contractId: "factory", payload: {}, blob, synchronizer: "B" });
const rule = contractOf({ contractId: "rule", payload: {}, blob, synchronizer: "B" });
const ruleId = { tag: "AV_ContractId", value: "rule" } as const;
const enabled = { tag: "AV_Bool", value: true } as const;
const share = { tag: "AV_Decimal", value: "1.5" } as const;

/** The answer for a factory, with a value of every form. */
const context: CallContext = {
  factoryId: "factory",
  disclosed: [factory, rule],
  offset: 41,
  values: [
    { name: "ns/rule", value: ruleId },
    { name: "rule", value: ruleId },
    { name: "ns/enabled", value: { tag: "AV_Bool", value: false } },
    { name: "ns/count", value: { tag: "AV_Int", value: "9007199254740993" } },
    { name: "ns/credentials", value: { tag: "AV_List", value: [ruleId] } },
    { name: "ns/rewards", value: { tag: "AV_Map", value: [{ name: "alice::1220", value: share }] } },
  ],
};

/** `context.values` as the JSON Ledger API has them, written by hand. */
const values = {
  "ns/rule": ruleId,
  rule: ruleId,
  "ns/enabled": { tag: "AV_Bool", value: false },
  "ns/count": { tag: "AV_Int", value: "9007199254740993" },
  "ns/credentials": { tag: "AV_List", value: [ruleId] },
  "ns/rewards": { tag: "AV_Map", value: { "alice::1220": share } },
};

const operation = "offledger.transfer_instruction.v1.TransferInstructionService/GetTransferFactory";
const command = {
  actAs: ["alice::1220", "bob::1220"],
  templateId: "#splice-api-token-transfer-instruction-v1:Splice.Api.Token.TransferInstructionV1:TransferFactory",
  choice: "TransferFactory_Transfer",
};
const accepted: Verdict = { succeeds: true, error: "", errorCode: "", synchronizer: "sync-B", trafficCost: 7 };

/** Asks for a verdict. The calls that were answered and the commands that the participant received are in `asked`. */
async function ask(
  more: { contractId?: string; choiceArgument?: JsonObject } = {},
  answer: CallContext | Error = context,
  verdict: Verdict = accepted,
) {
  const asked: { calls: string[]; commands: ExerciseCommand[] } = { calls: [], commands: [] };
  const preparer: Preparer = {
    async prepare(received) {
      asked.commands.push(received);
      return verdict;
    },
  };
  const contextOf = async (call: { operation: string }) => {
    asked.calls.push(call.operation);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const request = create(PrepareRequestSchema, { call: { operation }, ...command, ...more });
  try {
    const response = await prepare(request, contextOf, preparer);
    return { ...asked, response: toJson(PrepareResponseSchema, response), error: undefined };
  } catch (error) {
    return { ...asked, response: undefined, error };
  }
}

const argumentFor = async (choiceArgument: JsonObject, answer = context) =>
  (await ask({ choiceArgument }, answer)).commands[0]?.choiceArgument;

test("the participant receives the command with the context and the disclosed contracts", async () => {
  const transfer = { sender: "alice::1220", receiver: "bob::1220", amount: "1.0" };
  const { calls, commands, response } = await ask({ choiceArgument: { transfer } });
  const disclosed = { templateId: "package:Module:Entity", createdEventBlob: "YSBibG9i", synchronizerId: "sync-B" };
  expect(calls).toEqual([operation]);
  expect(commands).toEqual([
    {
      ...command,
      contractId: "factory",
      choiceArgument: { transfer, extraArgs: { context: { values }, meta: { values: {} } } },
      disclosedContracts: ["factory", "rule"].map((contractId) => Object.assign({ contractId }, disclosed)),
    },
  ]);
  expect(response).toEqual({ succeeds: true, synchronizer: "sync-B", trafficCost: "7", offset: "41" });
});

test("a rejection is an answer", async () => {
  const rejected = { succeeds: false, error: "no contract rule", errorCode: "CONTRACT_NOT_FOUND" };
  const { response } = await ask({}, context, { ...rejected, synchronizer: "", trafficCost: undefined });
  expect(response).toEqual({ error: "no contract rule", errorCode: "CONTRACT_NOT_FOUND", offset: "41" });
});

test("the contract is that of the request, or else the factory of the answer", async () => {
  const noFactory = { ...context, factoryId: undefined };
  expect((await ask({ contractId: "rule" })).commands[0]?.contractId).toBe("rule");
  expect((await ask({ contractId: "offer" }, noFactory)).commands[0]?.contractId).toBe("offer");
});

const complete = { extraArgs: { context: { values }, meta: { values: {} } } };
const own = { "ns/enabled": enabled, own: { tag: "AV_Text", value: "mine" } };
const reason = { values: { reason: "a test" } };

test.each<[string, JsonObject, JsonObject]>([
  ["that is empty", {}, complete],
  ["with empty extraArgs", { extraArgs: {} }, complete],
  ["with extraArgs that are null", { extraArgs: null }, complete],
  ["with an empty context", { extraArgs: { context: {} } }, complete],
  ["with empty values", { extraArgs: { context: { values: {} }, meta: { values: {} } } }, complete],
  [
    "with values, metadata and more of its own",
    { actors: ["alice"], extraArgs: { context: { values: own, other: 1 }, meta: reason, more: [] } },
    { actors: ["alice"], extraArgs: { context: { values: { ...values, ...own }, other: 1 }, meta: reason, more: [] } },
  ],
])("a choice argument %s gets what it lacks of the context", async (_what, given, expected) => {
  expect(await argumentFor(given)).toEqual(expected);
});

test("an answer without values gives an empty context", async () => {
  const empty = { extraArgs: { context: { values: {} }, meta: { values: {} } } };
  expect(await argumentFor({}, { ...context, values: [] })).toEqual(empty);
});

const refused = notFound("the offer is not known here");
const NO_USER = "no command can be tried: set OFFLEDGER_LEDGER_URL and OFFLEDGER_PREPARE_USER_ID";

test.each<[string, Parameters<typeof ask>, object]>([
  ["extraArgs that are a text", [{ choiceArgument: { extraArgs: "none" } }], mustBeObject("extraArgs")],
  ["a context that is a list", [{ choiceArgument: { extraArgs: { context: [] } } }], mustBeObject("extraArgs.context")],
  [
    "values that are a number",
    [{ choiceArgument: { extraArgs: { context: { values: 5 } } } }],
    mustBeObject("extraArgs.context.values"),
  ],
  [
    "neither a contract nor a factory",
    [{}, { ...context, factoryId: undefined }],
    { reason: "invalid", message: "contractId is missing: the answer to the call has no factory" },
  ],
  ["a call that is refused", [{}, refused], { reason: "not-found", message: refused.message }],
])("with %s the participant is not asked", async (_what, given, expected) => {
  const asked = await ask(...given);
  expect(asked).toMatchObject({ commands: [], error: expected });
  expect(asked.calls).toHaveLength(1);
});

function mustBeObject(path: string): object {
  const field = `choiceArgument.${path}`;
  return { reason: "invalid", message: `${field} must be an object`, details: { field } };
}

test("without a user who may prepare, the call is not answered, and the message says what to set", async () => {
  let calls = 0;
  const request = create(PrepareRequestSchema, { call: { operation }, ...command });
  const prepared = prepare(request, () => Promise.reject(new Error(`called ${++calls}`)), undefined);
  await expect(prepared).rejects.toMatchObject({ reason: "unsupported", message: NO_USER });
  expect(calls).toBe(0);
});
