/** A registry module that is written with the package and served by it; docs/your-own-registry.md has another. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/util/json.js";
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
  import { type AnyValue, type Check, type Contract, type ContractFields, defineRegistry, defineTemplate, invalid, type Warning, z } from "offledger/registry";

  interface Mine {
    readonly id: string;
    readonly grade: "fine" | "raw";
  }

  const mine = defineTemplate<Mine>({
    package: "gold-v1",
    name: "Gold.Mine:Mine",
    registrar: "owner",
    supply: { instrument: "id", amount: "dug" },
    payload: z.object({ id: z.string().min(1), grade: z.enum(["fine", "raw"]) }),
  });

  const lacking = (mines: readonly Contract<ContractFields<Mine>>[]): Warning[] => mines.map(({ contractId, fields: { registrar = "" } }) => ({
    kind: "contract-missing", registrar, contractId, operations: ["transfer-factory/offer"], refusal: "not-found",
    problem: \`mine \${contractId} has no lamp\`, help: "Buy one" }));
  const check: Check<ContractFields<Mine>> = { template: mine, warnings: (_context, mines) => lacking(mines) };

  export default defineRegistry({
    name: "gold",
    factory: mine,
    supportedApis: { "splice-api-token-metadata-v1": 1 },
    instruments: (mines) =>
      mines.map(({ fields: { payload: { id, grade } } }) => ({ id, name: \`\${grade} gold\`, decimals: 3 })),
    context({ context, find, parties }) {
      if (parties["sender"]?.includes("thief")) throw invalid("thieves do not send");
      const grade = find(mine)?.fields.payload.grade ?? "raw";
      const grades: AnyValue = { tag: "AV_List", value: [{ tag: "AV_Text", value: grade }] };
      return { askedAt: { tag: "AV_Time", value: new Date(context.now).toISOString() }, grades };
    },
    isDirect: () => true,
    checks: [check],
    inventory: (view, { now, credentialDays }) => ({
      registrars: view.all(mine).map(({ fields: { registrar: party = "", payload: { id } } }) => ({ party, instruments: [{ source: party, id, scheme: "Gold" }] })),
      counts: [],
      warnings: [\`it rains at \${now > 0} for \${credentialDays} days\`],
    }),
  });`;

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
        choiceArguments: {
          transfer: { sender, receiver: "bob", instrumentId: { admin: "digger0::1220", id: "GOLD" } },
        },
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
      answer: { error: "the registry gold has no choice allocation/withdraw" },
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
      answer: { error: "registrar nobody::1220 is not served here: no Gold.Mine:Mine of that party is known" },
    });
    const { answer } = await send(`${url}${ofDigger}/metadata/v1/instruments/GOLD`);
    expect(answer).toMatchObject({ totalSupply: "1.2500000000", totalSupplyAsOf: expect.stringMatching(/Z$/) });
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
      [/instruments: [^]*?\n {4}context/, "context", "instruments"],
      ['tag: "AV_Time", ', "", "tag"],
      ['name: "gold"', 'nome: 1, name: "gold"', "nome"],
      ["  context({", "  async context({", "Promise"],
      ["payload.grade", "payload.colour", "colour"],
      ['registrar: "owner"', 'registrars: "owner"', "registrars"],
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
    await project.write("cocoa.yaml", blocks("yaml", before).find((one) => one.includes("name: cocoa")) ?? "");
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
