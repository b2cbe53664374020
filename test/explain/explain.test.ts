/** What an explanation says: what is missing, what was chosen, and why other contracts were passed over. */
import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { helpFor } from "../../src/domain/causes.js";
import { requireCredentials, rewardChanges } from "../fixtures/contexts.js";
import { element, parties, payload, requirement } from "../fixtures/elements.js";
import { type Changes, completeElements } from "../fixtures/operation-calls.js";
import * as requests from "../fixtures/requests.js";
import { burnMintFactory } from "../fixtures/calls/operations.js";
import { withInputs } from "../rules/inputs.js";
import { elementOf } from "../../src/testing/answer.js";
import { registryOf, storeOf } from "../fixtures/in-memory.js";
import { explainerOn, explaining, type ExplainJson } from "./explaining.js";

const { registrar, issuer } = parties;
const REQUIRED = { changes: [requireCredentials] };
const accept = `POST ${requests.transferChoice("v1", "accept")("offer")}`;
const transfer = `POST ${requests.transferFactory()}`;
const toBob = requests.transferV1("alice", "bob");
const older = { createdAt: "2025-02-05T09:00:00.000000Z" };
const newer = { createdAt: "2026-02-05T09:00:00.000000Z" };
const onB = { synchronizerId: "sync-B" };
const moving = { moving: "unassigned" } as const;

const explainAccept = async (changes: Changes = {}, contexts?: JsonObject) =>
  (await explaining(completeElements(changes), contexts))(accept);
const explainTransfer = async (...added: readonly JsonObject[]) =>
  (await explaining(completeElements({ added })))(transfer, toBob);
const codes = ({ causes }: ExplainJson) => causes.map(({ code }) => code);

/** The candidates of the searches whose name begins so, by id: why each is passed over, empty for the chosen one. */
const candidatesOf = ({ searches }: ExplainJson, name: string) =>
  searches
    .filter((one) => one.name.startsWith(`the ${name}`))
    .map(({ candidates }) =>
      Object.fromEntries(
        candidates.map(({ contract, chosen, reason }) => {
          expect(chosen).toBe(reason === "");
          return [contract.contractId, reason];
        }),
      ),
    );

