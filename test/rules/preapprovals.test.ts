/** Which preapprovals make a transfer direct. A transfer is never refused because of one that cannot be used. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { transferFactory } from "../fixtures/calls/operations.js";
import { contractId, contractIds, prefixed, resultContracts } from "../fixtures/context.js";
import { element, type Options, payload, requirement } from "../fixtures/elements.js";
import { askOver, refused, restAndGrpc } from "../fixtures/outcomes.js";
import { registryOf } from "../fixtures/registries.js";
import { transferV1 } from "../fixtures/requests.js";

const approves = (id: string, options?: Options, more: JsonObject = {}): JsonObject =>
  element("TransferPreapproval", id, payload.preapproval("bob", ["USD"], more), options);
const call = transferFactory("v1", transferV1("alice", "bob"));

const offer = {
  factoryId: "factory",
  transferKind: "offer",
  values: {
    ...prefixed({ "instrument-configuration": contractId("usd"), "sender-credentials": contractIds("alice-holds") }),
  },
  disclosed: ["alice-holds", "factory", "usd"],
};
const directBy = (id: string): JsonObject => ({
  factoryId: id,
  transferKind: "direct",
  values: {
    ...prefixed({
      "instrument-configuration": contractId("usd"),
      "sender-credentials": contractIds("alice-holds"),
      "receiver-credentials": contractIds("bob-holds"),
      "transfer-rule": contractId("rule"),
    }),
    ...resultContracts(true),
  },
  disclosed: ["alice-holds", "bob-holds", id, "rule", "usd"].toSorted((a, b) => (a < b ? -1 : 1)),
});

const newer = { createdAt: "2026-02-05T09:00:00.000000Z" };
const needs = { holderRequirements: [requirement(["holds=USD"])] };
const onB: Options = { synchronizerId: "sync-B" };
const configurationOn = (id: string, options: Options) =>
  element("InstrumentConfiguration", id, payload.configuration("USD", needs), options);

/** Preapprovals that do not count. */
const useless: readonly (readonly [why: string, preapproval: (options?: Options) => JsonObject])[] = [
  ["on another synchronizer", (options) => approves("it", { ...options, ...onB })],
  ["unassigned", (options) => approves("it", { ...options, moving: "unassigned" })],
  ["arriving", (options) => approves("it", { ...options, moving: "arriving" })],
  ["of another operator", (options) => approves("it", options, { operator: "operator-2::1220" })],
  ["of another instrument", (options) => approves("it", options, { instrumentAllowances: [{ id: "EUR" }] })],
  ["of another admin", (options) => approves("it", options, { instrumentAdmin: "registrar-2::1220" })],
];

describe.each(restAndGrpc)("over %s", (_protocol, send) => {
  const ask = askOver(send);

  test("a preapproval makes a transfer direct", async () => {
    expect(await ask(registryOf({}, approves("it")), call)).toEqual(directBy("it"));
  });

  test.each(useless)("one that is %s leaves it an offer", async (_why, preapproval) => {
    expect(await ask(registryOf({}, preapproval()), call)).toEqual(offer);
  });

  test.each(useless)(
    "one that is %s, though newer, does not hide an older one that counts",
    async (_why, preapproval) => {
      expect(await ask(registryOf({}, approves("old"), preapproval(newer)), call)).toEqual(directBy("old"));
    },
  );

  test("the newest one that counts wins, and of equally new ones the lower contract id", async () => {
    expect(await ask(registryOf({}, approves("a"), approves("b", newer)), call)).toEqual(directBy("b"));
    expect(await ask(registryOf({}, approves("b"), approves("a")), call)).toEqual(directBy("a"));
  });

  test("its operator is that of the rule and the configuration: the provider plays no part", async () => {
    const operator = "operator-2::1220";
    const changes = {
      factory: element("AllocationFactory", "factory", payload.service({ operator })),
      configuration: element("InstrumentConfiguration", "usd", payload.configuration("USD", { ...needs, operator })),
      rule: element("TransferRule", "rule", payload.service({ operator })),
    };
    expect(await ask(registryOf(changes, approves("it")), call)).toEqual(offer);
    expect(await ask(registryOf(changes, approves("it", {}, { operator })), call)).toMatchObject({
      factoryId: "it",
      transferKind: "direct",
    });
  });

  describe("on the synchronizer of the instrument's contracts", () => {
    test("counts, wherever the factory is", async () => {
      const factory = element("AllocationFactory", "factory", payload.service(), onB);
      expect(await ask(registryOf({ factory }, approves("it")), call)).toEqual(directBy("it"));
    });

    test("does not count if the rule is only elsewhere", async () => {
      const rule = element("TransferRule", "rule", payload.service(), onB);
      expect(await ask(registryOf({ rule }, approves("it")), call)).toEqual(offer);
      const reassigned = element("TransferRule", "rule", payload.service(), { moving: "unassigned" });
      expect(await ask(registryOf({ rule: reassigned }, approves("it")), call)).toEqual(offer);
    });

    test("counts beside contracts that are elsewhere too", async () => {
      const elements = registryOf(
        {},
        approves("it"),
        configurationOn("usd-b", { ...onB, ...newer }),
        element("TransferRule", "rule-b", payload.service(), { moving: "arriving", ...newer }),
      );
      expect(await ask(elements, call)).toEqual(directBy("it"));
    });
  });

  test("without a rule or a configuration there is no direct transfer", async () => {
    expect(await ask(registryOf({ rule: undefined }, approves("it")), call)).toEqual(offer);
    expect(await ask(registryOf({ configuration: undefined }, approves("it")), call)).toEqual(
      refused(404, "InstrumentConfiguration", "USD"),
    );
  });

  test.each<[string, Options]>([
    ["unassigned", { moving: "unassigned" }],
    ["arriving", { moving: "arriving" }],
  ])("one that is %s leaves it an offer, even without a transfer rule", async (_state, options) => {
    expect(await ask(registryOf({ rule: undefined }, approves("it", options)), call)).toEqual(offer);
  });

  test("a preapproval of oneself leaves a transfer to oneself what it is", async () => {
    const own = element("TransferPreapproval", "it", payload.preapproval("alice", []));
    const toSelf = transferFactory("v1", transferV1("alice", "alice"));
    expect(await ask(registryOf({}, own), toSelf)).toMatchObject({ factoryId: "factory", transferKind: "self" });
  });
});
