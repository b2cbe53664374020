/** A registry module that is written with the package and served by it; docs/your-own-registry.md has another. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { main, Program } from "../fixtures/program.js";
import { Project } from "./project.js";

const strict = "--strict --target es2023 --module nodenext --exactOptionalPropertyTypes --types".split(" ").concat("");

let project: Project;
beforeAll(async () => {
  project = await Project.withServer();
}, 120_000);
afterAll(() => project.remove());

/** Serves a registry of the project until the test ends. Returns the URL. */
async function serve(program: string, registry: string, snapshot: string, ...more: readonly string[]): Promise<string> {
  const args = [program, "serve", "--registry", registry, "--snapshot", snapshot, "--port", "0", ...more];
  const started = new Program(process.execPath, args, { cwd: project.folder });
  return started.listens();
}

async function send(url: string, body?: JsonObject): Promise<{ status: number; answer: unknown }> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, body === undefined ? {} : { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, answer: await response.json() };
}

/** A token whose only contract is its factory. It passes the time of the request to the choice, and counts what is dug. */
const source = `
  import { type AnyValue, type Check, conflict, type Contract, decimalText, type FactoryAnswer, JsonReader, invalid, indexKey, type Template, notFound, parseDecimal, parseLedgerTime, type Registry, type RequestContext, type Warning } from "offledger/registry";

  interface Mine {
    readonly owner: string;
    readonly id: string;
    readonly grade: "fine" | "raw";
  }

  const mine: Template<Mine> = {
    packageName: "gold-v1",
    qualifiedName: "Gold.Mine:Mine",
    parse(payload) {
      const fields = new JsonReader(payload, "");
      const owner = fields.id("owner");
      return { fields: { owner, id: fields.id("id"), grade: fields.oneOf("grade", ["fine", "raw"]) }, indexKeys: [indexKey("mine", owner)] };
    },
    supplyContribution(payload) {
      const fields = new JsonReader(payload, "");
      const amount = parseDecimal(fields.text("dug"));
      if (amount === undefined) throw invalid("dug is no decimal");
      return { sum: indexKey("dug", fields.id("id")), amount };
    },
  };

  function findMines({ view }: RequestContext, registrar: string) {
    const mines = view.byKey(mine, indexKey("mine", registrar));
    const [first] = mines;
    if (first === undefined) throw notFound(\`no mine of \${registrar}\`);
    if (first.synchronizerId === undefined) throw conflict(\`mine \${first.contractId} is moving\`);
    return { first, mines };
  }

  function factory(context: RequestContext, registrar: string): FactoryAnswer {
    const { first } = findMines(context, registrar);
    const askedAt: AnyValue = { tag: "AV_Time", value: new Date(context.now).toISOString() };
    const grades: AnyValue = { tag: "AV_List", value: [{ tag: "AV_Text", value: first.fields.grade }] };
    const values = [{ name: "askedAt", value: askedAt }, { name: "grades", value: grades }];
    return { factoryId: first.contractId, values, disclosed: [first] };
  }

  const lacking = (mines: readonly Contract<Mine>[]): Warning[] => mines.map(({ contractId, fields: { owner } }) => ({
    kind: "contract-missing", registrar: owner, contractId, operations: ["transfer-factory/offer"], refusal: "not-found",
    problem: \`mine \${contractId} has no lamp\`, help: "Buy one" }));
  const check: Check<Mine> = { template: mine, warnings: (_context, mines) => lacking(mines) };

  const registry: Registry = {
    name: "gold",
    templates: [mine],
    supportedApis: { "splice-api-token-metadata-v1": 1 },
    instruments: (context, registrar) =>
      findMines(context, registrar).mines.map(({ fields: { id, grade } }) => ({ id, otherIds: [], name: \`\${grade} gold\`, decimals: 3 })),
    transferFactory(context, { registrar, choiceArguments }) {
      const transfer = new JsonReader(choiceArguments, "choiceArguments").object("transfer");
      if (transfer.id("sender") === "thief") throw invalid("thieves do not send");
      return { ...factory(context, registrar), transferKind: "direct" };
    },
    allocationFactory: (context, { registrar }) => factory(context, registrar),
    settlementFactory: (context, { registrar }) => factory(context, registrar),
    choiceContext: (_context, choice) => { throw notFound(\`no choice \${choice} on gold\`); },
    totalSupply: ({ view }, _registrar, instruments) => {
      const sums = view.sums(instruments.map(({ id }) => indexKey("dug", id)));
      return sums.map((sum) => ({ total: decimalText(sum), asOf: parseLedgerTime("2026-02-01T00:00:00Z") }));
    },
    checks: [check],
    inventory: (view, { now, credentialDays }) => ({
      registrars: view.all(mine).map(({ fields: { owner, id } }) => ({ party: owner, instruments: [{ source: owner, id, scheme: "Gold" }] })),
      counts: [],
      warnings: [\`it rains at \${now > 0} for \${credentialDays} days\`],
    }),
  };

  export default registry;`;