describe("of the candidates it says which is chosen, and why others are not:", () => {
  test("rules", async () => {
    const rule = (id: string, options: JsonObject) => element("TransferRule", id, payload.service(), options);
    const added = [
      rule("newer", newer),
      rule("elsewhere", { ...newer, ...onB }),
      rule("moving", { ...newer, ...moving }),
    ];
    const found = await explainAccept({ added });
    expect(candidatesOf(found, "TransferRule")).toEqual([
      {
        elsewhere: "is on synchronizer sync-B",
        moving: "is between synchronizers",
        newer: "",
        rule: "a newer one is chosen",
      },
    ]);
    const entries = found.searches.flatMap((one) => (one.name.startsWith("the TransferRule") ? one.entries : []));
    expect(entries).toEqual(["utility.digitalasset.com/transfer-rule"]);
  });

  const approves = (id: string, ids: readonly string[], more: JsonObject = {}, options: JsonObject = newer) =>
    element("TransferPreapproval", id, payload.preapproval("bob", ids, more), options);
  const ELSEWHERE = "is on a synchronizer without the configuration or the rule of the instrument";

  test("preapprovals", async () => {
    const found = await explainTransfer(
      approves("counts", ["USD"], {}, {}),
      approves("older", [], {}, older),
      approves("other-instrument", ["EUR"]),
      approves("other-operator", [], { operator: "operator-2::1220" }),
      approves("elsewhere", [], {}, { ...newer, ...onB }),
      approves("moving", [], {}, { ...newer, ...moving }),
    );
    expect(found.answer).toMatchObject({ factoryId: "counts", transferKind: "direct" });
    expect(candidatesOf(found, "TransferPreapproval")).toEqual([
      {
        counts: "",
        elsewhere: ELSEWHERE,
        moving: "is between synchronizers",
        older: "a newer one is chosen",
        "other-instrument": "does not allow this instrument",
        "other-operator": "names another operator than the instrument's, operator::1220",
      },
    ]);
  });

  test("preapprovals of which none counts: the transfer is an offer", async () => {
    const found = await explainTransfer(approves("other", ["EUR"]), approves("elsewhere", [], {}, onB));
    expect(found.answer).toMatchObject({ transferKind: "offer" });
    expect(candidatesOf(found, "TransferPreapproval")).toEqual([
      { elsewhere: ELSEWHERE, other: "does not allow this instrument" },
    ]);
  });

  test("featured app rights, of one DSO", async () => {
    const added = [element("FeaturedAppRight", "other-dso", payload.right({ dso: "dso-2::1220" }), newer)];
    const found = await explainAccept({ added }, { changes: rewardChanges() });
    const reason = "is of another DSO than the AppRewardConfiguration";
    expect(candidatesOf(found, "FeaturedAppRight")).toEqual([{ "other-dso": reason, right: "" }]);
  });

  test("registrar services, which say whether there are result contracts", async () => {
    const service = (id: string, options: JsonObject) => element("RegistrarService", id, payload.service(), options);
    const found = await explainAccept({ added: [service("elsewhere", { ...newer, ...onB }), service("older", older)] });
    expect(candidatesOf(found, "RegistrarService")).toEqual([
      { elsewhere: "is on synchronizer sync-B", older: "a newer one is chosen", service: "" },
    ]);
  });

  test("factories of another provider, who may be meant", async () => {
    const second = { provider: "provider-2::1220" };
    const found = await explainTransfer(
      element("AllocationFactory", "factory-2", payload.service(second), newer),
      element("InstrumentConfiguration", "usd-2", payload.configuration("USD", second), newer),
    );
    expect(found.answer).toMatchObject({ factoryId: "factory-2" });
    expect(found.notes).toMatchObject([expect.stringContaining('Several providers have instrument "USD"')]);
    expect(candidatesOf(found, "AllocationFactory")).toMatchObject([
      { factory: expect.stringContaining("provider::1220") as string, "factory-2": "" },
    ]);
  });

  test("configurations of another scheme", async () => {
    const request = { registrar, instrumentIdentifier: { source: registrar, id: "USD", scheme: "ISIN" } };
    const additionalIdentifiers = ["USD", "840"].map((id) => ({ source: "ISO", id, scheme: "ISO 4217" }));
    const configuration = element(
      "InstrumentConfiguration",
      "usd",
      payload.configuration("USD", { additionalIdentifiers }),
    );
    const explain = await explaining(completeElements({ registry: { configuration } }));
    const found = await explain(`POST ${requests.instrumentConfiguration}`, request);
    expect(codes(found)).toEqual(["configuration-missing"]);
    const reason = `is for source "${registrar}", id "USD", scheme "Internal", and source "ISO", id "USD", scheme "ISO 4217"`;
    expect(candidatesOf(found, "InstrumentConfiguration")).toEqual([{ usd: reason }]);
    expect(found.searches.flatMap(({ candidates }) => candidates)).toHaveLength(1);
  });

  test("beyond 50 they are counted", async () => {
    const validUntil = "2026-03-01T00:00:00Z";
    const rules = Array.from({ length: 56 }, (_, at) => element("TransferRule", `rule-${at}`, payload.service()));
    const ended = Array.from({ length: 53 }, (_, at) =>
      element("Credential", `ended-${at}`, payload.credential("alice", ["holds=USD"], { validUntil })),
    );
    const { searches, requirements } = await explainAccept({
      registry: { alice: undefined },
      added: [...rules, ...ended],
    });
    const counts = searches.map(({ candidates, omittedCandidates }) => [candidates.length, omittedCandidates]);
    expect(counts.filter(([, omitted]) => omitted !== 0)).toEqual([[50, 7]]);
    const alice = requirements.find(({ party }) => party === "alice");
    expect(alice?.claims.map((one) => [one.passedOver.length, one.omittedPassedOver])).toEqual([[50, 3]]);
  });
});

