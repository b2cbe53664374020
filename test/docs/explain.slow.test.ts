/** The commands of docs/explain.md are run on the demo registry, and print what the page shows. `npm test` builds first. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonValue } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type App, startApp } from "../../src/app/app.js";
import type { JsonObject } from "../../src/domain/json.js";
import { main } from "../fixtures/program.js";
import { quiet } from "../fixtures/run-service.js";
import { runShell } from "./runnable-page.js";
import { expandShortened, shortenLike } from "./shortened.js";

const page = readFileSync("docs/explain.md", "utf8");

/** The first block of a language after a text. */
function block(after: string, language: string): string {
  const rest = page.slice(page.indexOf(after));
  const [, text = ""] = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "m").exec(rest) ?? [];
  expect(text).not.toBe("");
  return text;
}

let app: App;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "offledger-explain-page-"));
  const contexts = join(folder, "contexts.yaml");
  await writeFile(contexts, block("# Explanations", "yaml"));
  app = await startApp({ ...quiet(), metricsPort: 0, logRequests: "none", contexts });
});
afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true });
});

/** Runs the first commands after a text, with the variables of the page. */
async function run(after: string): Promise<string> {
  const { origin, port } = new URL(app.metricsUrl ?? "");
  const commands = block(after, "sh")
    .replace("http://localhost:8080", app.url)
    .replace("http://localhost:9464", origin)
    .replace("offledger explain", `'${process.execPath}' '${main}' explain`);
  const variables = block("are shortened in the output", "sh");
  const printed = await runShell(`export OFFLEDGER_METRICS_PORT=${port}\n${variables}${commands}`, folder);
  return printed.replaceAll("\r", "");
}

/** The time of an explanation is that of the command. */
const atTimeOf = (shown: string, printed: string): string =>
  printed.replace(/answered as at \S+/, /answered as at \S+/.exec(shown)?.[0] ?? "");

function expectPrinted(after: string, printed: string): void {
  const shown = block(after, "text");
  expect(shortenLike(shown, atTimeOf(shown, printed))).toBe(shown);
}

test("the refused request, its explanation, and the explanation at another time", async () => {
  expectPrinted("## From a complaint", await run("## From a complaint"));
  expectPrinted("`offledger explain` takes the id", await run("`offledger explain` takes the id"));
  const shown = expandShortened(JSON.parse(block("## At another time", "json")) as JsonValue) as JsonObject;
  expect(JSON.parse(await run("## At another time"))).toMatchObject(shown);
});

test("several causes of a request on stdin", async () => {
  const [head = ""] = (await run("## Any request")).split("\nlooked for\n");
  expectPrinted("## Any request", head);
});
