/** Creating offers and requests to mint and burn. */
import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/domain/json.js";
import { issuance, replaced } from "../fixtures/requests.js";
import { contractId, contractIds, prefixed, short, utilityFailure } from "../fixtures/context.js";
import { blobOf, element, type Options, parties, payload, requirement } from "../fixtures/elements.js";
import { registryOf, serving } from "../fixtures/registries.js";
import { type ServeOptions, WITH_CREDENTIALS_REQUIRED } from "../fixtures/run-service.js";

const issued = {
  issuerRequirements: [requirement(["issues=USD"])],
  holderRequirements: [requirement(["holds=USD"])],
};
const configuration = element("InstrumentConfiguration", "usd", payload.configuration("USD", issued));
const issues = element("Credential", "alice-issues", payload.credential("alice", ["issues=USD"]));
const instrumentId = { admin: parties.registrar, id: "USD" };
const places: [string, Options][] = [
  ["has left its synchronizer", { moving: "unassigned" }],
  ["is arriving", { moving: "arriving" }],
  ["is on another synchronizer", { synchronizerId: "sync-B" }],
];

const contract = (id: string, entity: string): JsonObject => ({
  contractId: id,
  templateId: `pkg-1:${entity}`,
  createdEventBlob: blobOf(id),
  createdAt: "2026-01-05T09:00:00.000000Z",
  synchronizerId: "sync-A",
  domainId: "sync-A",
});

const created = {
  factoryId: "factory",
  values: prefixed({
    "instrument-configuration": contractId("usd"),
    "issuer-credentials": contractIds("alice-issues"),
  }),
  disclosed: ["alice-issues", "factory", "usd"],
};

const operations: { readonly kind: "mint" | "burn"; readonly form: "offer" | "request"; readonly more: JsonObject }[] =
  [
    { kind: "mint", form: "offer", more: {} },
    { kind: "mint", form: "request", more: {} },
    { kind: "burn", form: "offer", more: {} },
    { kind: "burn", form: "request", more: { holdingContractIds: ["h1", "h2"] } },
  ];

