import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { burnAccept, burnCancel } from "../fixtures/requests.js";
import {
  bool,
  contractId,
  contractIds,
  prefixed,
  resultContracts,
  short,
  utilityFailure,
} from "../fixtures/context.js";
import { blobOf, element, type Options, parties, payload, requirement } from "../fixtures/elements.js";
import { registryOf, serving } from "../fixtures/registries.js";
import { type ServeOptions, WITH_CREDENTIALS_REQUIRED, WITH_REWARDS } from "../fixtures/run-service.js";

const issued = {
  issuerRequirements: [requirement(["issues=USD"])],
  holderRequirements: [requirement(["holds=USD"])],
};
const configuration = element("InstrumentConfiguration", "usd", payload.configuration("USD", issued));
const issues = element("Credential", "alice-issues", payload.credential("alice", ["issues=USD"]));
const request = element("BurnRequest", "it", payload.burn("alice", "USD", { lockedHoldingCid: "locked" }));
const locked = (options?: Options) => element("Holding", "locked", payload.lockedHolding("alice", "USD"), options);

const accept = (...args: Parameters<typeof registryOf>): Promise<JsonObject> => acceptWith({}, ...args);

async function acceptWith(options: ServeOptions, ...args: Parameters<typeof registryOf>): Promise<JsonObject> {
  const [changes, ...added] = args;
  const running = await serving(registryOf({ configuration, ...changes }, request, ...added), options);
  return short(await running.post(burnAccept("it")));
}

const contract = (id: string, entity: string): JsonObject => ({
  contractId: id,
  templateId: `pkg-1:${entity}`,
  createdEventBlob: blobOf(id),
  createdAt: "2026-01-05T09:00:00.000000Z",
  synchronizerId: "sync-A",
  domainId: "sync-A",
});

