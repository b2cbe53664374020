/** What is asked of a participant besides contracts: to prepare commands, and versions of packages. */
import { create } from "@bufbuild/protobuf";
import { rename } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { PrepareRequestSchema } from "../../gen/offledger/explain/v1/explain_pb.js";
import { startApp } from "../../src/app/app.js";
import { createPreparer } from "../../src/app/operator.js";
import { followPackageVersions } from "../../src/app/package-versions.js";
import { loadRegistry } from "../../src/app/registry.js";
import { checkParticipant } from "../../src/cli/check.js";
import type { Config } from "../../src/config/config.js";
import type { AppConfig } from "../../src/config/limits.js";
import type { JsonObject } from "../../src/util/json.js";
import { type PackageCatalog } from "../../src/domain/ledger.js";
import { QueryExecutor } from "../../src/service/executor.js";
import { type CallContext, prepare } from "../../src/service/prepare.js";
import { MemoryStore } from "../../src/state/memory-store.js";
import { NotReady } from "../../src/state/port.js";
import { storing, StoredPackages } from "../../src/state/postgres/packages.js";
import type { Logger } from "../../src/util/logger.js";
import { parties } from "../fixtures/elements.js";
import { temporaryFile } from "../fixtures/files.js";
import { databaseAt } from "../fixtures/postgres.js";
import { completeElements } from "../fixtures/operation-calls.js";
import { CONTENT, freshSchema } from "../fixtures/postgres-schema.js";
import { transferV1 } from "../fixtures/requests.js";
import { quiet, registry as baseOf } from "../fixtures/run-service.js";
import { until } from "../fixtures/wait.js";
import { play } from "../scripted-participant/elements.js";
import { ScriptedLedger } from "../scripted-participant/ledger.js";
import { Participant } from "../scripted-participant/participant.js";
import { Tokens } from "../scripted-participant/tokens.js";

const NOW = Date.parse("2026-06-01T00:00:00Z");
const PREPARE = "/v2/interactive-submission/prepare";

/** A participant with a registry, all of whose contracts only the operator sees. */
async function participantWith(tokens?: Tokens): Promise<Participant> {
  const ledger = new ScriptedLedger();
  play(ledger, completeElements(), { stakeholders: [parties.operator] });
  const participant = await Participant.start({ ledger, ...(tokens && { tokens }) });
  onTestFinished(() => participant.stop());
  return participant;
}

const configFor = ({ url }: Participant, more: Partial<AppConfig> = {}): Config => ({
  ...quiet(),
  ledgerUrl: new URL(url),
  ledgerParties: [parties.operator],
  prepareUserId: "console",
  ...more,
});

/** A preparer that ends with the test. */
function preparerFor(config: Config): ReturnType<typeof createPreparer> {
  const end = new AbortController();
  onTestFinished(() => end.abort());
  return createPreparer(config, end.signal);
}

/** The registry's answer to alice, who asks for a factory to transfer to bob. */
async function contextFrom(config: Config): Promise<CallContext> {
  const { snapshot } = await checkParticipant(config, NOW);
  const store = new MemoryStore();
  await store.replace(snapshot.contracts, snapshot.offset);
  const freshness = { staleReason: () => undefined };
  const executor = new QueryExecutor(await loadRegistry(config), store, freshness, () => NOW);
  const { value, readVersion } = await executor.execute((registry, context) =>
    registry.transferFactory(context, { registrar: parties.registrar, choiceArguments }),
  );
  return { ...value, offset: readVersion?.offset ?? 0 };
}

const { choiceArguments } = transferV1("alice", "bob") as { choiceArguments: JsonObject };

const request = create(PrepareRequestSchema, {
  call: { operation: "GetTransferFactory" },
  actAs: ["alice::1220"],
  templateId: "#splice-api-token-transfer-instruction-v1:Splice.Api.Token.TransferInstructionV1:TransferFactory",
  choice: "TransferFactory_Transfer",
  choiceArgument: choiceArguments,
});

test("the context of the registry's answer makes a transfer succeed, and without a disclosure it fails", async () => {
  const participant = await participantWith();
  const config = configFor(participant);
  const context = await contextFrom(config);
  const preparer = await preparerFor(config);
  const from = participant.requests.length;
  const response = await prepare(request, () => Promise.resolve(context), preparer);
  expect(response).toMatchObject({ succeeds: true, synchronizer: "sync-A", offset: BigInt(participant.ledger.end) });
  expect(context.disclosed.length).toBeGreaterThan(1);
  for (const missing of context.disclosed) {
    const disclosed = context.disclosed.filter((contract) => contract !== missing);
    expect(await prepare(request, () => Promise.resolve({ ...context, disclosed }), preparer)).toMatchObject({
      succeeds: false,
      errorCode: "CONTRACT_NOT_FOUND",
      error: `Contract could not be found with id ${missing.contractId}`,
    });
  }
  const paths = participant.requests.slice(from).map(({ method, path }) => `${method} ${path}`);
  expect(new Set(paths)).toEqual(new Set([`POST ${PREPARE}`]));
});

