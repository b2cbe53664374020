/** The service on a scripted participant: what callers see while the ledger works and while it fails. */
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { type App, startApp } from "../../../src/app/app.js";
import type { AppConfig } from "../../../src/config/limits.js";
import { payload } from "../../fixtures/elements.js";
import { temporaryFile } from "../../fixtures/files.js";
import { quiet, registry } from "../../fixtures/run-service.js";
import { until } from "../../fixtures/wait.js";
import { ScriptedLedger } from "../../scripted-participant/ledger.js";
import { Issuer } from "../../scripted-participant/oidc.js";
import { Participant } from "../../scripted-participant/participant.js";
import { participantOn } from "./run-mirror.js";
import { creation, offer, operator } from "../../simulation/script.js";

async function participantWith(options: Parameters<typeof Participant.start>[0] = {}): Promise<Participant> {
  const participant = await participantOn({ checkpointMs: 20, ...options });
  onTestFinished(() => participant.stop());
  return participant;
}

async function serviceOn(url: string, config: Partial<AppConfig> = {}): Promise<App> {
  const settings = { ledgerUrl: new URL(url), ledgerParties: [operator], graceSeconds: 2, ...config };
  const service = await startApp({ ...quiet(), ...settings });
  onTestFinished(() => service.close());
  return service;
}

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: Record<string, unknown>;
}

async function get(service: App, path: string): Promise<Answer> {
  return answerOf(await fetch(service.url + path));
}

async function reject(service: App, id: string): Promise<Answer> {
  const path = `${registry("registrar::1220")}/transfer-instruction/v2/${id}/choice-contexts/reject`;
  return answerOf(await fetch(service.url + path, { method: "POST" }));
}

async function answerOf(response: Response): Promise<Answer> {
  const body = (await response.json()) as Record<string, unknown>;
  return { status: response.status, retryAfter: response.headers.get("retry-after"), body };
}

const becomesReady = (service: App): Promise<void> =>
  until("the service is ready", async () => (await get(service, "/readyz")).status === 200);

test("before the first snapshot it is live, not ready, and answers 503 with Retry-After", async () => {
  const participant = await participantWith();
  const { port } = participant;
  await participant.stop();
  const service = await serviceOn(participant.url);
  expect(await get(service, "/livez")).toMatchObject({ status: 200, body: { status: "ok" } });
  expect(await get(service, "/readyz")).toMatchObject({
    status: 503,
    retryAfter: "1",
    body: {
      error: expect.stringMatching(
        /^not ready: no snapshot of the ledger has been taken yet: the connection to the participant was lost \(.*ECONNREFUSED/,
      ) as string,
    },
  });
  expect(await reject(service, "offer")).toEqual({
    status: 503,
    retryAfter: "1",
    body: { error: "no snapshot of the ledger has been taken yet" },
  });
  const ledger = new ScriptedLedger();
  ledger.transact([{ create: offer("offer") }]);
  await participantWith({ port, ledger });
  await becomesReady(service);
  expect((await reject(service, "offer")).status).toBe(200);
});

test("a participant that is replaced by an empty one is followed, and an incident and a warning say what is lost", async () => {
  const participant = await participantWith();
  const { port } = participant;
  const factory = creation("AllocationFactory", "factory", payload.service());
  participant.ledger.transact([{ create: factory }, { create: offer("offer") }]);
  const metricsPort = { host: "127.0.0.1", port: 0 };
  const service = await serviceOn(participant.url, { metricsPort });
  await becomesReady(service);
  expect((await reject(service, "offer")).status).toBe(200);
  const warned = async () => {
    const response = await fetch(new URL("/warnings", service.metricsUrl));
    const { counts } = (await response.json()) as { readonly counts?: Readonly<Record<string, number>> };
    return counts && (counts["no-registrar"] ?? 0);
  };
  await until("the first check is finished", async () => (await warned()) === 0);
  await participant.stop();
  const empty = await participantWith({ port, ledger: new ScriptedLedger() });
  await until("the empty ledger is served", async () => (await reject(service, "offer")).status === 404);
  expect((await get(service, "/readyz")).status).toBe(200);
  await until("it is warned of", async () => (await warned()) === 1, 90_000);
  empty.ledger.transact([{ create: factory }]);
  await until("it is over", async () => (await warned()) === 0, 90_000);
  const metrics = await (await fetch(service.metricsUrl ?? "")).text();
  expect(metrics).toContain('offledger_registry_warnings{kind="no-registrar"} 0');
}, 240_000);

test("expired tokens are fetched again by client credentials, and the stream resumes", async () => {
  const issuer = await Issuer.start({ expiresIn: 1 });
  onTestFinished(() => issuer.close());
  const { ledger, url } = await participantWith({ tokens: issuer.tokens });
  const oidcClientSecretFile = await temporaryFile("secret", "secret\n");
  const credentials = { oidcIssuer: new URL(issuer.url), oidcClientId: "offledger", oidcClientSecretFile };
  const service = await serviceOn(url, credentials);
  await becomesReady(service);
  for (let index = 1; index <= 8; index++) {
    await delay(400);
    ledger.transact([{ create: offer(String(index)) }]);
    await until("the update is served", async () => (await reject(service, String(index))).status === 200);
  }
  expect(issuer.issued.length).toBeGreaterThan(2);
});
