/** A party without all required credentials: what there is of them, or 404 where the contexts file requires them. */
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
import { contractIds, map, prefixed } from "../fixtures/context.js";
import { element, type Options, parties, payload, requirement } from "../fixtures/elements.js";
import { askOver, refused, restAndGrpc, shortOutcome } from "../fixtures/outcomes.js";
import type { Call } from "../fixtures/protocols.js";
import { registryOf, useRegistry } from "../fixtures/registries.js";
import { account, allocationV2, leg, legSide, settlement, transferV1 } from "../fixtures/requests.js";
import { type ServeOptions, WITH_CREDENTIALS_REQUIRED } from "../fixtures/run-service.js";

const both = [requirement(["knows=USD"]), requirement(["resides=CH"])];
const needs = { holderRequirements: both, issuerRequirements: both };
const configuration = element("InstrumentConfiguration", "usd", payload.configuration("USD", needs));
const knows = (party: string, options?: Options) =>
  element("Credential", `${party}-knows`, payload.credential(party, ["knows=USD"]), options);
const resides = (party: string, options?: Options) =>
  element("Credential", `${party}-resides`, payload.credential(party, ["resides=CH"]), options);

const registryWith = (...credentials: readonly JsonObject[]): JsonObject[] =>
  registryOf(
    { configuration, alice: undefined, bob: undefined },
    element("TransferOffer", "offer", payload.offer("alice", "bob", "USD", "locked")),
    element("DvpLegAllocation", "allocation", payload.allocation("alice", "bob", "USD", "locked")),
    element("MintOffer", "mint-offer", payload.mint("bob", "USD")),
    element("Holding", "locked", payload.lockedHolding("alice", "USD")),
    ...credentials,
  );
/** The sender and the registrar meet everything. */
const others = [knows("alice"), resides("alice"), knows(parties.registrar), resides(parties.registrar)];

const bobs = account("bob");
/** Each needs credentials of bob. With `list` they have these of his. */
const operations: readonly (readonly [name: string, call: Call, withList: (list: JsonObject) => JsonObject])[] = [
  [
    "a transfer",
    transferFactory("v1", transferV1("bob", "alice")),
    (list) => ({ factoryId: "factory", values: prefixed({ "sender-credentials": list }) }),
  ],
  [
    "accepting a transfer",
    onTransfer("v1", "accept", "offer"),
    (list) => ({ values: prefixed({ "receiver-credentials": list }) }),
  ],
  [
    "an allocation",
    allocationFactory("v2", allocationV2(bobs, [legSide("SenderSide", "USD")])),
    (list) => ({ factoryId: "factory", values: prefixed({ "sender-credentials": list }) }),
  ],
  [
    "executing an allocation",
    executeTransfer("allocation"),
    (list) => ({ values: prefixed({ "receiver-credentials": list }) }),
  ],
  [
    "a settlement",
    settlementFactory(settlement([leg(account("alice"), bobs, "USD")], ["allocation"])),
    (list) => ({
      factoryId: "factory",
      values: prefixed({
        "holder-credentials": map({ alice: contractIds("alice-knows", "alice-resides"), bob: list }),
      }),
    }),
  ],
  [
    "creating a burn offer",
    createIssuance("burn", "offer", "bob"),
    (list) => ({ factoryId: "factory", values: prefixed({ "issuer-credentials": list }) }),
  ],
  [
    "accepting a mint offer",
    onIssuance("mint", "offer", "accept", "mint-offer"),
    (list) => ({ values: prefixed({ "issuer-credentials": list }) }),
  ],
];

