import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { allocationChoice } from "../fixtures/requests.js";
import { contractId, contractIds, disclosedBy, failure, prefixed, short } from "../fixtures/context.js";
import { blobOf, element, type Options, parties, payload, requirement } from "../fixtures/elements.js";
import { registryOf, serving } from "../fixtures/registries.js";
import {
  type Running,
  serve,
  type ServeOptions,
  WITH_CREDENTIALS_REQUIRED,
  WITH_REWARDS,
} from "../fixtures/run-service.js";

const execute = allocationChoice("v1", "execute-transfer");
const argument = payload.allocation("alice", "bob", "USD", "locked");
const allocation = (options?: Options) => element("DvpLegAllocation", "allocation-1", argument, options);
const locked = (options?: Options) => element("Holding", "locked", payload.lockedHolding("alice", "USD"), options);
const ask = async (elements: JsonObject[], options?: ServeOptions) =>
  short(await (await serving(elements, options)).post(execute("allocation-1")));

const entries = {
  "instrument-configuration": contractId("usd"),
  "sender-credentials": contractIds("alice-holds"),
  "receiver-credentials": contractIds("bob-holds"),
  "transfer-rule": contractId("rule"),
};
const executed = {
  values: prefixed(entries),
  disclosed: ["alice-holds", "bob-holds", "locked", "rule", "usd"],
};
const executedWithRewards = {
  values: {
    ...executed.values,
    ...prefixed({ "app-reward-configuration": contractId("reward"), "featured-app-right": contractId("right") }),
  },
  disclosed: ["alice-holds", "bob-holds", "locked", "reward", "right", "rule", "usd"],
};

describe("executing the transfer of an allocation", () => {
  test("has the four entries of an acceptance, and discloses the locked holding", async () => {
    expect(await ask(registryOf({}, allocation(), locked()))).toEqual(executed);
  });

  test("has the reward entries too if they are on", async () => {
    expect(await ask(registryOf({}, allocation(), locked()), WITH_REWARDS)).toEqual(executedWithRewards);
  });

  test("is the same for every body that clients send, without debug fields on request", async () => {
    const running = await serving(registryOf({}, allocation(), locked()));
    const plain = await running.post(execute("allocation-1"));
    for (const body of [{}, { meta: {} }, { meta: { values: {} } }, { excludeDebugFields: false }]) {
      expect((await running.post(execute("allocation-1"), body)).body).toEqual(plain.body);
    }
    const without = await running.post(execute("allocation-1"), { excludeDebugFields: true });
    expect(disclosedBy(without)).toContainEqual({
      templateId: "pkg-1:Utility.Registry.Holding.V0.Holding:Holding",
      contractId: "locked",
      createdEventBlob: blobOf("locked"),
      synchronizerId: "sync-A",
    });
    expect(JSON.stringify(without.body)).not.toContain('"debug');
  });

  test("leaves out optional entries, and needs no factory", async () => {
    const changes = { reward: undefined, right: undefined, factory: undefined, service: undefined };
    for (const options of [{}, WITH_REWARDS]) {
      expect(await ask(registryOf(changes, allocation(), locked()), options)).toEqual({
        values: prefixed(entries),
        disclosed: ["alice-holds", "bob-holds", "locked", "rule", "usd"],
      });
    }
  });

  test.each<[string, Parameters<typeof registryOf>[0], string[]]>([
    ["instrument configuration", { configuration: undefined }, ["USD"]],
    ["transfer rule", { rule: undefined }, ["TransferRule"]],
  ])("without the %s is not found, and the message names it", async (_, changes, named) => {
    expect(await ask(registryOf(changes, allocation(), locked()))).toEqual(failure(404, ...named));
  });

  test.each([
    ["sender", "alice", "sender-credentials", ["bob-holds", "locked", "rule", "usd"]],
    ["receiver", "bob", "receiver-credentials", ["alice-holds", "locked", "rule", "usd"]],
  ])(
    "without the credential of the %s has an empty list, and is not found if credentials are required",
    async (...of) => {
      const [, party, entry, disclosed] = of;
      const elements = registryOf({ [party]: undefined }, allocation(), locked());
      expect(await ask(elements)).toEqual({
        values: { ...executed.values, ...prefixed({ [entry]: contractIds() }) },
        disclosed,
      });
      expect(await ask(elements, WITH_CREDENTIALS_REQUIRED)).toEqual(
        failure(404, party, parties.issuer, "holds", "USD"),
      );
    },
  );

  test("without the locked holding is not found, and the message names it", async () => {
    expect(await ask(registryOf({}, allocation()))).toEqual(failure(404, "locked"));
  });

  test.each<[string, Options]>([
    ["has left its synchronizer", { moving: "unassigned" }],
    ["is arriving", { moving: "arriving" }],
    ["is on another synchronizer", { synchronizerId: "sync-B" }],
  ])("is a conflict if a required contract %s", async (_, options) => {
    const needs = { holderRequirements: [requirement(["holds=USD"])] };
    const moved = [
      { configuration: element("InstrumentConfiguration", "usd", payload.configuration("USD", needs), options) },
      { rule: element("TransferRule", "rule", payload.service(), options) },
      { bob: element("Credential", "bob-holds", payload.credential("bob", ["holds=USD"]), options) },
    ];
    for (const changes of moved) {
      expect(await ask(registryOf(changes, allocation(), locked()))).toEqual(failure(409));
    }
    expect(await ask(registryOf({}, allocation(), locked(options)))).toEqual(failure(409));
  });

  test.each(["unassigned", "arriving"] as const)("is a conflict if the allocation itself is %s", async (moving) => {
    expect(await ask(registryOf({}, allocation({ moving }), locked()))).toEqual(failure(409));
  });

  test("is not found for an unknown contract, another template or another registrar", async () => {
    const other = "registrar-2::1220";
    const factory = element("AllocationFactory", "factory-2", payload.service({ registrar: other }));
    const offer = element("TransferOffer", "an-offer", payload.offer("alice", "bob", "USD", "locked"));
    const running = await serving(registryOf({}, allocation(), locked(), factory, offer));
    for (const id of ["00ff", "an-offer", "locked"]) {
      expect(short(await running.post(execute(id)))).toEqual(failure(404, id));
    }
    expect(short(await running.post(execute("allocation-1", other)))).toEqual(failure(404, "allocation-1"));
  });
});

describe.each(["withdraw", "cancel"] as const)("to %s an allocation", (choice) => {
  const [v1, v2] = [allocationChoice("v1", choice), allocationChoice("v2", choice)];

  let running: Running;
  beforeAll(async () => {
    running = await serve(registryOf({}, allocation(), locked()));
  });
  afterAll(() => running.close());

  test.each<[string, string, JsonObject]>([
    ["one that is there", "allocation-1", {}],
    ["one that is there, without debug fields", "allocation-1", { meta: {}, excludeDebugFields: true }],
    ["an unknown one", "00ff", {}],
    ["one with a meta that is no object", "allocation-1", { meta: "text" }],
  ])("is the same under v1 and v2, for %s", async (_, id, body) => {
    const [one, two] = [await running.post(v1(id), body), await running.post(v2(id), body)];
    expect([two.status, JSON.stringify(two.body)]).toEqual([one.status, JSON.stringify(one.body)]);
  });
});
