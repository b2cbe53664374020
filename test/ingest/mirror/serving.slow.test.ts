/** The service on a scripted participant: what callers see while the ledger works and while it fails. */
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { type App, startApp } from "../../../src/app/app.js";
import type { AppConfig } from "../../../src/config/limits.js";
import { payload } from "../../fixtures/elements.js";
import { quiet, registry } from "../../fixtures/run-service.js";
import { until } from "../../fixtures/wait.js";
import { ScriptedLedger } from "../../scripted-participant/ledger.js";
import { Issuer } from "../../scripted-participant/oidc.js";
import { Participant } from "../../scripted-participant/participant.js";
import { Tokens } from "../../scripted-participant/tokens.js";
import { participantOn } from "./run-mirror.js";
import { creation, offer, operator } from "../../simulation/script.js";

const A = "sync-A::1220";
const B = "sync-B::1220";

/** The holding of every offer. */
const locked = creation("Holding", "locked", payload.lockedHolding("alice", "USD"));

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

/** The synchronizers of the disclosed contracts of a rejection. */
function places({ body }: Answer): unknown[] {
  const disclosed = body.disclosedContracts as { contractId: string; synchronizerId: string }[];
  return disclosed.map(({ contractId, synchronizerId }) => [contractId, synchronizerId]);
}

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

test("a contract in reassignment is 409, and afterwards disclosed on the new synchronizer", async () => {
  const { ledger, url } = await participantWith();
  ledger.transact([{ create: offer("offer") }, { create: locked }]);
  const service = await serviceOn(url);
  await becomesReady(service);
  expect(places(await reject(service, "offer"))).toEqual([["locked", A]]);
  ledger.unassign(["offer", "locked"], B);
  await until("the offer is between synchronizers", async () => (await reject(service, "offer")).status === 409);
  ledger.assign(["offer", "locked"]);
  await until("the offer has arrived", async () => (await reject(service, "offer")).status === 200);
  expect(places(await reject(service, "offer"))).toEqual([["locked", B]]);
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

/** A file of one line that can be replaced. */
async function fileWith(content: string) {
  const folder = await mkdtemp(join(tmpdir(), "offledger-secret-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "secret");
  const replace = async (text: string) => {
    await writeFile(`${path}.new`, `${text}\n`);
    await rename(`${path}.new`, path);
  };
  await replace(content);
  return { path, replace };
}

test("a token file is read again when the participant denies the old token", async () => {
  const tokens = new Tokens();
  const { ledger, url } = await participantWith({ tokens });
  const old = tokens.issue();
  const { path, replace } = await fileWith(old);
  ledger.transact([{ create: offer("a") }]);
  const service = await serviceOn(url, { ledgerTokenFile: path });
  await becomesReady(service);
  await replace(tokens.issue());
  tokens.revoke(old);
  ledger.transact([{ create: offer("b") }]);
  await until("the stream goes on", async () => (await reject(service, "b")).status === 200);
  expect((await get(service, "/readyz")).status).toBe(200);
});

test("expired tokens are fetched again by client credentials, and the stream resumes", async () => {
  const issuer = await Issuer.start({ expiresIn: 1 });
  onTestFinished(() => issuer.close());
  const { ledger, url } = await participantWith({ tokens: issuer.tokens });
  const { path } = await fileWith("secret");
  const credentials = { oidcIssuer: new URL(issuer.url), oidcClientId: "offledger", oidcClientSecretFile: path };
  const service = await serviceOn(url, credentials);
  await becomesReady(service);
  for (let index = 1; index <= 8; index++) {
    await delay(400);
    ledger.transact([{ create: offer(String(index)) }]);
    await until("the update is served", async () => (await reject(service, String(index))).status === 200);
  }
  expect(issuer.issued.length).toBeGreaterThan(2);
});

test("a contract that cannot be decoded is 503, and the others are served", async () => {
  const { ledger, url } = await participantWith();
  const broken = { ...offer("broken"), payload: { transfer: 5 } };
  ledger.transact([{ create: offer("a") }, { create: broken }]);
  const service = await serviceOn(url);
  await becomesReady(service);
  ledger.transact([{ create: { ...broken, contractId: "broken too" } }, { create: offer("b") }]);
  await until("the update is applied", async () => (await reject(service, "b")).status === 200);
  expect((await reject(service, "a")).status).toBe(200);
  expect((await reject(service, "broken")).status).toBe(503);
});
