/** The examples of docs/clients.md and of the client's README compile, run and print what the pages show. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Running, serveFile } from "../fixtures/run-service.js";
import { type Checkout, createCheckout, repository } from "../package/checkout.js";
import { blocksOf, runBlocks, runShell } from "./runnable-page.js";

const page = readFileSync("docs/clients.md", "utf8");
const typeScript = blocksOf(page, "TypeScript");
const caching = blocksOf(page, "Caching");
const wallets = blocksOf(page, "Wallets of the token standard");
const wire = blocksOf(page, "Connect, gRPC and gRPC-Web");

let running: Running;
let checkout: Checkout;
beforeAll(async () => {
  running = await serveFile(undefined);
  checkout = await createCheckout();
});
afterAll(async () => {
  await running.close();
  await checkout.remove();
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
  const [pack, ...project] = typeScript;
  // The packages of `npm ci` are in the checkout already.
  const [install, ...commands] = pack?.text.trimEnd().split("\n") ?? [];
  expect(install).toBe("npm ci");
  await runShell(commands.join("\n"), checkout.folder);
  const folder = join(checkout.parent, "wallet");
  await mkdir(folder);
  expect(await runBlocks(project, folder, running.url)).toBe(2);
  expect(await runBlocks(caching, folder, running.url)).toBe(1);
  expect(await runBlocks(wallets, folder, running.url)).toBe(1);

  const readme = readFileSync("packages/client/README.md", "utf8");
  const blocks = blocksOf(`## Example\n${readme.slice(readme.indexOf("```ts"))}`, "Example");
  const compile = typeScript
    .find(({ text }) => text.startsWith("npx tsc "))
    ?.text.replaceAll("transfer", "instruments");
  const shown = { language: "text", text: "NOK-CASH\n" };
  expect(await runBlocks([...blocks, { language: "sh", text: compile ?? "" }, shown], folder, running.url)).toBe(1);
});

test("the requests without a client", async ({ skip }) => {
  skip(await isMissing("curl"), "the examples need curl, which is not installed");
  expect(await runBlocks(wire, repository, running.url)).toBe(3);
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
