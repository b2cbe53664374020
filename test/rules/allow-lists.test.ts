/** Allow-lists: credentials that their issuer holds, with claims on others. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import {
  allocationFactory,
  burnMintFactory,
  createIssuance,
  executeTransfer,
  onIssuance,
  onTransfer,
  settlementFactory,
  transferFactory,
} from "../fixtures/calls/operations.js";
import { contractId, contractIds, map, prefixed, resultContracts } from "../fixtures/context.js";
import { element, parties, payload, requirement } from "../fixtures/elements.js";
import { askOver, restAndGrpc, shortOutcome } from "../fixtures/outcomes.js";
import type { Call } from "../fixtures/protocols.js";
import { registryOf, useRegistry } from "../fixtures/registries.js";
import { account, allocationV1, leg, settlement, transferV1 } from "../fixtures/requests.js";

const { issuer, registrar } = parties;

/** A credential with one claim `holds=USD` and one `issues=USD` on each subject; the issuer holds it by default. */
const list = (id: string, subjects: readonly string[], holder: string = issuer, more: JsonObject = {}): JsonObject => {
  const claims = subjects.flatMap((subject) =>
    ["holds", "issues"].map((property): JsonObject => ({ subject, property, value: "USD" })),
  );
  return element("Credential", id, payload.credential(holder, [], { claims, ...more }));
};
const needs = {
  holderRequirements: [requirement(["holds=USD"])],
  issuerRequirements: [requirement(["issues=USD"])],
};
const configuration = element("InstrumentConfiguration", "usd", payload.configuration("USD", needs));
const own = (id: string, party: string, more: JsonObject = {}): JsonObject =>
  element("Credential", id, payload.credential(party, ["holds=USD"], more));

/** Instructions of alice and bob, whose only credentials are those that are added. */
const registryWith = (...added: readonly JsonObject[]): JsonObject[] =>
  registryOf(
    { configuration, alice: undefined, bob: undefined },
    element("TransferOffer", "offer", payload.offer("alice", "bob", "USD", "locked")),
    element("DvpLegAllocation", "allocation", payload.allocation("alice", "bob", "USD", "locked")),
    element("MintRequest", "mint-request", payload.mint("alice", "USD")),
    element("BurnRequest", "burn-request", payload.burn("alice", "USD", { lockedHoldingCid: "locked" })),
    element("Holding", "locked", payload.lockedHolding("alice", "USD")),
    ...added,
  );

const listed = contractIds("list");
const usd = { "instrument-configuration": contractId("usd") };
const executed = {
  ...usd,
  "sender-credentials": listed,
  "receiver-credentials": listed,
  "transfer-rule": contractId("rule"),
};
const issued = { ...usd, "issuer-credentials": listed };
const enabled = resultContracts(true);
const carolApproves = element("TransferPreapproval", "preapproval", payload.preapproval("carol", []));

