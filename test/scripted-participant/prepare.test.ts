/** Requests to prepare a command: what is rejected, and how. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { Participant } from "./participant.js";
import { alice, ask, creation, operator, template } from "./test-client.js";

let participant: Participant;
beforeAll(async () => {
  participant = await Participant.start();
  participant.ledger.transact([{ create: creation("a") }]);
});
afterAll(() => participant.stop());

const exercise = { templateId: template, contractId: "a", choice: "Do", choiceArgument: {} };
const request = {
  userId: "u",
  commandId: "c",
  actAs: [operator],
  commands: [{ ExerciseCommand: exercise }],
  synchronizerId: "",
  packageIdSelectionPreference: [],
};
const post = (body: object) => ask(`${participant.url}/v2/interactive-submission/prepare`, body);

const exercising = (fields: object) => ({ ...request, commands: [{ ExerciseCommand: { ...exercise, ...fields } }] });

test("a command is prepared, with its traffic unless that is disabled", async () => {
  const { status, body } = await post(request);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    preparedTransaction: expect.stringMatching(/^[\w+/]+=*$/),
    preparedTransactionHash: expect.stringMatching(/^[\w+/]{43}=$/),
    hashingSchemeVersion: "HASHING_SCHEME_VERSION_V2",
    costEstimation: { confirmationResponseTrafficCostEstimation: 700 },
  });
  const disabled = await post({ ...request, estimateTrafficCost: { disabled: true } });
  expect(disabled.body).not.toHaveProperty("costEstimation");
});

describe("a request", () => {
  test.each<[string, object]>([
    ["commandId", { ...request, commandId: undefined }],
    ["commands", { ...request, commands: undefined }],
    ["actAs", { ...request, actAs: undefined }],
    ["commands[0].ExerciseCommand", { ...request, commands: [{}] }],
    ["templateId", exercising({ templateId: undefined })],
    ["contractId", exercising({ contractId: undefined })],
    ["choice", exercising({ choice: undefined })],
    ["choiceArgument", exercising({ choiceArgument: undefined })],
    ["synchronizerId", { ...request, synchronizerId: undefined }],
    ["synchronizerId", { ...request, synchronizerId: null }],
    ["packageIdSelectionPreference", { ...request, packageIdSelectionPreference: undefined }],
    ["Invalid identifier format (T)", exercising({ templateId: "T" })],
    ["createdEventBlob", { ...request, disclosedContracts: [{ contractId: "b" }] }],
  ])("without %s is rejected as text", async (field, body) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(answer.type).toBe("text/plain; charset=UTF-8");
    expect(answer.body).toContain(field);
  });

  test.each<[string, object, string]>([
    ["no command", { ...request, commands: [] }, "MISSING_FIELD"],
    [
      "two commands",
      { ...request, commands: [...request.commands, ...request.commands] },
      "FAILED_TO_PREPARE_TRANSACTION",
    ],
    ["no party", { ...request, actAs: [] }, "MISSING_FIELD"],
    ["no user", { ...request, userId: undefined }, "INVALID_TOKEN"],
    ["an empty choice", exercising({ choice: "" }), "MISSING_FIELD"],
    ["a physical synchronizer", { ...request, synchronizerId: "sync-A::1220::35-0" }, "INVALID_FIELD"],
    ["an unknown synchronizer", { ...request, synchronizerId: "x::1220" }, "INVALID_PRESCRIBED_SYNCHRONIZER_ID"],
  ])("with %s is rejected", async (_what, body, code) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect((answer.body as JsonObject).code).toBe(code);
  });
});

describe("a contract of the command or of its context", () => {
  const value = { tag: "AV_List", value: [{ tag: "AV_ContractId", value: "b" }] };
  const inContext = exercising({ choiceArgument: { extraArgs: { context: { values: { rules: value } } } } });

  test.each<[string, object]>([
    ["is unknown", exercising({ contractId: "b" })],
    ["is invisible to the parties", { ...request, actAs: ["bob::1220"] }],
    ["is in the context and unknown", inContext],
  ])("that %s is not found", async (_what, body) => {
    const answer = await post(body);
    expect(answer.status).toBe(404);
    expect(answer.body).toMatchObject({ code: "CONTRACT_NOT_FOUND", grpcCodeValue: 5, errorCategory: 11 });
  });

  test("is found if it is disclosed, or visible to a reader", async () => {
    const disclosedContracts = [{ contractId: "b", createdEventBlob: "AA==" }];
    expect((await post({ ...inContext, disclosedContracts })).status).toBe(200);
    expect((await post({ ...request, actAs: ["bob::1220"], readAs: [alice] })).status).toBe(200);
  });
});
