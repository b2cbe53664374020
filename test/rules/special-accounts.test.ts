/** The accounts of CIP-0112 that have neither owner nor provider, and account data in requests of version 1. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/util/json.js";
import { allocationFactory, onTransfer, settlementFactory, transferFactory } from "../fixtures/calls/operations.js";
import { contractId, contractIds, map, prefixed, resultContracts } from "../fixtures/context.js";
import { element, parties, payload } from "../fixtures/elements.js";
import type { Call } from "../fixtures/protocols.js";
import { instructions, registryOf } from "../fixtures/registries.js";
import {
  account,
  allocationV1,
  allocationV2,
  leg,
  legSide,
  replaced,
  settlement,
  transferV1,
  transferV2,
} from "../fixtures/requests.js";
import { ask, CREDENTIALS_REQUIRED, refused, rulesOn } from "../fixtures/rules.js";

const { registrar } = parties;
const NO_OWNER = "cip-112_no-owner::1220000000000000000000000000000000000000000000000000000000000000abcd";
const [alice, bob] = [account("alice"), account("bob")];
const mint = account(null, null, "cip-112/mint");
const burn = account(null, null, "cip-112/burn");

const holds = (id: string, party: string) => element("Credential", id, payload.credential(party, ["holds=USD"]));
/** A stored offer of USD; `meta` is that of its transfer. */
function offerOf(id: string, sender: string, receiver: string, meta: JsonObject = { values: {} }): JsonObject {
  const { transfer, ...others } = payload.offer(sender, receiver, "USD", "locked");
  return element("TransferOffer", id, { ...others, transfer: { ...(transfer as JsonObject), meta } });
}
/** The registrar has a credential, which its special accounts do not need. */
const elements = registryOf(
  {},
  ...instructions(),
  holds("registrar-holds", registrar),
  holds("bank-holds", "bank"),
  offerOf("minted", NO_OWNER, "bob"),
  offerOf("burned", "alice", NO_OWNER),
  offerOf("of-bank", NO_OWNER, "bob", { values: { "cip-112/sender.provider": "bank" } }),
  element("DvpLegAllocation", "to-mint", payload.allocation(NO_OWNER, "bob", "USD", "locked")),
);
const rules = rulesOn(elements);
const preapproval = (receiver: string) =>
  element("TransferPreapproval", `${receiver}-approves`, payload.preapproval(receiver, []));
const withApproval = (receiver: string, call: Call) => ask([...elements, preapproval(receiver)], call);

const configuration = { "instrument-configuration": contractId("usd") };
/** The answer for the sender's credentials. */
const offer = (...credentials: readonly string[]): JsonObject => ({
  factoryId: "factory",
  transferKind: "offer",
  values: prefixed({ ...configuration, "sender-credentials": contractIds(...credentials) }),
  disclosed: [...credentials, "factory", "usd"],
});
/** The answer of a transfer that is executed, for the credentials of both. */
const executed = (
  more: JsonObject,
  others: readonly string[],
  sender: readonly string[],
  receiver: readonly string[],
) => ({
  ...more,
  values: {
    ...prefixed({
      ...configuration,
      "sender-credentials": contractIds(...sender),
      "receiver-credentials": contractIds(...receiver),
      "transfer-rule": contractId("rule"),
    }),
    ...resultContracts(true),
  },
  disclosed: [...new Set([...sender, ...receiver, ...others, "rule", "usd"])].toSorted(),
});
const direct = (id: string, sender: readonly string[], receiver: readonly string[]) =>
  executed({ factoryId: id, transferKind: "direct" }, [id], sender, receiver);
const self = (sender: readonly string[], receiver: readonly string[]) =>
  executed({ factoryId: "factory", transferKind: "self" }, ["factory"], sender, receiver);

const v1 = (sender: string, receiver: string, values: JsonObject = {}): Call =>
  transferFactory("v1", transferV1(sender, receiver, { meta: { values } }));
const v2 = (sender: JsonObject, receiver: JsonObject): Call => transferFactory("v2", transferV2(sender, receiver));

