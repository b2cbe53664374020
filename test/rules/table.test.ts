/** Every operation has the context of its row in the specification's table: the keys in order, and what it discloses. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/util/json.js";
import { onAllocationInstruction } from "../fixtures/calls/operations.js";
import { resultContracts } from "../fixtures/context.js";
import { element, parties, payload } from "../fixtures/elements.js";
import type { Call } from "../fixtures/protocols.js";
import { refused, REWARDS, rulesOn } from "../fixtures/rules.js";
import { onContract } from "./inputs.js";
import { complete, creations, ENABLED, factories, onInstructions, table, without } from "./table.js";

const PREFIX = "utility.digitalasset.com/";
const sorted = (texts: readonly string[]): string[] => texts.toSorted((a, b) => (a < b ? -1 : 1));

test("the table has every operation", () => {
  expect(table).toHaveLength(10 + 4 + 6 + 5 + 12);
  expect(table.filter(({ needsBlocklist }) => needsBlocklist)).toHaveLength(10 + 4 + 2 + 1 + 4);
  expect(table.filter(({ keys }) => keys.includes(ENABLED))).toHaveLength(5 + 4 + 8);
});

describe("the context with rewards", () => {
  const rules = rulesOn(complete(), REWARDS);

  test.each(table)("of $name", async ({ call, keys, disclosed, rewardKeys = [] }) => {
    const answer = await rules.context(call);
    const rewards = rewardKeys.length === 0 ? [] : ["reward", "right"];
    expect(sorted(answer.keys)).toEqual(sorted([...keys, ...rewardKeys]));
    expect(answer.disclosed).toEqual(sorted([...disclosed, ...rewards]));
  });
});

describe("the context with bare names", () => {
  const rules = rulesOn(complete(), {
    contexts: { changes: [{ set: { key: ["utility.digitalasset.com/*", "*"] } }] },
  });

  test.each(table)("of $name", async (row) => {
    const { keys, values, disclosed } = await rules.context(row.call);
    expect(keys).toEqual(row.keys.flatMap((key) => [key, key.replace(PREFIX, "")]));
    for (const key of row.keys) expect(values[key.replace(PREFIX, "")]).toEqual(values[key]);
    expect(disclosed).toEqual(row.disclosed);
  });
});

/** What some operations need and others do without, how a refusal names it, and which keys stay without it. */
const missable = [
  {
    contractId: "usd",
    named: 'InstrumentConfiguration of instrument "USD"',
    // Only a transfer to oneself and exits go on: the former with the rule alone.
    written: (key: string, name: string) => !name.endsWith("self") || key.endsWith("/transfer-rule"),
  },
  { contractId: "rule", named: "TransferRule", written: (key: string) => !key.endsWith("/transfer-rule") },
  { contractId: "locked", named: "locked holding locked", written: () => true },
] as const;

describe.each(missable)("without $contractId", ({ contractId, named, written }) => {
  const rules = rulesOn(without(contractId, complete()));
  // Without a rule there is no direct transfer: see transfers.test.ts.
  const rows = table.filter(({ name }) => !/direct/.test(name));
  // Without a configuration nobody needs credentials.
  const isKept = (id: string) => id !== contractId && (contractId !== "usd" || !/-(holds|issues)$/.test(id));

  test.each(rows.filter(({ needs }) => needs.includes(contractId)))("there is no $name", async ({ call }) => {
    expect(await rules.ask(call)).toEqual(refused(404, named));
  });

  test.each(rows.filter(({ needs }) => !needs.includes(contractId)))("it is left out: $name", async (row) => {
    const { keys, disclosed } = await rules.context(row.call);
    expect(keys).toEqual(row.keys.filter((key) => written(key, row.name)));
    expect(disclosed).toEqual(row.disclosed.filter(isKept));
  });
});

