/** Modules of the pages, written with the packed server and served by it: docs/contexts.md and docs/your-own-registry.md. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { elementOf, lines } from "../fixtures/contexts.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { completeElements } from "../fixtures/operation-calls.js";
import { main, Program } from "../fixtures/program.js";
import {
  account,
  allocationChoice,
  cancel,
  leg,
  settlement,
  settlementFactory,
  withdraw,
} from "../fixtures/requests.js";
import { Project } from "./project.js";

const strict = "--strict --target es2023 --module nodenext --exactOptionalPropertyTypes --types".split(" ").concat("");

let project: Project;
beforeAll(async () => {
  project = await Project.withServer();
  // The pages install this package.
  await project.link("@types/node");
}, 120_000);
afterAll(() => project.remove());

const blocksOf = (text: string, language: string): string[] =>
  [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , content = ""]) => content);

/** Serves a module until the test ends. Returns the URL. */
async function serve(module: string, snapshot: string, program = project.program): Promise<string> {
  const args = [program, "serve", "--registry", `./${module}`, "--snapshot", snapshot, "--port", "0"];
  return new Program(process.execPath, args, { cwd: project.folder }).listens();
}

async function send(url: string, body?: JsonObject): Promise<{ status: number; body: JsonObject }> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, body === undefined ? {} : { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as JsonObject };
}

type Mistake = readonly [from: string | RegExp, to: string, named: string];

/** The compiler names each mistake. */
async function expectErrors(source: string, mistakes: readonly Mistake[]): Promise<void> {
  const wrong = mistakes.map(([from, to]) => source.replace(from, to));
  const errors = await project.errorsOf(wrong, ...strict);
  for (const [index, [, , named]] of mistakes.entries())
    expect(errors[index]).toMatch(new RegExp(`error TS[^]*${named}`));
}

describe("docs/contexts.md", () => {
  const { registrar } = parties;
  const page =
    readFileSync("docs/contexts.md", "utf8")
      .split(/^## /m)
      .find((part) => part.startsWith("A module\n")) ?? "";
  const [source = ""] = blocksOf(page, "ts");
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

  let compiled: Promise<void> | undefined;
  /** Compiles the module as the page says, once. A program can be started in a test only. */
  const compile = (): Promise<void> =>
    (compiled ??= (async () => {
      const [, command = ""] = /npx tsc (.*) acme\.ts/.exec(page) ?? [];
      expect(await project.compile(...command.split(" "), "acme.ts")).toEqual({ code: 0, out: "", err: "" });
    })());

  interface Context {
    readonly choiceContextData: { readonly values: JsonObject };
    readonly disclosedContracts: readonly { readonly contractId: string }[];
  }
  const disclosedBy = (context: JsonValue | undefined): string[] =>
    (context as unknown as Context).disclosedContracts.map(({ contractId }) => contractId).toSorted();
  const valuesOf = (context: JsonValue | undefined): JsonObject =>
    (context as unknown as Context).choiceContextData.values;

  const settled = settlement(
    [leg(account("alice"), account("bob"), "USD"), leg(account("alice"), account("bob"), "EUR")],
    ["basket"],
  );

  beforeAll(async () => {
    await project.write("acme.ts", source);
    await project.write("acme.ndjson", lines(...[...elements, fees("fees", "0.25")].map((one) => JSON.stringify(one))));
  });

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

  test("its entry is in a settlement, and its allocations are settled and given up with all that they lock", async () => {
    await compile();
    const url = await serve("acme.js", "acme.ndjson");
    const { status, body } = await send(url + settlementFactory(), settled);
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
      const answer = await send(url + path, { meta: {} });
      expect({ path, ...answer, body: disclosedBy(answer.body) }).toEqual({ path, status: 200, body: locked });
    }
    const executed = await send(url + allocationChoice("v1", "execute-transfer")("basket"), { meta: {} });
    expect(executed.status).toBe(200);
    expect(disclosedBy(executed.body)).toEqual(["alice-holds", ...locked, "rule"].toSorted());
    expect(disclosedBy((await send(url + withdraw("allocation"), { meta: {} })).body)).toEqual(["locked"]);
    expect((await send(url + withdraw("00ff"), { meta: {} })).status).toBe(404);
    const others = registrar.replace("registrar", "other");
    expect((await send(url + withdraw("basket", others), { meta: {} })).status).toBe(404);
  });

  test("a required contract that is missing is 404, by the module's message", async () => {
    await project.write("without.ndjson", lines(...elements.map((one) => JSON.stringify(one))));
    await compile();
    const url = await serve("acme.js", "without.ndjson");
    expect(await send(url + settlementFactory(), settled)).toEqual({
      status: 404,
      body: { error: `the Acme.Fees:FeeSchedule of registrar ${registrar} does not exist` },
    });
  });

  test("does not compile with mistakes", () =>
    expectErrors(source, [
      ['tag: "AV_Decimal", ', "", "tag"],
      ['entry: "fee-rate"', 'entry: "fee-rate", missing: "always"', "always"],
      ["allocations: [basket]", "allocation: [basket]", "allocation"],
      ['registrar: "registrar",', 'registrars: "registrar",', "registrars"],
      ["payload.rate", "payload.price", "price"],
      ['"fee-rate": ({', '"fee-rate": async ({', "Promise"],
    ]));
});

