/** Commands that a participant prepares: the verdict, and the failures that an operator reads. */
import { rename, rm } from "node:fs/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { ScriptedLedger } from "../../scripted-participant/ledger.js";
import { Participant, type ParticipantOptions } from "../../scripted-participant/participant.js";
import { alice, creation, operator } from "../../scripted-participant/test-client.js";
import { Tokens } from "../../scripted-participant/tokens.js";
import { RegistryError } from "../../../src/domain/errors.js";
import type { ExerciseCommand, Preparer } from "../../../src/domain/ledger.js";
import type { Endpoint } from "../../../src/ledger/participant/http.js";
import { ParticipantPreparer } from "../../../src/ledger/participant/prepare.js";
import { tokenFile } from "../../../src/ledger/participant/tokens.js";
import { gate, until, within } from "../../fixtures/wait.js";
import { closedPort, endpointAt, errorOf, everythingOf, serving, SOON_MS, temporaryFile } from "./servers.js";

const PATH = "/v2/interactive-submission/prepare";

const disclosed = (contractId: string) => ({
  templateId: "pkg-1:A:B",
  contractId,
  createdEventBlob: "YmxvYg==",
  synchronizerId: "sync-B::1220",
});
const exercised = {
  templateId: "#splice-api-token-transfer-instruction-v1:Splice.Api.Token.TransferInstructionV1:TransferFactory",
  contractId: "factory",
  choice: "TransferFactory_Transfer",
  choiceArgument: {
    note: "the argument of alice",
    extraArgs: { context: { values: { rule: { tag: "AV_ContractId", value: "rule" } } }, meta: { values: {} } },
  },
};
const command: ExerciseCommand = {
  ...exercised,
  actAs: [alice],
  disclosedContracts: [disclosed("factory"), disclosed("rule")],
};

async function participantWith(options: ParticipantOptions = {}): Promise<Participant> {
  const participant = await Participant.start(options);
  onTestFinished(() => participant.stop());
  return participant;
}

const preparerAt = (url: URL | string, more: Partial<Endpoint> = {}): Preparer =>
  new ParticipantPreparer(endpointAt(new URL(url), more), "console-user");

/** A server that answers every request alike. */
const answering = (status: number, body: string, location?: string): Promise<URL> =>
  serving(
    (_request, response) => void response.writeHead(status, location === undefined ? {} : { location }).end(body),
  );

/** The RegistryError of a promise. Fails for any other outcome. */
async function refusalOf(promise: Promise<unknown>): Promise<RegistryError> {
  const outcome = await within(
    SOON_MS,
    "a refusal",
    promise.then(JSON.stringify, (error: unknown) => error),
  );
  if (outcome instanceof RegistryError) return outcome;
  throw new Error(`it did not fail with a RegistryError: ${String(outcome)}`);
}

const rejected = (errorCode: string, error: string) => ({
  succeeds: false,
  error,
  errorCode,
  synchronizer: "",
  trafficCost: undefined,
});

const base64 = (...bytes: readonly number[]): string => Buffer.from(bytes).toString("base64");

