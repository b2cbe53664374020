/** Minting and burning: creating and accepting offers and requests, in the form of the utility operations; both at once. */
import { describe, expect, test } from "vitest";
import type { StoredContract } from "../../src/domain/contract.js";
import type { ContractSource, OnLedger } from "../../src/domain/ledger.js";
import type { JsonObject } from "../../src/util/json.js";
import { burnMintFactory, createIssuance, type Form, type Kind, onIssuance } from "../fixtures/calls/operations.js";
import { bool, contractId, contractIds, prefixed } from "../fixtures/context.js";
import { blobOf, element, type Options, parties, payload, requirement, type Template } from "../fixtures/elements.js";
import type { Call } from "../fixtures/protocols.js";
import { holdingOnLedger } from "../fixtures/in-memory.js";
import { registryOf } from "../fixtures/registries.js";
import { replaced } from "../fixtures/requests.js";
import { ask, CREDENTIALS_REQUIRED, refused, type RulesOptions, rulesOn } from "../fixtures/rules.js";
import { withInputs } from "./inputs.js";
import { complete, groupElements } from "./table.js";

const { registrar, issuer } = parties;
const newer: Options = { createdAt: "2026-02-05T09:00:00.000000Z" };
const requirements = {
  issuerRequirements: [requirement(["issues=USD"])],
  holderRequirements: [requirement(["holds=USD"])],
};
const issues = (party: string): JsonObject =>
  element("Credential", `${party}-issues`, payload.credential(party, ["issues=USD"]));
const locked = (id: string, owner: string) => element("Holding", id, payload.lockedHolding(owner, "USD"));

const kinds: readonly (readonly [Kind, Form, Template, instruction: JsonObject])[] = [
  ["mint", "offer", "MintOffer", payload.mint("alice", "USD")],
  ["mint", "request", "MintRequest", payload.mint("alice", "USD")],
  ["burn", "offer", "BurnOffer", payload.burn("alice", "USD")],
  ["burn", "request", "BurnRequest", payload.burn("alice", "USD", { lockedHoldingCid: "locked" })],
];
const instructions = kinds.map(([kind, form, template, argument]) => element(template, `${kind}-${form}`, argument));
const registry = (...[changes, ...added]: Parameters<typeof registryOf>): JsonObject[] => {
  const configuration = element("InstrumentConfiguration", "usd", payload.configuration("USD", requirements));
  return registryOf({ configuration, ...changes }, ...instructions, locked("locked", "alice"), ...added);
};
const rules = rulesOn(registry({}, issues("alice")));

/** A disclosed contract in the form of the utility operations: `createdAt` and `domainId`, and no debug fields. */
const contract = (id: string, entity: string): JsonObject => ({
  contractId: id,
  templateId: `pkg-1:${entity}`,
  createdEventBlob: blobOf(id),
  createdAt: "2026-01-05T09:00:00.000000Z",
  synchronizerId: "sync-A",
  domainId: "sync-A",
});
const usd = contract("usd", "Utility.Registry.V0.Configuration.Instrument:InstrumentConfiguration");
const ofAlice = contract("alice-issues", "Utility.Credential.V0.Credential:Credential");
const factory = contract("factory", "Utility.Registry.App.V0.Service.AllocationFactory:AllocationFactory");
const holding = contract("locked", "Utility.Registry.Holding.V0.Holding:Holding");

const entries = (credentials = contractIds("alice-issues")): JsonObject =>
  prefixed({ "instrument-configuration": contractId("usd"), "issuer-credentials": credentials });
const accepted = { ...entries(), ...prefixed({ "enable-result-contracts": bool(true) }) };

/** The call with another value at a path of its body. */
const changed = (call: Call, field: string, value: JsonObject[string] | undefined): Call => ({
  ...call,
  body: replaced(call.body as JsonObject, field, value),
});

const young = (options: Options) => element("AllocationFactory", "young", payload.service(), { ...newer, ...options });

