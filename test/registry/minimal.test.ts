/** The minimal registry: the service with its demo snapshot, and with single contracts. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contractId, createElements, party } from "../../demo/element.js";
import { allocation, elements, rules, transferInstruction } from "../../demo/minimal.js";
import type { JsonObject } from "../../src/domain/json.js";
import { disclosedBy, failure, short, utilityFailure } from "../fixtures/context.js";
import { serving } from "../fixtures/registries.js";
import { registry as pathTo, type Running, serveFile } from "../fixtures/run-service.js";

const admin = party("coffee-club");
const alice = party("alice");
const bob = party("bob");
const registry = pathTo(admin);

const rulesId = contractId("rules of the coffee club");
const offered = contractId("beans to bob");
const allocated = contractId("beans for a trade");
const unknown = contractId("nothing");

const extraArgs = { context: { values: {} }, meta: { values: {} } };
const transfer = (
  sender: string,
  receiver: string,
  expectedAdmin = admin,
  id = "BEAN",
  of = expectedAdmin,
): JsonObject => ({
  choiceArguments: {
    expectedAdmin,
    transfer: {
      sender,
      receiver,
      amount: "1.0",
      instrumentId: { admin: of, id },
      requestedAt: "2026-06-01T00:00:00Z",
      executeBefore: "2026-06-02T00:00:00Z",
      inputHoldingCids: [],
      meta: { values: {} },
    },
    extraArgs,
  },
});
/** Of the same transfer. */
const leg = { sender: alice, receiver: bob, amount: "1.0", instrumentId: { admin, id: "BEAN" } };
const allocationArguments: JsonObject = { expectedAdmin: admin, allocation: { transferLeg: leg } };
const settlementArguments: JsonObject = {
  expectedAdmin: admin,
  transferLegs: [{ ...leg, sender: { owner: alice }, receiver: { owner: bob }, instrumentId: "BEAN" }],
  allocations: [],
};
const transferFactory = (version: string): string => `${registry}/transfer-instruction/${version}/transfer-factory`;
const allocationFactory = (version: string): string =>
  `${registry}/allocation-instruction/${version}/allocation-factory`;
const settlementFactory = (): string => `${registry}/allocation/v2/settlement-factory`;

/** The paths of all choices that this token has. */
const choices = (offer: string, allocatedId: string, base = registry): string[] => [
  ...["v1", "v2"].flatMap((version) =>
    ["accept", "reject", "withdraw"].map(
      (verb) => `${base}/transfer-instruction/${version}/${offer}/choice-contexts/${verb}`,
    ),
  ),
  ...["execute-transfer", "withdraw", "cancel"].map(
    (verb) => `${base}/allocations/v1/${allocatedId}/choice-contexts/${verb}`,
  ),
  ...["withdraw", "cancel"].map((verb) => `${base}/allocations/v2/${allocatedId}/choice-contexts/${verb}`),
];
const ofRules = { factoryId: rulesId, values: {}, disclosed: [rulesId] };
const verbOf = (path: string): string => path.replace(registry, "").replaceAll(/[\da-f]{138}/g, "{id}");

