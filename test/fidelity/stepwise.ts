/** Recordings of flows and contracts, also those that tell step by step what was asked of a registry and of the ledger. */
import type { JsonObject } from "../../src/util/json.js";
import { read, type Transaction } from "./recordings.js";
import type { Flow, LedgerRecording, RecordedContract } from "./replayed-ledger.js";

/** The recording of TestTokenV2: what was asked of a registry and of the ledger, one after the other. */
interface Step {
  readonly to: "ledger" | "registry";
  readonly method: "POST";
  readonly path: string;
  readonly body?: JsonObject;
  readonly status: number;
  readonly answer: JsonObject;
}

/** The flows whose answers the ledger got, with the contracts that its transactions made. */
function recordingOf(steps: readonly Step[]): Pick<LedgerRecording, "contracts" | "flows"> {
  const contracts = new Map<string, RecordedContract>();
  const flows: Flow[] = [];
  let offset = 1;
  for (const { to, status, path, body, answer } of steps) {
    if (to === "registry") {
      if (answer["choiceContextData"] === undefined && answer["factoryId"] === undefined) continue;
      const request = { method: "POST" as const, path, ...(body !== undefined && { body }) };
      flows.push({ set: "", name: path, askedAt: offset, request, status, answer, outcome: "accepted" });
    } else if (status === 200 && answer["transaction"] !== undefined) {
      const transaction = answer["transaction"] as unknown as Transaction;
      ({ offset } = transaction);
      for (const { CreatedEvent: created, ExercisedEvent: exercised } of transaction.events) {
        if (created !== undefined) {
          const createdEvent = { ...created, createdEventBlob: "AAAA" } as RecordedContract["createdEvent"];
          const { synchronizerId } = transaction;
          contracts.set(created.contractId, { createdEvent, synchronizerId, createdAtOffset: offset });
        }
        const archived = exercised?.consuming === true ? contracts.get(exercised.contractId) : undefined;
        if (archived !== undefined)
          contracts.set(archived.createdEvent.contractId, { ...archived, archivedAtOffset: offset });
      }
    }
  }
  return { contracts: [...contracts.values()], flows };
}

/** By the name of its file. */
export function recordingIn(name: string): Pick<LedgerRecording, "contracts" | "flows"> {
  const content = read(name) as LedgerRecording & { readonly steps?: readonly Step[] };
  return content.steps === undefined ? content : recordingOf(content.steps);
}