describe.each(kinds)("to create a %s %s", (kind, form) => {
  const create = createIssuance(kind, form, "alice");

  test("has all fields, whatever is optional", async () => {
    const { choiceContext, ...others } = await rules.body(create);
    expect(others).toEqual({ factoryId: "factory" });
    expect(choiceContext).toEqual({
      choiceContextData: { values: entries() },
      disclosedContracts: [usd, ofAlice, factory],
    });
    const without = { rule: undefined, reward: undefined, right: undefined, service: undefined, alice: undefined };
    const more = changed(changed(create, "unknown", [null]), "excludeDebugFields", true);
    expect(await rulesOn(registry(without, issues("alice"))).body(more)).toEqual({ choiceContext, ...others });
  });

  test.each(["holder", "instrumentId", "instrumentId.admin", "instrumentId.id"])(
    "needs %s, and the message names it",
    async (field) => {
      const name = field.split(".").at(-1) ?? "";
      for (const value of [undefined, null, 5, "", {}])
        expect(await rules.ask(changed(create, field, value))).toEqual(refused(400, name));
    },
  );

  test("names a registrar that is not served, an unknown instrument and a missing credential", async () => {
    expect(await rules.ask(createIssuance(kind, form, "alice", "USD", "nobody::1220"))).toEqual(
      refused(404, "nobody::1220"),
    );
    expect(await rules.ask(createIssuance(kind, form, "alice", "GBP"))).toEqual(refused(404, "GBP"));
    expect(await rules.ask(createIssuance(kind, form, "bob"))).toEqual({
      factoryId: "factory",
      values: entries(contractIds()),
      disclosed: ["factory", "usd"],
    });
    const required = await ask(registry(), createIssuance(kind, form, "bob"), CREDENTIALS_REQUIRED);
    expect(required).toEqual(refused(404, "bob", issuer, "issues = USD"));
  });

  test("uses the newest factory, whatever its package, whose synchronizer has what is needed", async () => {
    for (const [options, factoryId] of [
      [{ packageId: "pkg-2" }, "young"],
      [{ synchronizerId: "sync-B" }, "factory"],
    ] as const)
      expect(await ask(registry({}, issues("alice"), young(options)), create)).toMatchObject({ factoryId });
  });
});

test("the holdings of a burn request are a list of texts, which is not looked at: a client can ask ahead", async () => {
  const create = createIssuance("burn", "request", "alice");
  for (const ids of [[], ["00ff", "usd"]])
    expect(await rules.ask(changed(create, "holdingContractIds", ids))).toEqual(await rules.ask(create));
  for (const wrong of ["h1", 5, {}, [{}], [5]])
    expect(await rules.ask(changed(create, "holdingContractIds", wrong))).toEqual(refused(400));
});

describe.each(kinds)("to accept a %s %s", (kind, form) => {
  const accept = onIssuance(kind, form, "accept", `${kind}-${form}`);
  const isLocked = `${kind}-${form}` === "burn-request";

  test("has all fields, and needs neither factory nor rule", async () => {
    const needed = { factory: undefined, rule: undefined, reward: undefined, right: undefined };
    const response = await rulesOn(registry(needed, issues("alice"))).body(accept);
    expect(response).toEqual({
      choiceContextData: { values: accepted },
      disclosedContracts: [usd, ofAlice, ...(isLocked ? [holding] : [])],
    });
  });

  test("has an empty list without the credential, of others and for holders, or 404 where it is required", async () => {
    const elements = registry(
      {},
      issues("bob"),
      element("Credential", "holds", payload.credential("alice", ["holds=USD"])),
    );
    expect(await ask(elements, accept)).toEqual({
      values: { ...accepted, ...entries(contractIds()) },
      disclosed: [...(isLocked ? ["locked"] : []), "usd"],
    });
    expect(await ask(elements, accept, CREDENTIALS_REQUIRED)).toEqual(refused(404, "alice", issuer, "issues = USD"));
  });
});

test("the service of another registrar says nothing of result contracts", async () => {
  const argument = payload.service({ registrar: "registrar-2::1220", enableResultContracts: true });
  const service = element("RegistrarService", "service", argument, newer);
  const answer = await ask(registry({ service }, issues("alice")), onIssuance("mint", "offer", "accept", "mint-offer"));
  expect(answer).toEqual({ values: entries(), disclosed: ["alice-issues", "usd"] });
});

test("an empty context has empty values, never no values", async () => {
  const response = await rules.body(onIssuance("burn", "offer", "cancel", "burn-offer"));
  expect(response).toEqual({ choiceContextData: { values: {} }, disclosedContracts: [] });
});

const answered = (credentials: readonly string[], suffix = ""): JsonObject => ({
  factoryId: `factory${suffix}`,
  values: prefixed({
    "instrument-configuration": contractId(`usd${suffix}`),
    "issuer-credentials": contractIds(...credentials),
  }),
  disclosed: [...credentials, `factory${suffix}`, `usd${suffix}`].toSorted(),
});

