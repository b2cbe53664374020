/** docs/contexts.md and docs/your-own-registry.md: their files are served, and their output is the program's. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { withTables } from "../../scripts/tables-reference.js";
import { loadContexts, loadOperations } from "../../src/app/registry.js";
import { formatOperations } from "../../src/cli/registry.js";
import type { AppConfig } from "../../src/config/limits.js";
import { SettingError } from "../../src/config/setting.js";
import type { JsonValue } from "../../src/util/json.js";
import { OPERATIONS } from "../../src/registry/operation-names.js";
import { contextsFile } from "../fixtures/contexts.js";
import { temporaryFolder } from "../fixtures/files.js";
import { quiet, serveFile } from "../fixtures/run-service.js";
import { Page, requestOf } from "./pages.js";

const page = Page.read("docs/contexts.md");
const printed = async (contexts?: string): Promise<string> =>
  formatOperations(await loadOperations({ ...quiet(), contexts }));

test("offledger contexts prints the operations in force, each once, as a file has them", async () => {
  const { operations } = parse(await printed()) as { readonly operations: Readonly<Record<string, readonly object[]>> };
  expect(new Set(Object.keys(operations))).toEqual(new Set(OPERATIONS));
  expect(operations["transfer-instruction/reject"]).toEqual([
    { entry: "enable-result-contracts", key: "utility.digitalasset.com/enable-result-contracts" },
    { disclosure: "locked-holding" },
  ]);
});

test("the first file is accepted, and has the operation that is shown", async () => {
  const [file = "", shown = ""] = page.section("The file").in("yaml");
  expect(shown.split("\n").length).toBeGreaterThan(10);
  expect(await printed(await contextsFile(file))).toContain(`\n${shown}`);
});

const WRONG = `templates:
  audit: { package: acme-audit-v1, name: 7 }
entries:
  audit: { template: audit, find: { registrar: registrar }, prefx: 2 }
changes:
  - on: [transfer-factories]
    set: { missing: always }
`;

test("the JSON schemas accept the files of the pages that are theirs, and no wrong one", () => {
  const file = page.section("The file").block("yaml");
  const registry = own.section("A registry file").block("yaml");
  const accepted = (name: string, ...files: readonly string[]) => {
    const schema = JSON.parse(readFileSync(`gen/${name}.schema.json`, "utf8")) as object;
    const isValid = new Ajv2020({ allowUnionTypes: true }).compile(schema);
    return files.map((yaml) => isValid(parse(yaml)));
  };
  expect(accepted("contexts", file, registry, WRONG)).toEqual([true, false, false]);
  expect(accepted("registry", registry, `extends: utility\n${file}`, file, WRONG)).toEqual([true, true, false, false]);
});

test("a wrong file ends the program with all its errors, each with line and column", async () => {
  const path = await contextsFile(WRONG);
  const error: unknown = await loadContexts({ ...quiet(), contexts: path }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(SettingError);
  const [first, ...problems] = (error as SettingError).message.replaceAll(path, "wrong.yaml").split("\n");
  expect(first).toMatch(/^OFFLEDGER_CONTEXTS must be the path of a YAML file of choice contexts:/);
  expect(problems.map((problem) => problem.replace(/(operations:|known fields:) .*$/, "$1 …"))).toEqual([
    "wrong.yaml:2:36: templates.audit.name: must be a non-empty string, but is 7: write it in quotes",
    "wrong.yaml:4:61: entries.audit.prefx: is not a known field; known fields: …",
    'wrong.yaml:6:10: changes[0].on[0]: must be an operation, but is "transfer-factories"; operations: …',
    'wrong.yaml:7:12: changes[0].set.missing: must be one of refuse, omit, allow, but is "always"',
  ]);
});

test("docs/tables.md has the fields of the schema, each with its form, as the schema describes them", () => {
  const { text } = Page.read("docs/tables.md");
  expect(withTables(text)).toBe(text);
  for (const form of [
    "`name`, text, required: what",
    "`versions`, list of `v1` or `v2` or `seen`: ",
    "`templates`, map of templates, required: ",
    "`instruments`, list of text, `file`, `seen` or map, required: ",
    "`roles`, map of paths or lists of paths: ",
    "`margin`, 0 to 86400: ",
    "`empty`, boolean: ",
    "`entries`, map of entries: ",
    "`on`, list of operations: ",
  ])
    expect(text).toContain(`\n- ${form}`);
});

const own = Page.read("docs/your-own-registry.md");

/** A section of the page with contracts, a request and answers. `serve` serves the contracts. */
function exampleOf(heading: string) {
  const section = own.section(heading);
  const [contracts = "", ...answers] = section.in("json");
  const yaml = section.block("yaml");
  const serve = async (config: (folder: string) => Partial<AppConfig>) => {
    const folder = await temporaryFolder();
    const snapshot = join(folder, "contracts.ndjson");
    writeFileSync(snapshot, contracts);
    const running = await serveFile(snapshot, { config: config(folder) });
    onTestFinished(() => running.close());
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
  expect(await printed(contexts)).not.toContain("no-blocklist");
  const without = await serve(() => ({}));
  expect((await without(body))[0]).toBe(400);
});