describe("of a request that succeeds", () => {
  test("it says which claims are met and which are not", async () => {
    const ended = payload.credential("bob", ["holds=USD"], { validUntil: "2026-05-01T00:00:00Z" });
    const found = await explainAccept({ registry: { bob: element("Credential", "old", ended) } });
    expect(found.succeeds).toBe(true);
    const claims = found.requirements.map(({ party, claims: [claim] }) => [
      party,
      claim?.credential,
      claim?.passedOver,
    ]);
    expect(claims).toMatchObject([
      ["alice", "alice-holds", []],
      ["bob", "", [{ reason: "has ended" }]],
    ]);
  });

  test("it says until when the answer holds, and what it is at another time", async () => {
    const validUntil = "2026-06-02T09:00:00Z";
    const ending = element("Credential", "ending", payload.credential("bob", ["holds=USD"], { validUntil }));
    const explain = await explaining(completeElements({ registry: { bob: ending } }), REQUIRED);
    expect(await explain(accept)).toMatchObject({ succeeds: true, validUntil });
    const then = await explain(accept, {}, validUntil);
    expect(then).toMatchObject({ succeeds: false, status: "not_found" });
    expect(then.changes).toMatchObject([{ cause: { code: "credential-missing", party: "bob" } }]);
    const missing = { code: "credential-missing", message: "", party: "bob::1220", issuer };
    const help = helpFor({ ...missing, claims: [{ property: "holds", value: "USD" }] }, Date.parse(validUntil));
    expect(help).toBe(
      `Have ${issuer} issue a credential with holds = USD for bob::1220, valid at 2026-06-02T09:00:00.000Z, ` +
        "unless the wallet adds one that is not stored here",
    );
  });

  test("it counts input holdings that are not known, each once", async () => {
    const { path, body } = withInputs(burnMintFactory(["alice"]), ["00ff", "00ff", "00fe"]);
    const { notes } = await (await explaining(completeElements()))(`POST ${path}`, body as JsonObject);
    expect(notes).toEqual([expect.stringMatching(/^2 of the input holdings are not known here/)]);
  });

  test("and of one that is refused, it notes that the instrument is paused", async () => {
    const configuration = element("InstrumentConfiguration", "usd", payload.configuration("USD", { isPaused: true }));
    const notes = [`Instrument "USD" of registrar ${registrar} is paused: the choice may fail on the ledger.`];
    expect(await explainAccept({ registry: { configuration } })).toMatchObject({ succeeds: true, notes });
    const refused = await explainAccept({ registry: { configuration, rule: undefined } });
    expect(refused).toMatchObject({ succeeds: false, notes });
    expect((await explainAccept()).notes).toEqual([]);
  });
});

describe("of a refused request", () => {
  test("it has all causes, and no answer", async () => {
    const found = await explainAccept({ registry: { rule: undefined, alice: undefined, bob: undefined } }, REQUIRED);
    expect(codes(found).toSorted()).toEqual(["credential-missing", "credential-missing", "rule-missing"]);
    expect(found.error.split("; ")).toHaveLength(3);
    expect(found.changes).toHaveLength(3);
    expect(found).not.toHaveProperty("answer");
  });

  test("each cause has what it is about", async () => {
    const causesWith = async (options: JsonObject) =>
      (await explainAccept({ registry: { rule: element("TransferRule", "rule", payload.service(), options) } })).causes;
    const about = { contractId: "rule", registrar };
    expect(await causesWith(onB)).toMatchObject([
      { code: "no-common-synchronizer", ...about, synchronizers: ["sync-A", "sync-B"] },
    ]);
    expect(await causesWith(moving)).toMatchObject([{ code: "rule-moving", ...about }]);
  });

  // Registrars of the path; and the sender, whose credentials are missing.
  test.each(["nobody", "::1220", "nobody::", ":", "alice"])("it says that %s is no party id", async (name) => {
    const explain = await explaining(completeElements({ registry: { alice: undefined } }), REQUIRED);
    const path = name === "alice" ? requests.transferFactory() : requests.transferFactory(name);
    const request = JSON.parse(JSON.stringify(toBob).replaceAll(registrar, name)) as JsonObject;
    const found = await explain(`POST ${path}`, name === "alice" ? toBob : request);
    expect(found.succeeds).toBe(false);
    expect(found.changes.map(({ help }) => help)).toEqual([
      `Name a party by its id, hint::fingerprint: "${name}" is none.`,
    ]);
  });

  test("that is itself wrong it has no changes", async () => {
    const explain = await explaining(completeElements());
    const wrong = await explain(transfer, { choiceArguments: { transfer: 5 } });
    expect(wrong).toMatchObject({ succeeds: false, status: "invalid_argument", changes: [] });
  });
});