describe.each(operations)("to $kind by $form", ({ kind, form, more }) => {
  const path = issuance(kind, form);
  const asked: JsonObject = { holder: "alice", instrumentId, ...more };

  const ask = (body: JsonObject, ...args: Parameters<typeof registryOf>) => askWith({}, body, ...args);
  const askWith = async (
    options: ServeOptions,
    body: JsonObject,
    ...args: Parameters<typeof registryOf>
  ): Promise<JsonObject> => {
    const [changes, ...added] = args;
    const running = await serving(registryOf({ configuration, ...changes }, issues, ...added), options);
    return short(await running.post(path, body));
  };

  test("all fields of the answer", async () => {
    const running = await serving(registryOf({ configuration }, issues));
    const { status, body } = await running.post(path, asked);
    const { choiceContext, ...others } = body as { choiceContext: { disclosedContracts: JsonObject[] } };
    const { disclosedContracts, ...context } = choiceContext;
    expect(status).toBe(200);
    expect(others).toEqual({ factoryId: "factory" });
    expect(context).toEqual({
      choiceContextData: {
        values: {
          "utility.digitalasset.com/instrument-configuration": { tag: "AV_ContractId", value: "usd" },
          "utility.digitalasset.com/issuer-credentials": {
            tag: "AV_List",
            value: [{ tag: "AV_ContractId", value: "alice-issues" }],
          },
        },
      },
    });
    expect(disclosedContracts).toHaveLength(3);
    expect(disclosedContracts).toEqual(
      expect.arrayContaining([
        contract("usd", "Utility.Registry.V0.Configuration.Instrument:InstrumentConfiguration"),
        contract("alice-issues", "Utility.Credential.V0.Credential:Credential"),
        contract("factory", "Utility.Registry.App.V0.Service.AllocationFactory:AllocationFactory"),
      ]),
    );
  });

  test("optional contracts, holder requirements and unknown fields change nothing", async () => {
    const without = { rule: undefined, reward: undefined, right: undefined, service: undefined, alice: undefined };
    expect(await ask({ ...asked, unknown: [null], excludeDebugFields: true }, without)).toEqual(created);
  });

  test("an instrument without issuer requirements needs no credentials", async () => {
    const free = element("InstrumentConfiguration", "usd", payload.configuration("USD"));
    expect(await ask(asked, { configuration: free })).toEqual({
      factoryId: "factory",
      values: prefixed({ "instrument-configuration": contractId("usd"), "issuer-credentials": contractIds() }),
      disclosed: ["factory", "usd"],
    });
  });

  test("a missing field or a wrong type is a bad request, and the message names it", async () => {
    const running = await serving(registryOf({ configuration }, issues));
    const answer = async (body: JsonObject) => short(await running.post(path, body));
    for (const field of ["holder", "instrumentId", "instrumentId.admin", "instrumentId.id"]) {
      const name = field.split(".").at(-1) ?? "";
      for (const value of [undefined, null, 5, "", {}]) {
        expect(await answer(replaced(asked, field, value))).toEqual(utilityFailure(400, name));
      }
    }
    expect(await answer({})).toEqual(utilityFailure(400, "holder"));
  });

  test("an unserved registrar and an unknown instrument are not found, and the message names them", async () => {
    expect(await ask(replaced(asked, "instrumentId.admin", "nobody::1220"))).toEqual(
      utilityFailure(404, "nobody::1220"),
    );
    expect(await ask(replaced(asked, "instrumentId.id", "GBP"))).toEqual(utilityFailure(404, "GBP"));
    expect(await ask(asked, { configuration: undefined })).toEqual(utilityFailure(404, "USD"));
  });

  test("has an empty list for a holder without the credential", async () => {
    expect(await ask(replaced(asked, "holder", "bob"))).toEqual({
      factoryId: "factory",
      values: prefixed({ "instrument-configuration": contractId("usd"), "issuer-credentials": contractIds() }),
      disclosed: ["factory", "usd"],
    });
  });

  test("is not found then if credentials are required, and the message names party, issuer and claim", async () => {
    const answer = await askWith(WITH_CREDENTIALS_REQUIRED, replaced(asked, "holder", "bob"));
    expect(answer).toEqual(utilityFailure(404, "bob", parties.issuer, "issues", "USD"));
    expect(await askWith(WITH_CREDENTIALS_REQUIRED, asked)).toEqual(created);
  });

  test("a missing factory is not found", async () => {
    expect(await ask(asked, { factory: undefined })).toEqual(utilityFailure(404, "AllocationFactory"));
  });

  test.each(places)("is a conflict if a required contract %s", async (_, options) => {
    const moved = element("InstrumentConfiguration", "usd", payload.configuration("USD", issued), options);
    expect(await ask(asked, { configuration: moved })).toEqual(utilityFailure(409));
    const credential = element("Credential", "bob-issues", payload.credential("bob", ["issues=USD"]), options);
    expect(await ask(replaced(asked, "holder", "bob"), {}, credential)).toEqual(utilityFailure(409));
  });

  test("a newer factory is skipped if its synchronizer lacks required contracts", async () => {
    const elsewhere = { synchronizerId: "sync-B", createdAt: "2026-02-05T09:00:00.000000Z" };
    expect(await ask(asked, {}, element("AllocationFactory", "newest", payload.service(), elsewhere))).toEqual(created);
  });

  test("the newest factory wins, whatever its package", async () => {
    const upgraded = { createdAt: "2026-02-05T09:00:00.000000Z", packageId: "pkg-2" };
    const newest = element("AllocationFactory", "newest", payload.service(), upgraded);
    expect(await ask(asked, {}, newest)).toMatchObject({
      factoryId: "newest",
      disclosed: ["alice-issues", "newest", "usd"],
    });
  });
});

const askWith = async (holdingContractIds: JsonValue): Promise<JsonObject> => {
  const running = await serving(registryOf({ configuration }, issues));
  return short(await running.post(issuance("burn", "request"), { holder: "alice", instrumentId, holdingContractIds }));
};

test.each([{ ids: [] }, { ids: ["h1"] }, { ids: ["00ff", "usd"] }])(
  "the holdings $ids of a burn request are not looked at, so that a client can ask ahead",
  async ({ ids }) => {
    expect(await askWith(ids)).toEqual(created);
  },
);

test("the holdings of a burn request are a list of strings", async () => {
  for (const wrong of ["h1", 5, {}, [{}], [5]]) expect(await askWith(wrong)).toEqual(utilityFailure(400));
});
