/** Registries of all makes that this service serves, and what is known of each: for the checker. */
import type { Given } from "../../packages/conformance/src/run.js";
import type { Result } from "../../packages/conformance/src/check.js";
import { run } from "../../packages/conformance/src/run.js";
import { demo } from "../../scripts/conformance-doc.js";
import { contractId, party } from "../../demo/element.js";
import type { JsonObject } from "../../src/util/json.js";
import { recordingIn } from "../fidelity/stepwise.js";
import { withViews } from "../fidelity/test-token-views.js";
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

/** What a ledger had when its last offer was made, of each template and interface. Recordings have digests in place of blobs. */
export function recorded(name: string): { readonly elements: readonly JsonObject[]; readonly known: Given } {
  const { contracts } = recordingIn(name);
  const offer = contracts.findLast(({ createdEvent }) =>
    /:\w*Transfer(?:Instruction|Offer)$/.test(createdEvent.templateId),
  );
  if (offer === undefined) throw new Error(`${name} has no offer`);
  const at = offer.createdAtOffset;
  const active = contracts.filter(
    ({ createdAtOffset, archivedAtOffset = Infinity }) => createdAtOffset <= at && archivedAtOffset > at,
  );
  const shown = name.startsWith("test-token") ? active.map(withViews) : active;
  const elements = shown.map(({ createdEvent: event, synchronizerId }): JsonObject => {
    const createdEvent = { ...event, createdEventBlob: blobOf(event.contractId, event.templateId) };
    return {
      workflowId: "",
      contractEntry: {
        JsActiveContract: { createdEvent: createdEvent as never, synchronizerId, reassignmentCounter: 0 },
      },
    };
  });
  const { transfer } = offer.createdEvent.createArgument as unknown as {
    transfer: { sender: Account; receiver: Account; instrumentId: { admin: string; id: string } };
  };
  const { admin, id } = transfer.instrumentId;
  const [sender, receiver] = [transfer.sender, transfer.receiver].map((one) =>
    typeof one === "string" ? one : one.owner,
  );
  const known = { ...demo, sender, receiver, registrar: admin, instruments: [id] };
  return { elements, known: { ...known, holdings: [], offer: offer.createdEvent.contractId, allocation: undefined } };
}

/** A party, or in version 2 an account of it. */
type Account = string | { readonly owner: string };

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