/** Two factories, of which the newer is on sync-B: the explanation shows the one that gives the answer or the error. */
describe("where factories on several synchronizers are tried", () => {
  const inB = { ...onB, createdAt: "2026-02-01T00:00:00Z" };
  const holders = { holderRequirements: [requirement(["holds=USD"])] };
  const usd = (id: string, more: JsonObject, options: JsonObject = {}) =>
    element("InstrumentConfiguration", id, payload.configuration("USD", more), options);
  const explainWith = async (...configurations: readonly JsonObject[]) => {
    const factories = [
      element("AllocationFactory", "old", payload.service()),
      element("AllocationFactory", "new", payload.service(), inB),
    ];
    return (await explaining([...factories, ...configurations], REQUIRED))(transfer, toBob);
  };

  test("one that was given up is passed over with its error; its searches and claims are not shown", async () => {
    const found = await explainWith(usd("usd-B", holders, inB), usd("usd-A", {}));
    expect(found).toMatchObject({ succeeds: true, answer: { factoryId: "old" }, requirements: [] });
    const lacking = `a valid credential for alice from issuer ${issuer} with the claim holds = USD`;
    const givenUp = `was tried first, but ${lacking} does not exist`;
    expect(candidatesOf(found, "AllocationFactory")).toEqual([{ new: givenUp, old: "" }]);
    expect(candidatesOf(found, "InstrumentConfiguration")).toEqual([
      { "usd-B": "is on synchronizer sync-B", "usd-A": "" },
    ]);
  });

  test.each([
    ["last", {}, { old: "" }],
    ["first", inB, { new: "", old: "is on synchronizer sync-A" }],
  ])("and all fail, the one with the error is shown: here the %s", async (_which, options, factories) => {
    const found = await explainWith(usd("usd", holders, options));
    // On the other synchronizer the configuration is missing too.
    expect(codes(found)).toEqual(["credential-missing"]);
    expect(found.changes.map(({ cause }) => cause.code)).toEqual(["credential-missing"]);
    expect(candidatesOf(found, "AllocationFactory")).toMatchObject([factories]);
    expect(candidatesOf(found, "InstrumentConfiguration")).toEqual([{ usd: "" }]);
    expect(found.requirements.map(({ party }) => party)).toEqual(["alice"]);
  });
});

test.each<["accept" | "reject", string, JsonValue | undefined, string[]]>([
  ["accept", "somebody", [[{ tag: "TIA_Accept", value: {} }, [["bob::1"]]]], []],
  ["accept", "nothing is said", undefined, []],
  [
    "reject",
    "nobody, who is not named",
    [
      [{ tag: "TIA_Accept", value: {} }, [["bob::1"]]],
      [{ tag: "TIA_Withdraw", value: {} }, [["ann::1"]]],
    ],
    ["The transfer instruction's own view says that nobody may reject it: what somebody may is accept, withdraw."],
  ],
  [
    "accept",
    "nobody, as an empty list",
    [[{ tag: "TIA_Accept", value: {} }, []]],
    ["The transfer instruction's own view says that nobody may accept it: no action is available."],
  ],
])("an instruction is answered whoever its view lets %s it: %s", async (choice, _who, availableActions, notes) => {
  const registry = registryOf("standard.yaml");
  const admin = "a::1";
  const instrumentId = { admin, id: "GOLD" };
  const account = (owner: string) => ({ owner, provider: null, id: "" });
  const offered = {
    sender: account("ann::1"),
    receiver: account("bob::1"),
    instrumentId,
    inputHoldingCids: [],
    executeBefore: "2036-01-01T00:00:00Z",
  };
  const view = { transfer: offered, ...(availableActions !== undefined && { availableActions }) };
  const offer = { contractId: "00ff", views: { "transfer-instruction/2": view } };
  const ask = explainerOn(await storeOf([elementOf(offer, 0, registry)], registry), registry);
  const call = `POST ${requests.transferChoice("v2", choice)("00ff", admin)}`;
  expect(await ask(call, {})).toMatchObject({ succeeds: true, notes });
});

test("a registry without preapprovals says that every transfer to another party is an offer", async () => {
  const registry = registryOf("standard.yaml");
  const admin = "a::1";
  const rules = { contractId: "rules", views: { "transfer-factory/1": { admin } } };
  const ask = explainerOn(await storeOf([elementOf(rules, 0, registry)], registry), registry);
  const explained = (receiver: string) =>
    ask(`POST ${requests.transferFactory(admin)}`, {
      choiceArguments: { transfer: { sender: "ann::1", receiver, instrumentId: { admin, id: "GOLD" } } },
    });
  expect(await explained("bob::1")).toMatchObject({
    succeeds: true,
    notes: ["This registry knows no preapprovals: every transfer to another party is an offer."],
  });
  expect((await explained("ann::1")).notes).toEqual([]);
});
