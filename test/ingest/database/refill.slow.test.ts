/** Where contracts are found by other fields than before, a database is filled again by itself. */
import { expect, onTestFinished, test } from "vitest";
import { startApp } from "../../../src/app/app.js";
import type { JsonObject } from "../../../src/util/json.js";
import { contextsFile, elementOf } from "../../fixtures/contexts.js";
import { parties } from "../../fixtures/elements.js";
import { temporaryFile } from "../../fixtures/files.js";
import { databaseAt, freshDatabase } from "../../fixtures/postgres.js";
import { quiet } from "../../fixtures/run-service.js";
import { completeElements, contextCalls } from "../../fixtures/operation-calls.js";
import { ask, becomesReady } from "./services.js";

const { registrar } = parties;

/** A contexts file with one own entry, found by a field, in cancelling a mint offer. */
function contexts(field: string): string {
  const template = { package: "tea", name: "Tea:Badge" };
  const badge = { template: "badge", find: { [field]: "registrar" } };
  const change = { on: ["mint-offer/cancel"], add: [{ entry: "badge", key: "badge" }] };
  return JSON.stringify({ templates: { badge: template }, entries: { badge }, changes: [change] });
}

const badge = (id: string, owner: string, holder: string): JsonObject =>
  elementOf("tea#Tea:Badge", id, { admin: registrar, owner, holder });
const contracts = [badge(`${registrar} owns`, registrar, "nobody"), badge(`${registrar} holds`, "nobody", registrar)];

interface Values {
  readonly values: Record<string, { readonly value: unknown }>;
}

/** The badge in the context of cancelling the mint offer. */
async function badgeOfRegistrar(url: string): Promise<unknown> {
  const { body } = await ask(url + (contextCalls.get("mint-offer/cancel")?.path ?? ""), "POST");
  return (body as { readonly choiceContextData?: Values }).choiceContextData?.values["badge"]?.value;
}

// releases.slow.test.ts has a participant, and two contents side by side; writer.test.ts has a registry file.
test("a contexts file", async () => {
  const database = await freshDatabase();
  onTestFinished(() => database.drop());
  const elements = [...completeElements(), ...contracts].map((one) => `${JSON.stringify(one)}\n`);
  const snapshot = await temporaryFile("snapshot.ndjson", elements.join(""));
  for (const [field, does] of [
    ["owner", "owns"],
    ["holder", "holds"],
  ] as const) {
    const given = { databaseUrl: databaseAt(database.url), snapshot, contexts: await contextsFile(contexts(field)) };
    const app = await startApp({ ...quiet(), ...given });
    onTestFinished(() => app.close());
    await becomesReady(app.url);
    expect(await badgeOfRegistrar(app.url)).toBe(`${registrar} ${does}`);
    await app.close();
  }
});
