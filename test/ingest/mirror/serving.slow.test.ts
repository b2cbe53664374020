/** The service on a scripted participant: what callers see while the ledger works and while it fails. */
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { type App, startApp } from "../../../src/app/app.js";
import type { Config } from "../../../src/config/config.js";
import { payload } from "../../fixtures/elements.js";
import { quiet, registry } from "../../fixtures/run-service.js";
import { until } from "../../fixtures/wait.js";
import { type Creation, ScriptedLedger } from "../../scripted-participant/ledger.js";
import { Issuer } from "../../scripted-participant/oidc.js";
import { Participant } from "../../scripted-participant/participant.js";
import { Tokens } from "../../scripted-participant/tokens.js";
import { participantOn } from "./run-mirror.js";

const operator = "operator::1220";
const app = "utility-registry-app-v0";
const A = "sync-A::1220";
const B = "sync-B::1220";

function creation(packageName: string, entity: string, contractId: string, argument: Creation["payload"]): Creation {
  return {
    contractId,
    packageName,
    templateId: `pkg:${entity}`,
    payload: argument,
    createdEventBlob: Buffer.from(contractId).toString("base64"),
    signatories: [operator],
  };
}

const factory = creation(
  app,
  "Utility.Registry.App.V0.Service.AllocationFactory:AllocationFactory",
  "factory",
  payload.service(),
);
const offer = (id: string): Creation =>
  creation(app, "Utility.Registry.App.V0.Model.Transfer:TransferOffer", id, payload.offer("alice", "bob", "USD", "h"));
/** That of every offer. */
const locked = creation(
  "utility-registry-holding-v0",
  "Utility.Registry.Holding.V0.Holding:Holding",
  "h",
  payload.lockedHolding("alice", "USD"),
);

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

async function participantWith(options: Parameters<typeof Participant.start>[0] = {}): Promise<Participant> {
  const participant = await participantOn({ checkpointMs: 20, ...options });
  stops.push(() => participant.stop());
  return participant;
}

async function serviceOn(url: string, config: Partial<Config> = {}): Promise<App> {
  const settings = { ledgerUrl: new URL(url), ledgerParties: [operator], graceSeconds: 2, ...config };
  const service = await startApp({ ...quiet(), ...settings });
  stops.push(() => service.close());
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
  expect(places(await reject(service, "offer"))).toEqual([["h", A]]);
  ledger.unassign(["offer", "h"], B);
  await until("the offer is between synchronizers", async () => (await reject(service, "offer")).status === 409);
  ledger.assign(["offer", "h"]);
  await until("the offer has arrived", async () => (await reject(service, "offer")).status === 200);
  expect(places(await reject(service, "offer"))).toEqual([["h", B]]);
});

test("a contract that the mirror has not seen yet is waited for", async () => {
  const participant = await participantWith();
  const { ledger, url, faults } = participant;
  ledger.transact([{ create: factory }]);
  const service = await serviceOn(url);
  await becomesReady(service);
  await until("the updates are followed", () => participant.streams === 1);
  for (let index = 0; index < 5; index++) {
    faults.delay(150, { streams: "open", path: "/v2/updates" });
    ledger.transact([{ create: offer(`new-${index}`) }]);
    expect((await reject(service, `new-${index}`)).status).toBe(200);
  }
});

test("an unknown contract is 404 within the wait, and an archived one at once", async () => {
  const { ledger, url, requests } = await participantWith();
  ledger.transact([{ create: offer("offer") }]);
  const service = await serviceOn(url, { readWaitMs: 700 });
  await becomesReady(service);
  const begun = performance.now();
  expect((await reject(service, "nowhere")).status).toBe(404);
  expect(performance.now() - begun).toBeLessThan(3_000);
  ledger.transact([{ archive: "offer" }]);
  await until("the offer is gone", async () => (await reject(service, "offer")).status === 404);
  const asked = () => requests.filter(({ path }) => path === "/v2/state/ledger-end").length;
  // The mirror itself asks once a second; ten requests for an archived contract add nothing to that.
  const before = asked();
  for (let index = 0; index < 10; index++) expect((await reject(service, "offer")).status).toBe(404);
  expect(asked() - before).toBeLessThanOrEqual(2);
});

