/** A participant with scripted responses, and a history that reads from it. */
import { ParticipantHistory } from "../../../../src/ledger/participant/lookups.js";
import { transferOffer } from "../../../../src/registry/utility/templates.js";
import { allocationFactory } from "../../../../src/registry/utility/templates.js";
import type { JsonObject, JsonValue } from "../../../../src/domain/json.js";
import { endpointAt, type Seen, seen, serving } from "../servers.js";

export const templates = [transferOffer, allocationFactory];
export const updateId = `1220${"1".repeat(64)}`;
export const notFound = { code: "UPDATE_NOT_FOUND", cause: "Update not found, or not visible." };

/** A history whose clock advances only by its pauses. Responses are sent in order; the last one repeats. */
export async function scriptedHistory(
  answers: readonly { readonly status?: number; readonly body: JsonValue | string }[],
  maxWait = 0,
) {
  const requests: Seen[] = [];
  const pauses: number[] = [];
  let time = 0;
  const url = await serving(async (request, response) => {
    requests.push(await seen(request));
    const { status = 200, body } = answers[Math.min(requests.length, answers.length) - 1] ?? { body: "" };
    response.writeHead(status, { "content-type": "application/json" });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  });
  const pause = (milliseconds: number): Promise<void> => {
    pauses.push(milliseconds);
    time += milliseconds;
    return Promise.resolve();
  };
  const waiting = { maxWait, now: () => time, pause };
  const history = new ParticipantHistory(endpointAt(url), ["operator::1220", "registrar::1220"], waiting);
  const advance = (milliseconds: number): void => {
    time += milliseconds;
  };
  return { history, requests, pauses, advance, time: () => time };
}

export const offerEntity = "Utility.Registry.App.V0.Model.Transfer:TransferOffer";
export const about = { contractId: "offer", templateId: `pkg:${offerEntity}`, packageName: "utility-registry-app-v0" };
export const created: JsonObject = { ...about, offset: 7, nodeId: 1, createArgument: { transfer: {} } };
export const exercised: JsonObject = {
  ...about,
  offset: 7,
  nodeId: 0,
  choice: "TransferInstruction_Accept",
  choiceArgument: { extraArgs: {} },
  exerciseResult: { meta: {} },
  consuming: true,
};
export const transaction = (...events: JsonValue[]): JsonObject => ({
  update: { Transaction: { value: { offset: 7, events } } },
});
