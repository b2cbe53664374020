/** Loading a registry: a built-in one by name, or a module by its path, which is checked before use. */
import { relative } from "node:path";
import { describe, expect, test } from "vitest";
import { loadOperations, loadRegistry } from "../../src/app/registry.js";
import { SettingError } from "../../src/config/setting.js";
import { temporaryFile } from "../fixtures/files.js";
import { formatModule, moduleFields, moduleMethods, withoutFields } from "../fixtures/own-registry.js";
import { quiet } from "../fixtures/run-service.js";

const load = (registry: string) => loadRegistry({ ...quiet(), registry });
const moduleFile = (text: string): Promise<string> => temporaryFile("registry.mjs", text);

test("the built-in registries, by name", async () => {
  expect((await load("utility")).utility).toBeDefined();
  expect((await load("minimal")).name).toBe("minimal token");
  expect((await loadRegistry(quiet())).utility).toBeDefined();
});

test("a module, by its path: an object, or an instance of a class", async () => {
  const path = await moduleFile(formatModule(moduleFields));
  expect(await load(path)).toMatchObject({ name: "own", templates: [] });
  expect(await load(relative(process.cwd(), path))).toMatchObject({ name: "own" });
  const members = moduleMethods.map((method) => `${method}() {}`).join("\n");
  const text = `class Own { name = "of a class"; templates = []; supportedApis = {}; ${members} } export default new Own();`;
  expect(await load(await moduleFile(text))).toMatchObject({ name: "of a class" });
});

test("a module has no table of contexts unless it extends the Registry Utility", async () => {
  const registry = await moduleFile(formatModule(moduleFields));
  await expect(loadOperations({ ...quiet(), registry })).rejects.toThrow(
    "only a file, the Registry Utility, or a module that extends it, has a table of operations",
  );
});

const wrong = (fields: object): string => formatModule({ ...moduleFields, ...fields });

describe("a module is rejected that", () => {
  const noTemplate = "has a template without packageName, qualifiedName or parse";
  const noCheck = "has a check without template or warnings";
  const template = '{ packageName: "p", qualifiedName: "M:T", parse() {} }';

  test.each<readonly [text: string, expected: string]>([
    ['throw new Error("no licence");', "cannot be loaded: "],
    ["export default {", "cannot be loaded: "],
    ["export const registry = {};", "must be an object that implements Registry"],
    ["export default null;", "must be an object that implements Registry"],
    ['export default "registry";', "must be an object that implements Registry"],
    [withoutFields("name"), "has no name"],
    [wrong({ name: "5" }), "has no name"],
    [withoutFields("templates"), "has no list of templates"],
    [wrong({ templates: "{}" }), "has no list of templates"],
    [wrong({ templates: "[null]" }), noTemplate],
    ...["packageName", "qualifiedName", "parse"].map((name) => {
      const renamed = template.replace(name, "other");
      return [wrong({ templates: `[${template}, ${renamed}]` }), noTemplate] as const;
    }),
    [withoutFields("supportedApis"), "has no supportedApis"],
    [wrong({ supportedApis: "null" }), "has no supportedApis"],
    [wrong({ checks: "5" }), noCheck],
    [wrong({ checks: "[null]" }), noCheck],
    [wrong({ checks: "[{ template: {}, warnings() {} }]" }), noCheck],
    [wrong({ checks: `[{ template: ${template} }]` }), noCheck],
    ...moduleMethods.map((method) => [withoutFields(method), `lacks ${method}`] as const),
    [wrong({ inventory: "{}" }), "lacks inventory"],
    [withoutFields(...moduleMethods), `lacks ${moduleMethods.join(", ")}`],
    [
      wrong({ inventory: "async () => ({})", instruments: "async function () {}" }),
      "has async methods, which must be synchronous: instruments, inventory",
    ],
  ])("%j: %s", async (text, expected) => {
    const path = await moduleFile(text);
    const error: unknown = await load(path).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SettingError);
    const { message } = error as SettingError;
    expect(message).toMatch(/^OFFLEDGER_REGISTRY must be .* a JavaScript module: /);
    expect(message).toContain(`${path} ${expected}`);
  });
});
