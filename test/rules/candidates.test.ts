/** Which of several candidates is selected, and which contracts are candidates. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { transferFactory, transferV1 } from "../fixtures/requests.js";
import { short } from "../fixtures/context.js";
import { element, type Options, payload, type Template } from "../fixtures/elements.js";
import { registryOf, serving } from "../fixtures/registries.js";
import { type ServeOptions, WITH_REWARDS } from "../fixtures/run-service.js";

const older: Options = { createdAt: "2026-01-01T00:00:00.000000Z" };
const newer: Options = { createdAt: "2026-01-02T00:00:00.000000Z" };

/** The contracts of the context of alice's transfer to herself, and the factory. */
async function named(elements: JsonObject[], options?: ServeOptions): Promise<Record<string, unknown>> {
  const running = await serving(elements, options);
  const { factoryId, values } = short(await running.post(transferFactory(), transferV1("alice", "alice")));
  const byName = values as Record<string, { value: unknown }>;
  const of = (entry: string) => byName[`utility.digitalasset.com/${entry}`]?.value;
  return {
    factory: factoryId,
    configuration: of("instrument-configuration"),
    rule: of("transfer-rule"),
    reward: of("app-reward-configuration"),
    right: of("featured-app-right"),
  };
}

const usual = { factory: "factory", configuration: "usd", rule: "rule" };
const rewarded = { ...usual, reward: "reward", right: "right" };

const kinds: [name: keyof typeof rewarded, template: Template, argument: JsonObject, options: ServeOptions][] = [
  ["factory", "AllocationFactory", payload.service(), {}],
  ["configuration", "InstrumentConfiguration", payload.configuration("USD"), {}],
  ["rule", "TransferRule", payload.service(), {}],
  ["reward", "AppRewardConfiguration", payload.reward(), WITH_REWARDS],
  ["right", "FeaturedAppRight", payload.right(), WITH_REWARDS],
];

describe.each(kinds)("of two candidates for the %s", (name, template, argument, options) => {
  const expected = (id: string) => ({ ...(options === WITH_REWARDS ? rewarded : usual), [name]: id });
  const two = (first: JsonObject, second: JsonObject): JsonObject[] => registryOf({ [name]: undefined }, first, second);

  test("the newest wins, whatever the ids and the order of the file", async () => {
    const old = element(template, "a", argument, older);
    const young = element(template, "b", argument, newer);
    expect(await named(two(old, young), options)).toEqual(expected("b"));
    expect(await named(two(young, old), options)).toEqual(expected("b"));
    const youngFirstById = element(template, "A", argument, newer);
    expect(await named(two(old, youngFirstById), options)).toEqual(expected("A"));
  });

  test("creation times are compared by microseconds", async () => {
    const old = element(template, "a", argument, { createdAt: "2026-01-01T00:00:00.000001Z" });
    const young = element(template, "b", argument, { createdAt: "2026-01-01T00:00:00.000002Z" });
    expect(await named(two(old, young), options)).toEqual(expected("b"));
  });

  test("the lower contract id wins a tie, whatever the order of the file", async () => {
    const lower = element(template, "00ab", argument);
    const higher = element(template, "00b", argument);
    expect(await named(two(lower, higher), options)).toEqual(expected("00ab"));
    expect(await named(two(higher, lower), options)).toEqual(expected("00ab"));
  });

  test("one of another package id counts", async () => {
    const upgraded = element(template, "upgraded", argument, { ...newer, packageId: "pkg-2" });
    const old = element(template, "old", argument, older);
    expect(await named(two(old, upgraded), options)).toEqual(expected("upgraded"));
  });

  test("one with the same qualified name in a package of another name is ignored", async () => {
    const foreign = element(template, "foreign", argument, { ...newer, packageName: "lookalike-v0" });
    const ours = element(template, "ours", argument, older);
    expect(await named(two(ours, foreign), options)).toEqual(expected("ours"));
  });
});

test.each([
  ["factory", "AllocationFactory"],
  ["rule", "TransferRule"],
] as const)("the %s of another registrar is not taken, though newer", async (_, template) => {
  const others = element(template, "others", payload.service({ registrar: "registrar-2::1220" }), {
    createdAt: "2026-02-01T00:00:00.000000Z",
  });
  expect(await named(registryOf({}, others))).toEqual(usual);
});

test("another registrar's newer configuration with the same id is ignored", async () => {
  const argument = payload.configuration("USD", { registrar: "registrar-2::1220" });
  const others = element("InstrumentConfiguration", "others", argument, { createdAt: "2026-02-01T00:00:00.000000Z" });
  expect(await named(registryOf({}, others))).toEqual(usual);
});

test("the newest preapproval that covers the instrument is the factory", async () => {
  const running = await serving(
    registryOf(
      {},
      element("TransferPreapproval", "old", payload.preapproval("bob", ["USD"]), older),
      element("TransferPreapproval", "young", payload.preapproval("bob", []), newer),
    ),
  );
  const answer = short(await running.post(transferFactory(), transferV1("alice", "bob")));
  expect(answer).toMatchObject({ factoryId: "young", transferKind: "direct" });
});
