/** docs/contexts.md and docs/your-own-registry.md: their files are served, and their output is the program's. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { loadContexts } from "../../src/app/registry.js";
import { formatContexts } from "../../src/cli/registry.js";
import type { AppConfig } from "../../src/config/limits.js";
import { SettingError } from "../../src/config/setting.js";
import type { JsonValue } from "../../src/domain/json.js";
import { choiceOperations, factoryOperations } from "../../src/registry/utility/definition.js";
import { contextsFile } from "../fixtures/contexts.js";
import { quiet, serveFile } from "../fixtures/run-service.js";
import { Page, requestOf } from "./pages.js";

const page = Page.read("docs/contexts.md");
const printed = async (contexts?: string): Promise<string> =>
  formatContexts((await loadContexts({ ...quiet(), contexts })).table);

test("offledger contexts prints the built-in table: every operation once", async () => {
  const names = (await printed()).split("\n").filter((line) => /^[a-z]/.test(line));
  expect(names.toSorted()).toEqual([...factoryOperations, ...choiceOperations].toSorted());
});

test("the first file is accepted, and has the row that is shown", async () => {
  const section = page.section("The file");
  const row = section.block("text");
  expect(row.split("\n").length).toBeGreaterThan(10);
  expect(
    (await printed(await contextsFile(section.block("yaml")))).split("\n\n").map((text) => `${text.trimEnd()}\n`),
  ).toContain(row);
});

const WRONG = `changes:
  - operations: [transfer-factory]
    credentials: always
  - add:
      - { entry: audits, when: checkblocklist }
entries:
  audit:
    template: { package: acme-audit-v1, name: Audit }
    find: [{ field: registrar, is: registrar, prefx: 2 }]
    value: contract-id
`;

test("the JSON schema of the package accepts the first file, and not a wrong one", () => {
  const isValid = new Ajv2020().compile(JSON.parse(readFileSync("gen/contexts.schema.json", "utf8")) as object);
  const files = [page.section("The file").block("yaml"), WRONG];
  expect(files.map((yaml) => isValid(parse(yaml)))).toEqual([true, false]);
});

test("a wrong file ends the program with all its errors, each with line and column", async () => {
  const path = await contextsFile(WRONG);
  const error: unknown = await loadContexts({ ...quiet(), contexts: path }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(SettingError);
  const [first, ...problems] = (error as SettingError).message.replaceAll(path, "wrong.yaml").split("\n");
  expect(first).toMatch(/^OFFLEDGER_CONTEXTS must be the path of a YAML file of choice contexts:/);
  expect(problems.map((problem) => problem.replace(/(one of|operations:) .*?(?=, but|$)/, "$1 …"))).toEqual([
    'wrong.yaml:2:18: changes[0].operations[0]: must be an operation, but is "transfer-factory"; operations: …',
    'wrong.yaml:3:5: changes[0].credentials: must be one of …, but is "always"',
    'wrong.yaml:5:11: changes[1].add[0].entry: must be one of …, but is "audits"',
    'wrong.yaml:5:26: changes[1].add[0].when: must be checkBlocklist, severalInstruments, configured, or a map with a package, but is "checkblocklist"',
    'wrong.yaml:8:41: entries.audit.template.name: must be Module:Entity, but is "Audit"',
    "wrong.yaml:9:47: entries.audit.find[0].prefx: is not a known field; known fields: field, is, prefix",
  ]);
});

test("the tables of the page name every field, condition, value and form", () => {
  const named = new Set([...page.text.matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name));
  const fields =
    "packages entries changes operations when add remove rewards credentials entry disclosure keys required " +
    "checkBlocklist severalInstruments configured template find value field is prefix registrar provider instrument sender " +
    "receiver holder party contract-id list map-by-party";
  expect(fields.split(" ").filter((field) => !named.has(field))).toEqual([]);
});

const own = Page.read("docs/your-own-registry.md");

/** A section of the page with contracts, a request and answers. `serve` serves the contracts. */
function exampleOf(heading: string) {
  const section = own.section(heading);
  const [contracts = "", ...answers] = section.in("json");
  const yaml = section.block("yaml");
  const serve = async (config: (folder: string) => Partial<AppConfig>) => {
    const folder = mkdtempSync(join(tmpdir(), "offledger-example-"));
    const snapshot = join(folder, "contracts.ndjson");
    writeFileSync(snapshot, contracts);
    const running = await serveFile(snapshot, { config: config(folder) });
    onTestFinished(async () => {
      await running.close();
      rmSync(folder, { recursive: true });
    });
    return async (body: string) => {
      const answered = await running.post(path, JSON.parse(body) as JsonValue);
      return [answered.status, answered.body];
    };
  };
  const { path, body } = requestOf(section.block("sh", "curl "));
  return { yaml, serve, body, answers: answers.map((answer) => JSON.parse(answer) as JsonValue) };
}

test("the registry file of docs/your-own-registry.md is served with the answer of the page", async () => {
  const { yaml, serve, body, answers } = exampleOf("A registry file");
  const ask = await serve((folder) => {
    const registry = join(folder, "cocoa.yaml");
    writeFileSync(registry, yaml);
    return { registry };
  });
  expect(await ask(body)).toEqual([200, answers[0]]);
});

test("the blocklist of docs/your-own-registry.md: with the file the answers of the page, without it 400", async () => {
  const { yaml, serve, body, answers } = exampleOf("A blocklist in shards");
  const contexts = await contextsFile(yaml);
  const ask = await serve(() => ({ contexts }));
  expect(await ask(body)).toEqual([200, answers[0]]);
  expect(await ask(body.replace("bob::1220b2", "carol::1220b3"))).toEqual([404, answers[1]]);
  // It covers every operation that needs it.
  expect(await printed(contexts)).not.toContain("no blocklist is configured");
  const without = await serve(() => ({}));
  expect((await without(body))[0]).toBe(400);
});
