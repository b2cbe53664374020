import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { burnMintFactory, replaced } from "../fixtures/requests.js";
import {
  contractId,
  contractIds,
  disclosedBy,
  prefixed,
  resultContracts,
  short,
  utilityFailure,
} from "../fixtures/context.js";
import { blobOf, element, type Options, parties, payload, requirement } from "../fixtures/elements.js";
import { registryOf, serving } from "../fixtures/registries.js";
import {
  type Running,
  serve,
  type ServeOptions,
  WITH_CREDENTIALS_REQUIRED,
  WITH_REWARDS,
} from "../fixtures/run-service.js";

const issued = {
  issuerRequirements: [requirement(["issues=USD"])],
  holderRequirements: [requirement(["holds=USD"])],
};
const configured = (options?: Options) =>
  element("InstrumentConfiguration", "usd", payload.configuration("USD", issued), options);
const issues = (party: string, options?: Options) =>
  element("Credential", `${party}-issues`, payload.credential(party, ["issues=USD"]), options);

const outputsOf = (...owners: string[]): JsonObject[] => owners.map((owner) => ({ owner, amount: "1.0" }));
const asked = (...owners: string[]): JsonObject => ({
  instrumentId: { admin: parties.registrar, id: "USD" },
  inputHoldingCids: ["h1"],
  outputs: outputsOf(...owners),
});

const rewards = { "app-reward-configuration": contractId("reward"), "featured-app-right": contractId("right") };
const valuesWith = (...credentials: string[]): JsonObject => ({
  ...prefixed({ "instrument-configuration": contractId("usd"), "issuer-credentials": contractIds(...credentials) }),
  ...resultContracts(true),
});

const registrarIssues = element(
  "Credential",
  "registrar-issues",
  payload.credential(parties.registrar, ["issues=USD"]),
);
const elements = registryOf({ configuration: configured() }, issues("alice"), issues("bob"), registrarIssues);

let running: Running;
beforeAll(async () => {
  running = await serve(elements);
});
afterAll(() => running.close());

const ask = async (body: JsonObject) => short(await running.post(burnMintFactory, body));
const askWith = async (options: ServeOptions, of: readonly JsonObject[], body: JsonObject) =>
  short(await (await serving(of, options)).post(burnMintFactory, body));
const askOf = async (changes: Parameters<typeof registryOf>[0], ...added: JsonObject[]) =>
  askWith({}, registryOf({ configuration: configured(), ...changes }, ...added), asked("alice"));

const askRequired = (of: readonly JsonObject[], ...owners: string[]) =>
  askWith(WITH_CREDENTIALS_REQUIRED, of, asked(...owners));