describe("a command", () => {
  test("is sent whole, as the user, with an id of its own, and nothing else is; it has a synchronizer and traffic", async () => {
    const participant = await participantWith();
    const preparer = preparerAt(participant.url);
    const disclosedContracts = [disclosed("factory"), { ...disclosed("rule"), synchronizerId: "s::1220::35-0" }];
    const verdict = await preparer.prepare({ ...command, disclosedContracts });
    expect(verdict).toMatchObject({ succeeds: true, error: "", errorCode: "", synchronizer: "sync-B::1220" });
    expect(verdict.trafficCost).toBeGreaterThan(2_000);
    await preparer.prepare(command);
    expect(participant.requests.map(({ method, path, token }) => [method, path, token])).toEqual([
      ["POST", PATH, undefined],
      ["POST", PATH, undefined],
    ]);
    const [first, second] = participant.requests.map(({ body }) => body as { readonly commandId: string });
    expect(first).toEqual({
      userId: "console-user",
      commandId: expect.stringMatching(/^offledger-prepare-[0-9a-f-]{36}$/) as string,
      actAs: ["alice::1220"],
      readAs: [],
      synchronizerId: "",
      packageIdSelectionPreference: [],
      verboseHashing: false,
      commands: [{ ExerciseCommand: exercised }],
      // Synchronizers are named without the suffix of a physical one.
      disclosedContracts: [disclosed("factory"), { ...disclosed("rule"), synchronizerId: "s::1220" }],
    });
    expect(second?.commandId).not.toBe(first?.commandId);
  });

  test.each(["#a:B", "a:B:C:D", "#:B:C"])("is not sent with %j for a template", async (templateId) => {
    const participant = await participantWith();
    const refused = await refusalOf(preparerAt(participant.url).prepare({ ...command, templateId }));
    expect(refused).toMatchObject({ reason: "invalid", details: { field: "templateId" } });
    expect(participant.requests).toEqual([]);
  });

  // Bytes written by hand: a transaction (1), then metadata (2) with an unknown field (9), a submitter (2) and an id (3).
  const id = [0x1a, 3, ...Buffer.from("s::")];
  const physical = [...Buffer.from("s::1::35-0")];

  test.each<[string, string, string]>([
    ["is read from its metadata", base64(0x0a, 2, 0x1a, 0, 0x12, 9, 0x48, 5, 0x12, 0, ...id), "s::"],
    ["has no suffix of a physical one", base64(0x12, 12, 0x1a, 10, ...physical), "s::1"],
    ["is empty where the metadata have none", base64(0x0a, 1, 7, 0x12, 2, 0x48, 5), ""],
    ["is empty where there are no metadata", base64(0x0a, 1, 7), ""],
    ["is empty where the bytes are cut", base64(0x0a, 1, 7, 0x12, 200), ""],
    ["is empty where it is not UTF-8", base64(0x12, 4, 0x1a, 2, 0xc3, 0x28), ""],
    ["is empty where it is not base64", "%%%", ""],
  ])("that is prepared: its synchronizer %s", async (_what, preparedTransaction, synchronizer) => {
    const url = await answering(200, JSON.stringify({ preparedTransaction }));
    expect(await preparerAt(url).prepare(command)).toMatchObject({ succeeds: true, synchronizer });
  });

  test.each<[unknown, number | undefined]>([
    [{ totalTrafficCostEstimation: 12, confirmationRequestTrafficCostEstimation: 5 }, 12],
    [null, undefined],
    [{}, undefined],
    [{ totalTrafficCostEstimation: 1.5 }, undefined],
  ])("that is prepared: its traffic by %j is %j", async (costEstimation, trafficCost) => {
    const url = await answering(200, JSON.stringify({ preparedTransaction: "AA==", costEstimation }));
    expect((await preparerAt(url).prepare(command)).trafficCost).toBe(trafficCost);
  });

  test("that the participant rejects has its message and code; what its parties see needs no disclosure", async () => {
    const ledger = new ScriptedLedger();
    ledger.transact([{ create: creation("factory", { observers: [] }) }, { create: creation("rule") }]);
    const preparer = preparerAt((await participantWith({ ledger })).url);
    const without = (contractId: string, actAs = [alice]) =>
      preparer.prepare({
        ...command,
        actAs,
        disclosedContracts: [disclosed(contractId === "rule" ? "factory" : "rule")],
      });
    expect(await without("rule")).toMatchObject({ succeeds: true });
    expect(await without("factory")).toEqual(
      rejected("CONTRACT_NOT_FOUND", "Contract could not be found with id factory"),
    );
    expect(await without("factory", [alice, operator])).toMatchObject({ succeeds: true });
  });

  const coins = "🪙".repeat(1_000);

  test.each([
    [400, "UNHANDLED_EXCEPTION", "Daml exception: the amount must be positive", undefined],
    [400, "DAML_AUTHORIZATION_ERROR", "not authorized", undefined],
    // Without half a character.
    [400, "DAML_FAILURE", `${"x".repeat(3_999)}${coins}`, `${"x".repeat(3_999)}\u{FFFD}…`],
  ])("that fails with status %i and %s has a verdict, not a failure", async (status, code, cause, shown = cause) => {
    const url = await answering(status, JSON.stringify({ code, cause, errorCategory: status === 404 ? 11 : 9 }));
    expect(await preparerAt(url).prepare(command)).toEqual(rejected(code, shown));
  });
});

describe("a participant that authenticates", () => {
  test("is shown the user's token, also a new one", async () => {
    const tokens = new Tokens();
    const [first, second] = [tokens.issue(), tokens.issue()];
    const participant = await participantWith({ tokens });
    const path = await temporaryFile(`${first}\n`);
    const preparer = preparerAt(participant.url, { token: tokenFile(path) });
    await preparer.prepare(command);
    tokens.revoke(first);
    const denied = await refusalOf(preparer.prepare(command));
    expect(denied).toMatchObject({
      reason: "unavailable",
      message:
        "the participant does not accept the token of user console-user (status 401): renew OFFLEDGER_PREPARE_TOKEN_FILE, " +
        "with a token that lives no longer than the participant allows",
    });
    expect(everythingOf(denied)).not.toContain(first);
    await rename(await temporaryFile(second), path);
    expect(await preparer.prepare(command)).toMatchObject({ succeeds: true });
    const sent = participant.requests.map(({ token, status }) => [token, status]);
    expect(sent).toEqual([
      [first, 200],
      [first, 401],
      [second, 200],
    ]);
  });

  test("does not prepare as a party that the user may not read as, and the message names all", async () => {
    const tokens = new Tokens();
    const token = tokens.issue({ parties: [alice] });
    const participant = await participantWith({ tokens });
    const preparer = preparerAt(participant.url, { token: () => Promise.resolve(token) });
    expect(await preparer.prepare(command)).toMatchObject({ succeeds: true });
    const denied = await refusalOf(preparer.prepare({ ...command, actAs: [alice, operator] }));
    expect(denied).toMatchObject({
      reason: "unavailable",
      message:
        "the participant does not let user console-user prepare as alice::1220, operator::1220 (status 403): the user, " +
        "which may be unknown or deactivated, needs the right to read as each of these parties, and the token must be that user's",
    });
    expect(everythingOf(denied)).not.toContain(token);
  });

  test("is not asked while the token cannot be read; the message has no path", async () => {
    const participant = await participantWith();
    const path = await temporaryFile("two tokens");
    const preparer = preparerAt(participant.url, { token: tokenFile(path) });
    const message = "the token of user console-user cannot be read: check OFFLEDGER_PREPARE_TOKEN_FILE";
    const malformed = await refusalOf(preparer.prepare(command));
    expect(malformed).toMatchObject({ reason: "unavailable", message });
    expect(everythingOf(malformed)).not.toContain("two tokens");
    await rm(path);
    expect(await refusalOf(preparer.prepare(command))).toMatchObject({ reason: "unavailable", message });
    expect(participant.requests).toEqual([]);
  });
});

