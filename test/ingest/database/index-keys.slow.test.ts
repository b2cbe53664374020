/** Index keys follow the definition: where a registry finds its contracts by others, a database is filled again by itself. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { type App, startApp } from "../../../src/app/app.js";
import type { Config } from "../../../src/config/config.js";
import type { Roles } from "../../../src/ingest/database-source.js";
import { play } from "../../scripted-participant/elements.js";
import { ScriptedLedger } from "../../scripted-participant/ledger.js";
import { Participant } from "../../scripted-participant/participant.js";
import { elementOf } from "../../fixtures/contexts.js";
import { parties } from "../../fixtures/elements.js";
import { freshDatabase } from "../../fixtures/postgres.js";
import { transferFactory, transferV1 } from "../../fixtures/requests.js";
import { quiet } from "../../fixtures/run-service.js";
import { until } from "../../fixtures/wait.js";
import { becomesReady } from "./services.js";

const { operator, registrar } = parties;

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

/** The same as a module, which says nothing of its keys. */
const module = (field: string, revision?: string): string => `
const template = (name, keys) => ({
  packageName: "tea",
  qualifiedName: "Tea:" + name,
  ${revision === undefined ? "" : `revision: "${revision}",`}
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
    return { transferKind: "offer", factoryId: factory.contractId, values: [{ name: "badge", value }], disclosed: [factory, disclosed] };
  },
  allocationFactory() {},
  settlementFactory() {},
  choiceContext() {},
  inventory: () => ({ registrars: [], counts: [], warnings: [] }),
};
`;

const contracts = [
  elementOf("tea#Tea:Rules", "rules", { admin: registrar }),
  elementOf("tea#Tea:Badge", "by-owner", { admin: registrar, owner: "bob", holder: "nobody" }),
  elementOf("tea#Tea:Badge", "by-holder", { admin: registrar, owner: "nobody", holder: "bob" }),
];

interface Setup {
  /** Starts a service with this registry. */
  readonly start: (content: string, roles?: Roles) => Promise<App>;
  /** Serves until it is ready; returns what it answers, and the generation that it serves. */
  readonly serveOnce: (content: string) => Promise<[unknown, number]>;
}

/** The badge in the context, or the status of the answer. */
async function badgeOf({ url }: App): Promise<unknown> {
  const body = JSON.stringify(transferV1("alice", "bob"));
  const headers = { "content-type": "application/json" };
  const response = await fetch(url + transferFactory(), { method: "POST", headers, body });
  if (!response.ok) return response.status;
  const { choiceContext } = (await response.json()) as {
    choiceContext: { choiceContextData: { values: Record<string, { value: unknown }> } };
  };
  return choiceContext.choiceContextData.values["badge"]?.value;
}

