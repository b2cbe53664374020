/**
 * A group whose only factories are known to be older than utility-registry-app-v0 0.9.0 has no version 2 of the token
 * standard: the factories of version 2 and the settlement factory are not found, and /info does not list version 2.
 */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { onAllocation, onTransfer, info, instrument } from "../fixtures/calls/operations.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { askOver, refused, restAndGrpc, shortOutcome } from "../fixtures/outcomes.js";
import type { Call, Protocol } from "../fixtures/protocols.js";
import { useRegistry } from "../fixtures/registries.js";
import { groupElements, partyElements, rowsOf } from "./table.js";

/** The published packages of utility-registry-app-v0. */
const APP_0_7_0 = "7a75ef6e69f69395a4e60919e228528bb8f3881150ccfde3f31bcc73864b18ab";
const APP_0_1_0 = "98cdf68988bc8987227e90905458779957b3687d6a067b2314e7a4c9fe9f33fa";
const UNKNOWN = "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";

const { factories, creations, onInstructions } = rowsOf("");
const needsVersion2 = ({ name }: { readonly name: string }): boolean =>
  /^v2 (transfer|allocation)-factory|^settlement/.test(name);
const ofVersion2 = factories.filter(needsVersion2);
const others = [...factories.filter((row) => !needsVersion2(row)), ...creations, ...onInstructions];

const approves = (packageId: string): JsonObject =>
  element("TransferPreapproval", "carol-approves", payload.preapproval("carol", ["USD"]), { packageId });
const elementsOf = (packageId: string, preapproval = approves(packageId)): JsonObject[] => [
  ...groupElements("", {}, {}, { packageId }),
  ...partyElements.filter((one) => !JSON.stringify(one).includes('"contractId":"carol-approves"')),
  preapproval,
];

const VERSION_1 = [
  "splice-api-token-allocation-instruction-v1",
  "splice-api-token-allocation-request-v1",
  "splice-api-token-allocation-v1",
  "splice-api-token-holding-v1",
  "splice-api-token-metadata-v1",
  "splice-api-token-transfer-instruction-v1",
];
const VERSION_2 = [
  "splice-api-token-allocation-instruction-v2",
  "splice-api-token-allocation-request-v2",
  "splice-api-token-allocation-v2",
  "splice-api-token-holding-v2",
  "splice-api-token-transfer-events-v2",
  "splice-api-token-transfer-instruction-v2",
];

const BOTH = [...VERSION_1, ...VERSION_2].toSorted();

/** The APIs of the registrar, and those of its instrument. */
async function supportedApis(send: Protocol, url: string): Promise<readonly string[][]> {
  const calls = [info(parties.registrar), instrument(parties.registrar, "USD")];
  const outcomes = await Promise.all(calls.map((call) => send(url, call)));
  return outcomes.map((outcome) => {
    const { supportedApis: apis } = (outcome.ok ? outcome.answer : {}) as { supportedApis?: object };
    return Object.keys(apis ?? {}).toSorted();
  });
}

test("the rows", () => {
  expect(ofVersion2.map(({ name }) => name)).toEqual([
    "v2 transfer-factory, offer",
    "v2 transfer-factory, direct",
    "v2 transfer-factory, self",
    "v2 allocation-factory",
    "settlement-factory",
  ]);
  expect(others).toHaveLength(32);
});