test("the token is that of the user, never that of the mirror", async () => {
  const tokens = new Tokens();
  const [mirror, user, renewed] = [tokens.issue(), tokens.issue(), tokens.issue()];
  const participant = await participantWith(tokens);
  const prepareTokenFile = await temporaryFile("user", user);
  const config = configFor(participant, { ledgerTokenFile: await temporaryFile("mirror", mirror), prepareTokenFile });
  const context = await contextFrom(config);
  const from = participant.requests.length;
  const preparer = await preparerFor(config);
  await prepare(request, () => Promise.resolve(context), preparer);
  await rename(await temporaryFile("renewed", renewed), prepareTokenFile);
  await prepare(request, () => Promise.resolve(context), preparer);
  const withoutToken = await preparerFor({ ...config, prepareTokenFile: undefined });
  await expect(prepare(request, () => Promise.resolve(context), withoutToken)).rejects.toMatchObject({
    reason: "unavailable",
    message: "the participant requires a token of user console (status 401): set OFFLEDGER_PREPARE_TOKEN_FILE",
  });
  expect(participant.requests.slice(from).map(({ path, token, status }) => [path, token, status])).toEqual([
    [PREPARE, user, 200],
    [PREPARE, renewed, 200],
    [PREPARE, undefined, 401],
  ]);
});

test("without a user for it there is none", async () => {
  const config = { ...quiet(), ledgerUrl: new URL("http://127.0.0.1:1"), ledgerParties: [parties.operator] };
  expect(await preparerFor(config)).toBeUndefined();
});

test("a shutdown ends what is being prepared", async () => {
  const participant = await participantWith();
  participant.faults.leaveUnanswered({ path: PREPARE });
  const config = configFor(participant);
  const context = await contextFrom(config);
  const end = new AbortController();
  const preparer = await createPreparer(config, end.signal);
  const prepared = prepare(request, () => Promise.resolve(context), preparer).catch(String);
  await expect.poll(() => participant.requests.at(-1)?.path, { timeout: 10_000 }).toBe(PREPARE);
  end.abort(new Error("the service is stopping"));
  expect(await prepared).toContain("the service is stopping");
});

const catalogOf = (versions: Readonly<Record<string, string>>): PackageCatalog & { readonly asked: string[][] } => {
  const asked: string[][] = [];
  return {
    asked,
    versions(ids = []) {
      asked.push([...ids]);
      const known = [...ids].filter((id) => id in versions);
      return Promise.resolve(new Map(known.map((id) => [id, { name: "app", version: versions[id] ?? "" }])));
    },
  };
};

const silent: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** What the registry was told last. */
function follow(
  ids: () => Promise<readonly string[]>,
  catalog: PackageCatalog,
  { log = silent, isCurrent = (): boolean => true, maxWaitMs = 60_000 } = {},
) {
  const learnt: { versions?: ReadonlyMap<string, string> } = {};
  const registry = { learnPackages: (versions: ReadonlyMap<string, string>) => void (learnt.versions = versions) };
  const sync = followPackageVersions(registry, { catalog, ids }, isCurrent, log, maxWaitMs);
  onTestFinished(() => sync.close());
  return { learnt, sync };
}

test("the registry learns versions of the packages of the store, once it has contracts", async () => {
  const catalog = catalogOf({ "id-1": "0.7.0", "id-2": "0.9.1" });
  let reads = 0;
  const { learnt, sync } = follow(
    () => (reads++ === 0 ? Promise.reject(new NotReady()) : Promise.resolve(["id-1", "id-3"])),
    catalog,
  );
  await until("the registry is told", () => learnt.versions !== undefined);
  expect([...(learnt.versions ?? [])]).toEqual([["id-1", "0.7.0"]]);
  expect(catalog.asked[0]).toEqual(["id-1", "id-3"]);
  await until("the first versions are settled", () => sync.isSettled);
});

test("a participant that cannot be asked is logged once, and nothing fails", async () => {
  const warnings: string[] = [];
  const log = { ...silent, warn: (_details: object, message: string) => void warnings.push(message) };
  follow(() => Promise.resolve(["id-1"]), { versions: () => Promise.reject(new Error("status 503")) }, { log });
  await until("it is logged", () => warnings.length > 0);
  expect(warnings).toHaveLength(1);
});