test("concurrent requests share the request for the ledger's end", async () => {
  const { ledger, url, requests, faults } = await participantWith();
  ledger.transact([{ create: factory }]);
  const service = await serviceOn(url, { readWaitMs: 5_000 });
  await becomesReady(service);
  faults.slowLedgerEnd(500, { times: 10 });
  const before = requests.length;
  const answers = await Promise.all(Array.from({ length: 100 }, (_, index) => reject(service, `unknown-${index}`)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
  // One for the first, one for all others, and those of the mirror's poll.
  expect(requests.length - before).toBeLessThanOrEqual(6);
});

test("without the ledger it serves its contracts, then is not ready, then answers 503, and recovers", async () => {
  const participant = await participantWith();
  const { ledger, port } = participant;
  ledger.transact([{ create: offer("offer") }]);
  const service = await serviceOn(participant.url, { unreadySeconds: 1, staleSeconds: 3 });
  await becomesReady(service);
  await participant.stop();
  expect((await reject(service, "offer")).status).toBe(200);
  await until("it is not ready", async () => (await get(service, "/readyz")).status === 503);
  expect((await reject(service, "offer")).status).toBe(200);
  await until("it refuses", async () => (await reject(service, "offer")).status === 503);
  const refused = await reject(service, "offer");
  expect(refused.retryAfter).toBe("1");
  expect(refused.body.error).toMatch(/^the ledger has not been reached for \d+ s; answers from before would be stale$/);
  expect((await get(service, "/livez")).status).toBe(200);
  ledger.transact([{ create: offer("later") }]);
  await participantWith({ port, ledger });
  await until("it answers again", async () => (await reject(service, "later")).status === 200);
  await becomesReady(service);
});

test("a participant that was pruned or restored is mirrored again", async () => {
  const first = await participantWith();
  const { ledger, port } = first;
  for (const id of ["a", "b", "c"]) ledger.transact([{ create: offer(id) }]);
  const service = await serviceOn(first.url);
  await becomesReady(service);
  ledger.transact([{ create: offer("d") }]);
  await until("the update is applied", async () => (await reject(service, "d")).status === 200);
  await first.stop();
  ledger.transact([{ archive: "a" }]);
  ledger.transact([{ create: offer("e") }]);
  ledger.prune(ledger.end);
  const second = await participantWith({ port, ledger });
  await until("the pruned ledger is mirrored", async () => (await reject(service, "e")).status === 200);
  expect((await reject(service, "a")).status).toBe(404);
  await second.stop();
  const restored = new ScriptedLedger();
  restored.transact([{ create: offer("a") }]);
  restored.transact([{ create: offer("z") }]);
  await participantWith({ port, ledger: restored });
  await until("the restored ledger is mirrored", async () => (await reject(service, "z")).status === 200);
  expect((await reject(service, "a")).status).toBe(200);
  expect((await reject(service, "e")).status).toBe(404);
});

test("a token file is read again when the participant denies the old token", async () => {
  const tokens = new Tokens();
  const { ledger, url } = await participantWith({ tokens });
  const folder = await mkdtemp(join(tmpdir(), "offledger-token-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "token");
  const old = tokens.issue();
  await writeFile(file, old);
  ledger.transact([{ create: offer("a") }]);
  const service = await serviceOn(url, { ledgerTokenFile: file });
  await becomesReady(service);
  await writeFile(`${file}.new`, `${tokens.issue()}\n`);
  await rename(`${file}.new`, file);
  tokens.revoke(old);
  ledger.transact([{ create: offer("b") }]);
  await until("the stream goes on", async () => (await reject(service, "b")).status === 200);
  expect((await get(service, "/readyz")).status).toBe(200);
});

test("expired tokens are fetched again by client credentials, and the stream resumes", async () => {
  const issuer = await Issuer.start({ expiresIn: 1 });
  stops.push(() => issuer.close());
  const { ledger, url } = await participantWith({ tokens: issuer.tokens });
  const folder = await mkdtemp(join(tmpdir(), "offledger-secret-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const secret = join(folder, "secret");
  await writeFile(secret, "secret\n");
  ledger.transact([{ create: offer("0") }]);
  const service = await serviceOn(url, {
    oidcIssuer: new URL(issuer.url),
    oidcClientId: "offledger",
    oidcClientSecretFile: secret,
  });
  await becomesReady(service);
  for (let index = 1; index <= 8; index++) {
    await delay(400);
    ledger.transact([{ create: offer(String(index)) }]);
    await until("the update is served", async () => (await reject(service, String(index))).status === 200);
  }
  expect(issuer.issued.length).toBeGreaterThan(2);
});

test("with a denied token it is not ready, and answers 503", async () => {
  const tokens = new Tokens();
  const { url, ledger } = await participantWith({ tokens });
  ledger.transact([{ create: offer("a") }]);
  const service = await serviceOn(url);
  await delay(300);
  expect((await get(service, "/readyz")).status).toBe(503);
  expect((await reject(service, "a")).status).toBe(503);
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
