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
import { contextsFile } from "../fixtures/contexts.js";
import { quiet, serveFile } from "../fixtures/run-service.js";
import { Page, requestOf } from "./pages.js";

const page = Page.read("docs/contexts.md");
const printed = async (contexts?: string): Promise<string> =>
  formatContexts((await loadContexts({ ...quiet(), contexts })).table);

test("the built-in table is the output of offledger contexts", async () => {
  expect(page.section("The built-in table").in("text")).toEqual([await printed()]);
});

test("the first file is accepted, and has the row that is shown", async () => {
  const section = page.section("The file");
  const row = section.block("text");
  expect(row.split("\n").length).toBeGreaterThan(10);
  expect(
    (await printed(await contextsFile(section.block("yaml")))).split("\n\n").map((text) => `${text.trimEnd()}\n`),
  ).toContain(row);
});

test("the JSON schema of the package accepts the first file, and not the wrong one", () => {
  const isValid = new Ajv2020().compile(JSON.parse(readFileSync("gen/contexts.schema.json", "utf8")) as object);
  const files = ["The file", "Errors in the file"].map((heading) => page.section(heading).block("yaml"));
  expect(files.map((yaml) => isValid(parse(yaml)))).toEqual([true, false]);
});

test("the wrong file has the errors that are shown", async () => {
  const section = page.section("Errors in the file");
  const path = await contextsFile(section.block("yaml"));
  const error: unknown = await loadContexts({ ...quiet(), contexts: path }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(SettingError);
  const [first, ...problems] = `offledger: ${(error as SettingError).message.replaceAll(path, "wrong.yaml")}`.split(
    "\n",
  );
  const [shown = "", ...shownProblems] = section.block("text").trimEnd().split("\n");
  expect(first?.trimEnd()).toBe(shown);
  // "…" stands for the rest of a list.
  const patterns = shownProblems.map(
    (line) =>
      new RegExp(
        `^${line
          .split("…")
          .map((part) => part.replaceAll(/[^\w ]/g, "\\$&"))
          .join(".*")}$`,
      ),
  );
  expect(problems).toEqual(patterns.map((pattern) => expect.stringMatching(pattern) as unknown));
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
