/** Reject, withdraw and cancel fail only if the instruction or a contract that they disclose is in reassignment. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { burnCancel, cancel, reject, withdraw } from "../fixtures/requests.js";
import { contractId, failure, resultContracts, short, twice } from "../fixtures/context.js";
import { element, type Options, parties, payload, type Template } from "../fixtures/elements.js";
import { registryOf, serving } from "../fixtures/registries.js";

interface Exit {
  readonly template: Template;
  readonly argument: JsonObject;
  readonly path: (id: string) => string;
  readonly configured?: true;
  readonly locks?: true;
  /** The choice reads nothing from its context. */
  readonly isEmpty?: true;
}

const otherKind = element("BurnRequest", "other-kind", payload.burn("alice", "USD", { lockedHoldingCid: "locked" }));
const locked = (options?: Options) => element("Holding", "locked", payload.lockedHolding("alice", "USD"), options);
const allocation = payload.allocation("alice", "bob", "USD", "locked");

const exits: Record<string, Exit> = {
  "rejecting a transfer": {
    template: "TransferOffer",
    argument: payload.offer("alice", "bob", "USD", "locked"),
    path: reject,
    configured: true,
    locks: true,
  },
  "withdrawing an allocation": { template: "DvpLegAllocation", argument: allocation, path: withdraw, locks: true },
  "cancelling an allocation": { template: "DvpLegAllocation", argument: allocation, path: cancel, locks: true },
  "cancelling a burn offer": {
    template: "BurnOffer",
    argument: payload.burn("alice", "USD"),
    path: burnCancel,
    isEmpty: true,
  },
};

const reassigned: [string, Options][] = [
  ["has left its synchronizer", { moving: "unassigned" }],
  ["is arriving", { moving: "arriving" }],
];
const elsewhere: Options = { synchronizerId: "sync-B" };

const configurationAt = (options: Options) =>
  element("InstrumentConfiguration", "usd", payload.configuration("USD"), options);