describe("docs/your-own-registry.md", () => {
  const [before = "", after = ""] = readFileSync("docs/your-own-registry.md", "utf8").split("\n## 1. A project\n");
  const [page = "", tests = ""] = after.split("\n## Tests\n");
  const source = blocksOf(page, "ts").join("\n");
  const [contracts = "", shown = ""] = blocksOf(page, "json");
  beforeAll(async () => {
    await project.write("coffee.ts", source);
    await project.write("coffee.ndjson", contracts);
  });

  /** Compiles a file with the command of the page. */
  const compile = async (file: string): Promise<void> => {
    const command = after.split("\n").find((line) => line.startsWith("npx tsc ") && line.endsWith(` ${file}`)) ?? "";
    expect(await project.compile(...command.split(" ").slice(2))).toEqual({ code: 0, out: "", err: "" });
  };

  test("describes a registry that compiles and is served as shown", async () => {
    await compile("coffee.ts");
    expect(await project.compile(...strict, "--noEmit", "coffee.ts")).toEqual({ code: 0, out: "", err: "" });

    const check = ["check", "--registry", "./coffee.js", "--snapshot", "coffee.ndjson"];
    const checked = await project.run(project.program, ...check);
    expect(checked).toEqual({ code: 0, out: blocksOf(page, "text")[0], err: "" });

    const [, path = ""] = /^curl http:\/\/localhost:8080(\S+)$/m.exec(page) ?? [];
    // Another copy of the program knows its contracts and its errors too.
    for (const program of [project.program, main]) {
      const url = await serve("coffee.js", "coffee.ndjson", program);
      expect(await send(url + path)).toEqual({ status: 200, body: JSON.parse(shown) as unknown });
      expect(await send(url + path.replace("coffee-club", "nobody"))).toEqual({
        status: 404,
        body: { error: "registrar nobody::1220ab is not served here: no Coffee.Token:Rules of that party is known" },
      });
    }
  });

  test("describes a registry that does not compile with mistakes", () =>
    expectErrors(source, [
      [/instruments: .*\n/, "", "instruments"],
      ['name: "coffee token"', 'nome: 1, name: "coffee token"', "nome"],
      ["context: (", "context: async (", "Promise"],
      ["found && reference(found)", '{ value: "1" }', "tag"],
      ["payload.symbol", "payload.colour", "colour"],
      ['registrar: "admin"', 'registrars: "admin"', "registrars"],
    ]));

  test("describes tests of a file and of the registry, which pass as shown", async () => {
    await project.write("cocoa.yaml", blocksOf(before, "yaml").find((one) => one.includes("name: cocoa")) ?? "");
    await project.write("cocoa.test.yaml", blocksOf(tests, "yaml")[0] ?? "");
    const args = ["registry", "test", "cocoa.yaml"];
    const tested = await project.run(project.program, ...args);
    expect(tested).toEqual({ code: 0, out: blocksOf(tests, "text")[0], err: "" });

    await project.write(
      "types.ts",
      'export { answer, parseRegistryTests, runRegistryTests } from "offledger/testing";',
    );
    expect(await project.compile(...strict, "--noEmit", "types.ts")).toEqual({ code: 0, out: "", err: "" });
    await project.write("coffee.test.ts", blocksOf(tests, "ts")[0] ?? "");
    // With coffee.ts, which it imports.
    await compile("coffee.test.ts");
    const ran = await project.run("--test", "coffee.test.js");
    expect(ran).toMatchObject({ code: 0, out: expect.stringMatching(/pass 1\n/) });
  });
});
