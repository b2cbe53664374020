import { afterAll, beforeAll, expect, test } from "vitest";
import { cancel, withdraw } from "../fixtures/requests.js";
import { blobOf, element, parties, payload } from "../fixtures/elements.js";
import { registryOf } from "../fixtures/registries.js";
import { type Running, serve } from "../fixtures/run-service.js";

let running: Running;

const allocation = payload.allocation("alice", "bob", "USD", "locked");

beforeAll(async () => {
  running = await serve(
    registryOf(
      {},
      element("DvpLegAllocation", "allocation", allocation),
      element("DvpLegAllocation", "of-provider", { ...allocation, provider: parties.provider }),
      element("DvpLegAllocation", "second", payload.allocation("alice", "bob", "USD", "locked-2")),
      element("Holding", "locked", payload.lockedHolding("alice", "USD")),
      element("Holding", "locked-2", payload.lockedHolding("alice", "USD")),
    ),
  );
});
afterAll(() => running.close());

const contextWith = (holding: string) => ({
  choiceContextData: {
    values: { "utility.digitalasset.com/enable-result-contracts": { tag: "AV_Bool", value: true } },
  },
  disclosedContracts: [
    {
      templateId: "pkg-1:Utility.Registry.Holding.V0.Holding:Holding",
      contractId: holding,
      createdEventBlob: blobOf(holding),
      synchronizerId: "sync-A",
      debugPackageName: "utility-registry-holding-v0",
      debugPayload: payload.lockedHolding("alice", "USD"),
      debugCreatedAt: "2026-01-05T09:00:00.000000Z",
    },
  ],
});

test.each([
  ["the v2 cancellation", cancel],
  ["the v1 withdrawal", withdraw],
])("the context of %s of an allocation, all fields", async (_, path) => {
  const answer = await running.post(path("allocation"), { meta: {} });
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual(contextWith("locked"));
});

test.each([cancel, withdraw])("an allocation with a provider has the same context (%#)", async (path) => {
  expect((await running.post(path("of-provider"), { meta: {} })).body).toEqual(contextWith("locked"));
});

test.each([cancel, withdraw])("each allocation has its own locked holding (%#)", async (path) => {
  expect((await running.post(path("second"), { meta: {} })).body).toEqual(contextWith("locked-2"));
});
