/** docs/contexts.md and the blocklist of docs/your-own-registry.md: their files are served, and their output is the program's. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import type { JsonObject, JsonValue } from "../../src/domain/json.js";
import { loadContexts } from "../../src/app/registry.js";
import { formatContexts } from "../../src/cli/registry.js";
import { SettingError } from "../../src/config/setting.js";
import { contextsFile } from "../fixtures/contexts.js";
import { quiet, serveFile } from "../fixtures/run-service.js";

interface Page {
  /** The code blocks of a language, in order. */
  readonly blocks: (language: string) => readonly string[];
  /** The text below a heading, up to the next of its level. */
  readonly section: (heading: string) => Page;
  readonly text: string;
}

function pageOf(text: string): Page {
  return {
    text,
    blocks: (language) =>
      [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
        .filter(([, name]) => name === language)
        .map(([, , content = ""]) => content),
    section(heading) {
      const found = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`));
      if (found === undefined) throw new Error(`no section ${heading}`);
      return pageOf(found);
    },
  };
}

const page = pageOf(readFileSync("docs/contexts.md", "utf8"));
const printed = async (contexts?: string): Promise<string> =>
  formatContexts((await loadContexts({ ...quiet(), contexts })).table);

test("the built-in table is the output of offledger contexts", async () => {
  expect(page.section("The built-in table").blocks("text")).toEqual([await printed()]);
});

test("the first file is accepted, and has the row that is shown", async () => {
  const { blocks } = page.section("The file");
  const [yaml = ""] = blocks("yaml");
  const [row = ""] = blocks("text");
  expect(row.split("\n").length).toBeGreaterThan(10);
  expect((await printed(await contextsFile(yaml))).split("\n\n").map((text) => `${text.trimEnd()}\n`)).toContain(row);
});

test("the JSON schema of the package accepts the first file, and not the wrong one", () => {
  const isValid = new Ajv2020().compile(JSON.parse(readFileSync("gen/contexts.schema.json", "utf8")) as object);
  const [good = ""] = page.section("The file").blocks("yaml");
  const [wrong = ""] = page.section("Errors in the file").blocks("yaml");
  expect([good, wrong].map((yaml) => isValid(parse(yaml)))).toEqual([true, false]);
});

test("the wrong file has the errors that are shown", async () => {
  const { blocks } = page.section("Errors in the file");
  const [yaml = ""] = blocks("yaml");
  const path = await contextsFile(yaml);
  const error: unknown = await loadContexts({ ...quiet(), contexts: path }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(SettingError);
  const [first, ...problems] = `offledger: ${(error as SettingError).message.replaceAll(path, "wrong.yaml")}`.split(
    "\n",
  );
  const [shown = "", ...shownProblems] = (blocks("text")[0] ?? "").trimEnd().split("\n");
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

const request = (text: string): JsonObject => JSON.parse(text) as JsonObject;

test("the registry file of docs/your-own-registry.md is served with the answer of the page", async () => {
  const { blocks } = pageOf(readFileSync("docs/your-own-registry.md", "utf8")).section("A registry file");
  const [yaml = ""] = blocks("yaml");
  const [contracts = "", answer = ""] = blocks("json");
  const curl = blocks("sh").find((block) => block.startsWith("curl ")) ?? "";
  const [, path = ""] = /^curl http:\/\/localhost:8080(\S+)/.exec(curl) ?? [];
  const [, body = ""] = /-d '([^']+)'/.exec(curl) ?? [];
  const folder = await mkdtemp(join(tmpdir(), "offledger-cocoa-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [registry, snapshot] = [join(folder, "cocoa.yaml"), join(folder, "cocoa.ndjson")];
  await writeFile(registry, yaml);
  await writeFile(snapshot, contracts);
  const running = await serveFile(snapshot, { config: { registry } });
  onTestFinished(() => running.close());
  const answered = await running.post(path, request(body));
  expect({ status: answered.status, body: answered.body }).toEqual({
    status: 200,
    body: JSON.parse(answer) as JsonValue,
  });
});

describe("the blocklist of docs/your-own-registry.md", () => {
  const { blocks } = pageOf(readFileSync("docs/your-own-registry.md", "utf8")).section("A blocklist in shards");
  const [contracts = "", answer = "", missing = ""] = blocks("json");
  const curl = blocks("sh").find((block) => block.startsWith("curl ")) ?? "";
  const [, path = ""] = /^curl http:\/\/localhost:8080(\S+)/.exec(curl) ?? [];
  const [, body = ""] = /-d '([^']+)'/.exec(curl) ?? [];

  const serveBlocklist = async (contexts: string | undefined) => {
    const folder = await mkdtemp(join(tmpdir(), "offledger-blocklist-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const snapshot = join(folder, "blocklist.ndjson");
    await writeFile(snapshot, contracts);
    const running = await serveFile(snapshot, { config: { contexts } });
    onTestFinished(() => running.close());
    return running;
  };

  test("is served by the file of the page, with the answers of the page", async () => {
    const [yaml = ""] = blocks("yaml");
    const running = await serveBlocklist(await contextsFile(yaml));
    const answered = await running.post(path, request(body));
    expect({ status: answered.status, body: answered.body }).toEqual({
      status: 200,
      body: JSON.parse(answer) as JsonValue,
    });
    const { status, body: failure } = await running.post(path, request(body.replace("bob::1220b2", "carol::1220b3")));
    expect({ status, failure }).toEqual({ status: 404, failure: JSON.parse(missing) as JsonValue });
  });

  test("covers every operation that needs it", async () => {
    const [yaml = ""] = blocks("yaml");
    expect(await printed(await contextsFile(yaml))).not.toContain("no blocklist is configured");
  });

  test("is 400 without the file, as the page says", async () => {
    const running = await serveBlocklist(undefined);
    const { status } = await running.post(path, request(body));
    expect(status).toBe(400);
  });
});
