/** Transfers on a scripted ledger, as the registry's templates make them: offers, acceptances, transfers at once. */
import { payload, parties } from "../../../fixtures/elements.js";
import type { JsonObject, JsonValue } from "../../../../src/domain/json.js";
import type { Creation, Exercise, Step } from "../../../../scripted-participant/ledger.js";

export const { operator, provider, registrar } = parties;
export const [alice, bob] = ["alice::1220", "bob::1220"];

/** A transfer as the sender requests it, and as a request for a proof names it. */
export const transfer: JsonObject = {
  sender: alice,
  receiver: bob,
  amount: "12.5000000000",
  instrumentId: { admin: registrar, id: "USD" },
  requestedAt: "2026-01-05T09:00:00.123456Z",
  executeBefore: "2036-01-05T09:00:00.000000Z",
  inputHoldingCids: ["input-1", "input-2"],
  meta: { values: { "splice.lfdecentralizedtrust.org/reason": "rent", "acme.example/invoice": "17" } },
};

const app = "utility-registry-app-v0";

function contract(
  contractId: string,
  packageName: string,
  entity: string,
  argument: JsonObject,
  more: JsonValue[] = [],
) {
  return {
    contractId,
    packageName,
    templateId: `pkg-1:${entity}`,
    payload: argument,
    createdEventBlob: Buffer.from(contractId).toString("base64"),
    signatories: [operator, provider, registrar],
    observers: more.map(String),
  } satisfies Creation;
}

export const factory = (id: string): Step => ({
  create: contract(id, app, "Utility.Registry.App.V0.Service.AllocationFactory:AllocationFactory", payload.service()),
});

export const preapproval = (id: string, receiver: string = bob): Step => ({
  create: contract(
    id,
    app,
    "Utility.Registry.App.V0.Model.TransferPreapproval:TransferPreapproval",
    payload.preapproval(receiver, []),
    [receiver],
  ),
});

export const holding = (id: string): Step => ({
  create: contract(
    id,
    "utility-registry-holding-v0",
    "Utility.Registry.Holding.V0.Holding:Holding",
    payload.lockedHolding(alice, "USD"),
  ),
});

/** Creates an offer without a transfer choice. Its only input is the locked holding. */
export const offerCreation = (id: string, terms: JsonObject = transfer, locked = `${id}-locked`): Step => ({
  create: contract(id, app, "Utility.Registry.App.V0.Model.Transfer:TransferOffer", {
    operator,
    provider,
    transfer: { ...terms, inputHoldingCids: [locked] },
  }),
});

/** The result of a choice of the standard. */
export const result = (outcome: "Completed" | "Pending" | "Failed", value: JsonObject = {}): JsonObject => ({
  senderChangeCids: [],
  output: { tag: `TransferInstructionResult_${outcome}`, value },
  meta: { values: {} },
});

export const pending = (transferInstructionCid: string): JsonObject => result("Pending", { transferInstructionCid });
export const completed = result("Completed", { receiverHoldingCids: ["received"] });

const extraArgs = { context: { values: {} }, meta: { values: {} } };

/** TransferFactory_Transfer, on a factory or a preapproval; at once, where nothing else is said. */
export function transferring(on: string, terms: JsonObject = transfer, more: Partial<Exercise> = {}): Step {
  const argument = { expectedAdmin: registrar, transfer: terms, extraArgs };
  const exercise = { contractId: on, choice: "TransferFactory_Transfer", argument, result: completed, ...more };
  return { exercise: { actors: [alice], ...exercise } };
}

/** The transfer is offered: a holding is locked, and the offer names it. */
export const offering = (on: string, id: string, terms: JsonObject = transfer): Step =>
  transferring(on, terms, { result: pending(id), steps: [holding(`${id}-locked`), offerCreation(id, terms)] });

/** The offer ends by a choice of the standard. */
export function ending(how: "Accept" | "Reject" | "Withdraw", id: string, more: Partial<Exercise> = {}): Step {
  const given = how === "Accept" ? completed : result("Failed");
  const choice = `TransferInstruction_${how}`;
  const actors = [how === "Withdraw" ? alice : bob];
  return {
    exercise: { contractId: id, choice, consuming: true, argument: { extraArgs }, result: given, actors, ...more },
  };
}