describe("the first versions", () => {
  const none = () => Promise.resolve(["id-1"]);

  test("are not asked for before there is a state to answer from", async () => {
    const catalog = catalogOf({ "id-1": "0.7.0" });
    let isCurrent = false;
    const { sync } = follow(none, catalog, { isCurrent: () => isCurrent });
    await delay(300);
    expect([catalog.asked, sync.isSettled]).toEqual([[], false]);
    isCurrent = true;
    await until("they are settled", () => sync.isSettled);
    expect(catalog.asked).toEqual([["id-1"]]);
  });

  test("are waited for, with further attempts, but not for ever", async () => {
    const answer = { fails: true };
    const catalog: PackageCatalog = {
      versions: () => (answer.fails ? Promise.reject(new Error("status 503")) : Promise.resolve(new Map())),
    };
    const { sync } = follow(none, catalog);
    await delay(300);
    expect(sync.isSettled).toBe(false);
    answer.fails = false;
    await until("they are settled", () => sync.isSettled);

    const warnings: string[] = [];
    const log = { ...silent, warn: (_details: object, message: string) => void warnings.push(message) };
    const silence: PackageCatalog = { versions: () => new Promise(() => undefined) };
    const { sync: bounded } = follow(none, silence, { log, maxWaitMs: 200 });
    expect(bounded.isSettled).toBe(false);
    await until("the wait is over", () => bounded.isSettled);
    expect(warnings).toEqual(["versions of packages not known yet: the service is ready without them"]);
  });

  test("of a store without contracts, or of a participant that does not tell, are not waited for", async () => {
    const empty = follow(() => Promise.resolve([]), catalogOf({}));
    const untold = follow(none, { versions: () => Promise.resolve(undefined) });
    await until("they are settled", () => empty.sync.isSettled && untold.sync.isSettled);
    expect([empty.learnt.versions, untold.learnt.versions]).toEqual([undefined, new Map()]);
  });

  test("are what a service on a participant waits for, and says so; one that serves a file does not", async () => {
    const participant = await participantWith();
    const path = "/v2/package-vetting/list";
    participant.faults.refuse(503, { path, times: 1_000_000 });
    const { ledgerUrl, ledgerParties } = configFor(participant);
    const app = await startApp({ ...quiet(), ledgerUrl, ledgerParties });
    onTestFinished(() => app.close());
    const readiness = async () => {
      const response = await fetch(`${app.url}/readyz`);
      return [response.status, await response.text()] as const;
    };
    await until("it waits for them", async () => (await readiness())[1].includes("versions"));
    expect((await readiness())[0]).toBe(503);
    participant.faults.clear();
    await until("it is ready", async () => (await readiness())[0] === 200);
    expect(participant.requests.some((call) => call.path === path && call.status === 200)).toBe(true);

    const file = await startApp(quiet());
    onTestFinished(() => file.close());
    expect(file.notReadyReason).toBeUndefined();
  });
});

test("what a mirror has asked is in the database, for replicas", async () => {
  const schema = await freshSchema();
  onTestFinished(() => schema.drop());
  const participant = catalogOf({ "id-1": "0.7.0" });
  const stored = new StoredPackages(schema.database, CONTENT);
  await storing(participant, stored).versions(["id-1", "id-2"]);
  await storing(participant, stored).versions(["id-1"]);
  expect([...(await stored.versions(["id-1", "id-2"]))]).toEqual([["id-1", { name: "app", version: "0.7.0" }]]);
});

test("a replica without a participant learns the versions from a process that only mirrors", async () => {
  const schema = await freshSchema();
  onTestFinished(() => schema.drop());
  const ledger = new ScriptedLedger();
  play(ledger, completeElements(), { stakeholders: [parties.operator] });
  // That of an AllocationFactory says which versions of the API there are.
  const packages = [{ packageId: "pkg-1", packageName: "utility-registry-app-v0", packageVersion: "0.99.0" }];
  const vetted = [{ participantId: "participant::1220", synchronizerId: "sync", packages }];
  const participant = await Participant.start({ ledger, vetted });
  onTestFinished(() => participant.stop());

  const stored = { databaseUrl: databaseAt(schema.url) };
  const mirror = await startApp(configFor(participant, stored), () => NOW, { mirrors: true, answers: false });
  onTestFinished(() => mirror.close());
  const replica = await startApp({ ...quiet(), ...stored }, () => NOW, { mirrors: false, answers: true });
  onTestFinished(() => replica.close());
  const apis = async () => {
    const response = await fetch(`${replica.url}${baseOf()}/metadata/v1/info`);
    const { supportedApis = {} } = (await response.json()) as { readonly supportedApis?: object };
    return Object.keys(supportedApis);
  };
  await expect.poll(apis, { timeout: 30_000 }).toContain("splice-api-token-transfer-instruction-v2");
});
