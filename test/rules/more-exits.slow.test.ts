/** The reject, withdraw and cancel operations that exits.test.ts does not cover. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { allocationChoice, type ChoicePath, issuanceChoice, transferChoice } from "../fixtures/requests.js";
import { contractId, failure, resultContracts, short, twice, utilityFailure } from "../fixtures/context.js";
import { element, type Options, parties, payload, requirement, type Template } from "../fixtures/elements.js";
import { registryOf, serving } from "../fixtures/registries.js";

interface Exit {
  readonly name: string;
  readonly template: Template;
  readonly argument: JsonObject;
  readonly path: ChoicePath;
  /** The transfer operations have the configuration entry, with its legacy alias. */
  readonly configured: boolean;
  /** The choice reads nothing from its context. */
  readonly isEmpty: boolean;
  readonly locks: boolean;
  readonly family: "standard" | "utility";
}

const offer = payload.offer("alice", "bob", "USD", "locked");
const allocation = payload.allocation("alice", "bob", "USD", "locked");
const request = payload.burn("alice", "USD", { lockedHoldingCid: "locked" });
const standard = { isEmpty: false, locks: true, family: "standard" };
const transferExit = { ...standard, template: "TransferOffer", argument: offer, configured: true };
const allocationExit = { ...standard, template: "DvpLegAllocation", argument: allocation, configured: false };
const issuanceExit = { configured: false, isEmpty: false, locks: false, family: "utility" };
const mintOffer = { ...issuanceExit, template: "MintOffer", argument: payload.mint("alice", "USD") };
const mintRequest = { ...mintOffer, template: "MintRequest" };
const burnOffer = { ...issuanceExit, template: "BurnOffer", argument: payload.burn("alice", "USD") };
const burnRequest = { ...issuanceExit, template: "BurnRequest", argument: request, locks: true };

const exits = [
  { ...transferExit, name: "rejecting a transfer by v1", path: transferChoice("v1", "reject") },
  { ...transferExit, name: "withdrawing a transfer by v1", path: transferChoice("v1", "withdraw") },
  { ...transferExit, name: "withdrawing a transfer by v2", path: transferChoice("v2", "withdraw") },
  { ...allocationExit, name: "cancelling an allocation by v1", path: allocationChoice("v1", "cancel") },
  { ...allocationExit, name: "withdrawing an allocation by v2", path: allocationChoice("v2", "withdraw") },
  { ...mintOffer, name: "rejecting a mint offer", path: issuanceChoice("mint", "offer", "reject") },
  { ...mintOffer, isEmpty: true, name: "cancelling a mint offer", path: issuanceChoice("mint", "offer", "cancel") },
  { ...mintRequest, name: "rejecting a mint request", path: issuanceChoice("mint", "request", "reject") },
  {
    ...mintRequest,
    isEmpty: true,
    name: "cancelling a mint request",
    path: issuanceChoice("mint", "request", "cancel"),
  },
  { ...burnOffer, name: "rejecting a burn offer", path: issuanceChoice("burn", "offer", "reject") },
  { ...burnRequest, name: "rejecting a burn request", path: issuanceChoice("burn", "request", "reject") },
  {
    ...burnRequest,
    isEmpty: true,
    name: "cancelling a burn request",
    path: issuanceChoice("burn", "request", "cancel"),
  },
] as readonly Exit[];

const locked = (options?: Options) => element("Holding", "locked", payload.lockedHolding("alice", "USD"), options);
const reassigned: Options[] = [{ moving: "unassigned" }, { moving: "arriving" }];
const elsewhere: Options = { synchronizerId: "sync-B" };

const configurationAt = (options: Options) =>
  element("InstrumentConfiguration", "usd", payload.configuration("USD"), options);

