/** Where contracts are found by other fields than before, a database is filled again by itself, beside what is there. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { type App, startApp } from "../../../src/app/app.js";
import type { AppConfig } from "../../../src/config/limits.js";
import type { JsonObject } from "../../../src/util/json.js";
import type { ProcessRoles } from "../../../src/ingest/database-source.js";
import { contextsFile, elementOf } from "../../fixtures/contexts.js";
import { parties } from "../../fixtures/elements.js";
import { databaseAt, freshDatabase } from "../../fixtures/postgres.js";
import { transferFactory, transferV1 } from "../../fixtures/requests.js";
import { quiet } from "../../fixtures/run-service.js";
import { completeElements, contextCalls } from "../../fixtures/operation-calls.js";
import { until } from "../../fixtures/wait.js";
import { play } from "../../scripted-participant/elements.js";
import { ScriptedLedger } from "../../scripted-participant/ledger.js";
import { Participant } from "../../scripted-participant/participant.js";
import { ask, becomesReady } from "./services.js";

const { operator, registrar } = parties;

/** A registry that finds a badge of the receiver by a field of it. */
const table = (field: string, key = "badge"): string => `
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
    - { entry: badge, key: ${key} }
`;

/** The same as a module, which says by its revision that it reads other keys. */
const module = (field: string, key = "badge"): string => `
const template = (name, keys) => ({
  packageName: "tea",
  qualifiedName: "Tea:" + name,
  revision: "${field}",
  parse: (payload) => ({ fields: payload, indexKeys: keys(payload) }),
});
const rules = template("Rules", ({ admin }) => ["rules/" + admin]);
const badge = template("Badge", (payload) => ["badge/" + payload["${field}"]]);
const found = (contracts) => {
  if (contracts.length > 0) return contracts[0];
  const error = new Error("not found");
  throw Object.assign(error, { [Symbol.for("offledger.RegistryError")]: true, reason: "not-found", details: {} });
};
export default {
  name: "tea",
  templates: [rules, badge],
  supportedApis: {},
  instruments: ({ view }, registrar) => (found(view.byKey(rules, "rules/" + registrar)), [{ id: "USD", otherIds: [] }]),
  transferFactory({ view }, { registrar, choiceArguments }) {
    const factory = found(view.byKey(rules, "rules/" + registrar));
    const disclosed = found(view.byKey(badge, "badge/" + choiceArguments.transfer.receiver));
    const value = { tag: "AV_ContractId", value: disclosed.contractId };
    return { transferKind: "offer", factoryId: factory.contractId, values: [{ name: "${key}", value }], disclosed: [factory, disclosed] };
  },
  allocationFactory() {},
  settlementFactory() {},
  choiceContext() {},
  inventory: () => ({ registrars: [], counts: [], warnings: [] }),
};
`;

/** A contexts file with one own entry, found by a field, in cancelling a mint offer. */
function contexts(field: string, value = "contract-id"): string {
  const template = { package: "tea", name: "Tea:Badge" };
  const badge = { template: "badge", find: { [field]: "registrar" }, value };
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

/** Starts services on one new database. */
async function onDatabase(source: Partial<AppConfig>) {
  const database = await freshDatabase();
  onTestFinished(() => database.drop());
  const start = async (config: Partial<AppConfig>, roles?: ProcessRoles): Promise<App> => {
    const app = await startApp(
      { ...quiet(), databaseUrl: databaseAt(database.url), ...source, ...config },
      Date.now,
      roles,
    );
    onTestFinished(() => app.close());
    return app;
  };
  /** Of the content that was written last. */
  const state = async () => {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const sql = 'SELECT generation, update_id AS "updateId" FROM offledger.state ORDER BY led_at DESC LIMIT 1';
    const { rows } = await client.query<{ generation: string; updateId: string | null }>(sql);
    await client.end();
    return rows[0];
  };
  return { start, state };
}

/** By the kind of definition: a service with one that finds by a field, a change that finds the same, and what it answers. */
test.each<
  [string, (field: string) => Promise<Partial<AppConfig>>, () => Promise<Partial<AppConfig>>, typeof badgeOfBob]
>([
  [
    "a registry file",
    async (field) => ({ registry: await fileOf("yaml", table(field)) }),
    async () => ({ registry: await fileOf("yaml", table("owner", "[badge, pin]")) }),
    badgeOfBob,
  ],
  [
    "a module",
    async (field) => ({ registry: await fileOf("mjs", module(field)) }),
    async () => ({ registry: await fileOf("mjs", module("owner", "pin")) }),
    badgeOfBob,
  ],
  [
    "a contexts file",
    async (field) => ({ contexts: await contextsFile(contexts(field)) }),
    async () => ({ contexts: await contextsFile(contexts("owner", "list")) }),
    badgeOfRegistrar,
  ],
])("on a participant, %s", async (_what, definition, sameFields, answer) => {
  const ledger = new ScriptedLedger({ synchronizerId: "sync-A", clock: () => new Date("2026-06-01T00:00:00Z") });
  play(ledger, [...completeElements(), ...contracts], { stakeholders: [operator] });
  const participant = await Participant.start({ ledger, checkpointMs: 20 });
  onTestFinished(() => participant.stop());
  const { start, state } = await onDatabase({ ledgerUrl: new URL(participant.url), ledgerParties: [operator] });
  const who = answer === badgeOfBob ? "bob" : registrar;
  let served = 0;
  /** Serves until it is ready. Returns what it answers, and the generation that it serves. */
  const serveOnce = async (config: Partial<AppConfig>): Promise<[unknown, number]> => {
    const app = await start(config);
    await becomesReady(app.url);
    play(ledger, [badge(`other-${++served}`, "other", "other")], { stakeholders: [operator] });
    await until("an update is stored, from which the next resumes", async () => (await state())?.updateId !== null);
    const answered = await answer(app.url);
    await app.close();
    return [answered, Number((await state())?.generation)];
  };

  const [first, filled] = await serveOnce(await definition("owner"));
  expect(first).toBe(`${who} owns`);
  expect(await serveOnce(await definition("owner"))).toEqual([first, filled]);
  expect((await serveOnce(await sameFields()))[1]).toBe(filled);
  const [second, filledAgain] = await serveOnce(await definition("holder"));
  expect(second).toBe(`${who} holds`);
  expect(filledAgain).toBeGreaterThan(filled);

  // A replica with the first definition serves what was filled by it.
  const writer = await start(await definition("holder"));
  await becomesReady(writer.url);
  const replica = await start(await definition("owner"), { mirrors: false, answers: true });
  await becomesReady(replica.url);
  expect(await answer(replica.url)).toBe(first);
  expect(await answer(writer.url)).toBe(`${who} holds`);
});

test("on a snapshot file, a registry file", async () => {
  const { start } = await onDatabase({
    snapshot: await fileOf("ndjson", contracts.map((one) => `${JSON.stringify(one)}\n`).join("")),
  });
  for (const [field, expected] of [
    ["owner", "bob owns"],
    ["holder", "bob holds"],
  ] as const) {
    const app = await start({ registry: await fileOf("yaml", table(field)) });
    await becomesReady(app.url);
    expect(await badgeOfBob(app.url)).toBe(expected);
    await app.close();
  }
});