describe("the burn-mint factory", () => {
  test("has the credentials of an output's owner, then those of the registrar", async () => {
    expect(await ask(asked("alice"))).toEqual({
      factoryId: "factory",
      values: valuesWith("alice-issues", "registrar-issues"),
      disclosed: ["alice-issues", "factory", "registrar-issues", "usd"],
    });
  });

  test("has the credentials of the registrar once if it is an owner too", async () => {
    expect(await ask(asked(parties.registrar, "alice"))).toEqual({
      factoryId: "factory",
      values: valuesWith("registrar-issues", "alice-issues"),
      disclosed: ["alice-issues", "factory", "registrar-issues", "usd"],
    });
  });

  test("has the reward entries too if they are on", async () => {
    expect(await askWith(WITH_REWARDS, elements, asked("alice"))).toEqual({
      factoryId: "factory",
      values: { ...valuesWith("alice-issues", "registrar-issues"), ...prefixed(rewards) },
      disclosed: ["alice-issues", "factory", "registrar-issues", "reward", "right", "usd"],
    });
  });

  test.each([
    [
      ["alice", "bob"],
      ["alice-issues", "bob-issues", "registrar-issues"],
    ],
    [
      ["bob", "alice"],
      ["bob-issues", "alice-issues", "registrar-issues"],
    ],
    [
      ["bob", "alice", "bob", "alice"],
      ["bob-issues", "alice-issues", "registrar-issues"],
    ],
  ])("has the credentials of owners %j in order, each once", async (owners, credentials) => {
    expect(await ask(asked(...owners))).toEqual({
      factoryId: "factory",
      values: valuesWith(...credentials),
      disclosed: ["alice-issues", "bob-issues", "factory", "registrar-issues", "usd"],
    });
  });

  test("has the registrar's credentials alone without outputs", async () => {
    expect(await ask(asked())).toEqual({
      factoryId: "factory",
      values: valuesWith("registrar-issues"),
      disclosed: ["factory", "registrar-issues", "usd"],
    });
  });

  test("does not depend on inputs and amounts", async () => {
    const plain = await ask(asked("alice"));
    for (const inputHoldingCids of [[], ["00ff", "usd"]]) {
      expect(await ask({ ...asked("alice"), inputHoldingCids })).toEqual(plain);
    }
    expect(await ask(replaced(asked("alice"), "outputs[0].amount", "99.0000000001"))).toEqual(plain);
  });

  test("discloses contracts in the utility operations' form", async () => {
    const answer = await running.post(burnMintFactory, asked("alice"));
    expect(Object.keys(answer.body as JsonObject).toSorted()).toEqual(["choiceContext", "factoryId"]);
    expect(disclosedBy(answer)).toContainEqual({
      contractId: "factory",
      templateId: "pkg-1:Utility.Registry.App.V0.Service.AllocationFactory:AllocationFactory",
      createdEventBlob: blobOf("factory"),
      createdAt: "2026-01-05T09:00:00.000000Z",
      synchronizerId: "sync-A",
      domainId: "sync-A",
    });
    expect(JSON.stringify(answer.body)).not.toContain('"debug');
  });

  test("leaves out missing optional contracts", async () => {
    const without = { reward: undefined, right: undefined, rule: undefined, service: undefined, alice: undefined };
    expect(await askOf(without, issues("alice"))).toEqual({
      factoryId: "factory",
      values: prefixed({
        "instrument-configuration": contractId("usd"),
        "issuer-credentials": contractIds("alice-issues"),
      }),
      disclosed: ["alice-issues", "factory", "usd"],
    });
  });

  test("is skipped, even if newer, if its synchronizer lacks required contracts", async () => {
    const elsewhere = { synchronizerId: "sync-B", createdAt: "2026-02-05T09:00:00.000000Z" };
    const newest = element("AllocationFactory", "newest", payload.service(), elsewhere);
    expect(await askOf({}, issues("alice"), newest)).toMatchObject({ factoryId: "factory" });
  });

  test("is not found for a registrar that is not served, nor for an unknown instrument", async () => {
    const nobody = replaced(asked("alice"), "instrumentId.admin", "nobody::1220");
    expect(await ask(nobody)).toEqual(utilityFailure(404, "nobody::1220"));
    expect(await ask(replaced(asked("alice"), "instrumentId.id", "GBP"))).toEqual(utilityFailure(404, "GBP"));
    expect(await askOf({ factory: undefined }, issues("alice"))).toEqual(utilityFailure(404, "AllocationFactory"));
  });

  test("has what there is if an owner or the registrar lacks a credential", async () => {
    expect(await ask(asked("alice", "carol"))).toMatchObject({
      values: valuesWith("alice-issues", "registrar-issues"),
    });
    expect(await askOf({}, issues("alice"))).toMatchObject({ values: valuesWith("alice-issues") });
    expect(await askOf({})).toMatchObject({ values: valuesWith(), disclosed: ["factory", "usd"] });
  });

  test("is not found then if credentials are required, and the message names party, issuer and claim", async () => {
    const named = [parties.issuer, "issues", "USD"];
    expect(await askRequired(elements, "alice", "carol")).toEqual(utilityFailure(404, "carol", ...named));
    const withoutRegistrars = elements.filter((one) => one !== registrarIssues);
    expect(await askRequired(withoutRegistrars, "alice")).toEqual(utilityFailure(404, parties.registrar, ...named));
    expect(await askRequired(elements, "alice")).toMatchObject({ factoryId: "factory" });
  });

  test.each<[string, Options]>([
    ["has left its synchronizer", { moving: "unassigned" }],
    ["is arriving", { moving: "arriving" }],
    ["is on another synchronizer", { synchronizerId: "sync-B" }],
  ])("is a conflict if a required contract %s", async (_, options) => {
    expect(await askOf({ configuration: configured(options) }, issues("alice"))).toEqual(utilityFailure(409));
    expect(await askOf({}, issues("alice", options))).toEqual(utilityFailure(409));
  });

  test.each(["instrumentId", "instrumentId.admin", "instrumentId.id", "outputs[0].owner", "outputs[0].amount"])(
    "%s is required, and the message names it",
    async (field) => {
      const name = field.split(".").at(-1) ?? "";
      for (const value of [undefined, null, 5, {}]) {
        expect(await ask(replaced(asked("alice"), field, value))).toEqual(utilityFailure(400, name));
      }
    },
  );

  test.each(["inputHoldingCids", "outputs"])("%s is a list", async (field) => {
    for (const value of ["text", 5, {}, [5]]) {
      expect(await ask(replaced(asked("alice"), field, value))).toEqual(utilityFailure(400));
    }
  });
});