describe("with its demo snapshot", () => {
  let running: Running;
  beforeAll(async () => {
    running = await serveFile(undefined, { config: { registry: "minimal" } });
  });
  afterAll(() => running.close());

  describe("metadata", () => {
    const supportedApis = {
      "splice-api-token-metadata-v1": 2,
      "splice-api-token-transfer-instruction-v1": 1,
      "splice-api-token-transfer-instruction-v2": 1,
      "splice-api-token-allocation-v1": 1,
      "splice-api-token-allocation-v2": 1,
      "splice-api-token-allocation-instruction-v1": 1,
      "splice-api-token-allocation-instruction-v2": 1,
    };
    const bean = { id: "BEAN", name: "Coffee beans", symbol: "BEAN", decimals: 0, supportedApis };

    test("has the registrar and the supported APIs", async () => {
      const { status, body } = await running.get(`${registry}/metadata/v1/info`);
      expect({ status, body }).toEqual({ status: 200, body: { adminId: admin, supportedApis } });
    });

    test("has the instrument's name, symbol and decimals from the ledger", async () => {
      const { status, body } = await running.get(`${registry}/metadata/v1/instruments`);
      expect({ status, body }).toEqual({ status: 200, body: { instruments: [bean] } });
    });

    test("finds the instrument only by its id", async () => {
      const found = await running.get(`${registry}/metadata/v1/instruments/BEAN`);
      expect(found).toMatchObject({ status: 200, body: bean });
      const missing = await running.get(`${registry}/metadata/v1/instruments/TEA`);
      expect(short(missing)).toEqual(failure(404, "TEA"));
    });

    test.each(["/info", "/instruments", "/instruments/BEAN"])("%s of another registrar is not found", async (path) => {
      const answer = await running.get(`${pathTo(party("tea-club"))}/metadata/v1${path}`);
      expect(short(answer)).toEqual(failure(404, party("tea-club")));
    });
  });

  describe("the transfer factory", () => {
    test.each(["v1", "v2"])("is the Rules contract, with kind self for one party: %s", async (version) => {
      const answer = await running.post(transferFactory(version), transfer(alice, alice));
      expect(short(answer)).toEqual({ ...ofRules, transferKind: "self" });
    });

    test.each(["v1", "v2"])("is the Rules contract, with kind offer for two parties: %s", async (version) => {
      const answer = await running.post(transferFactory(version), transfer(alice, bob));
      expect(short(answer)).toEqual({ ...ofRules, transferKind: "offer" });
    });

    test("accepts the accounts of version 2", async () => {
      const { choiceArguments } = transfer(alice, alice) as { choiceArguments: { transfer: JsonObject } };
      const sender = { owner: alice, provider: null, id: "" };
      const body = {
        choiceArguments: { transfer: { ...choiceArguments.transfer, sender }, actors: [alice], extraArgs },
      };
      const answer = await running.post(transferFactory("v2"), body);
      expect(short(answer)).toEqual({ ...ofRules, transferKind: "self" });
    });

    test("rejects an instrument of another registrar", async () => {
      const tea = party("tea-club");
      const { choiceArguments } = transfer(alice, bob) as { choiceArguments: { transfer: JsonObject } };
      const other = { ...choiceArguments.transfer, instrumentId: { admin: tea, id: "BEAN" } };
      const body = { choiceArguments: { ...choiceArguments, transfer: other } };
      expect(short(await running.post(transferFactory("v1"), body))).toEqual(failure(400, tea));
    });

    test("discloses the Rules contract with and without debug fields", async () => {
      const payload = { admin, symbol: "BEAN", name: "Coffee beans", decimals: "0" };
      const [whole] = disclosedBy(await running.post(transferFactory("v1"), transfer(alice, bob)));
      expect(whole).toMatchObject({ contractId: rulesId, debugPackageName: "minimal-token-v1", debugPayload: payload });
      const bare = { ...transfer(alice, bob), excludeDebugFields: true };
      const [fewer] = disclosedBy(await running.post(transferFactory("v1"), bare));
      expect(Object.keys(fewer ?? {}).toSorted()).toEqual([
        "contractId",
        "createdEventBlob",
        "synchronizerId",
        "templateId",
      ]);
    });

    test("requires a sender", async () => {
      const body = { choiceArguments: { transfer: { receiver: bob, instrumentId: { admin, id: "BEAN" } } } };
      const answer = await running.post(transferFactory("v1"), body);
      expect(short(answer)).toEqual(failure(400, "choiceArguments.transfer.sender"));
    });
  });

  test.each([
    ["an allocation, version 1,", allocationFactory("v1"), allocationArguments],
    ["an allocation, version 2,", allocationFactory("v2"), allocationArguments],
    ["a settlement", settlementFactory(), settlementArguments],
  ])("the factory of %s is the rules", async (_what, path, choiceArguments) => {
    expect(short(await running.post(path, { choiceArguments }))).toEqual(ofRules);
  });

  const factories = [
    transferFactory("v1"),
    transferFactory("v2"),
    allocationFactory("v1"),
    allocationFactory("v2"),
    settlementFactory(),
  ];

  test.each(factories.map((path) => [verbOf(path), path]))(
    "%s of another admin than is expected is refused",
    async (_what, path) => {
      const answer = await running.post(path, transfer(alice, bob, party("tea-club"), "BEAN", admin));
      expect(short(answer)).toEqual(failure(400, "expectedAdmin", party("tea-club"), admin));
    },
  );

  test.each(factories.map((path) => [verbOf(path), path]))(
    "%s of a registrar that is not served is not found",
    async (_what, path) => {
      const tea = party("tea-club");
      const answer = await running.post(path.replace(registry, pathTo(tea)), transfer(alice, bob, tea));
      expect(short(answer)).toEqual(failure(404, tea));
    },
  );

  test.each(choices(offered, allocated).map((path) => [verbOf(path), path]))(
    "%s needs no context",
    async (_what, path) => {
      const { status, body } = await running.post(path, { meta: {} });
      expect({ status, body }).toEqual({
        status: 200,
        body: { choiceContextData: { values: {} }, disclosedContracts: [] },
      });
    },
  );

  describe("not found", () => {
    test.each(choices(unknown, unknown).map((path) => [verbOf(path), path]))(
      "%s of an unknown contract",
      async (_what, path) => {
        expect(short(await running.post(path, {}))).toEqual(failure(404, unknown));
      },
    );

    test.each(choices(allocated, offered).map((path) => [verbOf(path), path]))(
      "%s of a contract of another template",
      async (_what, path) => {
        expect(short(await running.post(path, {}))).toEqual(failure(404));
      },
    );

    test.each(choices(offered, allocated, pathTo(party("tea-club"))))("%s of another registrar", async (path) => {
      expect(short(await running.post(path, {}))).toEqual(failure(404, party("tea-club")));
    });
  });

  test.each(["accept", "withdraw"])("allocation instructions do not exist: %s", async (verb) => {
    const answer = await running.post(`${registry}/allocation-instruction/v2/${offered}/choice-contexts/${verb}`, {});
    expect(short(answer)).toEqual(failure(404, "minimal token", `allocation-instruction/${verb}`));
  });

  describe("the operations of the Registry Utility", () => {
    const utility = "/api/utilities/v0";
    const holding = { holder: alice, instrumentId: { admin, id: "BEAN" } };
    const contexts = (["mint", "burn"] as const).flatMap((what) =>
      ["offer", "request"].flatMap((form) =>
        ["accept", "reject", "cancel"].map(
          (verb) => `${utility}/registry/${what}/v0/${form}/${offered}/choice-contexts/${verb}`,
        ),
      ),
    );
    const posts: [path: string, body: JsonObject][] = [
      [`${utility}/registry/mint/v0/offer`, holding],
      [`${utility}/registry/mint/v0/request`, holding],
      [`${utility}/registry/burn/v0/offer`, holding],
      [`${utility}/registry/burn/v0/request`, { ...holding, holdingContractIds: [offered] }],
      [
        `${utility}/registry/burn-mint-instruction/v0/burn-mint-factory`,
        { instrumentId: holding.instrumentId, inputHoldingCids: [], outputs: [{ owner: alice, amount: "1.0" }] },
      ],
      [
        `${utility}/contract/instrument-configuration`,
        { registrar: admin, instrumentIdentifier: { source: admin, id: "BEAN", scheme: "Minimal" } },
      ],
      [
        `${utility}/registry/transfer/v0/proof`,
        {
          updateId: "1220",
          transfer: {
            sender: alice,
            receiver: bob,
            amount: "1.0",
            instrumentId: holding.instrumentId,
            requestedAt: "2026-06-01T00:00:00Z",
            executeBefore: "2026-06-02T00:00:00Z",
            inputHoldingCids: [offered],
            meta: { values: {} },
          },
        },
      ],
      ...contexts.map((path): [string, JsonObject] => [path, {}]),
    ];

    test.each(posts.map(([path, body]) => [verbOf(path), path, body] as const))(
      "POST %s is not had",
      async (_what, path, body) => {
        const { status, body: answer } = await running.post(path, body);
        expect({ status, ...(answer as JsonObject) }).toEqual({
          ...utilityFailure(404, "minimal token"),
          error: "not_found",
        });
      },
    );

    test.each(["/operator", "/contract/instrument-configuration/all"])("GET %s is not found", async (path) => {
      const { status, body } = await running.get(utility + path);
      expect({ status, ...(body as JsonObject) }).toEqual({
        ...utilityFailure(404, "minimal token"),
        error: "not_found",
      });
    });

    test("an invalid request is rejected first", async () => {
      expect(await running.post(`${utility}/registry/mint/v0/offer`, {})).toMatchObject({ status: 400 });
    });

    test("all packages are listed", async () => {
      const [, id] = /"templateId":"(\w+):/.exec(JSON.stringify(elements[0])) ?? [];
      const { status, body } = await running.get(`${utility}/package/all`);
      expect({ status, body }).toEqual({ status: 200, body: { packages: [{ name: "minimal-token-v1", id }] } });
    });

    test("the OpenAPI document is served", async () => {
      expect(await running.get(`${utility}/openapi`)).toMatchObject({ status: 200, body: { openapi: "3.0.3" } });
    });
  });
});

