/** Accounts of version 2 of the token standard, and the parties that stand for them in version 1. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { RegistryError } from "../../src/domain/errors.js";
import { accountIn, accountOf, JsonReader, partyOf } from "../../src/registry/sdk/json-reader.js";

const ADMIN = "registrar::1220";
const NO_OWNER = "cip-112_no-owner::1220000000000000000000000000000000000000000000000000000000000000abcd";

const read = (account: JsonObject) =>
  accountOf(new JsonReader({ sender: account }, "transfer").object("sender"), ADMIN);
const readIn = (transfer: JsonObject) => accountIn(new JsonReader(transfer, "transfer"), "sender", ADMIN);

/** The message of the error that a read throws. */
function refusal(use: () => unknown): string {
  try {
    use();
  } catch (error) {
    if (error instanceof RegistryError && error.reason === "invalid") return error.message;
    throw error;
  }
  throw new Error("it was not refused");
}

const special = (id: string) => ({ owner: undefined, provider: undefined, id, party: ADMIN, isSpecial: true });

describe("an account", () => {
  test.each<[string, JsonObject, string]>([
    ["its owner", { owner: "alice", provider: null, id: "" }, "alice"],
    ["its owner, if it has a provider too", { owner: "alice", provider: "bank", id: "1" }, "alice"],
    ["its provider, if the owner is null", { owner: null, provider: "bank", id: "1" }, "bank"],
    ["its provider, if the owner is absent", { provider: "bank" }, "bank"],
    ["its owner, even with a special id", { owner: "alice", id: "cip-112/mint" }, "alice"],
    ["its provider, even with a special id", { provider: "bank", id: "cip-112/burn" }, "bank"],
  ])("has as its party %s", (_, account, party) => {
    expect(read(account)).toMatchObject({ party, isSpecial: false });
  });

  test.each(["cip-112/mint", "cip-112/burn"])("without owner and provider is special by the id %s", (id) => {
    expect(read({ owner: null, provider: null, id })).toEqual(special(id));
    expect(read({ id })).toEqual(special(id));
  });

  test.each([{ id: "" }, {}, { owner: null, id: "savings" }, { id: "cip-112/transfer" }, { id: "CIP-112/mint" }])(
    "without owner and provider is rejected: %j",
    (account) => {
      const message = refusal(() => read(account));
      expect(message).toContain("transfer.sender.owner must name an owner or a provider");
      expect(message).toContain("cip-112/mint or cip-112/burn");
      expect(message).toContain(JSON.stringify("id" in account ? account.id : ""));
    },
  );
});

const withMeta = (sender: string, values: JsonObject): JsonObject => ({ sender, meta: { values } });

describe("a field that is a party in version 1", () => {
  test("is that party, with the provider and the id that meta says", () => {
    const alice = { owner: "alice", provider: undefined, id: "", party: "alice", isSpecial: false };
    expect(readIn({ sender: "alice" })).toEqual(alice);
    expect(readIn(withMeta("alice", { "cip-112/sender.id": "" }))).toEqual(alice);
    const values = { "cip-112/sender.id": "savings", "cip-112/sender.provider": "bank" };
    expect(readIn(withMeta("alice", values))).toEqual({ ...alice, id: "savings", provider: "bank" });
    const ofMint = withMeta("alice", { "cip-112/sender.id": "cip-112/mint" });
    expect(readIn(ofMint)).toEqual({ ...alice, id: "cip-112/mint" });
    expect(readIn(withMeta("alice", { "cip-112/receiver.id": "savings" }))).toEqual(alice);
  });

  test("is an account in version 2", () => {
    expect(readIn({ sender: { owner: "alice", provider: "bank", id: "1" } })).toMatchObject({ party: "alice" });
    expect(readIn({ sender: { id: "cip-112/burn" } })).toEqual(special("cip-112/burn"));
  });

  test.each<[string, JsonObject]>([
    ["without meta", { sender: NO_OWNER }],
    ["with a meta without values", { sender: NO_OWNER, meta: {} }],
    ["with values about the other side", withMeta(NO_OWNER, { "cip-112/receiver.id": "savings" })],
    ["with an id that is special", withMeta(NO_OWNER, { "cip-112/sender.id": "cip-112/mint" })],
    ["with the other id that is special", withMeta(NO_OWNER, { "cip-112/sender.id": "cip-112/burn" })],
  ])("is special if it is the party without owner, %s", (_, transfer) => {
    expect(readIn(transfer)).toMatchObject({ party: ADMIN, isSpecial: true });
  });

  test("is the provider's account if it is the party without owner and meta has a provider", () => {
    const values = { "cip-112/sender.id": "7", "cip-112/sender.provider": "bank" };
    expect(readIn(withMeta(NO_OWNER, values))).toEqual({
      owner: undefined,
      provider: "bank",
      id: "7",
      party: "bank",
      isSpecial: false,
    });
    const { "cip-112/sender.id": _, ...withoutId } = values;
    expect(readIn(withMeta(NO_OWNER, withoutId))).toMatchObject({ party: "bank", id: "" });
  });

  test("is rejected if it is the party without owner and the id is not special", () => {
    const message = refusal(() => readIn(withMeta(NO_OWNER, { "cip-112/sender.id": "savings" })));
    expect(message).toContain("transfer.meta.values.cip-112/sender.id");
    expect(message).toContain('"savings"');
  });

  test("is rejected if it is neither a party nor an account", () => {
    expect(refusal(() => readIn({}))).toContain("transfer.sender");
    expect(refusal(() => readIn({ sender: "" }))).toContain("transfer.sender");
    expect(refusal(() => readIn({ sender: 5 }))).toContain("transfer.sender");
  });
});

test("the party of a field is that of its account", () => {
  const transfer = new JsonReader({ sender: { owner: "alice" }, receiver: { id: "cip-112/burn" } }, "transfer");
  expect(partyOf(transfer, "sender", ADMIN)).toBe("alice");
  expect(partyOf(transfer, "receiver", ADMIN)).toBe(ADMIN);
});
