/** Accepting mint offers, mint requests and burn offers; burn.test.ts has burn requests. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { issuanceChoice } from "../fixtures/requests.js";
import { contractId, contractIds, bool, disclosedBy, prefixed, short, utilityFailure } from "../fixtures/context.js";
import { blobOf, element, type Options, parties, payload, requirement, type Template } from "../fixtures/elements.js";
import { registryOf, serving } from "../fixtures/registries.js";
import { type ServeOptions, WITH_CREDENTIALS_REQUIRED, WITH_REWARDS } from "../fixtures/run-service.js";

const issued = {
  issuerRequirements: [requirement(["issues=USD"])],
  holderRequirements: [requirement(["holds=USD"])],
};
const configured = (options?: Options) =>
  element("InstrumentConfiguration", "usd", payload.configuration("USD", issued), options);
const issues = (options?: Options) =>
  element("Credential", "alice-issues", payload.credential("alice", ["issues=USD"]), options);

const accepted = {
  values: prefixed({
    "instrument-configuration": contractId("usd"),
    "issuer-credentials": contractIds("alice-issues"),
    "enable-result-contracts": bool(true),
  }),
  disclosed: ["alice-issues", "usd"],
};
const acceptedWithRewards = {
  values: {
    ...accepted.values,
    ...prefixed({ "app-reward-configuration": contractId("reward"), "featured-app-right": contractId("right") }),
  },
  disclosed: ["alice-issues", "reward", "right", "usd"],
};

const operations: {
  readonly name: string;
  readonly template: Template;
  readonly argument: JsonObject;
  readonly path: (id: string) => string;
}[] = [
  {
    name: "a mint offer",
    template: "MintOffer",
    argument: payload.mint("alice", "USD"),
    path: issuanceChoice("mint", "offer", "accept"),
  },
  {
    name: "a mint request",
    template: "MintRequest",
    argument: payload.mint("alice", "USD"),
    path: issuanceChoice("mint", "request", "accept"),
  },
  {
    name: "a burn offer",
    template: "BurnOffer",
    argument: payload.burn("alice", "USD"),
    path: issuanceChoice("burn", "offer", "accept"),
  },
];

describe.each(operations)("accepting $name", ({ template, argument, path }) => {
  const ask = (changes: Parameters<typeof registryOf>[0], ...added: JsonObject[]) => askWith({}, changes, ...added);
  const askWith = async (
    options: ServeOptions,
    changes: Parameters<typeof registryOf>[0],
    ...added: JsonObject[]
  ): Promise<JsonObject> => {
    const elements = registryOf({ configuration: configured(), ...changes }, element(template, "the-one", argument));
    return short(await (await serving([...elements, ...added], options)).post(path("the-one")));
  };

  test("has three entries, without aliases", async () => {
    expect(await ask({}, issues())).toEqual(accepted);
  });

  test("has the reward entries too if they are on", async () => {
    expect(await askWith(WITH_REWARDS, {}, issues())).toEqual(acceptedWithRewards);
  });

  test("discloses contracts in the utility operations' form, for every body that clients send", async () => {
    const it = element(template, "the-one", argument);
    const running = await serving(registryOf({ configuration: configured() }, it, issues()));
    const plain = await running.post(path("the-one"));
    expect(disclosedBy(plain)).toContainEqual({
      contractId: "usd",
      templateId: "pkg-1:Utility.Registry.V0.Configuration.Instrument:InstrumentConfiguration",
      createdEventBlob: blobOf("usd"),
      createdAt: "2026-01-05T09:00:00.000000Z",
      synchronizerId: "sync-A",
      domainId: "sync-A",
    });
    expect(JSON.stringify(plain.body)).not.toContain('"debug');
    for (const body of [{}, { meta: {} }, { meta: { values: "" } }, { excludeDebugFields: true }]) {
      expect((await running.post(path("the-one"), body)).body).toEqual(plain.body);
    }
  });

  test("leaves out missing optional contracts, and needs neither factory nor rule", async () => {
    const nothing = { service: undefined, reward: undefined, right: undefined, factory: undefined, rule: undefined };
    for (const options of [{}, WITH_REWARDS]) {
      expect(await askWith(options, nothing, issues())).toEqual({
        values: prefixed({
          "instrument-configuration": contractId("usd"),
          "issuer-credentials": contractIds("alice-issues"),
        }),
        disclosed: ["alice-issues", "usd"],
      });
    }
  });

  test("an instrument without issuer requirements needs no credentials", async () => {
    const configuration = element("InstrumentConfiguration", "usd", payload.configuration("USD"));
    expect(await ask({ configuration })).toMatchObject({
      values: prefixed({ "issuer-credentials": contractIds() }),
      disclosed: ["usd"],
    });
  });

  test("has an empty list without the credential; holder credentials do not count", async () => {
    expect(await ask({})).toEqual({
      values: { ...accepted.values, ...prefixed({ "issuer-credentials": contractIds() }) },
      disclosed: ["usd"],
    });
  });

  test("is not found then if credentials are required, and the message names party, issuer and claim", async () => {
    const missing = utilityFailure(404, "alice", parties.issuer, "issues", "USD");
    expect(await askWith(WITH_CREDENTIALS_REQUIRED, {})).toEqual(missing);
    expect(await askWith(WITH_CREDENTIALS_REQUIRED, {}, issues())).toEqual(accepted);
  });

  test("a missing instrument configuration is not found", async () => {
    expect(await ask({ configuration: undefined }, issues())).toEqual(utilityFailure(404, "USD"));
  });

  test.each<[string, Options]>([
    ["has left its synchronizer", { moving: "unassigned" }],
    ["is arriving", { moving: "arriving" }],
    ["is on another synchronizer", { synchronizerId: "sync-B" }],
  ])("is a conflict if a required contract %s", async (_, options) => {
    expect(await ask({ configuration: configured(options) }, issues())).toEqual(utilityFailure(409));
    expect(await ask({}, issues(options))).toEqual(utilityFailure(409));
  });

  test.each(["unassigned", "arriving"] as const)("is a conflict if the instruction itself is %s", async (moving) => {
    const running = await serving(registryOf({}, issues(), element(template, "the-one", argument, { moving })));
    expect(short(await running.post(path("the-one")))).toEqual(utilityFailure(409));
  });

  test("is not found for an unknown contract and another template", async () => {
    const kinds: Template[] = ["MintOffer", "MintRequest", "BurnOffer", "BurnRequest"];
    const both = { ...payload.mint("alice", "USD"), ...payload.burn("alice", "USD"), lockedHoldingCid: "locked" };
    const others = kinds.filter((kind) => kind !== template);
    const elements = others.map((kind) => element(kind, `kind-${kind}`, both));
    const running = await serving(registryOf({ configuration: configured() }, issues(), ...elements));
    for (const id of ["00ff", "usd", ...others.map((kind) => `kind-${kind}`)]) {
      expect(short(await running.post(path(id)))).toEqual(utilityFailure(404, id));
    }
  });
});