describe.each<[string, JsonObject, boolean | undefined]>([
  ["is false", { enableResultContracts: false }, false],
  ["is null", { enableResultContracts: null }, undefined],
  ["is absent", {}, undefined],
])("if enableResultContracts %s", (_value, more, written) => {
  const service = element("RegistrarService", "service", payload.service(more));
  const rules = rulesOn([...without("service", complete()), service]);

  test.each(table.filter(({ keys }) => keys.includes(ENABLED)))("$name", async (row) => {
    const { keys, values, disclosed } = await rules.context(row.call);
    expect(keys).toEqual(written === undefined ? row.keys.filter((key) => key !== ENABLED) : row.keys);
    expect(values).toMatchObject(written === undefined ? {} : resultContracts(written));
    expect(disclosed).toEqual(row.disclosed);
  });
});

describe.each<[string, JsonObject]>([
  ["as the table says", {}],
  ["that is paused, as its name", { isPaused: "Paused" }],
  ["that is paused, as an object", { isPaused: {} }],
  ["that is paused, as true", { isPaused: true }],
  ["that checks no blocklist", { checkBlocklist: false }],
  ["that does not say whether it checks a blocklist", { checkBlocklist: null, isPaused: null }],
])("an instrument %s", (_what, more) => {
  const rules = rulesOn(complete(more));

  test.each(table)("$name", async ({ call, keys, disclosed }) => {
    expect(await rules.context(call)).toMatchObject({ keys, disclosed });
  });
});

describe("an instrument that checks a blocklist", () => {
  const rules = rulesOn(complete({ checkBlocklist: true }));

  test.each(table)("$name", async ({ call, disclosed, needsBlocklist }) => {
    const isBad = refused(400, 'instrument "USD"', parties.registrar, "checkBlocklist");
    expect(await rules.ask(call)).toMatchObject(needsBlocklist ? isBad : { disclosed });
  });
});

describe("a registrar without a factory", () => {
  const rules = rulesOn(without("factory", complete()));

  test.each(onInstructions)("still answers for a known instruction: $name", async ({ call, keys, disclosed }) => {
    expect(await rules.context(call)).toMatchObject({ keys, disclosed });
  });

  test.each([...factories, ...creations])("is not served: $name", async ({ call }) => {
    expect(await rules.ask(call)).toEqual(refused(404, `registrar ${parties.registrar} is not served here`));
  });
});

describe("what is not the instruction of a choice is not found", () => {
  const other = "registrar-2::1220";
  const ofPath = encodeURIComponent;
  const rules = rulesOn([
    ...complete(),
    element("AllocationFactory", "of-other", payload.service({ registrar: other })),
  ]);
  const ids = ["offer", "allocation", "mint-offer", "mint-request", "burn-offer", "burn-request"];

  test.each(onInstructions)("$name", async ({ call }) => {
    const own = ids.find((id) => call.path.includes(`/${id}/choice-contexts`)) ?? "";
    for (const id of ["00ff", "locked", "usd", ...ids.filter((one) => one !== own)])
      expect(await rules.ask(onContract(call, own, id))).toEqual(refused(404, id, "is not known here"));
  });

  const named = onInstructions.filter(({ call }) => call.path.includes(ofPath(parties.registrar)));
  test.each(named)("$name, of another registrar", async ({ call }) => {
    const path = call.path.replace(ofPath(parties.registrar), ofPath(other));
    expect(await rules.ask({ ...call, path })).toEqual(refused(404, other, "is not known here"));
  });
});

describe("an unknown registrar is not served", () => {
  const rules = rulesOn(complete());
  const nobody = "nobody::1220";
  const theirs = (call: Call): Call => {
    const { path, body, request } = call;
    const text = JSON.stringify({ path, body, request })
      .replaceAll(parties.registrar, nobody)
      .replaceAll(encodeURIComponent(parties.registrar), encodeURIComponent(nobody));
    return { ...call, ...(JSON.parse(text) as Pick<Call, "path" | "body" | "request">) };
  };
  const onPath = onInstructions.filter(({ call }) => call.path.includes(encodeURIComponent(parties.registrar)));
  const pending = (["accept", "withdraw"] as const).map((choice) => ({
    name: `allocation instruction ${choice}`,
    call: onAllocationInstruction(choice, "00ff"),
  }));

  test.each([...factories, ...creations, ...onPath, ...pending])("$name", async ({ call }) => {
    expect(await rules.ask(theirs(call))).toEqual(refused(404, `registrar ${nobody} is not served here`));
  });
});