describe.each(restAndGrpc)("over %s", (_protocol, send) => {
  const ask = askOver(send);

  /** Makes the calls on a registry where bob has these credentials. */
  function on(credentials: readonly JsonObject[], options?: ServeOptions) {
    const url = useRegistry(registryWith(...others, ...credentials), options);
    return async (call: Call) => shortOutcome(await send(url(), call));
  }

  describe("an empty list if there is no credential", () => {
    const answerTo = on([]);
    test.each(operations)("for %s", async (_name, call, withList) => {
      const answer = await answerTo(call);
      expect(answer).toMatchObject(withList(contractIds()));
      expect(answer["disclosed"]).not.toContain("bob-knows");
    });
  });

  describe("what there is if one credential is missing", () => {
    const answerTo = on([knows("bob")]);
    test.each(operations)("for %s", async (_name, call, withList) => {
      const answer = await answerTo(call);
      expect(answer).toMatchObject(withList(contractIds("bob-knows")));
      expect(answer["disclosed"]).toContain("bob-knows");
    });
  });

  describe("not found if credentials are required, and the message names what is missing alone", () => {
    const [nothing, half, all] = [[], [knows("bob")], [knows("bob"), resides("bob")]].map((credentials) =>
      on(credentials, WITH_CREDENTIALS_REQUIRED),
    );
    test.each(operations)("for %s", async (_name, call, withList) => {
      expect(await nothing?.(call)).toEqual(refused(404, "bob", parties.issuer, "knows = USD", "resides = CH"));
      const missing = await half?.(call);
      expect(missing).toEqual(refused(404, "bob", parties.issuer, "resides = CH"));
      expect(missing).not.toEqual(refused(404, "knows"));
      expect(await all?.(call)).toMatchObject(withList(contractIds("bob-knows", "bob-resides")));
    });
  });

  describe.each<[string, Options]>([
    ["on another synchronizer", { synchronizerId: "sync-B" }],
    ["unassigned", { moving: "unassigned" }],
    ["arriving", { moving: "arriving" }],
  ])("a conflict if the missing credential is %s", (_where, options) => {
    const answerTo = on([knows("bob"), resides("bob", options)]);
    test.each(operations)("for %s", async (_name, call) => {
      expect(await answerTo(call)).toEqual(refused(409, "bob", "resides = CH"));
    });
  });

  test("a credential elsewhere that makes no missing claim is no conflict", async () => {
    const elsewhere = element("Credential", "elsewhere", payload.credential("bob", ["knows=USD", "age=40"]), {
      synchronizerId: "sync-B",
    });
    const call = transferFactory("v1", transferV1("bob", "alice"));
    expect(await ask(registryWith(knows("bob"), elsewhere), call)).toMatchObject({
      values: prefixed({ "sender-credentials": contractIds("bob-knows") }),
      disclosed: ["bob-knows", "factory", "usd"],
    });
  });

  test("a transfer to oneself is answered also if credentials are required: the ledger reads none", async () => {
    const call = transferFactory("v1", transferV1("bob", "bob"));
    expect(await ask(registryWith(knows("bob")), call, WITH_CREDENTIALS_REQUIRED)).toMatchObject({
      factoryId: "factory",
      transferKind: "self",
      values: prefixed({ "sender-credentials": contractIds("bob-knows") }),
    });
  });

  test("burning and minting has what each owner has, in this order, and nothing of the registrar", async () => {
    const call = burnMintFactory(["bob", "alice", "carol", "bob"]);
    const registrars = knows(parties.registrar);
    const elements = registryWith(knows("bob"), knows("alice"), resides("alice"), registrars);
    expect(await ask(elements, call)).toMatchObject({
      factoryId: "factory",
      values: prefixed({
        "issuer-credentials": contractIds("bob-knows", "alice-knows", "alice-resides"),
      }),
      disclosed: ["alice-knows", "alice-resides", "bob-knows", "factory", "usd"],
    });
    expect(await ask(registryWith(), call)).toMatchObject({
      values: prefixed({ "issuer-credentials": contractIds() }),
    });
    const whole = ["alice", "bob"].flatMap((party) => [knows(party), resides(party)]);
    const required = await ask(registryWith(...whole, knows("carol")), call, WITH_CREDENTIALS_REQUIRED);
    expect(required).toEqual(refused(404, "carol", parties.issuer, "resides = CH"));
  });
});
