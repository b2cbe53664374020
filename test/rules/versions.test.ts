/**
 * A group whose only factories are known to be older than utility-registry-app-v0 0.9.0 has no version 2 of the token
 * standard: the factories of version 2 and the settlement factory are not found. One of unknown version is served with version
 * 2 as well. What /info lists: test/registry/utility.test.ts.
 */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/util/json.js";
import { element, payload } from "../fixtures/elements.js";
import { refused, type RulesOptions, rulesOn } from "../fixtures/rules.js";
import { groupElements, partyElements, type Row, rowsOf, without } from "./table.js";

/** The published packages of utility-registry-app-v0. */
const APP_0_7_0 = "7a75ef6e69f69395a4e60919e228528bb8f3881150ccfde3f31bcc73864b18ab";
const APP_0_1_0 = "98cdf68988bc8987227e90905458779957b3687d6a067b2314e7a4c9fe9f33fa";
const UNKNOWN = "f".repeat(64);

const { factories, creations, onInstructions } = rowsOf("");
const needsVersion2 = ({ name }: Row): boolean => /^v2 (transfer|allocation)-factory|^settlement/.test(name);
const ofVersion2 = factories.filter(needsVersion2);
const others = [...factories.filter((row) => !needsVersion2(row)), ...creations, ...onInstructions];

/** The group and the preapproval of carol, of packages. */
const elementsOf = (packageId: string, ofPreapproval = packageId): JsonObject[] => [
  ...groupElements("", {}, {}, { packageId }),
  ...without("carol-approves", partyElements),
  element("TransferPreapproval", "carol-approves", payload.preapproval("carol", ["USD"]), { packageId: ofPreapproval }),
];

describe.each<[string, string, RulesOptions, boolean]>([
  ["0.7.0", APP_0_7_0, {}, false],
  ["0.1.0", APP_0_1_0, {}, false],
  ["0.8.9, as the contexts file says", UNKNOWN, { contexts: { packages: { [UNKNOWN]: "0.8.9" } } }, false],
  ["unknown", UNKNOWN, {}, true],
  ["0.9.0, as the contexts file says", UNKNOWN, { contexts: { packages: { [UNKNOWN]: "0.9.0" } } }, true],
  [
    "0.7.0, which the contexts file calls 0.10.0",
    APP_0_7_0,
    { contexts: { packages: { [APP_0_7_0]: "0.10.0" } } },
    true,
  ],
])("a group of version %s", (_version, packageId, options, hasVersion2) => {
  const rules = rulesOn(elementsOf(packageId), options);

  test.each([...ofVersion2, ...others])("$name", async (row) => {
    const expected = { disclosed: row.disclosed };
    const isThere = hasVersion2 || !needsVersion2(row);
    expect(await rules.ask(row.call)).toMatchObject(
      isThere ? expected : refused(404, "version 2", "0.9.0", "version 1"),
    );
  });
});

test("an older factory of the group is passed over for version 2 alone", async () => {
  const newer = { packageId: APP_0_7_0, createdAt: "2026-02-05T09:00:00.000000Z" };
  const rules = rulesOn([
    ...elementsOf(UNKNOWN),
    element("AllocationFactory", "old-package", payload.service(), newer),
  ]);
  for (const row of factories.filter(({ name }) => !name.includes("direct")))
    expect({ name: row.name, ...(await rules.ask(row.call)) }).toMatchObject({
      factoryId: needsVersion2(row) ? "factory" : "old-package",
    });
});

test.each([
  ["v1", { transferKind: "direct", factoryId: "carol-approves" }],
  ["v2", { transferKind: "offer", factoryId: "factory" }],
])("a preapproval of an old package leaves a transfer of version 2 an offer: %s", async (version, expected) => {
  const rules = rulesOn(elementsOf(UNKNOWN, APP_0_7_0));
  const direct = factories.filter(({ name }) => name === `${version} transfer-factory, direct`);
  expect(await Promise.all(direct.map(({ call }) => rules.ask(call)))).toMatchObject([expected]);
});
