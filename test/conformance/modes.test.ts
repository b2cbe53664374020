/** This service passes in each of its forms, with each make of registry. */
import { expect, onTestFinished, test } from "vitest";
import { startApp } from "../../src/app/app.js";
import type { AppConfig } from "../../src/config/limits.js";
import { synchronizer } from "../../demo/element.js";
import { acme, elements, nordic, operator } from "../../demo/registry.js";
import { demo, PATH } from "../../scripts/conformance-doc.js";
import { quiet, serve, serveFile, WITH_CREDENTIALS_REQUIRED } from "../fixtures/run-service.js";
import { until } from "../fixtures/wait.js";
import { play } from "../scripted-participant/elements.js";
import { ScriptedLedger } from "../scripted-participant/ledger.js";
import { Participant } from "../scripted-participant/participant.js";
import { failures, minimal, recorded } from "./modes.js";

const pathOf = (registrar: string | undefined) => `/api/token-standard/v0/registrars/${registrar}`;

async function started(config: Partial<AppConfig>): Promise<string> {
  const service = await serveFile(undefined, { config });
  onTestFinished(() => service.close());
  return service.url;
}

test("the Utility's registrar at the root", async () => {
  const url = await started({ rootRegistrar: acme.party });
  expect(await failures(url, demo)).toEqual([]);
});

test("the minimal registry", async () => {
  const url = await started({ registry: "minimal" });
  expect(await failures(url + pathOf(minimal.registrar), minimal)).toEqual([]);
});

test.each<[registry: string, recording: string, exceptions: readonly string[]]>([
  ["simple-token", "simple-token-ledger.json", []],
  ["registries/amulet.yaml", "amulet-0.1.17-ledger.json", []],
  ["test-token-v2", "test-token-v2-ledger.json", []],
  // As docs/conformance.md explains.
  [
    "standard",
    "test-token-v1-ledger.json",
    ["foreign-instrument: a transfer with instrument no-such-instrument-of-anybody is answered"],
  ],
])("%s with what a real ledger had", async (registry, recording, exceptions) => {
  const { elements: contracts, known } = recorded(recording);
  const service = await serve(contracts, { config: { registry }, now: "2026-11-26T16:30:00Z" });
  onTestFinished(() => service.close());
  expect(await failures(service.url + pathOf(known.registrar), known)).toEqual(exceptions);
});

test("contexts that a file changes", async () => {
  const service = await serveFile(undefined, WITH_CREDENTIALS_REQUIRED);
  onTestFinished(() => service.close());
  expect(await failures(service.url + PATH, demo)).toEqual([]);
});

test("a participant's contracts", async () => {
  const ledger = new ScriptedLedger({ synchronizerId: synchronizer, clock: () => new Date("2026-06-01T00:00:00Z") });
  play(ledger, elements);
  const participant = await Participant.start({ ledger, checkpointMs: 20 });
  onTestFinished(() => participant.stop());
  const ledgerParties = [operator, acme.provider, nordic.provider];
  const config = { ...quiet(), ledgerUrl: new URL(participant.url), ledgerParties };
  const app = await startApp(config, () => Date.parse("2026-06-01T00:00:00Z"));
  onTestFinished(() => app.close());
  await until("it is ready", async () => (await fetch(`${app.url}/readyz`)).status === 200);
  expect(await failures(app.url + PATH, demo)).toEqual([]);
});
