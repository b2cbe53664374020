/** A database and the contexts file: a changed definition of an entry fills it again, anything else does not. */
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { type App, startApp } from "../../../src/app/app.js";
import type { Roles } from "../../../src/ingest/database-source.js";
import type { JsonObject } from "../../../src/domain/json.js";
import { play } from "../../scripted-participant/elements.js";
import { ScriptedLedger } from "../../scripted-participant/ledger.js";
import { Participant } from "../../scripted-participant/participant.js";
import { contextsFile, elementOf } from "../../fixtures/contexts.js";
import { parties } from "../../fixtures/elements.js";
import { freshDatabase } from "../../fixtures/postgres.js";
import { quiet } from "../../fixtures/run-service.js";
import { utilityCalls, registryWithInstructions } from "../../fixtures/utility-calls.js";
import { until } from "../../fixtures/wait.js";
import { becomesReady } from "./services.js";

const { operator, registrar } = parties;

/** A contexts file with one own entry, found by a field, in cancelling a mint offer. */
function contextsWith(field: string, more: JsonObject = {}): string {
  const entry = {
    template: { package: "own", name: "Own:Document" },
    find: [{ field, is: "registrar" }],
    value: "contract-id",
  };
  const change = { operations: ["mint-offer/cancel"], add: [{ entry: "doc", keys: ["doc"] }] };
  return JSON.stringify({ entries: { doc: { ...entry, ...more } }, changes: [change] });
}

const documents = [
  elementOf("own#Own:Document", "by-admin", { admin: registrar, issuer: "other" }),
  elementOf("own#Own:Document", "by-issuer", { admin: "other", issuer: registrar }),
];

async function startParticipant(): Promise<Participant> {
  const ledger = new ScriptedLedger({ synchronizerId: "sync-A", clock: () => new Date("2026-06-01T00:00:00Z") });
  play(ledger, [...registryWithInstructions(), ...documents], { stakeholders: [operator] });
  const participant = await Participant.start({ ledger, checkpointMs: 20 });
  onTestFinished(() => participant.stop());
  return participant;
}

/** What the own entry has in the context of cancelling the mint offer. */
async function doc({ url }: App): Promise<unknown> {
  const response = await fetch(url + utilityCalls["mint-offer/cancel"]?.path, { method: "POST" });
  const body = (await response.json()) as { choiceContextData: { values: Record<string, { value: unknown }> } };
  return body.choiceContextData.values["doc"]?.value;
}

test("a database is filled again if the definition of an entry changes", async () => {
  const database = await freshDatabase();
  onTestFinished(() => database.drop());
  const participant = await startParticipant();
  let served = 0;
  const start = async (content: string, roles?: Roles): Promise<App> => {
    const config = {
      ...quiet(),
      databaseUrl: new URL(database.url),
      ledgerUrl: new URL(participant.url),
      ledgerParties: [operator],
      contexts: await contextsFile(content),
    };
    const app = await startApp(config, Date.now, roles);
    onTestFinished(() => app.close());
    return app;
  };
  const state = async (): Promise<{ readonly generation?: string; readonly updateId: string | null }> => {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query<{ generation: string; updateId: string | null }>(
      'SELECT generation, update_id AS "updateId" FROM offledger.state',
    );
    await client.end();
    return rows[0] ?? { updateId: null };
  };
  /** Serves with a file until it is ready. Returns what it answers, and the generation that it serves. */
  const serveOnce = async (content: string): Promise<[unknown, number]> => {
    const app = await start(content);
    await becomesReady(app.url);
    const other = elementOf("own#Own:Document", `other-${++served}`, { admin: "other", issuer: "other" });
    play(participant.ledger, [other], { stakeholders: [operator] });
    const answer = await doc(app);
    await until("an update is stored, from which the next one resumes", async () => (await state()).updateId !== null);
    await app.close();
    return [answer, Number((await state()).generation)];
  };

  const [first, filled] = await serveOnce(contextsWith("admin"));
  expect(first).toBe("by-admin");
  // The same definition, and one that finds by the same fields, resume.
  expect(await serveOnce(contextsWith("admin"))).toEqual(["by-admin", filled]);
  const listed = [{ tag: "AV_ContractId", value: "by-admin" }];
  expect(await serveOnce(contextsWith("admin", { value: "list" }))).toEqual([listed, filled]);
  // Another field fills it again.
  const [second, filledAgain] = await serveOnce(contextsWith("issuer"));
  expect(second).toBe("by-issuer");
  expect(filledAgain).toBeGreaterThan(filled);

  // A replica with another definition serves nothing of it.
  const writer = await start(contextsWith("issuer"));
  await becomesReady(writer.url);
  const replica = await start(contextsWith("admin"), { mirrors: false, answers: true });
  const refused = await fetch(`${replica.url}/readyz`);
  expect(refused.status).toBe(503);
  expect(await refused.text()).toContain("the database holds the contracts of a service with another configuration");
  expect(await doc(writer)).toBe("by-issuer");
});
