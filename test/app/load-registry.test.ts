/** Which registry is served: one that comes with the service, or a module, looked at before it is used. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SettingError } from "../../src/config/setting-error.js";
import { loadRegistry } from "../../src/app/load-registry.js";
import { minimalRegistry } from "../../src/registry/minimal/index.js";
import { elements } from "../../demo/minimal.js";
import { main, Program, run } from "../fixtures/program.js";
import { quiet } from "../fixtures/run-service.js";

/** A module that would do, of which a test leaves something out. */
const methods = [
  "instruments",
  "transferFactory",
  "allocationFactory",
  "settlementFactory",
  "choiceContext",
  "inventory",
];
const whole: Readonly<Record<string, string>> = {
  name: '"own"',
  templates: "[]",
  supportedApis: "{}",
  ...Object.fromEntries(methods.map((method) => [method, "() => { throw new Error() }"])),
  inventory: "() => ({ registrars: [], counts: [], warnings: [] })",
};
const moduleOf = (fields: Readonly<Record<string, string>>): string =>
  `export default { ${Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}`)
    .join(", ")} };`;
const without = (...names: readonly string[]): string =>
  moduleOf(Object.fromEntries(Object.entries(whole).filter(([name]) => !names.includes(name))));

/** What is no registry: its text, undefined where there is no file, and what a message has to say. */
type Wrong = readonly [what: string, text: string | undefined, said: string];
const unloadable: readonly Wrong[] = [
  ["is missing", undefined, "Cannot find module"],
  ["throws", 'throw new Error("no licence");', "no licence"],
  ["throws what is no Error", 'throw "no licence";', "no licence"],
  ["is not JavaScript", "export default {", "Unexpected end of input"],
  ["imports what is not there", 'import "not-installed"; export default {};', "not-installed"],
];
const lacking: readonly Wrong[] = [
  ["has no default export", "export const registry = {};", "must be an object that implements Registry"],
  ["exports null", "export default null;", "must be an object that implements Registry"],
  ["exports a text", 'export default "registry";', "must be an object that implements Registry"],
  ["has no name", without("name"), "has no name"],
  ["has a name that is no text", moduleOf({ ...whole, name: "5" }), "has no name"],
  ["has no templates", without("templates"), "has no list of templates"],
  ["has templates that are no list", moduleOf({ ...whole, templates: "{}" }), "has no list of templates"],
  ["has no supportedApis", without("supportedApis"), "has no supportedApis"],
  ["has supportedApis of null", moduleOf({ ...whole, supportedApis: "null" }), "has no supportedApis"],
  ...methods.map((method): Wrong => [`lacks ${method}`, without(method), `lacks ${method}`]),
  ["lacks methods", without(...methods), `lacks ${methods.join(", ")}`],
  [
    "has methods that wait",
    moduleOf({ ...whole, inventory: "async () => ({})", instruments: "async function () {}" }),
    "has async methods, which must be synchronous: instruments, inventory",
  ],
  ["has a method that is none", moduleOf({ ...whole, inventory: "{}" }), "lacks inventory"],
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
async function moduleWith(text: string | undefined): Promise<string> {
  // A module is loaded once by its name: each has its own.
  const path = join(folder, `registry-${files++}.mjs`);
  if (text !== undefined) await writeFile(path, text);
  return path;
}

/** What is said of a module that is no registry. */
async function refusalOf(path: string): Promise<string> {
  const failure: unknown = await loadRegistry({ ...quiet(), registry: path }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(SettingError);
  const { message } = failure as SettingError;
  for (const part of ["OFFLEDGER_REGISTRY", path, "the path of a JavaScript module"]) expect(message).toContain(part);
  return message;
}

describe("registryOf", () => {
  test("gives the registries that come with the service by their names", async () => {
    expect((await loadRegistry({ ...quiet(), registry: "utility" })).utility).toBeDefined();
    expect(await loadRegistry({ ...quiet(), registry: "minimal" })).toBe(minimalRegistry);
    expect((await loadRegistry(quiet())).name).not.toBe(minimalRegistry.name);
  });

  test("loads a module by its path", async () => {
    const path = await moduleWith(moduleOf(whole));
    expect(await loadRegistry({ ...quiet(), registry: path })).toMatchObject({ name: "own", templates: [] });
    const fromHere = relative(process.cwd(), path);
    expect(await loadRegistry({ ...quiet(), registry: fromHere })).toMatchObject({ name: "own" });
  });

  test("loads a registry that is an object of a class", async () => {
    const fields = methods.map((method) => `${method}() {}`).join("\n");
    const text = `class Own { name = "of a class"; templates = []; supportedApis = {}; ${fields} } export default new Own();`;
    expect(await loadRegistry({ ...quiet(), registry: await moduleWith(text) })).toMatchObject({ name: "of a class" });
  });

  // Why, in the words of Node.js, is told below: here the loader is that of the tests.
  test.each(unloadable)("refuses a module that %s", async (_what, text) => {
    expect(await refusalOf(await moduleWith(text))).toContain("cannot be loaded: ");
  });

  test.each(lacking)("refuses a module that %s", async (_what, text, said) => {
    const path = await moduleWith(text);
    expect(await refusalOf(path)).toContain(`the default export of ${path} ${said}`);
  });
});

/** The built program; no variable of ours is set but those given. */
const offledger = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  run(process.execPath, [main, ...args], { cwd: folder, env: { OFFLEDGER_LOG_LEVEL: "silent", ...env } });

describe("a module that is no registry ends the program with 2 before it serves", () => {
  const some = new Set(["has no default export", "has no templates", "lacks methods"]);
  const few = [...unloadable, ...lacking.filter(([what]) => some.has(what))];

  test.each(few)("it %s", async (_what, text, said) => {
    const path = await moduleWith(text);
    const env = { OFFLEDGER_REGISTRY: path, OFFLEDGER_SNAPSHOT: snapshot, OFFLEDGER_PORT: "0" };
    const { code, out, err } = await offledger(["serve"], env);
    expect(code).toBe(2);
    expect(out).toBe("");
    expect(err.startsWith("offledger: ")).toBe(true);
    for (const part of ["OFFLEDGER_REGISTRY", path, said]) expect(err).toContain(part);
    expect(err).not.toMatch(/^ +at /m);
  });

  test.each(["serve", "check"])("by a flag as well: %s", async (command) => {
    const path = await moduleWith(without("templates"));
    const { code, out, err } = await offledger([command, "--registry", path, "--snapshot", snapshot]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    for (const part of ["OFFLEDGER_REGISTRY", path, "has no list of templates"]) expect(err).toContain(part);
  });

  test.each(["serve", "check"])("a module that has nothing to read: %s", async (command) => {
    const path = await moduleWith(moduleOf(whole));
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

  test("a name that is nearly one of ours", async () => {
    const { code, err } = await offledger(["serve", "--registry", "minimum", "--snapshot", snapshot]);
    expect(code).toBe(2);
    for (const part of ["OFFLEDGER_REGISTRY", "utility, minimal", "minimum"]) expect(err).toContain(part);
  });
});

describe("a module that is a registry", () => {
  test("is served, found from the folder of the program's start, also where its name has odd characters", async () => {
    await writeFile(join(folder, "my reg#1 ü%20.mjs"), moduleOf(whole));
    const args = [main, "serve", "--registry", "./my reg#1 ü%20.mjs", "--snapshot", "own.ndjson", "--port", "0"];
    const env = { OFFLEDGER_LOG_LEVEL: "silent" };
    const serving = new Program(process.execPath, args, { cwd: folder, env });
    await serving.printed(/^offledger serves own\.ndjson at http/m);
    serving.stop();
    expect(await serving.ended()).toMatchObject({ code: 0, err: "" });
  });

  test("is served from a ledger as well: a file is not needed", async () => {
    const path = await moduleWith(moduleOf(whole));
    const args = [
      main,
      "--registry",
      path,
      "--ledger-url",
      "http://127.0.0.1:9",
      "--ledger-parties",
      "p",
      "--port",
      "0",
    ];
    const serving = new Program(process.execPath, args, { cwd: folder, env: { OFFLEDGER_LOG_LEVEL: "silent" } });
    const [words] = await serving.printed(/^offledger follows \S+ and listens at http/m);
    expect(words).toContain("http://127.0.0.1:9/");
  });
});

describe("check --registry minimal", () => {
  test("finds nothing wrong with its demo", async () => {
    const { code, out, err } = await offledger(["check", "--registry", "minimal"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain(`minimal.ndjson can be served: ${elements.length} contracts, 0 unused elements`);
    expect(out).toMatch(/^registrar coffee-club::1220[\da-f]{64}\n {2}instrument BEAN \(Minimal\)$/m);
    for (const entity of ["Rules", "TransferInstruction", "Allocation"]) {
      expect(out).toMatch(new RegExp(`^ +1 Minimal\\.Token:${entity}$`, "m"));
    }
    expect(out).not.toContain("warning");
  });

  test("reads a file of one's own, and says what in it is wrong", async () => {
    const path = join(folder, "wrong.ndjson");
    const text = JSON.stringify(elements[0]);
    await writeFile(
      path,
      `${text}\n${text.replace('"symbol":"BEAN",', "").replace(/"contractId":"00/, '"contractId":"01')}\n`,
    );
    const { code, out, err } = await offledger(["check"], { OFFLEDGER_REGISTRY: "minimal", OFFLEDGER_SNAPSHOT: path });
    expect({ code, err }).toEqual({ code: 1, err: "" });
    expect(out).toBe(`${path} cannot be served:\n${path}:2: symbol has to be a string, and is missing\n`);
  });

  test("has no use for the contracts of the Registry Utility", async () => {
    const demo = new URL("../../demo/registry.ndjson", import.meta.url).pathname;
    const { code, out } = await offledger(["check", "--registry", "minimal", "--snapshot", demo]);
    expect(code).toBe(0);
    expect(out).toContain("can be served: 0 contracts");
    expect(out).toContain("no registrar is served");
  });

  test.each(["ten", "2.5", "-1", "11", ""])('decimals of "%s" are a problem of the file', async (decimals) => {
    const path = join(folder, `decimals-${decimals}.ndjson`);
    await writeFile(path, `${JSON.stringify(elements[0]).replace('"decimals":"0"', `"decimals":"${decimals}"`)}\n`);
    const { code, out } = await offledger(["check", "--registry", "minimal", "--snapshot", path]);
    expect(out).toContain(`${path}:1: decimals`);
    expect(code).toBe(1);
  });
});
