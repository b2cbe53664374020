/** Instruments that check a blocklist, while none is configured; table-of-operations.test.ts has every operation. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { allocationFactory, onTransfer, settlementFactory, transferFactory } from "../fixtures/calls/operations.js";
import { element, type Options, payload } from "../fixtures/elements.js";
import { askOver, refused, restAndGrpc } from "../fixtures/outcomes.js";
import type { Call } from "../fixtures/protocols.js";
import { instructions, registryOf } from "../fixtures/registries.js";
import { account, allocationV2, leg, legSide, replaced, settlement, transferV1 } from "../fixtures/requests.js";

const [alice, bob] = [account("alice"), account("bob")];
const configuration = (id: string, instrument: string, more: JsonObject = {}, options?: Options) =>
  element("InstrumentConfiguration", id, payload.configuration(instrument, more), options);
const checking = { checkBlocklist: true };
/** Only EUR checks a blocklist. */
const elements = registryOf({}, ...instructions(), configuration("eur", "EUR", checking));

const settling = (field: string, value: JsonObject | JsonObject[]): Call =>
  settlementFactory(
    replaced(settlement([leg(alice, bob, "USD")], ["allocation"]), `choiceArguments.allocations[0].${field}`, value),
  );
const allocating = (sides: readonly JsonObject[], funding: JsonObject | null): Call =>
  allocationFactory(
    "v2",
    replaced(allocationV2(alice, sides), "choiceArguments.allocation.nextIterationFunding", funding),
  );

const problem = (instrument: string): string =>
  `instrument "${instrument}" of registrar registrar::1220 has checkBlocklist set, but this service has no blocklist to ` +
  "disclose for this operation, so the choice would fail: the operator can add one in OFFLEDGER_CONTEXTS";

describe.each(restAndGrpc)("over %s", (_protocol, send) => {
  const ask = askOver(send);

  test.each<[string, Call]>([
    ["a settlement, in any leg", settlementFactory(settlement([leg(alice, bob, "USD"), leg(bob, alice, "EUR")], []))],
    ["a settlement, in an extra side", settling("extraTransferLegSides", [legSide("SenderSide", "EUR")])],
    ["a settlement, as funding", settling("nextIterationFunding", { EUR: "1.0" })],
    ["an allocation, in any side", allocating([legSide("SenderSide", "USD"), legSide("ReceiverSide", "EUR")], null)],
    ["an allocation, as funding", allocating([], { EUR: "1.0" })],
  ])("one makes the request a bad one: %s", async (_what, call) => {
    expect(await ask(elements, call)).toEqual(refused(400, 'instrument "EUR"', "checkBlocklist"));
  });

  test("each instrument of a settlement or an allocation that checks one is named", async () => {
    const chf = configuration("chf", "CHF", checking);
    const both = registryOf({}, ...instructions(), chf, configuration("eur", "EUR", checking));
    const legs = [leg(alice, bob, "USD"), leg(bob, alice, "EUR"), leg(alice, bob, "CHF"), leg(bob, alice, "EUR")];
    const all = { code: "InvalidArgument", message: `${problem("EUR")}; ${problem("CHF")}` };
    expect(await ask(both, settlementFactory(settlement(legs, [])))).toEqual(all);
    const sides = [legSide("SenderSide", "EUR"), legSide("ReceiverSide", "CHF")];
    expect(await ask(both, allocating(sides, null))).toEqual(all);
    const withoutRule = both.filter((one) => !JSON.stringify(one).includes('"rule"'));
    const missing = "the TransferRule of registrar registrar::1220 does not exist";
    expect(await ask(withoutRule, settlementFactory(settlement(legs, [])))).toEqual({
      code: "NotFound",
      message: `${missing}; ${problem("EUR")}; ${problem("CHF")}`,
    });
  });

  test("a missing contract is reported first", async () => {
    const usd = configuration("usd", "USD", checking);
    const both = registryOf({ configuration: usd, rule: undefined }, ...instructions());
    expect(await ask(both, onTransfer("v1", "accept", "offer"))).toEqual(refused(404, "TransferRule"));
    expect(await ask(both, onTransfer("v1", "accept", "00ff"))).toEqual(refused(404, "00ff"));
  });

  test("an instrument that no request is about does not matter", async () => {
    expect(await ask(elements, transferFactory("v1", transferV1("alice", "bob")))).toMatchObject({
      factoryId: "factory",
    });
    expect(await ask(elements, settlementFactory(settlement([leg(alice, bob, "USD")], ["allocation"])))).toMatchObject({
      factoryId: "factory",
    });
  });

  describe("the configuration that is chosen decides", () => {
    const accept = onTransfer("v1", "accept", "offer");
    const newer: Options = { createdAt: "2026-02-05T09:00:00.000000Z" };

    test("not an older one", async () => {
      const usd = configuration("usd", "USD", {}, newer);
      const older = configuration("older", "USD", checking);
      expect(await ask(registryOf({ configuration: usd }, older, ...instructions()), accept)).toMatchObject({
        disclosed: ["locked", "rule", "usd"],
      });
    });

    test("not one on another synchronizer", async () => {
      const elsewhere = configuration("elsewhere", "USD", checking, { ...newer, synchronizerId: "sync-B" });
      expect(await ask(registryOf({}, elsewhere, ...instructions()), accept)).toMatchObject({
        disclosed: ["alice-holds", "bob-holds", "locked", "rule", "usd"],
      });
    });

    test("but a newer one", async () => {
      const usd = configuration("newest", "USD", checking, newer);
      expect(await ask(registryOf({}, usd, ...instructions()), accept)).toEqual(refused(400, "checkBlocklist"));
    });
  });

  describe("with a blocklist that the contexts file discloses", () => {
    const shard: JsonObject = {
      workflowId: "",
      contractEntry: {
        JsActiveContract: {
          createdEvent: {
            ...createdEventOf(element("TransferRule", "shard", payload.service())),
            templateId: "pkg-1:Own.Blocklist:Shard",
            packageName: "own-blocklist-v0",
          },
          synchronizerId: "sync-A",
          reassignmentCounter: 0,
        },
      },
    };
    const contexts: JsonObject = {
      entries: {
        "blocklist-shards": {
          template: { package: "own-blocklist-v0", name: "Own.Blocklist:Shard" },
          find: [{ field: "registrar", is: "registrar" }],
          value: "list",
        },
      },
      changes: [
        {
          operations: ["transfer-factory/*"],
          add: [{ entry: "blocklist-shards", keys: ["own/blocklist-shards"], when: "checkBlocklist" }],
        },
      ],
    };
    const usd = configuration("usd", "USD", checking);
    const checked = registryOf({ configuration: usd }, shard, ...instructions());

    test("the operations that have the line go through, the others do not", async () => {
      expect(await ask(checked, transferFactory("v1", transferV1("alice", "bob")), { contexts })).toMatchObject({
        values: { "own/blocklist-shards": { tag: "AV_List", value: [{ tag: "AV_ContractId", value: "shard" }] } },
        disclosed: ["factory", "shard", "usd"],
      });
      expect(await ask(checked, onTransfer("v1", "accept", "offer"), { contexts })).toEqual(
        refused(400, "checkBlocklist"),
      );
    });
  });
});

/** The created event of an active contract. */
function createdEventOf(active: JsonObject): JsonObject {
  const { contractEntry } = active as { readonly contractEntry: { readonly JsActiveContract: JsonObject } };
  return contractEntry.JsActiveContract["createdEvent"] as JsonObject;
}
