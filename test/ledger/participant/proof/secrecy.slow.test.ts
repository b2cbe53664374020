/** A caller who does not know the transfer learns nothing: every response is equal byte for byte. */
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/util/json.js";
import {
  alice,
  bob,
  ending,
  offering,
  type Proof,
  proving,
  registrar,
  stillPending,
  success,
  transfer,
  transferringDirectly,
  unknownId,
  unverifiedBody,
} from "./proof-service.js";

const place = proving({ readWaitMs: 0 });

/** Updates that hold the transfer, and the response to a caller who knows it. */
const ids = new Map<string, string>();
const known = { direct: success, offered: stillPending, accepted: success, both: success };
const lockedFor: Readonly<Record<string, string>> = {
  offered: "one-locked",
  accepted: "one-locked",
  both: "two-locked",
};
let nothing: Proof;
beforeAll(async () => {
  ids.set("direct", place.transact(transferringDirectly("preapproval")));
  ids.set("offered", place.transact(offering("factory", "one")));
  ids.set("accepted", place.transact(ending("Accept", "one")));
  ids.set("both", place.transact(offering("factory", "two"), ending("Accept", "two")));
  nothing = await place.ask(unknownId);
});
const idOf = (name: string): string => ids.get(name) ?? "";

test("an unknown update is a 400 that says nothing about it; who knows the transfer gets its status", async () => {
  expect([nothing.status, JSON.parse(nothing.text)]).toEqual([400, unverifiedBody]);
  for (const [name, status] of Object.entries(known)) expect(await place.status(idOf(name))).toBe(status);
});

describe("a caller who does not know the transfer waits as long as for an unknown update", () => {
  const wait = 400;
  const slow = proving({ readWaitMs: wait });
  const timed = async (id: string, changed: JsonObject): Promise<number> => {
    const begun = performance.now();
    expect(await slow.ask(id, { ...transfer, ...changed })).toMatchObject({ status: 400, text: nothing.text });
    return performance.now() - begun;
  };

  test("for another transfer, for other inputs of an offer, whose look-ups are more, and for no update at all", async () => {
    const direct = slow.transact(transferringDirectly("preapproval"));
    slow.transact(offering("factory", "slow"));
    const accepted = slow.transact(ending("Accept", "slow"));
    const times = [
      await timed(direct, { amount: "1.0" }),
      await timed(accepted, { inputHoldingCids: ["other"] }),
      await timed(unknownId, {}),
      await timed("mistyped", {}),
    ];
    // The clocks of the service and of the test may differ by a millisecond.
    for (const time of times) expect(time).toBeGreaterThan(wait - 5);
  });
});

const values = { "splice.lfdecentralizedtrust.org/reason": "rent", "acme.example/invoice": "17" };

/** Guessed fields, all of them wrong. */
const text = fc.string({ minLength: 1, maxLength: 60, unit: "grapheme" });
const but = <T>(arbitrary: fc.Arbitrary<T>, ...those: readonly T[]): fc.Arbitrary<T> =>
  arbitrary.filter((value) => !those.some((one) => JSON.stringify(one) === JSON.stringify(value)));
const amount = fc
  .bigInt({ min: 0n, max: 10n ** 38n - 1n })
  .filter((units) => units !== 125_000_000_000n)
  .map((units) =>
    units
      .toString()
      .padStart(11, "0")
      .replace(/(?=.{10}$)/, "."),
  );
const time = fc
  .date({ min: new Date(0), max: new Date("2099-01-01T00:00:00Z"), noInvalidDate: true })
  .map((date) => date.toISOString().replace("Z", "999Z"));
const lists = fc.array(fc.oneof(fc.constantFrom("input-1", "input-2", "one-locked", "x"), text), { maxLength: 4 });
const held = (list: readonly string[]) => ["input-1,input-2", "one-locked", "two-locked"].includes(list.join(","));
const wrong = {
  sender: but(fc.oneof(text, fc.constant(bob)), alice),
  receiver: but(fc.oneof(text, fc.constant(alice)), bob),
  amount,
  instrumentId: but(fc.record({ admin: text, id: text }), { admin: registrar, id: "USD" }),
  requestedAt: time,
  executeBefore: time,
  inputHoldingCids: lists.filter((list) => !held(list)),
  meta: but(
    fc.record({ values: fc.dictionary(but(text, "__proto__"), fc.string(), { maxKeys: 3, noNullPrototype: true }) }),
    {
      values,
    },
  ),
};
const fields = Object.keys(wrong) as (keyof typeof wrong)[];

test("any guess, in one or several fields, gets the response for an unknown update", async () => {
  const guess = fc.record({
    name: fc.constantFrom(...Object.keys(known)),
    guessed: fc.subarray(fields, { minLength: 1 }),
    values: fc.record(wrong),
    // The locked holding instead of the sender's own reveals nothing more.
    byLocked: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(guess, async ({ name, guessed, values: guesses, byLocked }) => {
      const locked = byLocked ? lockedFor[name] : undefined;
      const right = locked === undefined ? transfer : { ...transfer, inputHoldingCids: [locked] };
      const changed = Object.fromEntries(guessed.map((field) => [field, guesses[field]]));
      expect(await place.ask(idOf(name), { ...right, ...changed })).toEqual(nothing);
    }),
    { numRuns: 300 },
  );
});