const element = (contractId: string, createArgument: JsonObject): string =>
  JSON.stringify({
    contractEntry: {
      JsActiveContract: {
        synchronizerId: "sync::1220",
        reassignmentCounter: 0,
        createdEvent: {
          offset: 1,
          contractId,
          templateId: "ab12:Gold.Mine:Mine",
          packageName: "gold-v1",
          createArgument,
          createdEventBlob: "Z29sZA==",
          createdAt: "2026-01-05T09:00:00Z",
        },
      },
    },
  });

const mines = ["00aa", "00bb"].map((id, index) =>
  element(id, { owner: `digger${index}::1220`, id: "GOLD", grade: "fine", dug: "1.25" }),
);
const ofDigger = "/api/token-standard/v0/registrars/digger0::1220/registry";

describe("a registry with one template", () => {
  beforeAll(async () => {
    await project.write("gold.ts", source);
    await project.write("gold.ndjson", `${mines.join("\n")}\n`);
  });

  /** Compiles the module once. A program can be started in a test only. */
  let compiled: Promise<void> | undefined;
  const compile = (): Promise<void> =>
    (compiled ??= (async () => {
      expect(await project.compile(...strict, "gold.ts")).toEqual({ code: 0, out: "", err: "" });
    })());

  test("is served over HTTP", async () => {
    await compile();
    const url = await serve(project.program, "./gold.js", "./gold.ndjson");
    const supportedApis = { "splice-api-token-metadata-v1": 1 };
    // Holdings are not counted: no total supply rather than 0.
    const instrument = { id: "GOLD", name: "fine gold", symbol: "GOLD", decimals: 3, supportedApis };
    expect(await send(`${url}${ofDigger}/metadata/v1/instruments`)).toEqual({
      status: 200,
      answer: { instruments: [instrument] },
    });
    const factory = (sender: string) =>
      send(`${url}${ofDigger}/transfer-instruction/v1/transfer-factory`, {
        choiceArguments: { transfer: { sender } },
        excludeDebugFields: true,
      });
    const values = {
      askedAt: { tag: "AV_Time", value: expect.stringMatching(/^\d{4}-.*Z$/) as string },
      grades: { tag: "AV_List", value: [{ tag: "AV_Text", value: "fine" }] },
    };
    const disclosed = {
      templateId: "ab12:Gold.Mine:Mine",
      contractId: "00aa",
      createdEventBlob: "Z29sZA==",
      synchronizerId: "sync::1220",
    };
    const choiceContext = { choiceContextData: { values }, disclosedContracts: [disclosed] };
    expect(await factory("alice")).toEqual({
      status: 200,
      answer: { factoryId: "00aa", transferKind: "direct", choiceContext },
    });
    // The service recognizes RegistryErrors of the module.
    expect(await factory("thief")).toEqual({ status: 400, answer: { error: "thieves do not send" } });
    expect(await send(`${url}${ofDigger}/allocations/v1/00aa/choice-contexts/withdraw`, {})).toEqual({
      status: 404,
      answer: { error: "no choice allocation/withdraw on gold" },
    });
    expect(await send(`${url}/api/utilities/v0/operator`)).toEqual({
      status: 404,
      answer: { error: "not_found", error_description: expect.stringContaining("gold") },
    });
  });

  test("is served by another copy of the program, with its errors and the total supply", async () => {
    await compile();
    const url = await serve(main, "./gold.js", "./gold.ndjson", "--total-supply", "true");
    expect(await send(`${url}${ofDigger.replace("digger0", "nobody")}/metadata/v1/info`)).toEqual({
      status: 404,
      answer: { error: "no mine of nobody::1220" },
    });
    const { answer } = await send(`${url}${ofDigger}/metadata/v1/instruments/GOLD`);
    expect(answer).toMatchObject({ totalSupply: "2.5000000000", totalSupplyAsOf: "2026-02-01T00:00:00.000000Z" });
  });

  test("has warnings of its own: sentences, and typed ones that its checks find", async () => {
    await compile();
    const args = ["check", "--registry", "./gold.js", "--snapshot", "gold.ndjson"];
    const { code, out } = await project.run(project.program, ...args);
    expect(code).toBe(1);
    expect(out.slice(out.indexOf("\nwarning: ")).split("\n")).toEqual([
      "",
      "warning: contract-missing (2)",
      "  mine 00aa has no lamp. Answered 404: transfer-factory/offer. Buy one.",
      "  mine 00bb has no lamp. Answered 404: transfer-factory/offer. Buy one.",
      "",
      "warning: other (1)",
      "  it rains at true for 30 days",
      "",
    ]);
  });

  test("does not compile with mistakes", async () => {
    const mistakes: readonly (readonly [from: string | RegExp, to: string, named: string])[] = [
      [/inventory: [^]*?\}\),\n/, "", "inventory"],
      ['tag: "AV_Time", ', "", "tag"],
      ['"direct"', '"sideways"', "sideways"],
      ['name: "gold"', 'nome: 1, name: "gold"', "nome"],
      ["transferFactory(", "async transferFactory(", "Promise"],
      ['name: "askedAt", ', "", "name"],
    ];
    const errors = await project.errorsOf(
      mistakes.map(([from, to]) => source.replace(from, to)),
      ...strict,
    );
    for (const [index, [, , named]] of mistakes.entries())
      expect(errors[index]).toMatch(new RegExp(`error TS[^]*${named}`));
  });
});