describe("a special account", () => {
  test.each<[string, Call]>([
    ["mints", v2(mint, bob)],
    ["mints, without the fields that are null", v2({ id: "cip-112/mint" }, bob)],
    ["sends under the other id", v2(burn, bob)],
    ["mints, in version 1", v1(NO_OWNER, "bob")],
    ["mints, in version 1, with its id", v1(NO_OWNER, "bob", { "cip-112/sender.id": "cip-112/mint" })],
    ["mints, in version 1, with an empty provider", v1(NO_OWNER, "bob", { "cip-112/sender.provider": "" })],
    ["sends, in version 1, under the other id", v1(NO_OWNER, "bob", { "cip-112/sender.id": "cip-112/burn" })],
    [
      "mints, whatever the data of the other side",
      v1(NO_OWNER, "bob", { "cip-112/receiver.id": "savings", "cip-112/receiver.provider": "bank" }),
    ],
  ])("%s: it needs no credentials", async (_what, call) => {
    expect(await rules.ask(call)).toEqual(offer());
    expect(await ask(elements, call, CREDENTIALS_REQUIRED)).toEqual(offer());
  });

  test.each<[string, Call]>([
    ["in version 2", v2(alice, burn)],
    ["under the other id", v2(alice, mint)],
    ["in version 1", v1("alice", NO_OWNER)],
    ["in version 1, with its id", v1("alice", NO_OWNER, { "cip-112/receiver.id": "cip-112/burn" })],
  ])("receives what is burned, %s; its preapproval is that of the registrar", async (_what, call) => {
    expect(await rules.ask(call)).toEqual(offer("alice-holds"));
    expect(await withApproval(registrar, call)).toEqual(direct("registrar::1220-approves", ["alice-holds"], []));
  });

  test("mints directly to a receiver that approves", async () => {
    expect(await withApproval("bob", v2(mint, bob))).toEqual(direct("bob-approves", [], ["bob-holds"]));
  });

  test.each<[Call, readonly string[], readonly string[]]>([
    [v2(mint, account(registrar)), [], ["registrar-holds"]],
    [v1(registrar, NO_OWNER), ["registrar-holds"], []],
    [v2(mint, burn), [], []],
  ])("and the registrar are one party (case %#)", async (call, sender, receiver) => {
    expect(await rules.ask(call)).toEqual(self(sender, receiver));
  });

  test.each([
    ["v2", allocationV2(mint, [legSide("SenderSide", "USD")])],
    ["v1", allocationV1(NO_OWNER, "bob")],
  ] as const)("authorizes an allocation without credentials, in %s", async (version, body) => {
    const { transferKind: _, ...allocated } = offer();
    expect(await rules.ask(allocationFactory(version, body))).toEqual(allocated);
  });

  test.each<[string, readonly JsonObject[], readonly JsonObject[]]>([
    ["in its legs", [leg(mint, bob, "USD"), leg(alice, burn, "USD")], []],
    [
      "as the sender of an allocation with extra sides and funding",
      [leg(mint, bob, "USD")],
      [
        {
          allocationCid: "to-mint",
          extraTransferLegSides: [{ ...legSide("ReceiverSide", "USD"), otherside: alice }],
          nextIterationFunding: { USD: "1.0" },
        },
      ],
    ],
  ])("has no list of credentials in a settlement, %s", async (_how, legs, allocations) => {
    const body = replaced(settlement(legs, []), "choiceArguments.allocations", [...allocations]);
    const { values } = await rules.context(settlementFactory(body));
    const holders = map({ bob: contractIds("bob-holds"), alice: contractIds("alice-holds") });
    expect(values["utility.digitalasset.com/holder-credentials"]).toEqual(holders);
  });

  test.each([
    ["that mints", "minted", [], ["bob-holds"]],
    ["that receives what is burned", "burned", ["alice-holds"], []],
    ["of a provider, which is not special", "of-bank", ["bank-holds"], ["bob-holds"]],
  ])("stands in an offer: one %s", async (_what, id, sender, receiver) => {
    expect(await rules.ask(onTransfer("v2", "accept", id))).toEqual(executed({}, ["locked"], sender, receiver));
  });
});

test("an account with a special id is its owner's or its provider's if it has one", async () => {
  expect(await rules.ask(v2(account("alice", null, "cip-112/mint"), bob))).toEqual(offer("alice-holds"));
  expect(await rules.ask(v2(account(null, "alice", "cip-112/burn"), bob))).toEqual(offer("alice-holds"));
});

describe("an account with another id needs an owner or a provider", () => {
  test.each<[string, (wrong: JsonObject) => Call]>([
    ["sender", (wrong) => v2(wrong, bob)],
    ["receiver", (wrong) => v2(alice, wrong)],
    ["authorizer", (wrong) => allocationFactory("v2", allocationV2(wrong, [legSide("SenderSide", "USD")]))],
    ["transferLegs[0].sender", (wrong) => settlementFactory(settlement([leg(wrong, bob, "USD")], ["allocation"]))],
    ["transferLegs[0].receiver", (wrong) => settlementFactory(settlement([leg(alice, wrong, "USD")], ["allocation"]))],
  ])("as %s", async (name, callWith) => {
    for (const wrong of [account(null), account(null, null, "savings"), account(null, null, "cip-112/other"), {}])
      expect(await rules.ask(callWith(wrong))).toEqual(
        refused(400, `${name}.owner`, "owner or a provider", "cip-112/mint"),
      );
  });
});

describe("account data in meta.values of version 1", () => {
  test("leaves the party of an owner, whatever its id and its provider", async () => {
    const values = {
      "cip-112/sender.id": "savings",
      "cip-112/sender.provider": "bank",
      "cip-112/receiver.id": "",
      "cip-112/receiver.provider": "bank",
    };
    expect(await rules.ask(v1("alice", "bob", values))).toEqual(offer("alice-holds"));
  });

  test("names the provider whose account it is, if there is no owner", async () => {
    const values = { "cip-112/sender.id": "7", "cip-112/sender.provider": "bank" };
    expect(await rules.ask(v1(NO_OWNER, "bob", values))).toEqual(offer("bank-holds"));
    const receiving = v1("alice", NO_OWNER, { "cip-112/receiver.provider": "bob" });
    expect(await withApproval("bob", receiving)).toEqual(direct("bob-approves", ["alice-holds"], ["bob-holds"]));
  });

  test.each([
    ["sender", NO_OWNER, "bob"],
    ["receiver", "alice", NO_OWNER],
  ])("with another id, but no provider, is a bad request: %s", async (side, sender, receiver) => {
    const call = v1(sender, receiver, { [`cip-112/${side}.id`]: "savings" });
    expect(await rules.ask(call)).toEqual(refused(400, `cip-112/${side}.id`, "savings"));
  });
});
