/** The examples of docs/clients.md, of the client's README and of docs/explain.md run, and print what the pages show. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type App, startApp } from "../../src/app/app.js";
import { main } from "../fixtures/program.js";
import { quiet } from "../fixtures/run-service.js";
import { createCheckout, repository } from "../package/checkout.js";
import { Page, runBlocks, runShell, shortenLike } from "./pages.js";

const explain = Page.read("docs/explain.md");
const folder = mkdtempSync(join(tmpdir(), "offledger-pages-"));
const contexts = join(folder, "contexts.yaml");
writeFileSync(contexts, explain.block("yaml"));
const clients = Page.read("docs/clients.md");
const typeScript = clients.section("TypeScript").blocks;
const wallets = clients.section("Wallets of the token standard").blocks;

let app: App;
beforeAll(async () => {
  app = await startApp({ ...quiet(), metricsPort: { host: "127.0.0.1", port: 0 }, logRequests: "none", contexts });
});
afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true });
});

/** Why the packages of the pages cannot be installed; undefined if they can. */
async function registryFailure(): Promise<string | undefined> {
  const view = ["view", "@connectrpc/connect", "version", "--fetch-retries=1", "--fetch-timeout=20000"];
  return promisify(execFile)("npm", view, { timeout: 60_000 }).then(
    () => undefined,
    ({ message, stderr = message }: Error & { readonly stderr?: string }) => {
      const reasons = stderr.split("\n").filter((line) => /^npm error (?:code|errno|network)/.test(line));
      return `the examples install packages, but npm cannot reach its registry: ${reasons.join("; ") || message}`;
    },
  );
}

const isMissing = (program: string): Promise<boolean> =>
  promisify(execFile)(program, ["--version"]).then(
    () => false,
    () => true,
  );

test("TypeScript and the wallet SDK, in one project", { timeout: 900_000 }, async ({ skip }) => {
  const failure = await registryFailure();
  skip(failure !== undefined, failure);
  const checkout = await createCheckout();
  onTestFinished(() => checkout.remove());
  const [pack, ...rest] = typeScript;
  // The packages of `npm ci` are in the checkout already.
  const [install, ...commands] = pack?.text.trimEnd().split("\n") ?? [];
  expect(install).toBe("npm ci");
  await runShell(commands.join("\n"), checkout.folder);
  const project = join(checkout.parent, "wallet");
  await mkdir(project);
  expect(await runBlocks(rest, project, app.url)).toBe(1);
  expect(await runBlocks(wallets, project, app.url)).toBe(1);

  const { blocks } = Page.read("packages/client/README.md").from("```ts");
  const compile = typeScript
    .find(({ text }) => text.startsWith("npx tsc "))
    ?.text.replaceAll("transfer", "instruments");
  const shown = { language: "text", text: "NOK-CASH\n" };
  expect(await runBlocks([...blocks, { language: "sh", text: compile ?? "" }, shown], project, app.url)).toBe(2);
});

test("the requests without a client", async ({ skip }) => {
  skip(await isMissing("curl"), "the examples need curl, which is not installed");
  expect(await runBlocks(clients.section("Connect, gRPC and gRPC-Web").blocks, repository, app.url)).toBe(2);
});

test("the page installs the versions of the tests", () => {
  const { version, dependencies, devDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as {
    version: string;
    dependencies: Record<string, string>;
    devDependencies: Record<string, string>;
  };
  const known = Object.entries({ ...dependencies, ...devDependencies }).map(([name, exact]) => `${name}@${exact}`);
  const installed = [...typeScript, ...wallets]
    .filter(({ text }) => text.includes("npm install"))
    .flatMap(({ text }) => text.split(/\s+/).filter((word) => /@|\.tgz$/.test(word)));
  expect(installed.length).toBe(8);
  expect([`../offledger/offledger-client-${version}.tgz`, ...known]).toEqual(expect.arrayContaining(installed));
});

/** Runs the first commands after a text, with the variables of the page. */
async function runAfter(after: string): Promise<string> {
  const { port } = new URL(app.metricsUrl ?? "");
  const commands = explain
    .from(after)
    .block("sh")
    .replace("http://localhost:8080", app.url)
    .replace("offledger explain", `'${process.execPath}' '${main}' explain`);
  const variables = explain.from("are shortened in the output").block("sh");
  const printed = await runShell(`export OFFLEDGER_METRICS_PORT=${port}\n${variables}${commands}`, folder);
  return printed.replaceAll("\r", "");
}

/** The time of an explanation is that of the command. */
const atTimeOf = (shown: string, printed: string): string =>
  printed.replace(/answered as at \S+/, /answered as at \S+/.exec(shown)?.[0] ?? "");

function expectPrinted(after: string, printed: string): void {
  const shown = explain.from(after).block("text");
  expect(shortenLike(shown, atTimeOf(shown, printed))).toBe(shown);
}

test("the refused request and its explanation", async () => {
  expectPrinted("## From a complaint", await runAfter("## From a complaint"));
  expectPrinted("`offledger explain` takes the id", await runAfter("`offledger explain` takes the id"));
});

test("a request on stdin, at another time", async () => {
  const [head = ""] = (await runAfter("## Any request")).split("\nlooked for\n");
  expectPrinted("## Any request", head);
});
