/** A participant that does not have every package of the registry. */
import { expect, onTestFinished, test } from "vitest";
import { ScriptedLedger } from "../../scripted-participant/ledger.js";
import { Participant } from "../../scripted-participant/participant.js";
import { templates } from "../../../src/registry/utility/templates.js";
import { payload } from "../../fixtures/elements.js";
import { until } from "../../fixtures/wait.js";
import { operator, type RunningMirror, startMirror } from "./run-mirror.js";

const CREDENTIALS = "utility-credential-v0";
const all = [...new Set(templates.map(({ packageName }) => packageName))];

const ledger = (): ScriptedLedger => {
  const created = new ScriptedLedger();
  create(created, "offer", "utility-registry-app-v0", "Utility.Registry.App.V0.Model.Transfer:TransferOffer");
  return created;
};

function create(into: ScriptedLedger, contractId: string, packageName: string, entity: string): void {
  const isOffer = entity.endsWith("TransferOffer");
  const contract = {
    contractId,
    packageName,
    templateId: `pkg:${entity}`,
    payload: isOffer ? payload.offer("alice", "bob", "USD", "locked") : payload.credential("alice", ["holds=USD"]),
    createdEventBlob: Buffer.from(contractId).toString("base64"),
    signatories: [operator],
  };
  into.transact([{ create: contract }]);
}

const createCredential = (into: ScriptedLedger, contractId: string) =>
  create(into, contractId, CREDENTIALS, "Utility.Credential.V0.Credential:Credential");

async function following(packageNames: string[], on = ledger()) {
  const participant = await Participant.start({ ledger: on, checkpointMs: 20, packageNames });
  onTestFinished(() => participant.stop());
  const mirror = startMirror(participant.url);
  onTestFinished(() => mirror.stop());
  return { mirror, participant, ledger: on };
}

const held = async (mirror: RunningMirror) => [...(await mirror.held()).keys()].toSorted();
const warnings = ({ logged }: RunningMirror) => logged.filter((line) => line.startsWith("warn the participant lacks"));

test("the other packages are followed, and the log names those that are missing", async () => {
  const { mirror, ledger: on } = await following(
    all.filter((name) => name !== CREDENTIALS && !name.startsWith("splice")),
  );
  await until("it is ready", () => mirror.lag.notReadyReason() === undefined);
  expect(await held(mirror)).toEqual(["offer"]);
  // The participant names them one after the other.
  expect(warnings(mirror)).toHaveLength(1);
  expect(warnings(mirror)[0]).toContain(CREDENTIALS);
  expect(warnings(mirror)[0]).toContain("splice-amulet");
  create(on, "offer-2", "utility-registry-app-v0", "Utility.Registry.App.V0.Model.Transfer:TransferOffer");
  await until("updates are followed", async () => (await held(mirror)).includes("offer-2"));
  // Another process would not read the contracts of a package that came in between.
  expect(mirror.store.checkpoint?.updateId).toBeUndefined();
});

test("a package that is uploaded later is read with its contracts of before", async () => {
  const { mirror, participant, ledger: on } = await following(all.filter((name) => name !== CREDENTIALS));
  await until("it is ready", () => mirror.lag.notReadyReason() === undefined);
  participant.upload(CREDENTIALS);
  createCredential(on, "before");
  await until("the contract is there", async () => (await held(mirror)).includes("before"));
  createCredential(on, "after");
  await until("the next one is there", async () => (await held(mirror)).includes("after"));
  expect(await held(mirror)).toEqual(["after", "before", "offer"]);
  expect(mirror.store.checkpoint?.updateId).toBeDefined();
  expect(mirror.logged.filter((line) => line.includes("packages that it lacked"))).toHaveLength(1);
});

test("with none of the packages the service is not ready until one is there", async () => {
  const { mirror, participant } = await following([]);
  await until("the failure is logged", () => mirror.logged.some((line) => line.includes("PACKAGE_NAMES_NOT_FOUND")));
  expect(mirror.lag.notReadyReason()).toBe("no snapshot of the ledger has been taken yet");
  for (let attempt = 0; attempt < 5; attempt++) await until("it is tried again", triedAgain(participant));
  expect(mirror.logged).toHaveLength(1);
  for (const name of all) participant.upload(name);
  await until("it is ready", () => mirror.lag.notReadyReason() === undefined);
  expect(await held(mirror)).toEqual(["offer"]);
});

/** Whether the participant has been asked since for a snapshot again. */
function triedAgain({ requests }: Participant): () => boolean {
  const before = requests.length;
  return () => requests.length > before + all.length;
}
