import { afterAll, beforeAll, expect, test } from "vitest";
import { blobOf, element, payload } from "../fixtures/elements.js";
import { registry, type Running, serve } from "../fixtures/run-service.js";

let running: Running;

beforeAll(async () => {
  running = await serve([
    element("AllocationFactory", "factory", payload.service()),
    element("RegistrarService", "service", payload.service({ enableResultContracts: true })),
    element("InstrumentConfiguration", "configuration", payload.configuration("USD")),
    element("TransferOffer", "offer", payload.offer("alice", "bob", "USD", "locked")),
    element("Holding", "locked", payload.lockedHolding("alice", "USD")),
  ]);
});
afterAll(() => running.close());

test("the context of a rejection, all fields", async () => {
  const answer = await running.post(`${registry()}/transfer-instruction/v2/offer/choice-contexts/reject`, { meta: {} });
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({
    choiceContextData: {
      values: {
        "utility.digitalasset.com/enable-result-contracts": { tag: "AV_Bool", value: true },
      },
    },
    disclosedContracts: [
      {
        templateId: "pkg-1:Utility.Registry.Holding.V0.Holding:Holding",
        contractId: "locked",
        createdEventBlob: blobOf("locked"),
        synchronizerId: "sync-A",
        debugPackageName: "utility-registry-holding-v0",
        debugPayload: payload.lockedHolding("alice", "USD"),
        debugCreatedAt: "2026-01-05T09:00:00.000000Z",
      },
    ],
  });
});
