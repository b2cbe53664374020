/** Transfers of a deployed Registry Utility, proved by the service on a participant that has their updates. */
import { describe, expect, onTestFinished, test } from "vitest";
import { startApp } from "../../src/app/app.js";
import type { JsonObject, JsonValue } from "../../src/domain/json.js";
import { quiet } from "../fixtures/run-service.js";
import { until } from "../fixtures/wait.js";
import {
  type CreatedEvent,
  exchange,
  hasEvidence,
  ledgerEffects,
  participantRecording,
  type RecordedUpdate,
  transactionOf,
} from "./evidence.js";
import { creationsOf } from "./reconstruct.js";
import { exerciseIn, unseenContracts } from "./registry-of-load.js";
import { type Answers, type HttpAnswer, replay } from "./replay.js";

const ok = (response: JsonValue): HttpAnswer => ({ status: 200, contentType: "application/json", response });

/** Answers look-ups with the recorded updates, and errors as another recorded participant does. */
function participantOf(updates: readonly RecordedUpdate[]): Answers {
  const { http } = participantRecording();
  const unknownUpdate = exchange(http, "update by id, unknown");
  const unknownContract = exchange(http, "events by contract id, unknown");
  const end = Math.max(...updates.map((update) => transactionOf(update).offset));
  return {
    http({ path, body }) {
      if (path === "/v2/state/ledger-end") return ok({ offset: end });
      const { updateId, offset, contractId } = (body ?? {}) as Record<string, JsonValue>;
      if (path === "/v2/events/events-by-contract-id") return creationOf(updates, contractId) ?? unknownContract;
      const found = updates.map(transactionOf).findIndex((of) => of.updateId === updateId || of.offset === offset);
      return updates[found] === undefined ? unknownUpdate : ok(updates[found]);
    },
    stream: ({ path }) =>
      path === "/v2/updates"
        ? { messages: [] }
        : { messages: unseenContracts(updates), close: { code: 1000, reason: "" } },
  };
}

function creationOf(updates: readonly RecordedUpdate[], contractId: JsonValue | undefined): HttpAnswer | undefined {
  for (const update of updates) {
    const createdEvent = creationsOf(update).find((created: CreatedEvent) => created.contractId === contractId);
    const { synchronizerId } = transactionOf(update);
    if (createdEvent !== undefined) return ok({ created: { createdEvent, synchronizerId }, archived: null });
  }
  return undefined;
}

/** Starts the service on the recorded updates. Returns a function that asks for the proof in one of them. */
async function proving() {
  const updates = ledgerEffects();
  const { url } = await replay(participantOf(updates));
  const settings = { ledgerUrl: url, ledgerParties: ["utility-operator::1220"], readWaitMs: 20, graceSeconds: 1 };
  const service = await startApp({ ...quiet(), ...settings });
  onTestFinished(() => service.close());
  await until("the service is ready", async () => (await fetch(`${service.url}/readyz`)).ok);
  return async (index: number, transfer: JsonObject): Promise<unknown> => {
    const [updateId] = updates.slice(index).map((update) => transactionOf(update).updateId);
    const response = await fetch(`${service.url}/api/utilities/v0/registry/transfer/v0/proof`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ updateId, transfer }),
    });
    return response.json();
  };
}

/** The transfer that the sender asked of the factory. */
const asAsked = (): JsonObject => transferIn(exerciseIn(ledgerEffects(), 1, "TransferFactory_Transfer").choiceArgument);
/** The same transfer, in its offer: its only input is the locked holding. */
const asOffered = (): JsonObject => transferIn(exerciseIn(ledgerEffects(), 2, "TransferRule_Transfer").choiceArgument);
/** The transfer back, of which the choice of the factory is not recorded. */
const back = (): JsonObject => transferIn(exerciseIn(ledgerEffects(), 4, "TransferRule_Transfer").choiceArgument);

const transferIn = (argument: JsonObject): JsonObject => argument["transfer"] as JsonObject;

describe.skipIf(!hasEvidence)("the proof of a recorded transfer (skipped without the recordings)", () => {
  test.each<[update: string, index: number, transfer: () => JsonObject, status: string]>([
    ["that offers it", 1, asAsked, "Pending"],
    ["that offers it, as the offer has it", 1, asOffered, "Pending"],
    ["that accepts it", 2, asAsked, "Success"],
    ["that accepts it, as the offer has it", 2, asOffered, "Success"],
    ["that offers it and shows no choice", 3, back, "Pending"],
    ["that accepts it, if the choice that offered it is not shown", 4, back, "Success"],
    ["that accepts another transfer", 4, asAsked, "Failure"],
    ["of a mint", 0, asAsked, "Failure"],
    ["of a burn", 6, asAsked, "Failure"],
    ["that offers one of another amount", 1, () => ({ ...asAsked(), amount: "500.0000000001" }), "Failure"],
    ["that offers one of other inputs", 1, () => ({ ...asAsked(), inputHoldingCids: [] }), "Failure"],
  ])("from the update %s", async (_, index, transfer, status) => {
    const prove = await proving();
    expect(await prove(index, transfer())).toEqual({ status });
  });
});
