/** Transfers: which kind it is, what its context has, which preapprovals make it direct, and which arguments it needs. */
import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { transferFactory } from "../fixtures/calls/operations.js";
import { contractId, contractIds, prefixed, resultContracts } from "../fixtures/context.js";
import { element, type Options, parties, payload } from "../fixtures/elements.js";
import { registryOf } from "../fixtures/registries.js";
import { account, replaced, transferV1, transferV2 } from "../fixtures/requests.js";
import { ask, CREDENTIALS_REQUIRED, refused, rulesOn } from "../fixtures/rules.js";

const versions = ["v1", "v2"] as const;
const newer: Options = { createdAt: "2026-02-05T09:00:00.000000Z" };
const onB: Options = { synchronizerId: "sync-B" };

const offered = (credentials = contractIds("alice-holds")): JsonObject =>
  prefixed({ "instrument-configuration": contractId("usd"), "sender-credentials": credentials });
const executed = (sender: string, receiver: string): JsonObject => ({
  ...offered(contractIds(sender)),
  ...prefixed({ "receiver-credentials": contractIds(receiver), "transfer-rule": contractId("rule") }),
  ...resultContracts(true),
});
const offer = {
  factoryId: "factory",
  transferKind: "offer",
  values: offered(),
  disclosed: ["alice-holds", "factory", "usd"],
};
const self = {
  factoryId: "factory",
  transferKind: "self",
  values: executed("alice-holds", "alice-holds"),
  disclosed: ["alice-holds", "factory", "rule", "usd"],
};
const directBy = (id: string, receiver = "bob-holds") => ({
  factoryId: id,
  transferKind: "direct",
  values: executed("alice-holds", receiver),
  disclosed: ["alice-holds", receiver, id, "rule", "usd"].toSorted((a, b) => (a < b ? -1 : 1)),
});

const holdsAs = (party: string) => element("Credential", `${party}-holds`, payload.credential(party, ["holds=USD"]));
const preapproval = (id: string, options?: Options, more: JsonObject = {}) =>
  element("TransferPreapproval", id, payload.preapproval("bob", ["USD"], more), options);
const ofCarol = element("TransferPreapproval", "carol-approves", payload.preapproval("carol", []));
const toBob = transferFactory("v1", transferV1("alice", "bob"));

describe.each(versions)("the factory of %s", (version) => {
  const rules = rulesOn(registryOf({}, holdsAs("carol"), ofCarol));
  const transfer = (body: JsonObject) => rules.ask(transferFactory(version, body));

  test.each([
    ["to another party is an offer", "bob", offer],
    ["to a receiver without credentials is the same offer", "dave", offer],
    ["to oneself has the entries of an acceptance, and the factory", "alice", self],
    ["to a receiver that approves is direct", "carol", directBy("carol-approves", "carol-holds")],
  ])("a transfer %s, whatever the amount, the times and the inputs", async (_what, receiver, expected) => {
    for (const more of [
      {},
      { amount: "0.0000000001", inputHoldingCids: ["h2", "h1"], requestedAt: "1970-01-01T00:00:00Z" },
    ]) {
      expect(await transfer(transferV1("alice", receiver, more))).toEqual(expected);
      expect(await transfer(transferV2(account("alice"), account(receiver), more))).toEqual(expected);
    }
  });

  test("needs neither amounts nor times", async () => {
    const instrumentId = { admin: parties.registrar, id: "USD" };
    const body = { choiceArguments: { transfer: { sender: "alice", receiver: "bob", instrumentId } } };
    expect(await transfer(body)).toEqual(offer);
  });

  test.each([
    ["by their owners before their providers", account("alice", "bob"), account("bob", "alice"), offer],
    ["by their providers if the owner is null", account(null, "alice"), account(null, "bob"), offer],
    ["by their providers if the owner is absent", { provider: "alice", id: "" }, { provider: "bob", id: "" }, offer],
    ["which may be one", account("alice", null, "savings"), account(null, "alice", "current"), self],
  ])("accounts name parties %s", async (_how, sender, receiver, expected) => {
    expect(await transfer(transferV2(sender, receiver))).toEqual(expected);
  });

  test("has an empty list for a sender without credentials, or 404 where they are required", async () => {
    const body = transferV1("dave", "bob");
    const { values, disclosed } = await rules.context(transferFactory(version, body));
    expect({ values, disclosed }).toEqual({ values: offered(contractIds()), disclosed: ["factory", "usd"] });
    const required = await ask(registryOf(), transferFactory(version, body), CREDENTIALS_REQUIRED);
    expect(required).toEqual(refused(404, "dave", parties.issuer, "holds = USD"));
  });

  const [v1, v2] = [transferV1("alice", "bob"), transferV2(account("alice"), account("bob"))];
  const fields = ["", ".sender", ".receiver", ".instrumentId", ".instrumentId.admin", ".instrumentId.id"];
  const wrong: readonly JsonValue[] = [5, null];

  test.each([...fields.map((field) => [field, v1] as const), ...fields.map((field) => [field, v2] as const)])(
    "requires transfer%s, and the message has its path (case %#)",
    async (field, body) => {
      const path = `choiceArguments.transfer${field}`;
      for (const value of [undefined, ...wrong])
        expect(await transfer(replaced(body, path, value))).toEqual(refused(400, path));
    },
  );

  test.each<[string, JsonObject, string, JsonValue]>([
    ["an account without owner and provider", v2, "transfer.sender", account(null)],
    ["an account without owner and provider", v2, "transfer.receiver", account(null)],
    ["an owner that is no party", v2, "transfer.sender.owner", 5],
    ["an owner that is no party", v2, "transfer.receiver.owner", 5],
    ["another expected admin", v1, "expectedAdmin", "registrar-2::1220"],
    ["another admin of the instrument", v1, "transfer.instrumentId.admin", "registrar-2::1220"],
    ["another admin of the instrument", v2, "transfer.instrumentId.admin", "registrar-2::1220"],
  ])("rejects %s, with the path (case %#)", async (_what, body, field, value) => {
    expect(await transfer(replaced(body, `choiceArguments.${field}`, value))).toEqual(refused(400, field));
  });

  test("rejects a provider that is no party, and accepts a missing expected admin", async () => {
    const provider = replaced(v2, "choiceArguments.transfer.sender", { owner: null, provider: 5, id: "" });
    expect(await transfer(provider)).toEqual(refused(400, "transfer.sender.provider"));
    expect(await transfer(replaced(v1, "choiceArguments.expectedAdmin", undefined))).toEqual(offer);
  });
});

