/** Equivalent representations of a transfer. */
import { describe, expect, test } from "vitest";
import { account } from "../../../fixtures/requests.js";
import { fresh, proving, stillPending, success, unverified } from "./proof-service.js";
import {
  alice,
  bob,
  ending,
  offering,
  pending,
  registrar,
  offerCreation,
  transfer,
  transferring,
} from "./transfer-steps.js";

const place = proving();

/** What is said of a transfer that was made as one, and asked for as another. */
const asking = (made: object, asked: object): Promise<string> =>
  place.status(place.transact(transferring("factory", { ...transfer, ...made })), { ...transfer, ...asked });

describe("an amount", () => {
  test.each([
    ["1.0000000000", "1.0"],
    ["1.0", "1.0000000000"],
    ["1.0000000000", "1"],
    ["1.0000000000", "+1.0"],
    ["1.0000000000", "001.00"],
    ["0.0000000001", "0.0000000001"],
    ["9999999999999999999999999999.9999999999", "9999999999999999999999999999.9999999999"],
  ])("%s is %s", async (amount, asked) => {
    expect(await asking({ amount }, { amount: asked })).toBe(success);
  });

  test.each([
    ["1.0000000000", "1.0000000001"],
    ["1.0000000000", "-1.0"],
    ["9999999999999999999999999999.9999999999", "9999999999999999999999999999.9999999998"],
    ["10000000000000000.0000000000", "10000000000000001.0"],
    ["1.0000000000", "10.000000000"],
  ])("%s is not %s", async (amount, asked) => {
    expect(await asking({ amount }, { amount: asked })).toBe(unverified);
  });
});

describe.each(["requestedAt", "executeBefore"])("the time %s", (name) => {
  test.each([
    ["2026-01-05T09:00:00Z", "2026-01-05T09:00:00.000000Z"],
    ["2026-01-05T09:00:00.000000Z", "2026-01-05T09:00:00Z"],
    ["2026-01-05T09:00:00.100000Z", "2026-01-05T09:00:00.1Z"],
    ["2026-01-05T09:00:00.123Z", "2026-01-05T09:00:00.123000000Z"],
    ["1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z"],
  ])("%s is %s", async (time, asked) => {
    expect(await asking({ [name]: time }, { [name]: asked })).toBe(success);
  });

  test.each([
    ["2026-01-05T09:00:00.000000Z", "2026-01-05T09:00:00.000001Z"],
    ["2026-01-05T09:00:00.123456Z", "2026-01-05T09:00:00.123Z"],
    ["2026-01-05T09:00:00Z", "2026-01-06T09:00:00Z"],
  ])("%s is not %s", async (time, asked) => {
    expect(await asking({ [name]: time }, { [name]: asked })).toBe(unverified);
  });
});

const locked = (offer: string) => ({ ...transfer, inputHoldingCids: [`${offer}-locked`] });

describe("the holdings", () => {
  const others = [[], ["input-1"], ["input-2", "input-1"], ["input-1", "input-2", "input-2"], ["other"], [""]];

  test.each([
    ["offered", () => [], stillPending],
    ["accepted", (offer: string) => [ending("Accept", offer)], success],
  ] as const)(
    "of a transfer that is %s are those of the sender, or the one that is locked",
    async (_, then, expected) => {
      const offer = fresh("offer");
      const offered = place.transact(offering("factory", offer));
      const steps = then(offer);
      const id = steps.length === 0 ? offered : place.transact(...steps);
      expect(await place.status(id)).toBe(expected);
      expect(await place.status(id, locked(offer))).toBe(expected);
      for (const inputHoldingCids of others) {
        expect(await place.status(id, { ...transfer, inputHoldingCids })).toBe(unverified);
      }
    },
  );

  test("of a transfer at once are those of the sender", async () => {
    const id = place.transact(transferring("factory"));
    for (const inputHoldingCids of others) {
      expect(await place.status(id, { ...transfer, inputHoldingCids })).toBe(unverified);
    }
  });

  test("of the sender are unknown where no factory made the offer", async () => {
    const offer = fresh("offer");
    place.transact(offerCreation(offer));
    const id = place.transact(ending("Accept", offer));
    expect(await place.status(id)).toBe(unverified);
    expect(await place.status(id, locked(offer))).toBe(success);
  });

  test("of another offer in the update that made it are not its own", async () => {
    const [offer, other] = [fresh("offer"), fresh("offer")];
    const otherTerms = { ...transfer, inputHoldingCids: ["input-3"] };
    place.transact(offering("factory", offer), offering("factory", other, otherTerms));
    const id = place.transact(ending("Accept", offer));
    expect(await place.status(id)).toBe(success);
    // The other transfer differs in its holdings alone, and is neither accepted here nor anywhere.
    expect(await place.status(id, otherTerms)).toBe(unverified);
  });
});

describe("the metadata", () => {
  const values = { a: "1", b: "2" };
  test.each([
    ["in another order", { a: "1", b: "2" }, { b: "2", a: "1" }, success],
    ["without one", values, { a: "1" }, unverified],
    ["with one more", values, { ...values, c: "3" }, unverified],
    ["with another value", values, { a: "1", b: "3" }, unverified],
    ["under another key", values, { a: "1", c: "2" }, unverified],
    ["with keys and values exchanged", { a: "b" }, { b: "a" }, unverified],
    ["none", {}, {}, success],
    ["none of some", values, {}, unverified],
    ["some of none", {}, values, unverified],
    ["that is empty text", { a: "" }, {}, unverified],
    ["with a key that objects have", { constructor: "x" }, { constructor: "x" }, success],
  ])("%s", async (_, made, asked, expected) => {
    expect(await asking({ meta: { values: made } }, { meta: { values: asked } })).toBe(expected);
  });
});

describe("accounts in the factory's argument", () => {
  const inAccounts = { ...transfer, sender: account(alice), receiver: account(bob, registrar, "savings") };

  test("are those of their owners", async () => {
    expect(await place.status(place.transact(transferring("factory", inAccounts)))).toBe(success);
  });

  test("without an owner are the provider's", async () => {
    const id = place.transact(transferring("factory", { ...inAccounts, sender: account(null, registrar) }));
    expect(await place.status(id, { ...transfer, sender: registrar })).toBe(success);
    expect(await place.status(id)).toBe(unverified);
  });

  test("of others are not", async () => {
    const id = place.transact(transferring("factory", { ...inAccounts, receiver: account(registrar, bob) }));
    expect(await place.status(id)).toBe(unverified);
  });

  test("name the sender's holdings of an offer", async () => {
    const offer = fresh("offer");
    place.transact(transferring("factory", inAccounts, { result: pending(offer), steps: [offerCreation(offer)] }));
    expect(await place.status(place.transact(ending("Accept", offer)))).toBe(success);
  });
});
