/** A proof is about the named update only, and waits for it. */
import { describe, expect, test } from "vitest";
import { until } from "../../../fixtures/wait.js";
import { ScriptedLedger, type Step } from "../../../scripted-participant/ledger.js";
import {
  ending,
  failure,
  fresh,
  holding,
  offerCreation,
  offering,
  proving,
  stillPending,
  success,
  transfer,
  transferring,
  transferringDirectly,
  unverified,
} from "./proof-service.js";

const place = proving({ readWaitMs: 400 });

const locked = (offer: string) => ({ ...transfer, inputHoldingCids: [`${offer}-locked`] });
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

describe("the holdings", () => {
  const others = [[], ["input-1"], ["input-2", "input-1"], ["input-1", "input-2", "input-2"], ["other"], [""]];
  const statuses = (id: string) =>
    Promise.all(others.map((inputHoldingCids) => place.status(id, { ...transfer, inputHoldingCids })));

  test("of a transfer are those of the sender, or the one that its offer locks, and no others", async () => {
    const offer = fresh("offer");
    const ids = [transferring("factory"), offering("factory", offer), ending("Accept", offer)].map((step) =>
      place.transact(step),
    );
    const expected = [success, stillPending, success];
    expect(await Promise.all(ids.map((id) => place.status(id)))).toEqual(expected);
    const byLocked = await Promise.all(ids.map((id) => place.status(id, locked(offer))));
    expect(byLocked).toEqual([unverified, ...expected.slice(1)]);
    for (const id of ids) expect(new Set(await statuses(id))).toEqual(new Set([unverified]));
  });

  test("of the sender are unknown where no factory made the offer", async () => {
    const offer = fresh("offer");
    place.transact(offerCreation(offer));
    const id = place.transact(ending("Accept", offer));
    expect([await place.status(id), await place.status(id, locked(offer))]).toEqual([unverified, success]);
  });

  test("of another offer in the update that made it are not its own", async () => {
    const [offer, other] = [fresh("offer"), fresh("offer")];
    const otherTerms = { ...transfer, inputHoldingCids: ["input-3"] };
    place.transact(offering("factory", offer), offering("factory", other, otherTerms));
    const id = place.transact(ending("Accept", offer));
    // The other transfer differs in its holdings alone, and is neither accepted here nor anywhere.
    expect([await place.status(id), await place.status(id, otherTerms)]).toEqual([success, unverified]);
  });
});

describe("an update that holds no transfer verifies nothing", () => {
  test("as one of other contracts is", async () => {
    expect(await place.status(place.transact(holding(fresh("holding"))))).toBe(unverified);
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
});

/** The id that the next update will have. */
function nextId(): string {
  const twin = new ScriptedLedger();
  const offset = twin.checkpoint({ offset: place.ledger.end + 1 });
  return twin.log.at(offset)?.updateId ?? "";
}

describe("an update in transit", () => {
  test.each<[string, (offer: string) => Step, string]>([
    ["and holds the transfer is waited for", () => transferring("factory"), success],
    ["and accepts its offer is waited for", (offer) => ending("Accept", offer), success],
    ["and does not hold it verifies nothing", () => transferring("factory", of("1")), unverified],
  ])("%s", async (_what, step, expected) => {
    const offer = fresh("offer");
    place.transact(offering("factory", offer));
    const id = nextId();
    const asked = place.participant.requests.length;
    const asking = place.status(id);
    await until("it has been looked for", () => place.participant.requests.length > asked);
    expect(place.transact(step(offer))).toBe(id);
    expect(await asking).toBe(expected);
  });
});

describe("nothing is known of pruned updates", () => {
  test.each([
    ["Accept", success],
    ["Reject", failure],
  ] as const)("but how an offer that has outlived them ends, by the locked holding: %s", async (how, expected) => {
    const offer = fresh("offer");
    const offered = place.transact(offering("factory", offer));
    place.ledger.prune(place.ledger.end);
    expect(await place.status(offered)).toBe(unverified);
    const id = place.transact(ending(how, offer, { steps: [] }));
    expect([await place.status(id, locked(offer)), await place.status(id)]).toEqual([expected, unverified]);
    place.ledger.prune(place.ledger.end);
    expect(await place.status(id, locked(offer))).toBe(unverified);
  });
});