describe.each(exits)("$name", ({ template, argument, path, configured, isEmpty, locks, family }) => {
  const instruction = element(template, "the-one", argument);
  const refusal = family === "standard" ? failure : utilityFailure;
  const ask = async (elements: JsonObject[]) =>
    short(await (await serving([instruction, ...elements])).post(path("the-one")));

  const least = (...without: ("usd" | "locked" | "enabled")[]): JsonObject => {
    const usd = configured && !without.includes("usd");
    return {
      values: {
        ...(usd ? twice({ "instrument-configuration": contractId("usd") }) : {}),
        ...(isEmpty || without.includes("enabled") ? {} : resultContracts(true)),
      },
      disclosed: [...(locks && !without.includes("locked") ? ["locked"] : []), ...(usd ? ["usd"] : [])],
    };
  };

  test("has all contracts that exist, and no unnecessary ones", async () => {
    expect(await ask(registryOf({}, locked()))).toEqual(least());
  });

  test.each([{ enableResultContracts: null }, {}])(
    "has no enable-result-contracts entry for a service with %o",
    async (more) => {
      const service = element("RegistrarService", "service", payload.service(more));
      expect(await ask(registryOf({ service }, locked()))).toEqual(least("enabled"));
    },
  );

  test.skipIf(isEmpty)("has the value false of the service", async () => {
    const service = element("RegistrarService", "service", payload.service({ enableResultContracts: false }));
    const { values } = await ask(registryOf({ service }, locked()));
    expect(values).toMatchObject(resultContracts(false));
  });

  test("works without a configuration, and with one on another synchronizer", async () => {
    expect(await ask(registryOf({ configuration: undefined }, locked()))).toEqual(least("usd"));
    expect(await ask(registryOf({ configuration: configurationAt(elsewhere) }, locked()))).toEqual(least("usd"));
  });

  test("is a conflict if the configuration is in reassignment and would be disclosed", async () => {
    for (const options of reassigned) {
      const answer = await ask(registryOf({ configuration: configurationAt(options) }, locked()));
      expect(answer).toEqual(configured ? refusal(409, "usd") : least());
    }
  });

  test("works without a locked holding, and with one on another synchronizer", async () => {
    expect(await ask(registryOf())).toEqual(least("locked"));
    expect(await ask(registryOf({}, locked(elsewhere)))).toEqual(least("locked"));
  });

  test("is a conflict if the locked holding is in reassignment", async () => {
    for (const options of reassigned) {
      expect(await ask(registryOf({}, locked(options)))).toEqual(locks ? refusal(409, "locked") : least());
    }
  });

  test("works without the required credentials", async () => {
    const asked = { issuerRequirements: [requirement(["a=1"])], holderRequirements: [requirement(["b=1"])] };
    const configuration = element("InstrumentConfiguration", "usd", payload.configuration("USD", asked));
    const lapsed = payload.credential("alice", ["a=1", "b=1"], { validUntil: "2026-05-31T00:00:00Z" });
    const credential = element("Credential", "lapsed", lapsed);
    expect(await ask(registryOf({ configuration }, credential, locked()))).toEqual(least());
  });

  test("works with nothing but the instruction", async () => {
    expect(await ask([])).toEqual(least("usd", "locked", "enabled"));
  });

  test("is the same for every body that clients send", async () => {
    const running = await serving([instruction, ...registryOf({}, locked())]);
    const plain = await running.post(path("the-one"));
    for (const body of [{}, { meta: {} }, { meta: { values: {} } }, { excludeDebugFields: false }]) {
      expect((await running.post(path("the-one"), body)).body).toEqual(plain.body);
    }
  });

  test.each(["unassigned", "arriving"] as const)("is a conflict if the instruction itself is %s", async (moving) => {
    const running = await serving(registryOf({}, element(template, "the-one", argument, { moving }), locked()));
    expect(short(await running.post(path("the-one")))).toEqual(refusal(409));
  });

  test("is not found for an unknown contract and another template", async () => {
    const kinds: Template[] = [
      "TransferOffer",
      "DvpLegAllocation",
      "MintOffer",
      "MintRequest",
      "BurnOffer",
      "BurnRequest",
    ];
    const arguments_ = { ...offer, ...allocation, ...request, ...payload.mint("alice", "USD"), ...request };
    const others = kinds.filter((kind) => kind !== template);
    const elements = others.map((kind) => element(kind, `kind-${kind}`, arguments_));
    const running = await serving(registryOf({}, instruction, ...elements, locked()));
    for (const id of ["00ff", "usd", "locked", ...others.map((kind) => `kind-${kind}`)]) {
      expect(short(await running.post(path(id)))).toEqual(refusal(404, id));
    }
  });
});

test.each(exits.filter(({ family }) => family === "standard"))(
  "$name of another registrar is not found",
  async ({ template, argument, path }) => {
    const other = "registrar-2::1220";
    const ofOther = JSON.parse(JSON.stringify(argument).replaceAll(parties.registrar, other)) as JsonObject;
    const factory = element("AllocationFactory", "factory-2", payload.service({ registrar: other }));
    const running = await serving(registryOf({}, factory, element(template, "the-one", ofOther)));
    expect(short(await running.post(path("the-one")))).toEqual(failure(404, "the-one"));
    expect(await running.post(path("the-one", other))).toMatchObject({ status: 200 });
  },
);