/** A ledger with these holdings. `asked` has the ids of each call. */
function ledgerWith(...known: readonly (StoredContract | readonly [string, "archived" | "unread"])[]) {
  const asked: (readonly string[])[] = [];
  const found = known.map((one): readonly [string, OnLedger] => ("contractId" in one ? [one.contractId, one] : one));
  const onLedger: ContractSource = {
    async contracts(ids) {
      asked.push(ids);
      return new Map(found.filter(([id]) => ids.includes(id)));
    },
  };
  return { asked, onLedger };
}

/** The ledger reads the credentials of the owners of all inputs and outputs, from one list. */
describe("burning and minting at once", () => {
  /** alice and the registrar have credentials as issuers. So do bob and carol here. */
  const elements = [
    ...complete(),
    issues("bob"),
    issues("carol"),
    locked("of-bob", "bob"),
    locked("of-carol", "carol"),
  ];
  const burn = (inputs: readonly string[], owners: readonly string[], options: RulesOptions = {}, of = elements) =>
    ask(of, withInputs(burnMintFactory(owners), inputs), options);

  test.each<[string, readonly string[], readonly string[], readonly string[]]>([
    ["a burn without outputs has those of its inputs", ["of-bob", "of-carol"], [], ["bob", "carol"]],
    [
      "inputs and outputs share a list, each once",
      ["of-bob", "locked"],
      ["alice", "carol", "bob"],
      ["bob", "alice", "carol"],
    ],
    ["an input that is not known is left out", ["00aa", "of-bob"], ["alice"], ["bob", "alice"]],
    ["the registrar has none", [], ["alice"], ["alice"]],
    ["unless it owns a holding", [], [registrar], ["registrar"]],
  ])("the owners: %s", async (_what, inputs, owners, listed) => {
    expect(await burn(inputs, owners)).toEqual(answered(listed.map((party) => `${party}-issues`)));
  });

  test("inputs that the store lacks are read from the ledger, in one call", async () => {
    const { asked, onLedger } = ledgerWith(holdingOnLedger("00aa", "carol"), holdingOnLedger("00bb", registrar));
    const inputs = ["00aa", "of-bob", "00bb", "00aa"];
    expect(await burn(inputs, [], { onLedger })).toEqual(answered(["bob-issues", "carol-issues", "registrar-issues"]));
    expect(asked).toEqual([["00aa", "00bb"]]);
    await burn(["of-bob"], ["alice"], { onLedger });
    expect(asked).toHaveLength(1);
    expect(await burn(["00cc", "of-bob"], ["alice"], { onLedger })).toEqual(answered(["bob-issues", "alice-issues"]));
  });

  test("an input that is archived is not found", async () => {
    const { onLedger } = ledgerWith(["00aa", "archived"], holdingOnLedger("00bb", "bob"));
    expect(await burn(["00bb", "00aa"], ["alice"], { onLedger })).toEqual(refused(404, "00aa"));
    expect(await burn(["of-bob"], ["alice"], { archived: ["of-bob"] })).toEqual(refused(404, "of-bob"));
  });

  test("an input that the ledger has not told in time may have any owner, or be archived: unavailable", async () => {
    const { onLedger } = ledgerWith(["00aa", "unread"], holdingOnLedger("00bb", "bob"), ["00cc", "archived"]);
    for (const inputs of [["00aa"], ["00bb", "00aa"], ["of-bob", "00dd", "00aa"]])
      expect(await burn(inputs, ["alice"], { onLedger })).toEqual(refused(503, "input holding 00aa", "retry"));
    expect(await burn(["00cc", "00aa"], ["alice"], { onLedger })).toEqual(refused(404, "00cc"));
  });

  test("of two groups that have the instrument, the holding that is read decides", async () => {
    const provider = "provider-2::1220";
    const two = [...elements, ...groupElements("-2", { provider }, {}, newer)];
    const other = holdingOnLedger("00cc", "bob", { registrar: "registrar-2::1220" });
    const { onLedger } = ledgerWith(
      holdingOnLedger("00aa", "bob"),
      holdingOnLedger("00bb", "bob", { provider }),
      other,
    );
    expect(await burn(["00aa"], [], { onLedger }, two)).toEqual(answered(["bob-issues"]));
    expect(await burn(["00bb"], [], { onLedger }, two)).toEqual(answered(["bob-issues"], "-2"));
    // A holding of another registrar decides nothing.
    expect(await burn(["00cc"], [], { onLedger }, two)).toEqual(answered(["bob-issues"], "-2"));
  });
});