const bean = (more: JsonObject = {}): JsonObject => ({
  admin,
  symbol: "BEAN",
  name: "Coffee beans",
  decimals: "0",
  ...more,
});

describe("with single contracts", () => {
  const config = { registry: "minimal" };

  test("contracts in reassignment are listed but not disclosed", async () => {
    const { inReassignment } = createElements(1000);
    const small = await serving(
      [
        inReassignment(rules, "rules of the coffee club", bean()),
        inReassignment(transferInstruction, "beans to bob", { admin }),
        inReassignment(allocation, "beans for a trade", { admin }),
      ],
      { config },
    );
    const factories: [string, JsonObject][] = [
      [transferFactory("v1"), transfer(alice, bob)],
      [allocationFactory("v1"), { choiceArguments: allocationArguments }],
      [settlementFactory(), { choiceArguments: settlementArguments }],
    ];
    for (const [path, body] of factories) expect(short(await small.post(path, body))).toEqual(failure(409, rulesId));
    for (const path of choices(offered, allocated)) {
      expect(short(await small.post(path, {}))).toEqual(failure(409, path.includes(offered) ? offered : allocated));
    }
    expect(await small.get(`${registry}/metadata/v1/instruments`)).toMatchObject({
      status: 200,
      body: { instruments: [{ id: "BEAN" }] },
    });
  });

  test("the newer of two Rules contracts is the factory", async () => {
    const { active } = createElements(1000);
    const small = await serving(
      [active(rules, "old", bean({ name: "Beans" })), active(rules, "new", bean({ name: "Better beans" }))],
      { config },
    );
    const [, newer] = [contractId("old"), contractId("new")];
    expect(short(await small.post(transferFactory("v1"), transfer(alice, bob)))).toMatchObject({
      factoryId: newer,
      disclosed: [newer],
    });
    expect(await small.get(`${registry}/metadata/v1/instruments`)).toMatchObject({
      body: { instruments: [{ name: "Better beans" }] },
    });
  });
});
