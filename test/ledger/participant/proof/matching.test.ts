/** Which values are of one transfer: those of a choice on the ledger, and those that a caller names. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/util/json.js";
import type { TransferTerms } from "../../../../src/registry/sdk/registry.js";
import { comparable, isSame, transferIn } from "../../../../src/registry/utility/proof.js";
import { account } from "../../../fixtures/requests.js";
import { alice, bob, registrar, transfer } from "./proof-service.js";

type Terms = Omit<TransferTerms, "meta">;
const { meta, ...terms } = transfer;
const { values } = meta as { readonly values: Record<string, string> };

/** Whether a transfer that was made as one is the one that is asked for as another. */
function matches(made: JsonObject, asked: object): boolean {
  const onLedger = transferIn({ transfer: { ...transfer, ...made } });
  return (
    onLedger !== undefined && isSame(onLedger, comparable({ ...(terms as unknown as Terms), meta: values, ...asked }))
  );
}

test.each([
  ["1.0000000000", "1", true],
  ["1.0000000000", "1.0000000001", false],
])("the amount %s is %s: %s", (amount, asked, isEqual) => {
  expect(matches({ amount }, { amount: asked })).toBe(isEqual);
});

test.each([
  ["2026-01-05T09:00:00.123Z", "2026-01-05T09:00:00.123000000Z", true],
  ["2026-01-05T09:00:00.000000Z", "2026-01-05T09:00:00.000001Z", false],
])("the time %s is %s: %s", (time, asked, isEqual) => {
  for (const name of ["requestedAt", "executeBefore"]) {
    expect(matches({ [name]: time }, { [name]: asked })).toBe(isEqual);
  }
});

test.each<[string, Record<string, string>, Record<string, string>, boolean]>([
  ["in another order", { a: "1", b: "2" }, { b: "2", a: "1" }, true],
  ["without one", { a: "1", b: "2" }, { a: "1" }, false],
  ["with one more", { a: "1" }, { a: "1", c: "3" }, false],
  ["with another value", { a: "1", b: "2" }, { a: "1", b: "3" }, false],
  ["under another key", { a: "1", b: "2" }, { a: "1", c: "2" }, false],
  ["with keys and values exchanged", { a: "b" }, { b: "a" }, false],
  ["none", {}, {}, true],
  ["some of none", {}, { a: "1" }, false],
  ["that is empty text", { a: "" }, {}, false],
  ["with a key that objects have", { constructor: "x" }, { constructor: "x" }, true],
])("metadata %s", (_what, made, asked, isEqual) => {
  expect(matches({ meta: { values: made } }, { meta: asked })).toBe(isEqual);
});

describe("accounts of the ledger", () => {
  const savings = account(bob, registrar, "savings");

  test.each<[string, JsonObject, object, boolean]>([
    ["are those of their owners", { sender: account(alice), receiver: savings }, {}, true],
    ["without an owner are the provider's", { sender: account(null, registrar) }, { sender: registrar }, true],
    ["without an owner are not another's", { sender: account(null, registrar) }, {}, false],
    ["of others are not", { receiver: account(registrar, bob) }, {}, false],
  ])("%s", (_what, made, asked, isEqual) => {
    expect(matches(made, asked)).toBe(isEqual);
  });
});

test.each<[string, JsonObject]>([
  ["no transfer", {}],
  ["a sender that is no party", { transfer: { ...transfer, sender: 5 } }],
  ["an amount that is none", { transfer: { ...transfer, amount: "many" } }],
])("an argument with %s equals no transfer", (_what, argument) => {
  expect(transferIn(argument)).toBeUndefined();
});