/** The list has alice, bob, carol and the registrar. It is disclosed once. */
const operations: readonly (readonly [name: string, call: Call, expected: JsonObject])[] = [
  [
    "a transfer that is offered",
    transferFactory("v1", transferV1("alice", "bob")),
    {
      factoryId: "factory",
      transferKind: "offer",
      values: prefixed({ ...usd, "sender-credentials": listed }),
      disclosed: ["factory", "list", "usd"],
    },
  ],
  [
    "a direct transfer",
    transferFactory("v1", transferV1("alice", "carol")),
    {
      factoryId: "preapproval",
      transferKind: "direct",
      values: { ...prefixed(executed), ...enabled },
      disclosed: ["list", "preapproval", "rule", "usd"],
    },
  ],
  [
    "a transfer to oneself",
    transferFactory("v1", transferV1("alice", "alice")),
    {
      factoryId: "factory",
      transferKind: "self",
      values: { ...prefixed(executed), ...enabled },
      disclosed: ["factory", "list", "rule", "usd"],
    },
  ],
  [
    "accepting a transfer",
    onTransfer("v2", "accept", "offer"),
    { values: { ...prefixed(executed), ...enabled }, disclosed: ["list", "locked", "rule", "usd"] },
  ],
  [
    "an allocation",
    allocationFactory("v1", allocationV1("alice", "bob")),
    {
      factoryId: "factory",
      values: prefixed({ ...usd, "sender-credentials": listed }),
      disclosed: ["factory", "list", "usd"],
    },
  ],
  [
    "executing an allocation",
    executeTransfer("allocation"),
    { values: prefixed(executed), disclosed: ["list", "locked", "rule", "usd"] },
  ],
  [
    "a settlement",
    settlementFactory(settlement([leg(account("alice"), account("bob"), "USD")], ["allocation"])),
    {
      factoryId: "factory",
      values: {
        ...prefixed({
          ...usd,
          "transfer-rule": contractId("rule"),
          "instrument-configurations": map({ USD: contractId("usd") }),
          "holder-credentials": map({ alice: listed, bob: listed }),
        }),
        ...enabled,
      },
      disclosed: ["allocation", "factory", "list", "locked", "rule", "usd"],
    },
  ],
  [
    "creating a mint request",
    createIssuance("mint", "request", "alice"),
    { factoryId: "factory", values: prefixed(issued), disclosed: ["factory", "list", "usd"] },
  ],
  [
    "accepting a mint request",
    onIssuance("mint", "request", "accept", "mint-request"),
    { values: { ...prefixed(issued), ...enabled }, disclosed: ["list", "usd"] },
  ],
  [
    "accepting a burn request",
    onIssuance("burn", "request", "accept", "burn-request"),
    { values: { ...prefixed(issued), ...enabled }, disclosed: ["list", "locked", "usd"] },
  ],
  [
    "burning and minting",
    burnMintFactory(["alice", "bob"]),
    { factoryId: "factory", values: prefixed(issued), disclosed: ["factory", "list", "usd"] },
  ],
];

describe.each(restAndGrpc)("over %s, an allow-list", (_protocol, send) => {
  const ask = askOver(send);
  const url = useRegistry(registryWith(list("list", ["carol", "bob", registrar, "alice"]), carolApproves));

  test.each(operations)("counts for %s", async (_name, call, expected) => {
    expect(shortOutcome(await send(url(), call))).toEqual(expected);
  });

  /** The sender's credentials of an offer, if there are these. */
  const chosen = async (...credentials: readonly JsonObject[]): Promise<unknown> => {
    const answer = await ask(registryWith(...credentials), transferFactory("v1", transferV1("alice", "bob")));
    return (answer["values"] as JsonObject)["utility.digitalasset.com/sender-credentials"];
  };

  test("comes after a credential of the party's own, even if that is valid for less long", async () => {
    const brief = own("own", "alice", { validUntil: "2026-06-02T00:00:00Z" });
    expect(await chosen(list("list", ["alice"]), brief)).toEqual(contractIds("own"));
    const lapsed = own("own", "alice", { validUntil: "2026-05-31T00:00:00Z" });
    expect(await chosen(list("list", ["alice"]), lapsed)).toEqual(contractIds("list"));
  });

  test("is the one valid longest", async () => {
    const until = (id: string, validUntil: string) => list(id, ["alice"], issuer, { validUntil });
    const lists = [until("a", "2027-01-01T00:00:00Z"), until("b", "2028-01-01T00:00:00Z")];
    expect(await chosen(...lists)).toEqual(contractIds("b"));
    expect(await chosen(...lists, list("c", ["alice"]))).toEqual(contractIds("c"));
  });

  test.each<[string, JsonObject]>([
    ["does not name the party", list("list", ["bob", "carol"])],
    ["is held by a third party", list("list", ["alice", "carol"], "carol")],
    ["is held by the registrar", list("list", ["alice"], registrar)],
    ["is of another issuer", list("list", ["alice"], "issuer-2::1220", { issuer: "issuer-2::1220" })],
    ["is held by the issuer but issued by another", list("list", ["alice"], issuer, { issuer: "issuer-2::1220" })],
    ["has lapsed", list("list", ["alice"], issuer, { validUntil: "2026-06-01T00:00:00Z" })],
    ["is not valid yet", list("list", ["alice"], issuer, { validFrom: "2026-06-01T00:00:00.000001Z" })],
  ])("does not count if it %s", async (_why, credential) => {
    expect(await chosen(credential)).toEqual(contractIds());
  });
});
