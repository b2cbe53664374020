/** Outcomes of a transfer, and their proofs, from whatever party the mirror reads as. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/util/json.js";
import type { Step } from "../../../scripted-participant/ledger.js";
import {
  alice,
  bob,
  completed,
  ending,
  executing,
  factory,
  failure,
  fresh,
  holding,
  offerCreation,
  offering,
  operator,
  pending,
  preapproval,
  provider,
  proving,
  registrar,
  result,
  stillPending,
  success,
  transfer,
  transferring,
  transferringDirectly,
  unverified,
} from "./proof-service.js";

const own = { ...transfer, receiver: alice };

/** A batch of transfers. */
const within = (contractId: string): Step => {
  const steps = [transferring("factory", own), transferring("factory")];
  return { exercise: { contractId, choice: "Run", steps } };
};

function ofOtherVersion(id: string): Step {
  const { create } = factory(id);
  return { create: { ...create, templateId: create.templateId.replace(/^[^:]+/, "pkg-2") } };
}

const locked = (offer: string) => ({ ...transfer, inputHoldingCids: [`${offer}-locked`] });

describe.each([
  ["the operator", [operator]],
  ["registrar and provider", [registrar, provider]],
  ["the provider", [provider]],
])("read as %s", (_, ledgerParties) => {
  const place = proving({ ledgerParties, readWaitMs: 0 });

  test.each<[string, (name: string) => Step[], JsonObject?]>([
    ["to oneself", () => [transferring("factory", own)], own],
    ["by the receiver's preapproval, which is the factory then", () => [transferringDirectly("preapproval")]],
    [
      "by the rule's choice of releases before 0.12",
      () => [transferringDirectly("preapproval", transfer, [executing("TransferRule_Transfer", transfer)])],
    ],
    ["within a choice of some other contract that we do not follow", (batch) => [holding(batch), within(batch)]],
    ["on a factory of another version of the package", (old) => [ofOtherVersion(old), transferring(old)]],
    ["on one that is gone by now", (gone) => [preapproval(gone), transferringDirectly(gone), { archive: gone }]],
  ])("a transfer that happens at once is proved: %s", async (_what, steps, asked = transfer) => {
    expect(await place.status(place.transact(...steps(fresh("factory"))), asked)).toBe(success);
  });

  test("what has failed at once has failed", async () => {
    const id = place.transact(transferring("factory", transfer, { result: result("Failed") }));
    expect(await place.status(id)).toBe(failure);
  });

  test.each([
    ["none", {}],
    ["of another form", { output: "Completed" }],
    ["with an unknown tag", { output: { tag: "TransferInstructionResult_Other", value: {} } }],
  ])("a result of the factory's that is %s proves nothing", async (_what, given) => {
    const id = place.transact(transferring("factory", transfer, { result: given }));
    expect(await place.status(id)).toBe(unverified);
  });

  test("other choices of factory and rule prove nothing", async () => {
    const exercise = { contractId: "factory", choice: "AllocationFactory_Allocate", argument: { transfer } };
    const id = place.transact({ exercise: { ...exercise, result: completed, actors: [operator] } });
    expect(await place.status(id)).toBe(unverified);
    expect(await place.status(place.transact(executing("TransferRule_ExecuteAllocation", transfer)))).toBe(unverified);
  });

  describe("an offer", () => {
    test("is pending, in its own update, also when it has ended in another", async () => {
      const offer = fresh("offer");
      const id = place.transact(offering("factory", offer));
      expect(await place.status(id)).toBe(stillPending);
      place.transact(ending("Accept", offer));
      expect(await place.status(id)).toBe(stillPending);
    });

    const ends = [
      ["Accept", success],
      ["Reject", failure],
      ["Withdraw", failure],
    ] as const;

    test.each(ends)("that ends by %s, by the payer's holdings or the locked one", async (how, expected) => {
      const offer = fresh("offer");
      place.transact(offering("factory", offer));
      const id = place.transact(ending(how, offer));
      expect(await place.status(id)).toBe(expected);
      expect(await place.status(id, locked(offer))).toBe(expected);
      expect(await place.status(id, { ...transfer, inputHoldingCids: [] })).toBe(unverified);
    });

    test.each(ends)("that ends by %s in the update that made it has ended", async (how, expected) => {
      const offer = fresh("offer");
      const id = place.transact(offering("factory", offer), ending(how, offer));
      expect(await place.status(id)).toBe(expected);
      expect(await place.status(id, locked(offer))).toBe(expected);
    });

    test.each(ends)("that ends by %s, without a result, ends as the choice says", async (how, expected) => {
      const offer = fresh("offer");
      place.transact(offering("factory", offer));
      expect(await place.status(place.transact(ending(how, offer, { result: {} })))).toBe(expected);
    });

    test("that was accepted is proved by the rule's choice alone, for a caller who names the locked holding", async () => {
      const offer = fresh("offer");
      const id = place.transact(executing("TransferRule_TwoStepTransfer", locked(offer)));
      expect(await place.status(id, locked(offer))).toBe(success);
      expect(await place.status(id)).toBe(unverified);
    });

    test("that is archived by no choice of the standard is neither executed nor pending", async () => {
      const offer = fresh("offer");
      place.transact(offering("factory", offer));
      expect(await place.status(place.transact({ archive: offer }))).toBe(unverified);
      const brief = fresh("offer");
      const id = place.transact(offering("factory", brief), { archive: brief });
      expect(await place.status(id)).toBe(unverified);
      expect(await place.status(id, locked(brief))).toBe(unverified);
    });

    test("whose acceptance has failed, by its result, is not executed", async () => {
      const offer = fresh("offer");
      place.transact(offering("factory", offer));
      const id = place.transact(ending("Accept", offer, { result: result("Failed") }));
      expect(await place.status(id)).toBe(failure);
    });

    test("whose acceptance is one step of several goes on", async () => {
      const [offer, next] = [fresh("offer"), fresh("offer")];
      place.transact(offering("factory", offer));
      const id = place.transact(ending("Accept", offer, { result: pending(next), steps: [offerCreation(next)] }));
      expect(await place.status(id)).toBe(stillPending);
    });

    test("on which a choice is exercised that leaves it as it is has not ended", async () => {
      const offer = fresh("offer");
      place.transact(offering("factory", offer));
      const more = { consuming: false, result: completed, actors: [bob, operator] };
      expect(await place.status(place.transact(ending("Accept", offer, more)))).toBe(unverified);
    });
  });
});