const missing = (status: number) => `the participant has no ${PATH} (status ${status})`;

describe("without a verdict", () => {
  const now = "the participant cannot prepare now: ";
  const misunderstood = "the participant does not understand the request: ";
  const misread = "the participant's answer to /v2/interactive-submission/prepare is not a prepared transaction";
  const badRequest = "Invalid value for: body (Missing required field at '.commands')";
  const token = "the participant requires a token of user console-user (status 401): set OFFLEDGER_PREPARE_TOKEN_FILE";
  const hidden = `${now}status 500, NA: because (also for a contract id that no ledger gives)`;

  test.each<[number, string, string, string]>([
    [404, "The requested resource could not be found.", "unsupported", missing(404)],
    [405, "", "unsupported", missing(405)],
    [501, errorOf("UNIMPLEMENTED", 14), "unsupported", missing(501)],
    [401, errorOf("NA", -1, { grpcCodeValue: 16 }), "unavailable", token],
    [429, errorOf("PARTICIPANT_BACKPRESSURE", 2), "unavailable", `${now}status 429, PARTICIPANT_BACKPRESSURE: because`],
    [500, errorOf("NA", -1, { grpcCodeValue: 13 }), "unavailable", hidden],
    [502, "<html>bad gateway</html>", "unavailable", `${now}status 502, a page of HTML`],
    [504, "", "unavailable", `${now}status 504`],
    [400, badRequest, "unavailable", `${misunderstood}status 400: ${badRequest}`],
    [413, "x".repeat(1_000), "unavailable", `${misunderstood}status 413: ${"x".repeat(300)}…`],
    // A redirect is not followed.
    [307, "", "unavailable", `${misunderstood}status 307, a redirect to http://`],
    [200, "<html>", "unavailable", `${misread}, but a page of HTML`],
    ...["", "null", '{"preparedTransaction":""}', '{"preparedTransaction":5}'].map(
      (body): [number, string, string, string] => [200, body, "unavailable", misread],
    ),
  ])("status %i with %s is %s", async (status, body, reason, message) => {
    const elsewhere = await participantWith();
    const url = await answering(status, body, elsewhere.url + PATH);
    const failure = await refusalOf(preparerAt(url).prepare(command));
    expect(failure.reason).toBe(reason);
    // The target of a redirect has the port of this run.
    expect(failure.message.replace(elsewhere.url + PATH, "http://")).toBe(message);
    expect(everythingOf(failure)).not.toMatch(/the argument of alice|YmxvYg==/);
    expect(elsewhere.requests).toEqual([]);
  });

  test("a participant that cannot be reached, or does not answer, is reported", async () => {
    const url = await closedPort();
    const { reason, message } = await refusalOf(preparerAt(url).prepare(command));
    expect(reason).toBe("unavailable");
    expect(message).toContain(`the participant cannot be asked: ${url.origin} cannot be reached: `);
    const participant = await participantWith();
    participant.faults.leaveUnanswered();
    const silent = await refusalOf(preparerAt(participant.url, { timeouts: { answer: 150 } }).prepare(command));
    expect(silent.message).toBe(
      `the participant cannot be asked: ${participant.url} cannot be reached: no answer within 150 ms`,
    );
  });
});

test("at most four commands are prepared at a time; others are refused, and later ones are not", async () => {
  const release = gate();
  let count = 0;
  const url = await serving(async (_request, response) => {
    count++;
    await release.opened;
    response.end(JSON.stringify({ preparedTransaction: "AA==" }));
  });
  const preparer = preparerAt(url);
  const running = Array.from({ length: 4 }, () => preparer.prepare(command));
  await until("four are asked", () => count === 4);
  const message = "4 commands are being prepared";
  expect(await refusalOf(preparer.prepare(command))).toMatchObject({ reason: "unavailable", message });
  release.open();
  await Promise.all(running);
  expect(await preparer.prepare(command)).toMatchObject({ succeeds: true });
  expect(count).toBe(5);
});