describe("accepting a burn request", () => {
  test("all fields of the answer", async () => {
    const running = await serving(registryOf({ configuration }, request, issues, locked()));
    const { status, body } = await running.post(burnAccept("it"));
    const { disclosedContracts, ...others } = body as JsonObject & { disclosedContracts: JsonObject[] };
    expect(status).toBe(200);
    expect(others).toEqual({
      choiceContextData: {
        values: {
          "utility.digitalasset.com/instrument-configuration": { tag: "AV_ContractId", value: "usd" },
          "utility.digitalasset.com/issuer-credentials": {
            tag: "AV_List",
            value: [{ tag: "AV_ContractId", value: "alice-issues" }],
          },
          "utility.digitalasset.com/enable-result-contracts": { tag: "AV_Bool", value: true },
        },
      },
    });
    expect(disclosedContracts).toHaveLength(3);
    expect(disclosedContracts).toEqual(
      expect.arrayContaining([
        contract("usd", "Utility.Registry.V0.Configuration.Instrument:InstrumentConfiguration"),
        contract("alice-issues", "Utility.Credential.V0.Credential:Credential"),
        contract("locked", "Utility.Registry.Holding.V0.Holding:Holding"),
      ]),
    );
  });

  test("has the reward entries too if they are on", async () => {
    expect(await acceptWith(WITH_REWARDS, {}, issues, locked())).toEqual({
      values: {
        ...prefixed({
          "instrument-configuration": contractId("usd"),
          "issuer-credentials": contractIds("alice-issues"),
          "app-reward-configuration": contractId("reward"),
          "featured-app-right": contractId("right"),
        }),
        ...resultContracts(true),
      },
      disclosed: ["alice-issues", "locked", "reward", "right", "usd"],
    });
  });

  test("missing optional contracts are left out, and null equals absent", async () => {
    const nothing = { service: undefined, reward: undefined, right: undefined };
    const least = {
      values: prefixed({
        "instrument-configuration": contractId("usd"),
        "issuer-credentials": contractIds("alice-issues"),
      }),
      disclosed: ["alice-issues", "locked", "usd"],
    };
    const service = element("RegistrarService", "service", payload.service({ enableResultContracts: null }));
    expect(await accept(nothing, issues, locked())).toEqual(least);
    expect(await accept({ ...nothing, service }, issues, locked())).toEqual(least);
    expect(await acceptWith(WITH_REWARDS, nothing, issues, locked())).toEqual(least);
  });

  test("enableResultContracts false is written, and another registrar's service does not count", async () => {
    const off = element("RegistrarService", "service", payload.service({ enableResultContracts: false }));
    const argument = payload.service({ registrar: "registrar-2::1220", enableResultContracts: true });
    const others = element("RegistrarService", "others", argument, { createdAt: "2026-02-05T09:00:00.000000Z" });
    expect(await accept({ service: off }, issues, locked(), others)).toMatchObject({
      values: prefixed({ "enable-result-contracts": bool(false) }),
    });
    const answer = await accept({ service: undefined }, issues, locked(), others);
    expect(answer).not.toHaveProperty(["values", "utility.digitalasset.com/enable-result-contracts"]);
  });

  test("an instrument without issuer requirements needs no credentials", async () => {
    const free = element("InstrumentConfiguration", "usd", payload.configuration("USD"));
    expect(await accept({ configuration: free }, issues, locked())).toEqual({
      values: prefixed({
        "instrument-configuration": contractId("usd"),
        "issuer-credentials": contractIds(),
        "enable-result-contracts": bool(true),
      }),
      disclosed: ["locked", "usd"],
    });
  });

  const without = {
    values: {
      ...prefixed({ "instrument-configuration": contractId("usd"), "issuer-credentials": contractIds() }),
      ...resultContracts(true),
    },
    disclosed: ["locked", "usd"],
  };

  test("has an empty list without the credential; holder credentials and other parties' do not count", async () => {
    const bobs = element("Credential", "bob-issues", payload.credential("bob", ["issues=USD"]));
    expect(await accept({}, locked())).toEqual(without);
    expect(await accept({}, bobs, locked())).toEqual(without);
  });

  test("is not found then if credentials are required, and the message names party, issuer and claim", async () => {
    const bobs = element("Credential", "bob-issues", payload.credential("bob", ["issues=USD"]));
    const missing = utilityFailure(404, "alice", parties.issuer, "issues", "USD");
    expect(await acceptWith(WITH_CREDENTIALS_REQUIRED, {}, locked())).toEqual(missing);
    expect(await acceptWith(WITH_CREDENTIALS_REQUIRED, {}, bobs, locked())).toEqual(missing);
  });

  test("a missing instrument configuration is not found", async () => {
    expect(await accept({ configuration: undefined }, issues, locked())).toEqual(utilityFailure(404, "USD"));
  });

  test("a missing locked holding is not found", async () => {
    expect(await accept({}, issues)).toEqual(utilityFailure(404, "locked"));
  });

  test.each(["unassigned", "arriving"] as const)("a contract that is %s is a conflict", async (moving) => {
    expect(await accept({}, issues, locked({ moving }))).toEqual(utilityFailure(409));
    const argument = payload.burn("alice", "USD", { lockedHoldingCid: "locked" });
    const going = element("BurnRequest", "it", argument, { moving });
    const running = await serving(registryOf({ configuration }, going, issues, locked()));
    expect(short(await running.post(burnAccept("it")))).toEqual(utilityFailure(409));
  });

  test("a burn offer is not a burn request, and vice versa", async () => {
    const offer = element("BurnOffer", "offer", payload.burn("alice", "USD"));
    const running = await serving(registryOf({ configuration }, request, offer, issues, locked()));
    expect(short(await running.post(burnAccept("offer")))).toEqual(utilityFailure(404, "offer"));
    expect(short(await running.post(burnAccept("00ff")))).toEqual(utilityFailure(404, "00ff"));
    expect(short(await running.post(burnCancel("it")))).toEqual(utilityFailure(404));
    expect(short(await running.post(burnCancel("00ff")))).toEqual(utilityFailure(404, "00ff"));
  });
});

test("the context of cancelling a burn offer, all fields", async () => {
  const running = await serving(registryOf({}, element("BurnOffer", "offer", payload.burn("alice", "USD"))));
  const { status, body } = await running.post(burnCancel("offer"));
  expect(status).toBe(200);
  // An empty context has empty values, never no values.
  expect(body).toEqual({ choiceContextData: { values: {} }, disclosedContracts: [] });
});
