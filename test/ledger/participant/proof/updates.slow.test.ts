/** A proof is about the named update only, and waits for it. */
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { until } from "../../../fixtures/wait.js";
import { ScriptedLedger } from "../../../scripted-participant/ledger.js";
import { failure, fresh, proving, stillPending, success, unknownId, unverified } from "./proof-service.js";
import {
  ending,
  offering,
  holding,
  offerCreation,
  operator,
  transfer,
  transferring,
  transferringDirectly,
} from "./transfer-steps.js";

const place = proving({ readWaitMs: 400 });

const of = (amount: string) => ({ ...transfer, amount });

test("each of several transfers in one update has its own status", async () => {
  const [accepted, rejected, offered] = [fresh("offer"), fresh("offer"), fresh("offer")];
  place.transact(offering("factory", accepted, of("1")), offering("factory", rejected, of("2")));
  const id = place.transact(
    transferring("factory", of("3")),
    ending("Reject", rejected, {}, of("2")),
    offering("factory", offered, of("4")),
    transferringDirectly("preapproval", of("5")),
    ending("Accept", accepted, {}, of("1")),
  );
  const statuses = await Promise.all(["1", "2", "3", "4", "5", "6"].map((amount) => place.status(id, of(amount))));
  expect(statuses).toEqual([success, failure, success, stillPending, success, unverified]);
});

describe("an update that holds no transfer verifies nothing", () => {
  test("as one of other contracts is", async () => {
    expect(await place.status(place.transact(holding(fresh("holding"))))).toBe(unverified);
  });

  test("as one of the factory alone is", async () => {
    const choice = { contractId: "factory", choice: "AllocationFactory_Allocate", argument: { transfer } };
    expect(await place.status(place.transact({ exercise: { ...choice, actors: [operator] } }))).toBe(unverified);
  });

  test("as one that cannot be read is", async () => {
    const broken = fresh("offer");
    const id = place.transact(
      offerCreation(broken, { sender: 5 }),
      transferring("factory", { ...transfer, amount: "many" }),
    );
    expect(await place.status(id)).toBe(unverified);
    expect(await place.status(place.transact(ending("Accept", broken, { steps: [] })))).toBe(unverified);
  });

  test("as a reassignment, a topology transaction and a checkpoint are", async () => {
    const offer = fresh("offer");
    place.transact(offering("factory", offer));
    const { ledger } = place;
    const offsets = [ledger.unassign(offer, "sync-B::1220"), ledger.assign(offer)];
    for (const offset of [...offsets, ledger.topology("operator::1220"), ledger.checkpoint()]) {
      expect(await place.status(place.updateId(offset))).toBe(unverified);
    }
  });

  test("as an unknown one is, after the wait", async () => {
    const begun = performance.now();
    expect(await place.status(unknownId)).toBe(unverified);
    const took = performance.now() - begun;
    expect(took).toBeGreaterThan(150);
    expect(took).toBeLessThan(2_000);
  });
});

/** The id that the next update will have. */
function nextId(): string {
  const twin = new ScriptedLedger();
  const offset = twin.checkpoint({ offset: place.ledger.end + 1 });
  return twin.log.at(offset)?.updateId ?? "";
}

describe("an update in transit", () => {
  test("is waited for", async () => {
    const id = nextId();
    const asked = place.participant.requests.length;
    const asking = place.status(id);
    await until("it has been looked for", () => place.participant.requests.length > asked);
    expect(place.transact(transferring("factory"))).toBe(id);
    expect(await asking).toBe(success);
  });

  test("is waited for as long as is said", async () => {
    const id = nextId();
    const asking = place.status(id);
    await delay(150);
    place.transact(transferring("factory"));
    expect(await asking).toBe(success);
  });

  test("and its acceptance is found with it", async () => {
    const offer = fresh("offer");
    place.transact(offering("factory", offer));
    const asking = place.status(nextId());
    await delay(50);
    place.transact(ending("Accept", offer));
    expect(await asking).toBe(success);
  });

  test("and does not hold the transfer verifies nothing either", async () => {
    const asking = place.status(nextId());
    await delay(50);
    place.transact(transferring("factory", { ...transfer, amount: "1" }));
    expect(await asking).toBe(unverified);
  });
});

describe("nothing is known of pruned updates", () => {
  test("but an offer that has outlived it is accepted, for a caller who names the locked holding", async () => {
    const offer = fresh("offer");
    const offered = place.transact(offering("factory", offer));
    place.ledger.prune(place.ledger.end);
    expect(await place.status(offered)).toBe(unverified);
    const id = place.transact(ending("Accept", offer));
    expect(await place.status(id, { ...transfer, inputHoldingCids: [`${offer}-locked`] })).toBe(success);
    expect(await place.status(id)).toBe(unverified);
    place.ledger.prune(place.ledger.end);
    expect(await place.status(id, { ...transfer, inputHoldingCids: [`${offer}-locked`] })).toBe(unverified);
  });

  test.each([
    ["Accept", success],
    ["Reject", failure],
  ] as const)(
    "but the end of an offer whose origin is pruned is known by the locked holding: %s",
    async (how, expected) => {
      const offer = fresh("offer");
      place.transact(offering("factory", offer));
      place.ledger.prune(place.ledger.end);
      const id = place.transact(ending(how, offer, { steps: [] }));
      expect(await place.status(id, { ...transfer, inputHoldingCids: [`${offer}-locked`] })).toBe(expected);
      expect(await place.status(id)).toBe(unverified);
    },
  );
});

test("an offer that has entered from a synchronizer on which we are not is accepted here", async () => {
  const offer = fresh("offer");
  const made = offerCreation(offer);
  if (!("create" in made)) throw new Error("an offer is created");
  place.ledger.enter(made.create, "sync-X::1220", "sync-A::1220");
  const id = place.transact(ending("Accept", offer));
  expect(await place.status(id, { ...transfer, inputHoldingCids: [`${offer}-locked`] })).toBe(success);
});

test.each([
  ["of no hash", "update-1"],
  ["cut short", unknownId.slice(0, 20)],
  ["with what no id has", "übertragung"],
  ["too long", "1220".repeat(100)],
  ["blank", " "],
])("an id %s is of no update, and no fault of the ledger's", async (_, updateId) => {
  expect(await place.status(updateId)).toBe(unverified);
});
