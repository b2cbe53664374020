/** Everything of one answer names one operator, one provider and one registrar: the ledger refuses a mixed set. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/util/json.js";
import type { ContractSource, OnLedger } from "../../src/domain/ledger.js";
import { element, type Options, parties, payload } from "../fixtures/elements.js";
import { settlementFactory, transferFactory } from "../fixtures/calls/operations.js";
import { holdingOnLedger } from "../fixtures/in-memory.js";
import { account, leg, settlement, transferV1 } from "../fixtures/requests.js";
import { ask, refused, rulesOn } from "../fixtures/rules.js";
import { withInputs } from "./inputs.js";
import { complete, type GroupNames, groupElements, type Row, rowsOf, without } from "./table.js";

const older: Options = { createdAt: "2026-01-01T09:00:00.000000Z" };
const newer: Options = { createdAt: "2026-02-05T09:00:00.000000Z" };
const [first, second] = [rowsOf(""), rowsOf("-2")];
const keysOf = ({ values }: JsonObject): string[] => Object.keys(values as JsonObject);
const expectRow = (answer: JsonObject, { keys, disclosed }: Row): void => {
  expect(answer).toMatchObject({ disclosed });
  expect(keysOf(answer)).toEqual(keys);
};
/** A direct transfer has the preapproval of an operator: see below. */
const withoutDirect = (rows: readonly Row[]): Row[] => rows.filter(({ name }) => !name.includes("direct"));
const isSettlement = ({ name }: Row): boolean => name === "settlement-factory";
const rowNamed = (rows: readonly Row[], name: string): Row => {
  const found = rows.find((row) => row.name === name);
  if (found === undefined) throw new Error(`no row ${name}`);
  return found;
};

const differences: readonly (readonly [string, GroupNames])[] = [
  ["another provider", { provider: "provider-2::1220" }],
  ["another operator", { operator: "operator-2::1220" }],
];

describe.each(differences)("a second group of %s under the registrar", (_what, names) => {
  describe.each([
    ["newer", newer],
    ["older", older],
  ])("and %s", (age, options) => {
    const rules = rulesOn([...complete(), ...groupElements("-2", names, {}, options)]);
    const answerTo = ({ call }: Pick<Row, "call">) => rules.ask(call);
    const [newest, other] = age === "newer" ? [second, first] : [first, second];

    test.each([...first.onInstructions, ...second.onInstructions])(
      "an instruction has its own group: $name ($disclosed)",
      async (row) => {
        expectRow(await answerTo(row), row);
      },
    );

    test.each([...first.factories, ...second.factories].filter(isSettlement))(
      "a settlement has the group of its allocations: $disclosed",
      async (row) => {
        expectRow(await answerTo(row), row);
      },
    );

    const unnamed = [...withoutDirect(newest.factories), ...newest.creations].filter((row) => !isSettlement(row));

    test.each(unnamed)("without inputs the newest configuration has the group: $name", async (row) => {
      expectRow(await answerTo(row), row);
    });

    test.each(unnamed)("inputs that are not known leave it: $name", async ({ call, ...row }) => {
      expectRow(await answerTo({ call: withInputs(call, ["00ff"]) }), { ...row, call });
    });

    const inputs = [newest === first ? "locked-2" : "locked"];
    const named = [...withoutDirect(other.factories), ...other.creations].filter(
      ({ name }) => /factory|burn request/.test(name) && name !== "settlement-factory",
    );

    test.each(named)("the first input that can be read has the group: $name", async ({ call, ...row }) => {
      expectRow(await answerTo({ call: withInputs(call, ["00ff", ...inputs]) }), { ...row, call });
    });
  });
});

