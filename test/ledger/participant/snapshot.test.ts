/** Contracts of a snapshot that cannot be decoded: that they exist is kept, each once. */
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/domain/json.js";
import { unreadableTemplate } from "../../../src/domain/template.js";
import { Decoder } from "../../../src/ledger/decode.js";
import type { Ledger } from "../../../src/ledger/participant/client.js";
import { takeSnapshot } from "../../../src/ledger/participant/elements.js";
import { utilityRegistry } from "../../../src/registry/utility/index.js";
import { MIN_SETTLEMENT_LIMITS } from "../../../src/registry/utility/allocation.js";
import { element, payload } from "../../fixtures/elements.js";

const { templates } = utilityRegistry({ settlementLimits: MIN_SETTLEMENT_LIMITS });
const good = payload.offer("alice", "bob", "USD", "locked");

const snapshotOf = (...elements: readonly JsonObject[]) => {
  const ledger = {
    async *activeContracts() {
      yield* elements;
    },
  };
  return takeSnapshot(ledger as unknown as Ledger, 5, new Decoder(templates), () => false);
};

test("they are named, and kept apart from those that can be served", async () => {
  const { contracts, unreadable, existing } = await snapshotOf(
    element("TransferOffer", "whole", good),
    element("TransferOffer", "broken", {}),
    element("TransferOffer", "broken", {}, { moving: "arriving" }),
    // One of its states can be read.
    element("TransferOffer", "half", good, { moving: "unassigned", blob: "" }),
    element("TransferOffer", "half", good, { reassignmentCounter: 2 }),
  );
  expect(contracts.map(({ contractId }) => contractId)).toEqual(["whole", "half"]);
  expect(unreadable.map(({ contractId }) => contractId)).toEqual(["broken", "broken", "half"]);
  const offer = templates.find(({ qualifiedName }) => qualifiedName.endsWith(":TransferOffer"));
  if (offer === undefined) throw new Error("the Registry Utility has offers");
  expect(existing).toMatchObject([
    { contractId: "broken", template: { qualifiedName: unreadableTemplate(offer).qualifiedName }, payload: "{}" },
  ]);
  expect(existing).toHaveLength(1);
});