describe.each(Object.entries(exits))("%s", (_, { template, argument, path, configured, locks, isEmpty }) => {
  const instruction = element(template, "it", argument);

  const ask = async (elements: JsonObject[]) => {
    const running = await serving([instruction, ...elements]);
    return short(await running.post(path("it")));
  };

  /** Only the transfer operations have the configuration entry, with its legacy alias. */
  const expected = ({ enabled, usd, holding }: { enabled?: boolean; usd?: boolean; holding?: boolean }) => ({
    values: {
      ...(configured === undefined || usd === false ? {} : twice({ "instrument-configuration": contractId("usd") })),
      ...(isEmpty === true || enabled === undefined ? {} : resultContracts(enabled)),
    },
    disclosed: [
      ...(locks === undefined || holding === false ? [] : ["locked"]),
      ...(configured === undefined || usd === false ? [] : ["usd"]),
    ],
  });

  test("has all contracts that exist, and no unnecessary ones", async () => {
    expect(await ask(registryOf({}, locked()))).toEqual(expected({ enabled: true }));
  });

  test.each([
    ["is false", { enableResultContracts: false }, { enabled: false }],
    ["is null", { enableResultContracts: null }, {}],
    ["is absent", {}, {}],
  ])("if enableResultContracts %s", async (__, more, enabled) => {
    const service = element("RegistrarService", "service", payload.service(more));
    expect(await ask(registryOf({ service }, locked()))).toEqual(expected(enabled));
  });

  test("without a registrar service", async () => {
    expect(await ask(registryOf({ service: undefined }, locked()))).toEqual(expected({}));
  });

  // The service is read but not disclosed, so its synchronizer does not matter.
  test.each<[string, Options]>([...reassigned, ["is on another synchronizer", elsewhere]])(
    "if the registrar service %s",
    async (__, options) => {
      const enabling = payload.service({ enableResultContracts: true });
      const service = element("RegistrarService", "service", enabling, options);
      expect(await ask(registryOf({ service }, locked()))).toEqual(expected({ enabled: true }));
    },
  );

  test("without an instrument configuration", async () => {
    expect(await ask(registryOf({ configuration: undefined }, locked()))).toEqual(
      expected({ enabled: true, usd: false }),
    );
  });

  test("if the configuration is on another synchronizer", async () => {
    const configuration = configurationAt(elsewhere);
    expect(await ask(registryOf({ configuration }, locked()))).toEqual(expected({ enabled: true, usd: false }));
  });

  test.each(reassigned)("is a conflict if the configuration %s and would be disclosed", async (__, options) => {
    const outcome = configured === undefined ? expected({ enabled: true }) : failure(409, "usd");
    expect(await ask(registryOf({ configuration: configurationAt(options) }, locked()))).toEqual(outcome);
  });

  test.each(reassigned)(
    "if an older configuration %s, but a newer one is here, and vice versa",
    async (__, options) => {
      for (const createdAt of ["2026-01-04T09:00:00.000000Z", "2026-02-05T09:00:00.000000Z"]) {
        const other = element("InstrumentConfiguration", "other", payload.configuration("USD"), {
          ...options,
          createdAt,
        });
        expect(await ask(registryOf({}, other, locked()))).toEqual(expected({ enabled: true }));
      }
    },
  );

  test("without the locked holding", async () => {
    expect(await ask(registryOf())).toEqual(expected({ enabled: true, holding: false }));
  });

  test("if the locked holding is on another synchronizer", async () => {
    expect(await ask(registryOf({}, locked(elsewhere)))).toEqual(expected({ enabled: true, holding: false }));
  });

  test.each(reassigned)("is a conflict if the locked holding %s", async (__, options) => {
    const outcome = locks === undefined ? expected({ enabled: true }) : failure(409, "locked");
    expect(await ask(registryOf({}, locked(options)))).toEqual(outcome);
  });

  test("if both parties no longer meet the instrument's requirements", async () => {
    expect(await ask(registryOf({ alice: undefined, bob: undefined }, locked()))).toEqual(expected({ enabled: true }));
  });

  test("with nothing but the instruction", async () => {
    expect(await ask([])).toEqual(expected({ usd: false, holding: false }));
  });

  test.each(["unassigned", "arriving"] as const)("is a conflict if the instruction itself is %s", async (moving) => {
    const running = await serving(registryOf({}, element(template, "it", argument, { moving }), locked()));
    expect(await running.post(path("it"))).toMatchObject({ status: 409 });
  });

  test("is not found for an unknown contract and another template", async () => {
    const running = await serving(registryOf({}, instruction, otherKind, locked()));
    for (const id of ["unknown", "other-kind", "usd", "locked"]) {
      expect(await running.post(path(id))).toMatchObject({ status: 404 });
    }
    expect(await running.post(path("it"))).toMatchObject({ status: 200 });
  });
});

test.each<[string, Template, JsonObject, typeof reject]>([
  ["rejecting a transfer", "TransferOffer", payload.offer("alice", "bob", "USD", "locked"), reject],
  ["withdrawing an allocation", "DvpLegAllocation", allocation, withdraw],
  ["cancelling an allocation", "DvpLegAllocation", allocation, cancel],
])("%s of another served registrar is not found", async (_, template, argument, path) => {
  const other = "registrar-2::1220";
  const ofOther = JSON.parse(JSON.stringify(argument).replaceAll(parties.registrar, other)) as JsonObject;
  const factory = element("AllocationFactory", "factory-2", payload.service({ registrar: other }));
  const running = await serving(registryOf({}, factory, element(template, "it", ofOther)));
  expect(await running.post(path("it"))).toMatchObject({ status: 404 });
  expect(await running.post(path("it", other))).toMatchObject({ status: 200 });
});

test.each([
  ["of many inputs of a transfer the first alone is the locked holding", ["locked", "second"], ["locked", "usd"]],
  ["a transfer without inputs has no locked holding", [], ["usd"]],
])("%s", async (_, inputHoldingCids, disclosed) => {
  const { transfer, ...others } = payload.offer("alice", "bob", "USD", "locked");
  const argument = { ...others, transfer: { ...(transfer as JsonObject), inputHoldingCids } };
  const second = element("Holding", "second", payload.lockedHolding("alice", "USD"));
  const running = await serving(registryOf({}, element("TransferOffer", "it", argument), locked(), second));
  expect(short(await running.post(reject("it")))).toMatchObject({ disclosed });
});
