import { expect, test } from "vitest";
import { isStored } from "../../src/domain/contract.js";
import type { JsonValue } from "../../src/util/json.js";
import { Decoder } from "../../src/ledger/decode.js";
import { templates } from "../../src/registry/utility/templates.js";
import { element, payload } from "../fixtures/elements.js";
import { heap } from "../fixtures/heap.js";

/** It shows only in memory: 10,000 template ids of 117 characters take 1.3 MB, the list of them less than a tenth. */
test("equal strings of contracts share memory", () => {
  const decoder = new Decoder(templates);
  const offer = element("TransferOffer", "offer", payload.offer("alice", "bob", "USD", "locked"), {
    packageId: "1220".repeat(16),
  });
  const text = JSON.stringify(offer);
  const kept: string[] = [];
  // The first fills what stays, such as compiled code.
  for (let index = 0; index < 1_000; index++) decoder.decode(JSON.parse(text) as JsonValue);
  const before = heap();
  for (let index = 0; index < 10_000; index++) {
    // New strings each time, as from a participant.
    const parsed = JSON.parse(text) as JsonValue;
    const contract = decoder.decode(parsed);
    if (contract !== undefined && isStored(contract)) kept.push(contract.templateId);
  }
  expect(heap() - before).toBeLessThan(700_000);
  expect([kept.length, new Set(kept).size]).toEqual([10_000, 1]);
});
