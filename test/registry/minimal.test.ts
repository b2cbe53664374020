/** The minimal registry, with its demo snapshot and with single contracts. */
import { expect, onTestFinished, test } from "vitest";
import { contractId, createElements, party } from "../../demo/element.js";
import { allocation, elements, rules, transferInstruction } from "../../demo/minimal.js";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { answer, RefusedRequest, TEST_OPERATIONS, type TestRequest } from "../../src/testing/answer.js";
import { utilityFailure } from "../fixtures/context.js";
import { tableOf } from "../fixtures/in-memory.js";
import { registry as pathTo, serveFile } from "../fixtures/run-service.js";

const [admin, tea, alice, bob] = ["coffee-club", "tea-club", "alice", "bob"].map(party) as [
  string,
  string,
  string,
  string,
];
const [rulesId, offer, allocated] = ["rules of the coffee club", "beans to bob", "beans for a trade"].map(contractId);
const table = tableOf("minimal.yaml");

const instrumentId = { admin, id: "BEAN" };
const leg = { sender: alice, receiver: bob, amount: "1.0", instrumentId };
const factoryArguments: Readonly<Record<string, JsonObject>> = {
  "transfer-factory": { transfer: leg },
  "allocation-factory": { allocation: { transferLeg: leg } },
  "settlement-factory": {
    transferLegs: [{ ...leg, sender: { owner: alice }, receiver: { owner: bob }, instrumentId: "BEAN" }],
    allocations: [],
  },
};

/** The answer to an operation of a version, or its status, code and message. */
async function outcome(name: string, given = elements): Promise<unknown> {
  const [operation, version] = name.split(" ") as [TestRequest["operation"], TestRequest["version"]];
  const choiceArguments = factoryArguments[operation];
  const id = operation.startsWith("allocation/") ? allocated : offer;
  const request = {
    operation,
    version,
    registrar: admin,
    ...(choiceArguments === undefined
      ? { contractId: id, meta: {} }
      : { choiceArguments: { expectedAdmin: admin, ...choiceArguments } }),
  };
  try {
    return await answer(table, given, request);
  } catch (error) {
    if (!(error instanceof RefusedRequest)) throw error;
    return `${error.status} ${error.code} ${error.message}`;
  }
}

/** Each operation in each of its versions. */
const inVersions = TEST_OPERATIONS.filter((name) => !/^(instruments|allocation-instruction\/)/.test(name)).flatMap(
  (name) =>
    ["v1", "v2"]
      .filter((version) => `${name} ${version}` !== "settlement-factory v1")
      .filter((version) => `${name} ${version}` !== "allocation/execute-transfer v2")
      .map((version) => `${name} ${version}`),
);
const factories = inVersions.filter((name) => name.includes("factory"));
const choices = inVersions.filter((name) => name.includes("/"));
const all = (names: readonly string[], expected: unknown) => Object.fromEntries(names.map((name) => [name, expected]));
const outcomes = async (names: readonly string[], given?: readonly JsonObject[]) =>
  Object.fromEntries(await Promise.all(names.map(async (name) => [name, await outcome(name, given)] as const)));

test("each factory is the rules, each choice needs no context", async () => {
  const context = (ids: readonly unknown[]) => ({
    values: {},
    disclosed: ids.map((id) => expect.objectContaining({ contractId: id }) as unknown),
  });
  expect([factories.length, choices.length]).toEqual([5, 11]);
  const answers = await outcomes(factories);
  expect(answers).toMatchObject(all(factories, { factory: rulesId, ...context([rulesId]) }));
  expect(answers["transfer-factory v1"]).toMatchObject({ transferKind: "offer" });
  expect(await outcomes(choices)).toEqual(all(choices, context([])));
});

const bean = (name: string): JsonObject => ({ admin, symbol: "BEAN", name, decimals: "0" });