describe("docs/your-own-registry.md", () => {
  const [before = "", after = ""] = readFileSync("docs/your-own-registry.md", "utf8").split("\n## 1. A project\n");
  const [page = "", tests = ""] = after.split("\n## Tests\n");
  const blocks = (language: string, text = page): string[] =>
    [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
      .filter(([, name]) => name === language)
      .map(([, , content = ""]) => content);

  const [contracts = "", shown = ""] = blocks("json");
  beforeAll(async () => {
    await project.write("coffee.ts", blocks("ts").join("\n"));
    await project.write("coffee.ndjson", contracts);
    // The page installs this package.
    await project.link("@types/node");
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
    expect(checked).toEqual({ code: 0, out: blocks("text")[0], err: "" });

    const url = await serve(project.program, "./coffee.js", "coffee.ndjson");
    const [, path = ""] = /^curl http:\/\/localhost:8080(\S+)$/m.exec(page) ?? [];
    expect(await send(url + path)).toEqual({ status: 200, answer: JSON.parse(shown) as unknown });
  });

  test("describes tests of a file and of the registry, which pass as shown", async () => {
    await project.write("cocoa.yaml", blocks("yaml", before)[0] ?? "");
    await project.write("cocoa.test.yaml", blocks("yaml", tests)[0] ?? "");
    const args = ["registry", "test", "cocoa.yaml"];
    const tested = await project.run(project.program, ...args);
    expect(tested).toEqual({ code: 0, out: blocks("text", tests)[0], err: "" });

    await project.write(
      "types.ts",
      'export { answer, parseRegistryTests, runRegistryTests } from "offledger/testing";',
    );
    expect(await project.compile(...strict, "--noEmit", "types.ts")).toEqual({ code: 0, out: "", err: "" });
    await project.write("coffee.test.ts", blocks("ts", tests)[0] ?? "");
    // With coffee.ts, which it imports.
    await compile("coffee.test.ts");
    const ran = await project.run("--test", "coffee.test.js");
    expect(ran).toMatchObject({ code: 0, out: expect.stringMatching(/pass 1\n/) });
  });
});
