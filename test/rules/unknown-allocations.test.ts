/** A settlement with allocations that are not known: one may be created in the transaction that settles it. */
import { describe, expect, test } from "vitest";
import type { CatchUpProgress } from "../../src/domain/ledger.js";
import type { JsonObject } from "../../src/domain/json.js";
import type { Registry, RequestContext, FactoryAnswer } from "../../src/registry/sdk/registry.js";
import { utilityRegistry } from "../../src/registry/utility/index.js";
import { MIN_SETTLEMENT_LIMITS } from "../../src/registry/utility/allocation.js";
import { settlementFactory } from "../fixtures/calls/operations.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { askOver, refused, restAndGrpc } from "../fixtures/outcomes.js";
import { account, leg, settlement } from "../fixtures/requests.js";
import { type Outcome, outcomeOf, storeNames, useStore, type World } from "./executors.js";
import { complete } from "./table.js";

const OTHER = "registrar-2::1220";
const ofOther = (elements: readonly JsonObject[]): JsonObject[] =>
  JSON.parse(JSON.stringify(elements).replaceAll(parties.registrar, OTHER)) as JsonObject[];
const elements = [
  ...complete(),
  element("DvpLegAllocation", "second", payload.allocation("bob", "alice", "USD", "locked")),
  ...ofOther([element("DvpLegAllocation", "of-other", payload.allocation("alice", "bob", "USD", "locked"))]),
];
const legs = [leg(account("alice"), account("bob"), "USD")];
const lenient = utilityRegistry({ settlementLimits: MIN_SETTLEMENT_LIMITS });
const strict = utilityRegistry({ settlementLimits: MIN_SETTLEMENT_LIMITS, rejectsUnknownAllocations: true });

const settled = (...allocations: readonly string[]): Outcome => ({
  factoryId: "factory",
  values: {
    "transfer-rule": "rule",
    "instrument-configurations": "USD=usd",
    "instrument-configuration": "usd",
    "holder-credentials": "alice=alice-holds,bob=bob-holds",
    "enable-result-contracts": "true",
  },
  disclosed: [
    "alice-holds",
    ...allocations,
    "bob-holds",
    "factory",
    ...(allocations.length > 0 ? ["locked"] : []),
    "rule",
    "usd",
  ].toSorted(),
});
const notFound = (...named: readonly string[]): Outcome => ({
  refused: "not-found",
  message: expect.stringMatching(named.map((one) => `(?=[^]*${one})`).join("")) as string,
});

/** The store moves on without reaching the ledger's end. */
async function* neverReached(): AsyncGenerator<CatchUpProgress> {
  yield "advanced";
}

describe.each(storeNames)("in %s", (name) => {
  const put = useStore(name);

  async function settle(registry: Registry, ids: readonly string[], more: Partial<World> = {}): Promise<Outcome> {
    const executor = await put({ registry, elements, ...more });
    const { choiceArguments } = settlement(legs, ids);
    const query = { registrar: parties.registrar, choiceArguments: choiceArguments as JsonObject };
    const ask = (of: Registry, context: RequestContext): FactoryAnswer => of.settlementFactory(context, query);
    return outcomeOf(() => executor.execute(ask));
  }

  test.each([
    ["one alone", ["00ff"], []],
    ["none at all", [], []],
    ["one beside a known one", ["00ff", "allocation"], ["allocation"]],
    ["several", ["00ff", "second", "00fe", "allocation"], ["allocation", "second"]],
    ["a reference of the command's own", ["#the allocation of alice", "allocation"], ["allocation"]],
  ])("unknown ones are left out: %s", async (_what, ids, known) => {
    expect(await settle(lenient, ids)).toEqual(settled(...known));
  });

  test("the setting refuses them, naming each", async () => {
    expect(await settle(strict, ["00ff", "allocation", "00fe"])).toEqual(notFound("00ff", "00fe", "not known here"));
    expect(await settle(strict, ["allocation"])).toEqual(settled("allocation"));
  });

  test.each([
    ["archived", { archived: ["allocation"] }, "allocation", "has been archived"],
    ["of another registrar", {}, "of-other", "not known here"],
  ])("one that is %s is not found", async (_what, more, id, reason) => {
    expect(await settle(lenient, [id, "second"], more)).toEqual(notFound(id, reason));
    expect(await settle(lenient, [id, "00ff", "second"], more)).toEqual(notFound(id, reason));
  });

  test("an archived one of another registrar is indistinguishable from one that never was", async () => {
    const outcome = await settle(lenient, ["of-other"], { archived: ["of-other"] });
    expect(outcome).toEqual(notFound("of-other", "not known here"));
  });

  test("if the ledger's end is not reached, nothing is left out", async () => {
    expect(await settle(lenient, ["00ff", "allocation"], { catchUp: neverReached })).toMatchObject({
      refused: "unavailable",
    });
    expect(await settle(lenient, ["allocation"], { catchUp: neverReached })).toEqual(settled("allocation"));
  });

  test("all else that is missing is named with those that are refused", async () => {
    const without = elements.filter((one) => !JSON.stringify(one).includes('"contractId":"rule"'));
    expect(await settle(strict, ["00ff"], { elements: without })).toEqual(notFound("00ff", "TransferRule"));
    expect(await settle(lenient, ["00ff"], { elements: without })).toEqual(notFound("TransferRule"));
  });
});

describe.each(restAndGrpc)("over %s", (_protocol, send) => {
  const ask = askOver(send);
  const call = settlementFactory(settlement(legs, ["00ff", "allocation"]));

  test("unknown allocations are left out", async () => {
    expect(await ask(elements, call)).toMatchObject({
      factoryId: "factory",
      disclosed: ["alice-holds", "allocation", "bob-holds", "factory", "locked", "rule", "usd"],
    });
  });

  test("OFFLEDGER_UNKNOWN_ALLOCATIONS=reject makes them 404", async () => {
    expect(await ask(elements, call, { config: { unknownAllocations: "reject" } })).toEqual(
      refused(404, "00ff", "not known here"),
    );
  });

  test("an empty id is a bad request", async () => {
    expect(await ask(elements, settlementFactory(settlement(legs, [""])))).toEqual(refused(400, "allocationCid"));
  });
});
