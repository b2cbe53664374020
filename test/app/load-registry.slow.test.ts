/** Loading a registry: a built-in one, or a module that is checked before use. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SettingError } from "../../src/config/setting.js";
import { loadRegistry, loadUtilityContexts } from "../../src/app/registry.js";
import { elements } from "../../demo/minimal.js";
import { main, Program, run } from "../fixtures/program.js";
import { quiet } from "../fixtures/run-service.js";

const methods = [
  "instruments",
  "transferFactory",
  "allocationFactory",
  "settlementFactory",
  "choiceContext",
  "inventory",
];
/** The fields of a complete registry module. */
const complete: Readonly<Record<string, string>> = {
  name: '"own"',
  templates: "[]",
  supportedApis: "{}",
  ...Object.fromEntries(methods.map((method) => [method, "() => { throw new Error() }"])),
  inventory: "() => ({ registrars: [], counts: [], warnings: [] })",
};
const formatModule = (fields: Readonly<Record<string, string>>): string =>
  `export default { ${Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}`)
    .join(", ")} };`;
const formatWithout = (...names: readonly string[]): string =>
  formatModule(Object.fromEntries(Object.entries(complete).filter(([name]) => !names.includes(name))));

/** A wrong module: its text, undefined for a missing file, and a part of the message. */
type WrongModule = readonly [title: string, text: string | undefined, message: string];
const unloadable: readonly WrongModule[] = [
  ["is missing", undefined, "Cannot find module"],
  ["throws", 'throw new Error("no licence");', "no licence"],
  ["throws a string", 'throw "no licence";', "no licence"],
  ["is not JavaScript", "export default {", "Unexpected end of input"],
  ["imports a missing package", 'import "not-installed"; export default {};', "not-installed"],
];
const incomplete: readonly WrongModule[] = [
  ["has no default export", "export const registry = {};", "must be an object that implements Registry"],
  ["exports null", "export default null;", "must be an object that implements Registry"],
  ["exports a string", 'export default "registry";', "must be an object that implements Registry"],
  ["has no name", formatWithout("name"), "has no name"],
  ["has a name that is not a string", formatModule({ ...complete, name: "5" }), "has no name"],
  ["has no templates", formatWithout("templates"), "has no list of templates"],
  ["has templates that are not a list", formatModule({ ...complete, templates: "{}" }), "has no list of templates"],
  ["has no supportedApis", formatWithout("supportedApis"), "has no supportedApis"],
  ["has supportedApis of null", formatModule({ ...complete, supportedApis: "null" }), "has no supportedApis"],
  ...methods.map((method): WrongModule => [`lacks ${method}`, formatWithout(method), `lacks ${method}`]),
  ["lacks methods", formatWithout(...methods), `lacks ${methods.join(", ")}`],
  [
    "has async methods",
    formatModule({ ...complete, inventory: "async () => ({})", instruments: "async function () {}" }),
    "has async methods, which must be synchronous: instruments, inventory",
  ],
  ...["5", "{}", "[null]", "[{}]", "[{ template: {}, warnings() {} }]"].map((checks): WrongModule => [
    `has checks ${checks}`,
    formatModule({ ...complete, checks }),
    "has a check without",
  ]),
  ["has a method that is an object", formatModule({ ...complete, inventory: "{}" }), "lacks inventory"],
];

let folder: string;
let snapshot: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "offledger-registries-"));
  snapshot = join(folder, "own.ndjson");
  await writeFile(snapshot, `${JSON.stringify(elements[0])}\n`);
});
afterAll(() => rm(folder, { recursive: true }));

let files = 0;
async function writeModule(text: string | undefined): Promise<string> {
  // Node.js caches modules by path.
  const path = join(folder, `registry-${files++}.mjs`);
  if (text !== undefined) await writeFile(path, text);
  return path;
}

async function errorMessage(path: string): Promise<string> {
  const error: unknown = await loadRegistry({ ...quiet(), registry: path }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(SettingError);
  const { message } = error as SettingError;
  for (const part of ["OFFLEDGER_REGISTRY", path, "a JavaScript module"]) expect(message).toContain(part);
  return message;
}

describe("loadRegistry", () => {
  test("returns the built-in registries by name", async () => {
    expect((await loadRegistry({ ...quiet(), registry: "utility" })).utility).toBeDefined();
    expect((await loadRegistry({ ...quiet(), registry: "minimal" })).name).toBe("minimal token");
    expect((await loadRegistry(quiet())).name).not.toBe("minimal token");
  });

  test("loads a module by its path", async () => {
    const path = await writeModule(formatModule(complete));
    expect(await loadRegistry({ ...quiet(), registry: path })).toMatchObject({ name: "own", templates: [] });
    const relativePath = relative(process.cwd(), path);
    expect(await loadRegistry({ ...quiet(), registry: relativePath })).toMatchObject({ name: "own" });
  });

  test("loads an instance of a class", async () => {
    const fields = methods.map((method) => `${method}() {}`).join("\n");
    const text = `class Own { name = "class instance"; templates = []; supportedApis = {}; ${fields} } export default new Own();`;
    expect(await loadRegistry({ ...quiet(), registry: await writeModule(text) })).toMatchObject({
      name: "class instance",
    });
  });

  test("a module has no table of contexts unless it extends the Registry Utility", async () => {
    const registry = await writeModule(formatModule(complete));
    await expect(loadUtilityContexts({ ...quiet(), registry })).rejects.toThrow(
      "only the Registry Utility, or a module that extends it, has a table of contexts",
    );
  });

  // vitest has its own loader; the messages of Node.js are tested below with the program.
  test.each(unloadable)("rejects a module that %s", async (_title, text) => {
    expect(await errorMessage(await writeModule(text))).toContain("cannot be loaded: ");
  });

  test.each(incomplete)("rejects a module that %s", async (_title, text, message) => {
    const path = await writeModule(text);
    expect(await errorMessage(path)).toContain(`the default export of ${path} ${message}`);
  });
});

/** Runs the built program, with no OFFLEDGER_ variables but those given. */
const offledger = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  run(process.execPath, [main, ...args], { cwd: folder, env: { OFFLEDGER_LOG_LEVEL: "silent", ...env } });

describe("the program exits with 2 for a wrong module", () => {
  const selected = new Set(["has no default export", "has no templates", "lacks methods"]);
  const modules = [...unloadable, ...incomplete.filter(([title]) => selected.has(title))];

  test.each(modules)("it %s", async (_title, text, message) => {
    const path = await writeModule(text);
    const env = { OFFLEDGER_REGISTRY: path, OFFLEDGER_SNAPSHOT: snapshot, OFFLEDGER_PORT: "0" };
    const { code, out, err } = await offledger(["serve"], env);
    expect(code).toBe(2);
    expect(out).toBe("");
    expect(err.startsWith("offledger: ")).toBe(true);
    for (const part of ["OFFLEDGER_REGISTRY", path, message]) expect(err).toContain(part);
    expect(err).not.toMatch(/^ +at /m);
  });

  test.each(["serve", "check"])("given by flag: %s", async (command) => {
    const path = await writeModule(formatWithout("templates"));
    const { code, out, err } = await offledger([command, "--registry", path, "--snapshot", snapshot]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    for (const part of ["OFFLEDGER_REGISTRY", path, "has no list of templates"]) expect(err).toContain(part);
  });

  test.each(["serve", "check"])("without a source of contracts: %s", async (command) => {
    const path = await writeModule(formatModule(complete));
    const { code, out, err } = await offledger([command, "--registry", path]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    for (const name of ["OFFLEDGER_REGISTRY", "OFFLEDGER_SNAPSHOT", "OFFLEDGER_LEDGER_URL"])
      expect(err).toContain(name);
  });

  test("a folder", async () => {
    const { code, err } = await offledger(["serve", "--registry", folder, "--snapshot", snapshot]);
    expect(code).toBe(2);
    for (const part of ["OFFLEDGER_REGISTRY", folder, "cannot be loaded"]) expect(err).toContain(part);
  });

  test("a misspelt built-in name", async () => {
    const { code, err } = await offledger(["serve", "--registry", "minimum", "--snapshot", snapshot]);
    expect(code).toBe(2);
    for (const part of ["OFFLEDGER_REGISTRY", "utility, minimal", "minimum"]) expect(err).toContain(part);
  });
});

describe("the program serves a module", () => {
  test("relative to its working folder, with special characters in the name", async () => {
    await writeFile(join(folder, "my reg#1 ü%20.mjs"), formatModule(complete));
    const args = [main, "serve", "--registry", "./my reg#1 ü%20.mjs", "--snapshot", "own.ndjson", "--port", "0"];
    const env = { OFFLEDGER_LOG_LEVEL: "silent" };
    const program = new Program(process.execPath, args, { cwd: folder, env });
    await program.printed(/^offledger serves own\.ndjson at http/m);
    program.stop();
    expect(await program.ended()).toMatchObject({ code: 0, err: "" });
  });

  test("from a ledger, without a file", async () => {
    const path = await writeModule(formatModule(complete));
    const args = [
      main,
      "--registry",
      path,
      "--ledger-url",
      "http://127.0.0.1:9",
      "--ledger-parties",
      "p::1220",
      "--port",
      "0",
    ];
    const program = new Program(process.execPath, args, { cwd: folder, env: { OFFLEDGER_LOG_LEVEL: "silent" } });
    const [output] = await program.printed(/^offledger follows \S+ and listens at http/m);
    expect(output).toContain("http://127.0.0.1:9/");
  });
});

describe("check --registry minimal", () => {
  test("accepts its demo", async () => {
    const { code, out, err } = await offledger(["check", "--registry", "minimal"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain(`minimal.ndjson can be served: ${elements.length} contracts, 0 unused elements`);
    expect(out).toMatch(/^registrar coffee-club::1220[\da-f]{64}\n {2}instrument BEAN \(minimal token\)$/m);
    for (const entity of ["Rules", "TransferInstruction", "Allocation"]) {
      expect(out).toMatch(new RegExp(`^ +1 Minimal\\.Token:${entity}$`, "m"));
    }
    expect(out).not.toContain("warning");
  });

  test("lists the problems of a file", async () => {
    const path = join(folder, "wrong.ndjson");
    const text = JSON.stringify(elements[0]);
    await writeFile(
      path,
      `${text}\n${text.replace(/"admin":"[^"]+",/, "").replace(/"contractId":"00/, '"contractId":"01')}\n`,
    );
    const { code, out, err } = await offledger(["check"], { OFFLEDGER_REGISTRY: "minimal", OFFLEDGER_SNAPSHOT: path });
    expect({ code, err }).toEqual({ code: 1, err: "" });
    expect(out).toBe(`${path} cannot be served:\n${path}:2: admin must not be empty or missing\n`);
  });

  test("skips contracts of the Registry Utility", async () => {
    const demo = new URL("../../demo/registry.ndjson", import.meta.url).pathname;
    const { code, out } = await offledger(["check", "--registry", "minimal", "--snapshot", demo]);
    expect(code).toBe(0);
    expect(out).toContain("can be served: 0 contracts");
    expect(out).toContain("no registrar is served");
  });
});
