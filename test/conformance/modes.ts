/** Registries of all makes that this service serves, and what is known of each: for the checker. */
import type { Given } from "../../packages/conformance/src/run.js";
import type { Result } from "../../packages/conformance/src/check.js";
import { run } from "../../packages/conformance/src/run.js";
import { demo } from "../../scripts/conformance-doc.js";
import { contractId, party } from "../../demo/element.js";
import type { JsonObject } from "../../src/util/json.js";
import { read } from "../fidelity/recordings.js";
import type { LedgerRecording } from "../fidelity/replayed-ledger.js";
import { blobOf } from "./disclosed.js";

/** The registry of the minimal demo. */
export const minimal: Given = {
  ...demo,
  registrar: party("coffee-club"),
  instruments: ["BEAN"],
  holdings: [],
  offer: contractId("beans to bob"),
  allocation: contractId("beans for a trade"),
};

/** What a ledger had at the end of its recording. Recordings have digests in place of blobs. */
export function recorded(name: string): { readonly elements: readonly JsonObject[]; readonly known: Given } {
  const { contracts } = read(name) as LedgerRecording;
  const active = contracts.filter(({ archivedAtOffset }) => archivedAtOffset === undefined);
  const elements = active.map(({ createdEvent: recordedEvent, synchronizerId }): JsonObject => {
    const event = recordedEvent as unknown as JsonObject & { readonly contractId: string; readonly templateId: string };
    const createdEvent = { ...event, createdEventBlob: blobOf(event.contractId, event.templateId) };
    return {
      workflowId: "",
      contractEntry: { JsActiveContract: { createdEvent, synchronizerId, reassignmentCounter: 0 } },
    };
  });
  const offer = active.find(({ createdEvent }) => createdEvent.templateId.endsWith("TransferInstruction"));
  if (offer === undefined) throw new Error(`${name} has no offer that waits`);
  const { transfer } = offer.createdEvent.createArgument as unknown as {
    transfer: { sender: string; receiver: string; instrumentId: { admin: string; id: string } };
  };
  const { sender, receiver, instrumentId } = transfer;
  const known = { ...demo, sender, receiver, registrar: instrumentId.admin, instruments: [instrumentId.id] };
  return { elements, known: { ...known, holdings: [], offer: offer.createdEvent.contractId, allocation: undefined } };
}

/** The checks that fail, with what they say. */
export async function failures(base: string, known: Given): Promise<readonly string[]> {
  const results: Result[] = [];
  const { warning } = await run(base, known, { headers: {}, rate: 1_000 }, (result) => void results.push(result));
  const failed = results.filter(({ outcome }) => outcome === "failed" || outcome === "unstable");
  const passed = results.find(({ check }) => check.id === "context-values")?.outcome;
  return [
    ...failed.map(({ check, message }) => `${check.id}: ${message}`),
    ...(warning === undefined ? [] : [warning]),
    ...(passed === "passed" || failed.length > 0 ? [] : ["no context was answered"]),
  ];
}
