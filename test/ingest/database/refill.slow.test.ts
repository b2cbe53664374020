/** Where contracts are found by other fields than before, a database is filled again by itself. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startApp } from "../../../src/app/app.js";
import type { AppConfig } from "../../../src/config/limits.js";
import type { JsonObject } from "../../../src/util/json.js";
import { contextsFile, elementOf } from "../../fixtures/contexts.js";
import { parties } from "../../fixtures/elements.js";
import { databaseAt, freshDatabase } from "../../fixtures/postgres.js";
import { transferFactory, transferV1 } from "../../fixtures/requests.js";
import { quiet } from "../../fixtures/run-service.js";
import { completeElements, contextCalls } from "../../fixtures/operation-calls.js";
import { ask, becomesReady } from "./services.js";

const { registrar } = parties;

/** A registry that finds a badge of the receiver by a field of it. */
const table = (field: string): string => `
name: tea
package: tea
templates:
  rules: { name: "Tea:Rules", registrar: admin }
  badge: { name: "Tea:Badge", registrar: admin }
factory: { template: rules }
instruments: [USD]
entries:
  badge: { template: badge, find: { ${field}: receiver } }
operations:
  transfer-factory:
    - { entry: badge, key: badge }
`;

/** A contexts file with one own entry, found by a field, in cancelling a mint offer. */
function contexts(field: string): string {
  const template = { package: "tea", name: "Tea:Badge" };
  const badge = { template: "badge", find: { [field]: "registrar" } };
  const change = { on: ["mint-offer/cancel"], add: [{ entry: "badge", key: "badge" }] };
  return JSON.stringify({ templates: { badge: template }, entries: { badge }, changes: [change] });
}

const badge = (id: string, owner: string, holder: string): JsonObject =>
  elementOf("tea#Tea:Badge", id, { admin: registrar, owner, holder });
const contracts = [
  elementOf("tea#Tea:Rules", "rules", { admin: registrar }),
  ...["bob", registrar].flatMap((one) => [badge(`${one} owns`, one, "nobody"), badge(`${one} holds`, "nobody", one)]),
];

interface Values {
  readonly values: Record<string, { readonly value: unknown }>;
}

/** The badge in the context of a transfer to bob. */
async function badgeOfBob(url: string): Promise<unknown> {
  const { body } = await ask(url + transferFactory(), transferV1("alice", "bob"));
  const { choiceContext } = body as { readonly choiceContext?: { readonly choiceContextData: Values } };
  return choiceContext?.choiceContextData.values["badge"]?.value;
}

/** The badge in the context of cancelling the mint offer. */
async function badgeOfRegistrar(url: string): Promise<unknown> {
  const { body } = await ask(url + (contextCalls.get("mint-offer/cancel")?.path ?? ""), "POST");
  return (body as { readonly choiceContextData?: Values }).choiceContextData?.values["badge"]?.value;
}

let written = 0;
/** A file of its own: a module is loaded once for each path. */
async function fileOf(extension: string, content: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "offledger-refill-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, `${++written}.${extension}`);
  await writeFile(path, content);
  return path;
}

// releases.slow.test.ts has a participant, and two contents side by side.
test.each<[string, (field: string) => Promise<Partial<AppConfig>>, string, typeof badgeOfBob]>([
  ["a registry file", async (field) => ({ registry: await fileOf("yaml", table(field)) }), "bob", badgeOfBob],
  [
    "a contexts file",
    async (field) => ({ contexts: await contextsFile(contexts(field)) }),
    registrar,
    badgeOfRegistrar,
  ],
])("%s", async (_what, definition, who, answer) => {
  const database = await freshDatabase();
  onTestFinished(() => database.drop());
  const elements = [...completeElements(), ...contracts].map((one) => `${JSON.stringify(one)}\n`);
  const given = { databaseUrl: databaseAt(database.url), snapshot: await fileOf("ndjson", elements.join("")) };
  for (const [field, does] of [
    ["owner", "owns"],
    ["holder", "holds"],
  ] as const) {
    const app = await startApp({ ...quiet(), ...given, ...(await definition(field)) });
    onTestFinished(() => app.close());
    await becomesReady(app.url);
    expect(await answer(app.url)).toBe(`${who} ${does}`);
    await app.close();
  }
});