async function setUp(extension: "yaml" | "mjs", source: Partial<Config>, touch: () => void): Promise<Setup> {
  const database = await freshDatabase();
  onTestFinished(() => database.drop());
  const folder = await mkdtemp(join(tmpdir(), "offledger-registry-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  let started = 0;
  const start = async (content: string, roles?: Roles): Promise<App> => {
    // A module is loaded once for each path.
    const registry = join(folder, `tea-${++started}.${extension}`);
    await writeFile(registry, content);
    const config = { ...quiet(), databaseUrl: new URL(database.url), registry, ...source };
    const app = await startApp(config, Date.now, roles);
    onTestFinished(() => app.close());
    return app;
  };
  const state = async (): Promise<{ readonly generation: string; readonly updateId: string | null }> => {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query<{ generation: string; updateId: string | null }>(
      'SELECT generation, update_id AS "updateId" FROM offledger.state',
    );
    await client.end();
    return rows[0] ?? { generation: "0", updateId: null };
  };
  const serveOnce = async (content: string): Promise<[unknown, number]> => {
    const app = await start(content);
    await becomesReady(app.url);
    touch();
    if (source.ledgerUrl !== undefined)
      await until(
        "an update is stored, from which the next one resumes",
        async () => (await state()).updateId !== null,
      );
    const badge = await badgeOf(app);
    await app.close();
    return [badge, Number((await state()).generation)];
  };
  return { start, serveOnce };
}

async function onParticipant(extension: "yaml" | "mjs"): Promise<Setup> {
  const ledger = new ScriptedLedger({ synchronizerId: "sync-A", clock: () => new Date("2026-06-01T00:00:00Z") });
  play(ledger, contracts, { stakeholders: [operator] });
  const participant = await Participant.start({ ledger, checkpointMs: 20 });
  onTestFinished(() => participant.stop());
  let touched = 0;
  return setUp(extension, { ledgerUrl: new URL(participant.url), ledgerParties: [operator] }, () => {
    const other = { admin: registrar, owner: "other", holder: "other" };
    play(ledger, [elementOf("tea#Tea:Badge", `other-${++touched}`, other)], { stakeholders: [operator] });
  });
}

test("of a registry file, on a participant", async () => {
  const { start, serveOnce } = await onParticipant("yaml");
  const [first, filled] = await serveOnce(table("owner"));
  expect(first).toBe("by-owner");
  // The same definition resumes, and one that only writes another entry.
  expect(await serveOnce(table("owner"))).toEqual(["by-owner", filled]);
  expect(await serveOnce(table("owner").replace("key: badge", "key: [badge, pin]"))).toEqual(["by-owner", filled]);
  const [second, filledAgain] = await serveOnce(table("holder"));
  expect(second).toBe("by-holder");
  expect(filledAgain).toBeGreaterThan(filled);

  // The old state is served, by those who know its keys, until a new one is there.
  const writer = await start(table("holder"));
  await becomesReady(writer.url);
  const replica = await start(table("owner"), { mirrors: false, answers: true });
  expect((await fetch(`${replica.url}/readyz`)).status).toBe(503);
  expect(await badgeOf(replica)).toBe(503);
  expect(await badgeOf(writer)).toBe("by-holder");
});

test("of a registry file, on a snapshot file", async () => {
  const folder = await mkdtemp(join(tmpdir(), "offledger-snapshot-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const snapshot = join(folder, "tea.ndjson");
  await writeFile(snapshot, contracts.map((one) => `${JSON.stringify(one)}\n`).join(""));
  const { serveOnce } = await setUp("yaml", { snapshot }, () => undefined);
  expect((await serveOnce(table("owner")))[0]).toBe("by-owner");
  expect((await serveOnce(table("holder")))[0]).toBe("by-holder");
});

test("of a module with another revision", async () => {
  const { serveOnce } = await onParticipant("mjs");
  const [first, filled] = await serveOnce(module("owner", "1"));
  expect(first).toBe("by-owner");
  expect(await serveOnce(module("owner", "1"))).toEqual(["by-owner", filled]);
  const [second, filledAgain] = await serveOnce(module("holder", "2"));
  expect(second).toBe("by-holder");
  expect(filledAgain).toBeGreaterThan(filled);
});

test("of a module that does not say so: a sample of the contracts has other keys", async () => {
  const { start, serveOnce } = await onParticipant("mjs");
  const [first, filled] = await serveOnce(module("owner"));
  expect(first).toBe("by-owner");
  expect(await serveOnce(module("owner"))).toEqual(["by-owner", filled]);
  const [second, filledAgain] = await serveOnce(module("holder"));
  expect(second).toBe("by-holder");
  expect(filledAgain).toBeGreaterThan(filled);

  const writer = await start(module("holder"));
  await becomesReady(writer.url);
  const replica = await start(module("owner"), { mirrors: false, answers: true });
  expect((await fetch(`${replica.url}/readyz`)).status).toBe(503);
  expect(await badgeOf(replica)).toBe(503);
  expect(await badgeOf(writer)).toBe("by-holder");
});