test("contracts in reassignment are listed but not disclosed", async () => {
  const { inReassignment } = createElements(1000);
  const moves = (what: string): unknown => expect.stringMatching(new RegExp(`^409 ${what}-moving `));
  const moving = [
    inReassignment(rules, "rules of the coffee club", bean("Beans")),
    inReassignment(transferInstruction, "beans to bob", { admin }),
    inReassignment(allocation, "beans for a trade", { admin }),
  ];
  expect(await outcomes(factories, moving)).toEqual(all(factories, moves("contract")));
  expect(await outcomes(choices, moving)).toEqual(all(choices, moves("instruction")));
  const listed = await answer(table, moving, { operation: "instruments", registrar: admin });
  expect(listed).toMatchObject({ instruments: [{ id: "BEAN" }] });
});

test("the newer of two Rules contracts is the factory", async () => {
  const { active } = createElements(1000);
  const two = [active(rules, "old", bean("Beans")), active(rules, "new", bean("Better beans"))];
  expect(await outcome("transfer-factory v1", two)).toMatchObject({ factory: contractId("new") });
  const listed = await answer(table, two, { operation: "instruments", registrar: admin });
  expect(listed).toMatchObject({ instruments: [{ name: "Better beans" }] });
});

test("of Rules contracts on several synchronizers, the one on that which a wallet names is the factory", async () => {
  const two = ["A", "B"].map((id, hour) => ({
    template: ":Rules",
    contractId: id,
    synchronizerId: `sync-${id}`,
    createdAt: `2026-01-0${hour + 1}T00:00:00Z`,
    payload: bean("Beans"),
  }));
  const named = async (_targetSynchronizerId?: JsonValue) => {
    const { transfer } = factoryArguments["transfer-factory"] as { transfer: JsonObject };
    const choiceArguments = { transfer, ...(_targetSynchronizerId !== undefined && { _targetSynchronizerId }) };
    return answer(table, two, { operation: "transfer-factory", registrar: admin, choiceArguments });
  };
  expect(await named()).toMatchObject({ factory: "B" });
  expect(await named("sync-A")).toMatchObject({ factory: "A" });
  expect(await named("sync-C")).toMatchObject({ factory: "B" });
  await expect(named(7)).rejects.toMatchObject({ status: 400 });
});

test("it is served with its demo, and has no operation of the Registry Utility but the list of packages", async () => {
  const running = await serveFile(undefined, { config: { registry: "minimal" } });
  onTestFinished(() => running.close());
  const found = await running.get(`${pathTo(admin)}/metadata/v1/instruments/BEAN`);
  expect(found).toMatchObject({ status: 200, body: { name: "Coffee beans", symbol: "BEAN", decimals: 0 } });
  expect(await running.get(`${pathTo(admin)}/metadata/v1/info`)).toMatchObject({
    status: 200,
    body: { adminId: admin },
  });
  expect(await running.get(`${pathTo(tea)}/metadata/v1/info`)).toMatchObject({ status: 404 });
  const utility = "/api/utilities/v0";
  const [, id] = /"templateId":"(\w+):/.exec(JSON.stringify(elements[0])) ?? [];
  const packages = { packages: [{ name: "minimal-token-v1", id }] };
  expect(await running.get(`${utility}/package/all`)).toMatchObject({ status: 200, body: packages });
  const mint = { holder: alice, instrumentId };
  for (const { status, body } of [
    await running.post(`${utility}/registry/mint/v0/offer`, mint),
    await running.post(`${utility}/registry/burn/v0/request/${offer}/choice-contexts/accept`, {}),
    await running.get(`${utility}/operator`),
    await running.get(`${utility}/contract/instrument-configuration/all`),
  ])
    expect({ status, ...(body as JsonObject) }).toEqual({
      ...utilityFailure(404, "minimal token"),
      error: "not_found",
    });
  // What is malformed is rejected first.
  expect(await running.post(`${utility}/registry/mint/v0/offer`, {})).toMatchObject({ status: 400 });
});
