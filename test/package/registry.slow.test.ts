/** A registry module that is written with the package and served by it. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { main, Program } from "../fixtures/program.js";
import { Project } from "./project.js";

let project: Project;
beforeAll(async () => {
  project = await Project.withServer();
}, 120_000);
afterAll(() => project.remove());

const strict = [
  "--strict",
  "--target",
  "es2023",
  "--module",
  "nodenext",
  "--exactOptionalPropertyTypes",
  "--types",
  "",
];

/** Serves the project's registry until the test ends. Returns the URL. */
async function serve(registry: string, snapshot: string, ...more: readonly string[]): Promise<string> {
  const args = [project.program, "serve", "--registry", registry, "--snapshot", snapshot, "--port", "0", ...more];
  const env = { OFFLEDGER_LOG_LEVEL: "warn" };
  const program = new Program(process.execPath, args, { cwd: project.folder, env });
  const [, url = ""] = await program.printed(/^offledger serves \S+ at (http:\S+)$/m);
  return url;
}

async function send(url: string, body?: JsonObject): Promise<{ status: number; answer: unknown }> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, body === undefined ? {} : { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, answer: await response.json() };
}

/** A token whose only contract is its factory. It passes the time of the request to the choice. */
const source = (more = "") => `
  import { type AnyValue, conflict, type FactoryAnswer, JsonReader, invalid, indexKey, type Template, notFound, type Registry, type RequestContext } from "offledger/registry";

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
    inventory: (view) => ({
      registrars: view.all(mine).map(({ fields: { owner, id } }) => ({ party: owner, instruments: [{ source: owner, id, scheme: "Gold" }] })),
      counts: [],
      warnings: [],
    }),
    ${more}
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

async function build(name: string, text: string): Promise<void> {
  await project.write(`${name}.ts`, text);
  expect(await project.compile(...strict, `${name}.ts`)).toEqual({ code: 0, out: "", err: "" });
}

describe("a registry with one template", () => {
  test("compiles, and is served over HTTP", async () => {
    await build("my-registry", source());
    await project.write("my.ndjson", `${element("00aa", { owner: "digger::1220", id: "GOLD", grade: "fine" })}\n`);
    const url = await serve("./my-registry.js", "./my.ndjson");
    const registry = `${url}/api/token-standard/v0/registrars/digger::1220/registry`;

    expect(await send(`${registry}/metadata/v1/instruments`)).toEqual({
      status: 200,
      answer: {
        instruments: [
          {
            id: "GOLD",
            name: "fine gold",
            symbol: "GOLD",
            decimals: 3,
            supportedApis: { "splice-api-token-metadata-v1": 1 },
          },
        ],
      },
    });
    const factory = (sender: string) =>
      send(`${registry}/transfer-instruction/v1/transfer-factory`, {
        choiceArguments: { transfer: { sender } },
        excludeDebugFields: true,
      });
    expect(await factory("alice")).toEqual({
      status: 200,
      answer: {
        factoryId: "00aa",
        transferKind: "direct",
        choiceContext: {
          choiceContextData: {
            values: {
              askedAt: { tag: "AV_Time", value: expect.stringMatching(/^\d{4}-.*Z$/) },
              grades: { tag: "AV_List", value: [{ tag: "AV_Text", value: "fine" }] },
            },
          },
          disclosedContracts: [
            {
              templateId: "ab12:Gold.Mine:Mine",
              contractId: "00aa",
              createdEventBlob: "Z29sZA==",
              synchronizerId: "sync::1220",
            },
          ],
        },
      },
    });
    // The service recognizes RegistryErrors of the module.
    expect(await factory("thief")).toEqual({ status: 400, answer: { error: "thieves do not send" } });
    expect(await send(`${registry.replace("digger", "nobody")}/metadata/v1/info`)).toEqual({
      status: 404,
      answer: { error: "no mine of nobody::1220" },
    });
    expect(await send(`${registry}/allocations/v1/00aa/choice-contexts/withdraw`, {})).toEqual({
      status: 404,
      answer: { error: "no choice allocation/withdraw on gold" },
    });
    expect(await send(`${url}/api/utilities/v0/operator`)).toEqual({
      status: 404,
      answer: { error: "not_found", error_description: expect.stringContaining("gold") },
    });
  });

  test("is served by another copy of the program, with its errors", async () => {
    await build("elsewhere", source());
    await project.write(
      "elsewhere.ndjson",
      `${element("00aa", { owner: "digger::1220", id: "GOLD", grade: "fine" })}\n`,
    );
    const args = ["--registry", "./elsewhere.js", "--snapshot", "./elsewhere.ndjson", "--port", "0"];
    const env = { OFFLEDGER_LOG_LEVEL: "silent" };
    const program = new Program(process.execPath, [main, "serve", ...args], { cwd: project.folder, env });
    const [, url = ""] = await program.printed(/^offledger serves \S+ at (http:\S+)$/m);
    expect(await send(`${url}/api/token-standard/v0/registrars/nobody::1220/registry/metadata/v1/info`)).toEqual({
      status: 404,
      answer: { error: "no mine of nobody::1220" },
    });
  });

  test("has warnings of its own: sentences, and typed ones that its checks find", async () => {
    const flooded = `(mines: readonly Contract<Mine>[]): Warning[] => mines.map(({ contractId, fields: { owner } }) => ({
      kind: "contract-missing", registrar: owner, contractId, operations: ["transfer-factory/offer"], refusal: "not-found",
      problem: \`mine \${contractId} has no lamp\`, remedy: "Buy one" }))`;
    const text = source("checks: [check],")
      .replace("import {", "import { type Check, type Contract, type Warning,")
      .replace("inventory: (view) =>", "inventory: (view, { now, credentialDays }) =>")
      .replace(
        "warnings: [],",
        "warnings: [`it rains at ${now > 0} for ${credentialDays} days`, ...lacking(view.all(mine))],",
      )
      .replace(
        "const registry: Registry",
        `const lacking = ${flooded};
        const check: Check<Mine> = { template: mine, warnings: (_context, mines) => lacking(mines) };
        const registry: Registry`,
      );
    await build("flooded", text);
    await project.write("flooded.ndjson", `${element("00aa", { owner: "digger::1220", id: "GOLD", grade: "fine" })}\n`);
    const args = [project.program, "check", "--registry", "./flooded.js", "--snapshot", "flooded.ndjson"];
    const { code, out } = await new Program(process.execPath, args, { cwd: project.folder }).ended();
    expect(code).toBe(1);
    expect(out.slice(out.indexOf("\nwarning: "))).toBe(
      [
        "",
        "warning: contract-missing (1)",
        "  mine 00aa has no lamp. Answered 404: transfer-factory/offer. Buy one.",
        "",
        "warning: other (1)",
        "  it rains at true for 30 days",
        "",
      ].join("\n"),
    );
  });

  describe("that counts holdings", () => {
    const ids = ["00aa", "00bb"];
    const counting = source(`
      totalSupply: ({ view }, _registrar, instruments) => {
        const sums = view.sums(instruments.map(({ id }) => indexKey("dug", id)));
        return sums.map((sum) => ({ total: decimalText(sum), asOf: parseLedgerTime("2026-02-01T00:00:00Z") }));
      },`)
      .replace("import {", "import { decimalText, parseLedgerTime, parseDecimal,")
      .replace(
        'qualifiedName: "Gold.Mine:Mine",',
        `qualifiedName: "Gold.Mine:Mine",
        supplyContribution(payload) {
          const fields = new JsonReader(payload, "");
          const amount = parseDecimal(fields.text("dug"));
          if (amount === undefined) throw invalid("dug is no decimal");
          return { sum: indexKey("dug", fields.id("id")), amount };
        },`,
      );
    const gold = "/api/token-standard/v0/registrars/digger0::1220/registry/metadata/v1/instruments/GOLD";

    async function supply(...args: readonly string[]): Promise<unknown> {
      await build("counting", counting);
      const mines = ids.map((id, index) =>
        element(id, { owner: `digger${index}::1220`, id: "GOLD", grade: "raw", dug: "1.25" }),
      );
      await project.write("counted.ndjson", `${mines.join("\n")}\n`);
      const url = await serve("./counting.js", "./counted.ndjson", ...args);
      const { answer } = await send(url + gold);
      const { totalSupply, totalSupplyAsOf } = answer as JsonObject;
      return { totalSupply, totalSupplyAsOf };
    }

    test("reports the total supply", async () => {
      const expected = { totalSupply: "2.5000000000", totalSupplyAsOf: "2026-02-01T00:00:00.000000Z" };
      expect(await supply("--total-supply", "true")).toEqual(expected);
    });

    test("reports no total supply, rather than 0, if holdings are not counted", async () => {
      expect(await supply()).toEqual({ totalSupply: undefined, totalSupplyAsOf: undefined });
    });
  });

  test.each([
    ["a missing method", (text: string) => text.replace(/inventory: [^]*?\}\),\n/, ""), "inventory"],
    ["a value of a context without a tag", (text: string) => text.replace('tag: "AV_Time", ', ""), "tag"],
    ["an unknown transfer kind", (text: string) => text.replace('"direct"', '"sideways"'), "sideways"],
    ["an unknown method", (text: string) => text.replace('name: "gold"', 'nome: 1, name: "gold"'), "nome"],
    ["an async method", (text: string) => text.replace("transferFactory(", "async transferFactory("), "Promise"],
    ["a value of a context without a name", (text: string) => text.replace('name: "askedAt", ', ""), "name"],
  ])("does not compile with %s", async (_title, change, name) => {
    await project.write("wrong.ts", change(source()));
    const { code, out } = await project.compile(...strict, "--noEmit", "wrong.ts");
    expect(code).not.toBe(0);
    expect(out).toMatch(new RegExp(`^wrong\\.ts.*error TS[^]*${name}`));
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

    const check = [project.program, "check", "--registry", "./coffee.js", "--snapshot", "coffee.ndjson"];
    const checked = await new Program(process.execPath, check, { cwd: project.folder }).ended();
    expect(checked).toEqual({ code: 0, out: blocks("text")[0], err: "" });

    const url = await serve("./coffee.js", "coffee.ndjson");
    const [, path = ""] = /^curl http:\/\/localhost:8080(\S+)$/m.exec(page) ?? [];
    expect(await send(url + path)).toEqual({ status: 200, answer: JSON.parse(shown) as unknown });
  });

  test("describes tests of a file and of the registry, which pass as shown", async () => {
    await project.write("cocoa.yaml", blocks("yaml", before)[0] ?? "");
    await project.write("cocoa.test.yaml", blocks("yaml", tests)[0] ?? "");
    const args = [project.program, "registry", "test", "cocoa.yaml"];
    const tested = await new Program(process.execPath, args, { cwd: project.folder }).ended();
    expect(tested).toEqual({ code: 0, out: blocks("text", tests)[0], err: "" });

    await project.write(
      "types.ts",
      'export { answer, parseRegistryTests, runRegistryTests } from "offledger/testing";',
    );
    expect(await project.compile(...strict, "--noEmit", "types.ts")).toEqual({ code: 0, out: "", err: "" });
    await project.write("coffee.test.ts", blocks("ts", tests)[0] ?? "");
    // With coffee.ts, which it imports.
    await compile("coffee.test.ts");
    const ran = await new Program(process.execPath, ["--test", "coffee.test.js"], { cwd: project.folder }).ended();
    expect(ran).toMatchObject({ code: 0, out: expect.stringMatching(/pass 2\n/) });
  });
});