test("the order of the disclosed contracts does not depend on that of the snapshot", async () => {
  const call = transferFactory("v1", transferV1("alice", "alice"));
  expect(await rulesOn(registryOf().toReversed()).body(call)).toEqual(await rulesOn(registryOf()).body(call));
});

const ruleOn = (options: Options) => element("TransferRule", "rule", payload.service(), options);

/** A transfer is never refused because of one that cannot be used. */
describe("a preapproval", () => {
  test.each<[string, readonly JsonObject[], JsonObject]>([
    [
      "covers every instrument without allowances",
      [preapproval("it", {}, { instrumentAllowances: [] })],
      directBy("it"),
    ],
    [
      "covers one of several",
      [preapproval("it", {}, { instrumentAllowances: [{ id: "EUR" }, { id: "USD" }] })],
      directBy("it"),
    ],
    ["of another instrument does not count", [preapproval("it", {}, { instrumentAllowances: [{ id: "usd" }] })], offer],
    ["of another admin does not count", [preapproval("it", {}, { instrumentAdmin: "registrar-2::1220" })], offer],
    ["of another operator does not count", [preapproval("it", {}, { operator: "operator-2::1220" })], offer],
    ["of another receiver does not count", [preapproval("it", {}, { receiver: "carol" })], offer],
    ["on another synchronizer does not count", [preapproval("it", onB)], offer],
    ["in reassignment does not count", [preapproval("it", { moving: "unassigned" })], offer],
    [
      "that does not count hides no older one",
      [preapproval("it", { ...newer, ...onB }), preapproval("old")],
      directBy("old"),
    ],
    ["is the newest", [preapproval("a"), preapproval("b", newer)], directBy("b")],
    ["is the one with the lower contract id, of equally new ones", [preapproval("b"), preapproval("a")], directBy("a")],
    [
      "counts wherever the factory is",
      [preapproval("it"), element("AllocationFactory", "factory", payload.service(), onB)],
      directBy("it"),
    ],
    ["needs a rule on its synchronizer", [preapproval("it"), ruleOn(onB)], offer],
    ["needs a rule that is not in reassignment", [preapproval("it"), ruleOn({ moving: "unassigned" })], offer],
  ])("%s", async (_what, elements, expected) => {
    const has = (id: string) => JSON.stringify(elements).includes(`"contractId":"${id}"`);
    const changes = { ...(has("rule") && { rule: undefined }), ...(has("factory") && { factory: undefined }) };
    expect(await ask(registryOf(changes, ...elements), toBob)).toEqual(expected);
  });

  test("needs a rule and a configuration; one of oneself leaves a transfer to oneself what it is", async () => {
    expect(await ask(registryOf({ rule: undefined }, preapproval("it")), toBob)).toEqual(offer);
    const without = await ask(registryOf({ configuration: undefined }, preapproval("it")), toBob);
    expect(without).toEqual(refused(404, "InstrumentConfiguration", "USD"));
    const own = element("TransferPreapproval", "it", payload.preapproval("alice", []));
    expect(await ask(registryOf({}, own), transferFactory("v1", transferV1("alice", "alice")))).toEqual(self);
  });
});