describe.each(restAndGrpc)("over %s", (_protocol, send) => {
  const ask = askOver(send);

  describe.each([
    ["0.7.0", APP_0_7_0, {}],
    ["0.1.0", APP_0_1_0, {}],
    ["0.8.9, as the contexts file says", UNKNOWN, { contexts: { packages: { [UNKNOWN]: "0.8.9" } } }],
  ])("a group of version %s", (_version, packageId, options) => {
    const url = useRegistry(elementsOf(packageId), options);
    const answerTo = async (call: Call) => shortOutcome(await send(url(), call));

    test.each(ofVersion2)("has no $name, and the sentence says why", async ({ call }) => {
      expect(await answerTo(call)).toEqual(refused(404, "version 2", "0.9.0", "version 1"));
    });

    test.each(others)("has $name", async ({ call, disclosed }) => {
      expect(await answerTo(call)).toMatchObject({ disclosed });
    });

    test("lists version 1 alone, with the packages that have no HTTP side", async () => {
      expect(await supportedApis(send, url())).toEqual([VERSION_1, VERSION_1]);
    });
  });

  describe.each<[string, string, JsonObject]>([
    ["an unknown one", UNKNOWN, {}],
    ["0.9.0", UNKNOWN, { packages: { [UNKNOWN]: "0.9.0" } }],
    ["0.7.0, which the contexts file calls 0.10.0", APP_0_7_0, { packages: { [APP_0_7_0]: "0.10.0" } }],
  ])("a group of a version with version 2: %s", (_what, packageId, contexts) => {
    const url = useRegistry(elementsOf(packageId), { contexts });

    test.each([...ofVersion2, ...others])("has $name", async ({ call, disclosed }) => {
      expect(shortOutcome(await send(url(), call))).toMatchObject({ disclosed });
    });

    test("lists both versions", async () => {
      expect(await supportedApis(send, url())).toEqual([BOTH, BOTH]);
    });
  });

  test("an older factory of the group is passed over for version 2 alone", async () => {
    const newer = { packageId: APP_0_7_0, createdAt: "2026-02-05T09:00:00.000000Z" };
    const elements = [...elementsOf(UNKNOWN), element("AllocationFactory", "old-package", payload.service(), newer)];
    for (const { name, call } of factories.filter((row) => !row.name.includes("direct")))
      expect({ name, ...(await ask(elements, call)) }).toMatchObject({
        factoryId: needsVersion2({ name }) ? "factory" : "old-package",
      });
  });

  test("a preapproval of an old package leaves a transfer of version 2 an offer", async () => {
    const elements = elementsOf(UNKNOWN, approves(APP_0_7_0));
    const [v1, v2] = ["v1", "v2"].map((version) =>
      factories.find(({ name }) => name === `${version} transfer-factory, direct`),
    );
    expect(v1 && (await ask(elements, v1.call))).toMatchObject({ transferKind: "direct", factoryId: "carol-approves" });
    expect(v2 && (await ask(elements, v2.call))).toMatchObject({ transferKind: "offer", factoryId: "factory" });
  });

  describe("a registrar with an old group, and a current one with other instruments", () => {
    const current = groupElements("-2", { provider: "provider-2::1220" }, {}, { packageId: UNKNOWN });
    const url = useRegistry([
      ...elementsOf(APP_0_7_0),
      ...(JSON.parse(JSON.stringify(current).replaceAll('"id":"USD"', '"id":"EUR"')) as JsonObject[]),
    ]);

    test("lists both versions", async () => {
      expect(await supportedApis(send, url())).toEqual([BOTH, BOTH]);
    });

    test.each(ofVersion2)("has no $name of the old group", async ({ call }) => {
      expect(shortOutcome(await send(url(), call))).toEqual(refused(404, "version 2", "0.7.0"));
    });

    test.each(ofVersion2)("has $name of the current group", async ({ call, name }) => {
      const text = JSON.stringify({ body: call.body, request: call.request })
        .replaceAll('"USD"', '"EUR"')
        .replaceAll('"allocation"', '"allocation-2"')
        .replaceAll('"allocation-2":{', '"allocation":{');
      const answer = shortOutcome(
        await send(url(), { ...call, ...(JSON.parse(text) as Pick<Call, "body" | "request">) }),
      );
      expect({ name, answer }).toMatchObject({ name, answer: { factoryId: "factory-2" } });
    });
  });

  test("the choices of version 2 depend on an instruction, not on a factory", async () => {
    for (const call of [onTransfer("v2", "accept", "offer"), onAllocation("v2", "cancel", "allocation")])
      expect(await ask(elementsOf(APP_0_7_0), call)).not.toHaveProperty("code");
  });
});