describe("inputs that the ledger has not told in time", () => {
  const provider = "provider-2::1220";
  const two = [...complete(), ...groupElements("-2", { provider }, {}, newer)];
  const onLedger: ContractSource = {
    contracts: async () =>
      new Map<string, OnLedger>([
        ["00aa", "unread"],
        ["00bb", holdingOnLedger("00bb", "alice")],
        ["00cc", holdingOnLedger("00cc", "alice", { registrar: "registrar-2::1220" })],
        ["00dd", holdingOnLedger("00dd", "alice", { provider: "provider-3::1220" })],
      ]),
  };
  const rules = rulesOn(two, { onLedger });
  const groupless = rulesOn(without("usd", complete()), { onLedger });
  const named = [...withoutDirect(second.factories), ...second.creations].filter(
    ({ name }) => /factory/.test(name) && !/settlement-factory|burn-mint/.test(name),
  );

  test.each(named)("make an answer unavailable that they may decide: $name", async ({ call }) => {
    for (const inputs of [["00aa"], ["00ff", "00aa"], ["00cc", "00aa"], ["00aa", "00bb"]])
      expect(await rules.ask(withInputs(call, inputs))).toEqual(refused(503, "input holding 00aa", "retry"));
  });

  test.each(first.factories.filter(({ name }) => named.some((one) => one.name === name)))(
    "do not matter after one that decides: $name",
    async ({ call, ...row }) => {
      expectRow(await rules.ask(withInputs(call, ["00ff", "00bb", "00aa"])), { ...row, call });
    },
  );

  test("an input of a group that does not have the instrument decides nothing", async () => {
    const row = rowNamed(second.table, "v1 transfer-factory, offer");
    expectRow(await rules.ask(withInputs(row.call, ["00dd"])), row);
    expect(await rules.ask(withInputs(row.call, ["00dd", "00aa"]))).toEqual(refused(503, "input holding 00aa"));
  });

  test("do not matter where one group has the instrument", async () => {
    const one = rulesOn(complete(), { onLedger });
    for (const { call, ...row } of first.factories.filter(({ name }) => !name.includes("burn-mint"))) {
      expectRow(await one.ask(withInputs(call, ["00aa"])), { ...row, call });
    }
  });

  test("make a transfer to oneself of an instrument without configuration unavailable", async () => {
    const call = transferFactory("v1", transferV1("alice", "alice"));
    expect(await groupless.ask(withInputs(call, ["00aa"]))).toEqual(refused(503, "input holding 00aa"));
    expect(await groupless.context(withInputs(call, ["00bb", "00aa"]))).toMatchObject({
      disclosed: ["factory", "rule"],
    });
  });
});

test("where one group has the instrument, no input decides", async () => {
  const elements = [
    ...complete(),
    ...without("usd-2", groupElements("-2", { provider: "provider-2::1220" }, {}, newer)),
  ];
  const row = rowNamed(first.table, "v1 transfer-factory, offer");
  expectRow(await ask(elements, withInputs(row.call, ["locked-2"])), row);
});

test.each([
  ["factory", "v1 transfer-factory, offer", "AllocationFactory"],
  ["rule", "v1 transfer accept", "TransferRule"],
  ["usd", "v1 transfer accept", "InstrumentConfiguration"],
  ["usd", "mint offer accept", "InstrumentConfiguration"],
  ["rule", "v1 allocation execute-transfer", "TransferRule"],
])("that of another group does not replace a missing %s: %s", async (missing, name, named) => {
  const row = rowNamed(second.table, name);
  const elements = [
    ...complete(),
    ...without(`${missing}-2`, groupElements("-2", { provider: "provider-2::1220" }, {}, newer)),
  ];
  expect(await ask(elements, row.call)).toEqual(
    refused(404, named, `(operator ${parties.operator}, provider provider-2::1220)`),
  );
});

describe("a transfer to oneself of an instrument without a configuration", () => {
  const elements = [
    ...without("usd", complete()),
    ...without("usd-2", groupElements("-2", { provider: "provider-2::1220" }, {}, newer)),
  ];
  const { call } = rowNamed(first.table, "v2 transfer-factory, self");

  test.each([
    ["is of the newest factory", [], "-2"],
    ["is of the newest factory if no input can be read", ["00ff"], "-2"],
    ["is of the first input that can be read", ["00ff", "locked"], ""],
  ])("%s", async (_what, inputs, suffix) => {
    expect(await ask(elements, withInputs(call, inputs))).toMatchObject({
      factoryId: `factory${suffix}`,
      transferKind: "self",
      disclosed: [`factory${suffix}`, `rule${suffix}`],
    });
  });
});

test("of several instruments the group that has all of them counts, before a newer one", async () => {
  const eur = element("InstrumentConfiguration", "eur", payload.configuration("EUR"));
  const elements = [...complete(), eur, ...groupElements("-2", { provider: "provider-2::1220" }, {}, newer)];
  const legs = ["USD", "EUR"].map((id) => leg(account("alice"), account("bob"), id));
  expect(await ask(elements, settlementFactory(settlement(legs, [])))).toMatchObject({ factoryId: "factory" });
});

test("allocations of two groups cannot be settled together", async () => {
  const elements = [...complete(), ...groupElements("-2", { provider: "provider-2::1220" })];
  const row = rowNamed(first.table, "settlement-factory");
  const both = JSON.parse(
    JSON.stringify(row.call.body).replace(/\{"allocationCid":"allocation",[^}]*\}/, (one) =>
      [one, one.replace('"allocation"', '"allocation-2"')].join(),
    ),
  ) as JsonObject;
  const call = { ...row.call, body: both, request: { ...(row.call.request as JsonObject), ...both } };
  expect(await ask(elements, call)).toEqual(refused(400, "allocation", "allocation-2", "provider-2::1220"));
});
