/** Commands with the contexts of a registry, at a participant that has its ledger. */
import { alreadyCaughtUp } from "../../../src/domain/ledger.js";
import { create } from "@bufbuild/protobuf";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { PrepareRequestSchema } from "../../../gen/offledger/explain/v1/explain_pb.js";
import { checkParticipant } from "../../../src/cli/check.js";
import { createPreparer } from "../../../src/app/operator.js";
import { loadRegistry } from "../../../src/app/registry.js";
import type { Config } from "../../../src/config/config.js";
import type { JsonObject } from "../../../src/domain/json.js";
import { QueryExecutor } from "../../../src/registry/executor.js";
import { type CallContext, prepare } from "../../../src/service/prepare.js";
import { MemoryStore } from "../../../src/store/memory/memory-store.js";
import { play } from "../../scripted-participant/elements.js";
import { ScriptedLedger } from "../../scripted-participant/ledger.js";
import { Participant } from "../../scripted-participant/participant.js";
import { Tokens } from "../../scripted-participant/tokens.js";
import { parties } from "../../fixtures/elements.js";
import { completeElements } from "../../fixtures/operation-calls.js";
import { transferV1 } from "../../fixtures/requests.js";
import { quiet } from "../../fixtures/run-service.js";

const NOW = Date.parse("2026-06-01T00:00:00Z");
const PREPARE = "/v2/interactive-submission/prepare";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "offledger-prepare-"));
  return () => rm(folder, { recursive: true });
});

async function fileOf(name: string, content: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

/** A participant with a registry, all of whose contracts only the operator sees. */
async function participantWith(tokens?: Tokens): Promise<Participant> {
  const ledger = new ScriptedLedger();
  play(ledger, completeElements(), { stakeholders: [parties.operator] });
  const participant = await Participant.start({ ledger, ...(tokens && { tokens }) });
  onTestFinished(() => participant.stop());
  return participant;
}

const configFor = ({ url }: Participant, more: Partial<Config> = {}): Config => ({
  ...quiet(),
  ledgerUrl: new URL(url),
  ledgerParties: [parties.operator],
  prepareUserId: "console",
  ...more,
});

function endOfTest(): AbortSignal {
  const end = new AbortController();
  onTestFinished(() => end.abort());
  return end.signal;
}

/** The registry's answer to alice, who asks for a factory to transfer to bob. */
async function contextFrom(config: Config): Promise<CallContext> {
  const { snapshot } = await checkParticipant(config, NOW);
  const store = new MemoryStore();
  await store.replace(snapshot.contracts, snapshot.offset);
  const freshness = { staleReason: () => undefined, catchUp: alreadyCaughtUp };
  const executor = new QueryExecutor(await loadRegistry(config), store, freshness, () => NOW);
  const { value, basis } = await executor.execute((registry, context) =>
    registry.transferFactory(context, { registrar: parties.registrar, choiceArguments }),
  );
  return { ...value, offset: basis.offset };
}

const { choiceArguments } = transferV1("alice", "bob") as { choiceArguments: JsonObject };

const request = create(PrepareRequestSchema, {
  call: { operation: "GetTransferFactory" },
  actAs: ["alice"],
  templateId: "#splice-api-token-transfer-instruction-v1:Splice.Api.Token.TransferInstructionV1:TransferFactory",
  choice: "TransferFactory_Transfer",
  choiceArgument: choiceArguments,
});

test("the context of the registry's answer makes a transfer succeed, and without a disclosure it fails", async () => {
  const participant = await participantWith();
  const config = configFor(participant);
  const context = await contextFrom(config);
  const preparer = await createPreparer(config, endOfTest());
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
  const ledgerTokenFile = await fileOf("mirror", mirror);
  const config = configFor(participant, { ledgerTokenFile, prepareTokenFile: await fileOf("user", user) });
  const context = await contextFrom(config);
  const from = participant.requests.length;
  const preparer = await createPreparer(config, endOfTest());
  await prepare(request, () => Promise.resolve(context), preparer);
  await rename(await fileOf("renewed", renewed), join(folder, "user"));
  await prepare(request, () => Promise.resolve(context), preparer);
  const withoutToken = await createPreparer({ ...config, prepareTokenFile: undefined }, endOfTest());
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

test("without a user there is none", async () => {
  const participant = await participantWith();
  expect(await createPreparer(configFor(participant, { prepareUserId: undefined }), endOfTest())).toBeUndefined();
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
