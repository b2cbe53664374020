/** A module that extends the Registry Utility: written with the package, and served by it. It is that of docs/contexts.md. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { elementOf, lines } from "../fixtures/contexts.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { Program } from "../fixtures/program.js";
import {
  account,
  leg,
  settlement,
  settlementFactory,
  withdraw,
  cancel,
  allocationChoice,
} from "../fixtures/requests.js";
import { completeElements } from "../fixtures/operation-calls.js";
import { Project } from "./project.js";

const { registrar } = parties;
const page =
  readFileSync("docs/contexts.md", "utf8")
    .split(/^## /m)
    .find((part) => part.startsWith("A module\n")) ?? "";
const blocks = (language: string): string[] =>
  [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , text = ""]) => text);

const [source = ""] = blocks("ts");
const fees = (id: string, rate: string) => elementOf("acme-fees-v1#Acme.Fees:FeeSchedule", id, { registrar, rate });
const basket = (id: string, ...instruments: string[]) =>
  elementOf("acme-baskets-v1#Acme.Baskets:BasketAllocation", id, {
    registrar,
    authorizer: "alice",
    instruments,
    lockedHoldings: instruments.map((instrument) => `locked-${instrument}`),
  });
const instruments = ["EUR", "GBP"];
const elements: JsonObject[] = [
  ...completeElements(),
  ...instruments.map((id) => element("InstrumentConfiguration", id, payload.configuration(id))),
  ...["USD", ...instruments].map((id) => element("Holding", `locked-${id}`, payload.lockedHolding("alice", id))),
  basket("basket", "USD", ...instruments),
];

let project: Project;
beforeAll(async () => {
  project = await Project.withServer();
  await project.write("acme.ts", source);
  // The page installs this package.
  await project.link("@types/node");
  await project.write("acme.ndjson", lines(...[...elements, fees("fees", "0.25")].map((one) => JSON.stringify(one))));
}, 120_000);
afterAll(() => project.remove());

let compiled: Promise<void> | undefined;
/** Compiles the module as the page says, once. A program can be started in a test only. */
const compile = (): Promise<void> =>
  (compiled ??= (async () => {
    const [, command = ""] = /npx tsc (.*) acme\.ts/.exec(page) ?? [];
    expect(await project.compile(...command.split(" "), "acme.ts")).toEqual({ code: 0, out: "", err: "" });
  })());

async function serve(snapshot: string): Promise<string> {
  await compile();
  const args = [project.program, "serve", "--registry", "./acme.js", "--snapshot", snapshot, "--port", "0"];
  const program = new Program(process.execPath, args, { cwd: project.folder });
  return program.listens();
}

async function post(url: string, body: JsonObject): Promise<{ status: number; body: JsonObject }> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as JsonObject };
}

interface Context {
  readonly choiceContextData: { readonly values: JsonObject };
  readonly disclosedContracts: readonly { readonly contractId: string }[];
}
const disclosedBy = (context: JsonValue | undefined): string[] =>
  (context as unknown as Context).disclosedContracts.map(({ contractId }) => contractId).toSorted();
const valuesOf = (context: JsonValue | undefined): JsonObject =>
  (context as unknown as Context).choiceContextData.values;

const strict = "--strict --target es2023 --module nodenext --exactOptionalPropertyTypes --types".split(" ").concat("");

const settled = settlement(
  [leg(account("alice"), account("bob"), "USD"), leg(account("alice"), account("bob"), "EUR")],
  ["basket"],
);

test("its types are those of the page in strict mode too, and its operations those of offledger contexts", async () => {
  expect(await project.compile(...strict, "--noEmit", "acme.ts")).toEqual({ code: 0, out: "", err: "" });
  await compile();
  const { code, out, err } = await project.run(project.program, "contexts", "--registry", "./acme.js");
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const { operations } = parse(out) as { readonly operations: Readonly<Record<string, readonly object[]>> };
  expect(operations["settlement-factory"]).toContainEqual({
    entry: "fee-rate",
    key: "utility.digitalasset.com/fee-rate",
  });
  const checked = await project.run(project.program, "check", "--registry", "./acme.js", "--snapshot", "acme.ndjson");
  expect(checked.code).toBe(0);
  expect(checked.out).toContain(`acme.ndjson can be served: ${elements.length + 1} contracts`);
});

describe("served", () => {
  test("its entry is in a settlement, and its allocations are settled and given up with all that they lock", async () => {
    const url = await serve("acme.ndjson");
    const { status, body } = await post(url + settlementFactory(), settled);
    expect(status).toBe(200);
    expect(valuesOf(body["choiceContext"])).toMatchObject({
      "utility.digitalasset.com/fee-rate": { tag: "AV_Decimal", value: "0.25" },
      "utility.digitalasset.com/instrument-configurations": {
        tag: "AV_Map",
        value: { USD: { tag: "AV_ContractId", value: "usd" }, EUR: { tag: "AV_ContractId", value: "EUR" } },
      },
    });
    const disclosed = disclosedBy(body["choiceContext"]);
    for (const id of ["basket", "factory", "locked-EUR", "locked-GBP", "locked-USD", "rule", "usd"])
      expect(disclosed).toContain(id);
    // The rate is read, not referred to.
    expect(disclosed).not.toContain("fees");

    const locked = ["locked-EUR", "locked-GBP", "locked-USD"];
    for (const path of [withdraw("basket"), cancel("basket"), allocationChoice("v2", "withdraw")("basket")]) {
      const answer = await post(url + path, { meta: {} });
      expect({ path, ...answer, body: disclosedBy(answer.body) }).toEqual({ path, status: 200, body: locked });
    }
    const executed = await post(url + allocationChoice("v1", "execute-transfer")("basket"), { meta: {} });
    expect(executed.status).toBe(200);
    expect(disclosedBy(executed.body)).toEqual(["alice-holds", ...locked, "rule"].toSorted());
    expect(disclosedBy((await post(url + withdraw("allocation"), { meta: {} })).body)).toEqual(["locked"]);
    expect((await post(url + withdraw("00ff"), { meta: {} })).status).toBe(404);
    const others = registrar.replace("registrar", "other");
    expect((await post(url + withdraw("basket", others), { meta: {} })).status).toBe(404);
  });

  test("a required contract that is missing is 404, by the module's message", async () => {
    await project.write("without.ndjson", lines(...elements.map((one) => JSON.stringify(one))));
    const url = await serve("without.ndjson");
    expect(await post(url + settlementFactory(), settled)).toEqual({
      status: 404,
      body: { error: `the Acme.Fees:FeeSchedule of registrar ${registrar} does not exist` },
    });
  });
});

test("the module does not compile with mistakes", async () => {
  const mistakes = [
    ['tag: "AV_Decimal", ', "", "tag"],
    ['entry: "fee-rate"', 'entry: "fee-rate", missing: "always"', "always"],
    ["allocations: [basket]", "allocation: [basket]", "allocation"],
    ['registrar: "registrar",', 'registrars: "registrar",', "registrars"],
    ["payload.rate", "payload.price", "price"],
    ['"fee-rate": ({', '"fee-rate": async ({', "Promise"],
  ] as const;
  const errors = await project.errorsOf(
    mistakes.map(([from, to]) => source.replace(from, to)),
    ...strict,
  );
  for (const [index, [, , named]] of mistakes.entries())
    expect(errors[index]).toMatch(new RegExp(`error TS[^]*${named}`));
});
