/** Outcomes of a transfer, and their proofs. */
import { describe, expect, test } from "vitest";
import { fresh, failure, proving, stillPending, success } from "./proof-service.js";
import {
  alice,
  bob,
  completed,
  ending,
  factory,
  holding,
  offering,
  preapproval,
  result,
  offerCreation,
  transfer,
  transferring,
} from "./transfer-steps.js";

const place = proving();

describe("a transfer that happens at once is proved", () => {
  test("to oneself", async () => {
    const own = { ...transfer, receiver: alice };
    expect(await place.status(place.transact(transferring("factory", own)), own)).toBe(success);
  });

  test("by the receiver's preapproval, which is the factory then", async () => {
    const id = place.transact(transferring("preapproval"));
    expect(await place.status(id)).toBe(success);
  });

  test("by a preapproval that goes through the factory", async () => {
    const id = place.transact(transferring("preapproval", transfer, { steps: [transferring("factory")] }));
    expect(await place.status(id)).toBe(success);
  });

  test("within a choice of some other contract that we do not follow", async () => {
    place.transact(holding("batch"));
    const steps = [transferring("factory", { ...transfer, receiver: alice }), transferring("factory")];
    const id = place.transact({ exercise: { contractId: "batch", choice: "Run", steps } });
    expect(await place.status(id)).toBe(success);
  });

  test("on a factory of another version of the package, and one that is gone by now", async () => {
    const [old, temporary] = [fresh("factory"), fresh("factory")];
    const made = factory(old);
    if (!("create" in made)) throw new Error("a factory is created");
    const [, entity = ""] = made.create.templateId.split(/:(.*)/);
    place.transact({ create: { ...made.create, templateId: `pkg-2:${entity}` } }, preapproval(temporary));
    const id = place.transact(transferring(old), { archive: old });
    const other = place.transact(transferring(temporary), { archive: temporary });
    expect([await place.status(id), await place.status(other)]).toEqual([success, success]);
  });
});

test("what has failed at once has failed", async () => {
  const id = place.transact(transferring("factory", transfer, { result: result("Failed") }));
  expect(await place.status(id)).toBe(failure);
});

test.each([
  ["none", {}],
  ["of another form", { output: "Completed" }],
  ["with an unknown tag", { output: { tag: "TransferInstructionResult_Other", value: {} } }],
  ["a list", []],
])("a result of the factory's that is %s proves nothing", async (_, given) => {
  const id = place.transact(transferring("factory", transfer, { result: given }));
  expect(await place.status(id)).toBe(failure);
});

describe("an offer", () => {
  test("is pending, in its own update, also when it has ended in another", async () => {
    const offer = fresh("offer");
    const id = place.transact(offering("factory", offer));
    expect(await place.status(id)).toBe(stillPending);
    place.transact(ending("Accept", offer));
    expect(await place.status(id)).toBe(stillPending);
  });

  test("is pending by the contract alone, whatever made it", async () => {
    const offer = fresh("offer");
    const id = place.transact(offerCreation(offer));
    expect(await place.status(id, { ...transfer, inputHoldingCids: [`${offer}-locked`] })).toBe(stillPending);
  });

  test.each([
    ["Accept", success],
    ["Reject", failure],
    ["Withdraw", failure],
  ] as const)("that ends by %s", async (how, expected) => {
    const offer = fresh("offer");
    place.transact(offering("factory", offer));
    expect(await place.status(place.transact(ending(how, offer)))).toBe(expected);
  });

  test.each([
    ["Accept", success],
    ["Reject", failure],
    ["Withdraw", failure],
  ] as const)("that ends by %s in the update that made it", async (how, expected) => {
    const offer = fresh("offer");
    expect(await place.status(place.transact(offering("factory", offer), ending(how, offer)))).toBe(expected);
  });

  test("that is archived by no choice of the standard is not executed", async () => {
    const offer = fresh("offer");
    place.transact(offering("factory", offer));
    expect(await place.status(place.transact({ archive: offer }))).toBe(failure);
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
    const given = result("Pending", { transferInstructionCid: next });
    const id = place.transact(ending("Accept", offer, { result: given, steps: [offerCreation(next)] }));
    expect(await place.status(id)).toBe(stillPending);
  });

  test("on which a choice is exercised that leaves it as it is has not ended", async () => {
    const offer = fresh("offer");
    place.transact(offering("factory", offer));
    const id = place.transact(ending("Accept", offer, { consuming: false, result: completed }));
    expect(await place.status(id)).toBe(failure);
  });

  test("that has moved to another synchronizer is accepted there", async () => {
    const offer = fresh("offer");
    place.transact(offering("factory", offer));
    const left = place.ledger.unassign(offer, "sync-B::1220");
    const arrived = place.ledger.assign(offer);
    const id = place.transact(ending("Accept", offer, { actors: [bob] }));
    expect(await place.status(id)).toBe(success);
    for (const offset of [left, arrived]) expect(await place.status(place.updateId(offset))).toBe(failure);
  });
});
