/** The accounts of CIP-0112 that have neither owner nor provider, and account data in requests of version 1. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import {
  allocationFactory,
  executeTransfer,
  onTransfer,
  settlementFactory,
  transferFactory,
} from "../fixtures/calls/operations.js";
import { contractId, contractIds, map, prefixed, resultContracts } from "../fixtures/context.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { askOver, refused, restAndGrpc, shortOutcome } from "../fixtures/outcomes.js";
import type { Call } from "../fixtures/protocols.js";
import { instructions, registryOf, useRegistry } from "../fixtures/registries.js";
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
import { WITH_CREDENTIALS_REQUIRED } from "../fixtures/run-service.js";

const { registrar } = parties;
const NO_OWNER = "cip-112_no-owner::1220000000000000000000000000000000000000000000000000000000000000abcd";

const [alice, bob] = [account("alice"), account("bob")];
const mint = account(null, null, "cip-112/mint");
const burn = account(null, null, "cip-112/burn");

const credential = (id: string, party: string) => element("Credential", id, payload.credential(party, ["holds=USD"]));
/** The registrar has a credential, which its special accounts do not need. */
const usd = registryOf(
  {},
  ...instructions(),
  credential("registrar-holds", registrar),
  credential("bank-holds", "bank"),
);
const preapproval = (receiver: string) =>
  element("TransferPreapproval", `${receiver}-approves`, payload.preapproval(receiver, []));

const enabled = resultContracts(true);
const configuration = { "instrument-configuration": contractId("usd") };
const offer = (senderCredentials: JsonObject, ...disclosed: readonly string[]): JsonObject => ({
  factoryId: "factory",
  transferKind: "offer",
  values: { ...prefixed({ ...configuration, "sender-credentials": senderCredentials }) },
  disclosed: [...disclosed, "factory", "usd"],
});
const executed = (sender: JsonObject, receiver: JsonObject): JsonObject => ({
  ...prefixed({
    ...configuration,
    "sender-credentials": sender,
    "receiver-credentials": receiver,
    "transfer-rule": contractId("rule"),
  }),
  ...enabled,
});

/** A request of version 1 whose meta has account data. */
const withMeta = (sender: string, receiver: string, values: JsonObject): Call =>
  transferFactory("v1", transferV1(sender, receiver, { meta: { values } }));
const v1 = (sender: string, receiver: string): Call => transferFactory("v1", transferV1(sender, receiver));
const v2 = (sender: JsonObject, receiver: JsonObject): Call => transferFactory("v2", transferV2(sender, receiver));

const fromAlice = offer(contractIds("alice-holds"), "alice-holds");

/** A stored offer of USD; `more` replaces or adds fields of its transfer. */
const offerOf = (id: string, sender: string, receiver: string, more: JsonObject = {}) => {
  const { transfer, ...others } = payload.offer(sender, receiver, "USD", "locked");
  return element("TransferOffer", id, { ...others, transfer: { ...(transfer as JsonObject), ...more } });
};

describe.each(restAndGrpc)("over %s", (_protocol, send) => {
  const ask = askOver(send);
  const url = useRegistry(usd);
  const answerTo = async (call: Call) => shortOutcome(await send(url(), call));

  describe("a special account", () => {
    test.each<[string, Call]>([
      ["mints, in version 2", v2(mint, bob)],
      ["mints, in version 2, without the fields that are null", v2({ id: "cip-112/mint" }, bob)],
      ["sends under the other id", v2(burn, bob)],
      ["mints, in version 1", v1(NO_OWNER, "bob")],
      ["mints, in version 1, with its id", withMeta(NO_OWNER, "bob", { "cip-112/sender.id": "cip-112/mint" })],
      ["mints, in version 1, with the other id", withMeta(NO_OWNER, "bob", { "cip-112/sender.id": "cip-112/burn" })],
    ])("%s: it needs no credentials", async (_what, call) => {
      expect(await answerTo(call)).toEqual(offer(contractIds()));
      expect(await ask(usd, call, WITH_CREDENTIALS_REQUIRED)).toEqual(offer(contractIds()));
    });

    test("mints directly to a receiver that approves", async () => {
      expect(await ask([...usd, preapproval("bob")], v2(mint, bob))).toEqual({
        factoryId: "bob-approves",
        transferKind: "direct",
        values: executed(contractIds(), contractIds("bob-holds")),
        disclosed: ["bob-approves", "bob-holds", "rule", "usd"],
      });
    });

    test.each<[string, Call]>([
      ["in version 2", v2(alice, burn)],
      ["under the other id", v2(alice, mint)],
      ["in version 1", v1("alice", NO_OWNER)],
      ["in version 1, with its id", withMeta("alice", NO_OWNER, { "cip-112/receiver.id": "cip-112/burn" })],
    ])("receives what is burned, %s; its preapproval is that of the registrar", async (_what, call) => {
      expect(await answerTo(call)).toEqual(fromAlice);
      expect(await ask([...usd, preapproval(registrar)], call)).toEqual({
        factoryId: "registrar::1220-approves",
        transferKind: "direct",
        values: executed(contractIds("alice-holds"), contractIds()),
        disclosed: ["alice-holds", "registrar::1220-approves", "rule", "usd"],
      });
    });

    test("and the registrar are one party", async () => {
      expect(await answerTo(v2(mint, account(registrar)))).toEqual({
        factoryId: "factory",
        transferKind: "self",
        values: executed(contractIds(), contractIds("registrar-holds")),
        disclosed: ["factory", "registrar-holds", "rule", "usd"],
      });
      expect(await answerTo(v1(registrar, NO_OWNER))).toEqual({
        factoryId: "factory",
        transferKind: "self",
        values: executed(contractIds("registrar-holds"), contractIds()),
        disclosed: ["factory", "registrar-holds", "rule", "usd"],
      });
      expect(await answerTo(v2(mint, burn))).toEqual({
        factoryId: "factory",
        transferKind: "self",
        values: executed(contractIds(), contractIds()),
        disclosed: ["factory", "rule", "usd"],
      });
    });

    const allocated = {
      factoryId: "factory",
      values: prefixed({ ...configuration, "sender-credentials": contractIds() }),
      disclosed: ["factory", "usd"],
    };

    test("authorizes an allocation without credentials", async () => {
      const sides = [legSide("SenderSide", "USD")];
      expect(await answerTo(allocationFactory("v2", allocationV2(mint, sides)))).toEqual(allocated);
      expect(await answerTo(allocationFactory("v1", allocationV1(NO_OWNER, "bob")))).toEqual(allocated);
    });

    test("has no credentials in a settlement, and no list of them", async () => {
      const legs = [leg(mint, bob, "USD"), leg(alice, burn, "USD")];
      expect(await answerTo(settlementFactory(settlement(legs, ["allocation"])))).toEqual({
        factoryId: "factory",
        values: {
          ...prefixed({
            ...configuration,
            "transfer-rule": contractId("rule"),
            "instrument-configurations": map({ USD: contractId("usd") }),
            "holder-credentials": map({ bob: contractIds("bob-holds"), alice: contractIds("alice-holds") }),
          }),
          ...enabled,
        },
        disclosed: ["alice-holds", "allocation", "bob-holds", "factory", "locked", "rule", "usd"],
      });
    });
  });

  describe("a special account in a stored contract", () => {
    const meta = { values: { "cip-112/sender.provider": "bank" } };
    const stored = useRegistry([
      ...usd,
      offerOf("minted", NO_OWNER, "bob"),
      offerOf("burned", "alice", NO_OWNER),
      offerOf("of-bank", NO_OWNER, "bob", { meta }),
      element("DvpLegAllocation", "to-mint", payload.allocation(NO_OWNER, "bob", "USD", "locked")),
    ]);
    const askStored = async (call: Call) => shortOutcome(await send(stored(), call));

    test.each([
      ["mints", "minted", contractIds(), contractIds("bob-holds"), ["bob-holds"]],
      ["receives what is burned", "burned", contractIds("alice-holds"), contractIds(), ["alice-holds"]],
      [
        "of a provider is not special",
        "of-bank",
        contractIds("bank-holds"),
        contractIds("bob-holds"),
        ["bank-holds", "bob-holds"],
      ],
    ])("%s: accepting the transfer", async (_what, id, sender, receiver, credentials) => {
      expect(await askStored(onTransfer("v2", "accept", id))).toEqual({
        values: executed(sender, receiver),
        disclosed: [...credentials, "locked", "rule", "usd"],
      });
    });

    test("mints: executing the allocation", async () => {
      expect(await askStored(executeTransfer("to-mint"))).toMatchObject({
        values: prefixed({
          "sender-credentials": contractIds(),
          "receiver-credentials": contractIds("bob-holds"),
        }),
        disclosed: ["bob-holds", "locked", "rule", "usd"],
      });
    });

    test("takes no part in the extra sides and the funding of its allocation", async () => {
      const body = replaced(settlement([leg(mint, bob, "USD")], []), "choiceArguments.allocations", [
        {
          allocationCid: "to-mint",
          extraTransferLegSides: [{ ...legSide("ReceiverSide", "USD"), otherside: alice }],
          nextIterationFunding: { USD: "1.0" },
        },
      ]);
      expect(await askStored(settlementFactory(body))).toMatchObject({
        values: prefixed({
          "holder-credentials": map({ bob: contractIds("bob-holds"), alice: contractIds("alice-holds") }),
        }),
      });
    });
  });

  describe("an account with a special id", () => {
    test("is its owner's or its provider's if it has one", async () => {
      expect(await answerTo(v2(account("alice", null, "cip-112/mint"), bob))).toEqual(fromAlice);
      expect(await answerTo(v2(account(null, "alice", "cip-112/burn"), bob))).toEqual(fromAlice);
    });
  });

  describe("an account with another id needs an owner or a provider", () => {
    const others = [account(null), account(null, null, "savings"), account(null, null, "cip-112/other"), {}];
    const calls: Readonly<Record<string, (wrong: JsonObject) => Call>> = {
      "the sender": (wrong) => v2(wrong, bob),
      "the receiver": (wrong) => v2(alice, wrong),
      "the authorizer": (wrong) => allocationFactory("v2", allocationV2(wrong, [legSide("SenderSide", "USD")])),
      "transferLegs[0].sender": (wrong) => settlementFactory(settlement([leg(wrong, bob, "USD")], ["allocation"])),
      "transferLegs[0].receiver": (wrong) => settlementFactory(settlement([leg(alice, wrong, "USD")], ["allocation"])),
    };

    test.each(Object.entries(calls))("as %s", async (name, callWith) => {
      for (const wrong of others) {
        const answer = await answerTo(callWith(wrong));
        expect(answer).toEqual(refused(400, name.replace("the ", ""), "owner or a provider", "cip-112/mint"));
      }
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
      expect(await answerTo(withMeta("alice", "bob", values))).toEqual(fromAlice);
    });

    test("names the provider whose account it is, if there is no owner", async () => {
      const values = { "cip-112/sender.id": "7", "cip-112/sender.provider": "bank" };
      expect(await answerTo(withMeta(NO_OWNER, "bob", values))).toEqual(offer(contractIds("bank-holds"), "bank-holds"));
      const receiving = { "cip-112/receiver.provider": "bob" };
      expect(await ask([...usd, preapproval("bob")], withMeta("alice", NO_OWNER, receiving))).toMatchObject({
        factoryId: "bob-approves",
        transferKind: "direct",
      });
    });

    test("with another id, but no provider, is a bad request", async () => {
      for (const side of ["sender", "receiver"]) {
        const [sender, receiver] = side === "sender" ? [NO_OWNER, "bob"] : ["alice", NO_OWNER];
        const answer = await answerTo(withMeta(sender, receiver, { [`cip-112/${side}.id`]: "savings" }));
        expect(answer).toEqual(refused(400, `cip-112/${side}.id`, "savings"));
      }
    });

    test("belongs to its own side", async () => {
      const values = { "cip-112/receiver.id": "savings", "cip-112/receiver.provider": "bank" };
      expect(await answerTo(withMeta(NO_OWNER, "bob", values))).toEqual(offer(contractIds()));
    });
  });
});
