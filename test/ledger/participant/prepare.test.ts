/** Commands that a participant prepares, over real sockets. */
import { rename, rm } from "node:fs/promises";
import { createServer as createTlsServer } from "node:https";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type ErrorCode, refusal, Refusal } from "../../scripted-participant/errors.js";
import { ScriptedLedger } from "../../scripted-participant/ledger.js";
import { Participant, type ParticipantOptions } from "../../scripted-participant/participant.js";
import { alice, creation, operator } from "../../scripted-participant/test-client.js";
import { Tokens } from "../../scripted-participant/tokens.js";
import { RegistryError } from "../../../src/domain/errors.js";
import type { JsonObject } from "../../../src/domain/json.js";
import type { ExerciseCommand, Preparer } from "../../../src/domain/ledger.js";
import type { Endpoint } from "../../../src/ledger/participant/http.js";
import { ParticipantPreparer } from "../../../src/ledger/participant/prepare.js";
import { tokenFile } from "../../../src/ledger/participant/tokens.js";
import { type Certificates, createCertificates, hasOpenssl } from "../../fixtures/certificates.js";
import { gate, until, within } from "../../fixtures/wait.js";
import { closedPort, endpointAt, everythingOf, listening, seen, serving, SOON_MS } from "./servers.js";
import { temporaryFiles } from "./temporary-files.js";

const PATH = "/v2/interactive-submission/prepare";
const USER = "console-user";

const { fileOf, pathOf } = temporaryFiles();

const command: ExerciseCommand = {
  actAs: [alice],
  templateId: "#splice-api-token-transfer-instruction-v1:Splice.Api.Token.TransferInstructionV1:TransferFactory",
  contractId: "factory",
  choice: "TransferFactory_Transfer",
  choiceArgument: {
    note: "the argument of alice",
    extraArgs: { context: { values: { rule: { tag: "AV_ContractId", value: "rule" } } }, meta: { values: {} } },
  },
  disclosedContracts: ["factory", "rule"].map((contractId) => ({
    templateId: "pkg-1:A:B",
    contractId,
    createdEventBlob: "YmxvYg==",
    synchronizerId: "sync-B::1220",
  })),
};

const without = (id: string): ExerciseCommand => ({
  ...command,
  disclosedContracts: command.disclosedContracts.filter(({ contractId }) => contractId !== id),
});

async function participantWith(options: ParticipantOptions = {}): Promise<Participant> {
  const participant = await Participant.start(options);
  onTestFinished(() => participant.stop());
  return participant;
}

const preparerAt = (url: URL | string, more: Partial<Endpoint> = {}): Preparer =>
  new ParticipantPreparer(endpointAt(new URL(url), more), USER);

/** A server that answers every request alike. */
const answering = (status: number, body: string): Promise<URL> =>
  serving((_request, response) => void response.writeHead(status).end(body));

/** An error of the JSON Ledger API. */
const errorOf = (code: string, category: number): string =>
  JSON.stringify({ code, cause: "because", context: {}, errorCategory: category });

/** Bytes written by hand: a transaction (1), then metadata (2) with an unknown field (9), a submitter (2) and an id (3). */
const transaction = (...bytes: readonly number[]): string => Buffer.from(bytes).toString("base64");
const id = [0x1a, 3, ...Buffer.from("s::")];

const secretToken = (): Promise<string> => Promise.resolve("secret");

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

describe("a command that succeeds", () => {
  test("has its synchronizer and its traffic", async () => {
    const participant = await participantWith();
    const verdict = await preparerAt(participant.url).prepare(command);
    expect(verdict).toMatchObject({ succeeds: true, error: "", errorCode: "", synchronizer: "sync-B::1220" });
    expect(verdict.trafficCost).toBeGreaterThan(2_000);
  });

  test("is sent once, whole, as the user, and nothing else is called", async () => {
    const participant = await participantWith();
    await preparerAt(participant.url).prepare(command);
    expect(participant.requests.map(({ method, path, token }) => [method, path, token])).toEqual([
      ["POST", PATH, undefined],
    ]);
    expect(participant.requests[0]?.body).toEqual({
      userId: "console-user",
      commandId: expect.stringMatching(/^offledger-prepare-[0-9a-f-]{36}$/),
      actAs: ["alice::1220"],
      readAs: [],
      synchronizerId: "",
      packageIdSelectionPreference: [],
      verboseHashing: false,
      commands: [
        {
          ExerciseCommand: {
            templateId:
              "#splice-api-token-transfer-instruction-v1:Splice.Api.Token.TransferInstructionV1:TransferFactory",
            contractId: "factory",
            choice: "TransferFactory_Transfer",
            choiceArgument: {
              note: "the argument of alice",
              extraArgs: {
                context: { values: { rule: { tag: "AV_ContractId", value: "rule" } } },
                meta: { values: {} },
              },
            },
          },
        },
      ],
      disclosedContracts: [
        {
          templateId: "pkg-1:A:B",
          contractId: "factory",
          createdEventBlob: "YmxvYg==",
          synchronizerId: "sync-B::1220",
        },
        { templateId: "pkg-1:A:B", contractId: "rule", createdEventBlob: "YmxvYg==", synchronizerId: "sync-B::1220" },
      ],
    });
  });

  test("names synchronizers without the suffix of a physical one", async () => {
    const participant = await participantWith();
    const disclosedContracts = command.disclosedContracts.map((one) => ({ ...one, synchronizerId: "s::1220::35-0" }));
    await preparerAt(participant.url).prepare({ ...command, disclosedContracts });
    const logical = { synchronizerId: "s::1220" };
    expect(participant.requests[0]?.body).toMatchObject({ disclosedContracts: [logical, logical] });
  });

  test.each(["not-a-template", "#a:B", "a:B:C:D", ":B:C", "#:B:C", "a::C", ""])(
    "has the id of a template, and not %j, which is not sent",
    async (templateId) => {
      const participant = await participantWith();
      const refused = await refusalOf(preparerAt(participant.url).prepare({ ...command, templateId }));
      expect(refused).toMatchObject({ reason: "invalid", details: { field: "templateId" } });
      expect(participant.requests).toEqual([]);
    },
  );

  test("has a new command id each time", async () => {
    const participant = await participantWith();
    const preparer = preparerAt(participant.url);
    for (let count = 0; count < 3; count++) await preparer.prepare(command);
    const ids = participant.requests.map(({ body }) => (body as JsonObject).commandId);
    expect(new Set(ids).size).toBe(3);
  });

  test("is prepared below the path of the base URL", async () => {
    const paths: (string | undefined)[] = [];
    const url = await serving(async (request, response) => {
      paths.push((await seen(request)).path);
      response.end(JSON.stringify({ preparedTransaction: "AA==" }));
    });
    await preparerAt(new URL("/ledger/", url)).prepare(command);
    expect(paths).toEqual([`/ledger${PATH}`]);
  });

  test.each<[string, string, string]>([
    ["is read from its metadata", transaction(0x0a, 2, 0x1a, 0, 0x12, 9, 0x48, 5, 0x12, 0, ...id), "s::"],
    ["is empty where the metadata have none", transaction(0x0a, 1, 7, 0x12, 2, 0x48, 5), ""],
    ["is empty where there are no metadata", transaction(0x0a, 1, 7), ""],
    ["is empty where the bytes are cut", transaction(0x0a, 1, 7, 0x12, 200), ""],
    ["is empty where it is not UTF-8", transaction(0x12, 4, 0x1a, 2, 0xc3, 0x28), ""],
    ["is empty where it is not base64", "%%%", ""],
  ])("the synchronizer of its transaction %s", async (_what, preparedTransaction, synchronizer) => {
    const url = await answering(200, JSON.stringify({ preparedTransaction }));
    expect(await preparerAt(url).prepare(command)).toMatchObject({ succeeds: true, synchronizer });
  });

  test.each<[string, unknown, number | undefined]>([
    ["is the total", { totalTrafficCostEstimation: 12, confirmationRequestTrafficCostEstimation: 5 }, 12],
    ["is absent where it is null", null, undefined],
    ["is absent where it has no total", {}, undefined],
    ["is absent where it is not an integer", { totalTrafficCostEstimation: 1.5 }, undefined],
  ])("its traffic %s", async (_what, costEstimation, trafficCost) => {
    const url = await answering(200, JSON.stringify({ preparedTransaction: "AA==", costEstimation }));
    expect((await preparerAt(url).prepare(command)).trafficCost).toBe(trafficCost);
  });
});

describe("a command that the participant rejects", () => {
  test("for a contract that is not disclosed has its message and code", async () => {
    const participant = await participantWith();
    expect(await preparerAt(participant.url).prepare(without("rule"))).toEqual({
      succeeds: false,
      error: "Contract could not be found with id rule",
      errorCode: "CONTRACT_NOT_FOUND",
      synchronizer: "",
      trafficCost: undefined,
    });
  });

  test("for a contract that its parties do not see is another than one that they see", async () => {
    const ledger = new ScriptedLedger();
    ledger.transact([{ create: creation("factory", { observers: [] }) }, { create: creation("rule") }]);
    const participant = await participantWith({ ledger });
    const preparer = preparerAt(participant.url);
    expect(await preparer.prepare(without("rule"))).toMatchObject({ succeeds: true });
    expect(await preparer.prepare(without("factory"))).toMatchObject({ errorCode: "CONTRACT_NOT_FOUND" });
    expect(await preparer.prepare({ ...without("factory"), actAs: [alice, operator] })).toMatchObject({
      succeeds: true,
    });
  });

  test.each<[ErrorCode, number]>([
    ["UNHANDLED_EXCEPTION", 400],
    ["DAML_AUTHORIZATION_ERROR", 400],
    ["COMMAND_PREPROCESSING_FAILED", 400],
    ["PACKAGE_NAMES_NOT_FOUND", 404],
  ])("with %s (status %i) has a verdict", async (code, status) => {
    const participant = await participantWith();
    participant.faults.refuse(refusal(code, "Daml exception: the amount must be positive"));
    expect(await preparerAt(participant.url).prepare(command)).toEqual({
      succeeds: false,
      error: "Daml exception: the amount must be positive",
      errorCode: code,
      synchronizer: "",
      trafficCost: undefined,
    });
    expect(participant.requests.map((request) => [request.path, request.status])).toEqual([[PATH, status]]);
  });

  test("with a long message has its beginning, without half a character", async () => {
    const cause = `${"x".repeat(3_999)}${"🪙".repeat(1_000)}`;
    const url = await answering(400, JSON.stringify({ code: "UNHANDLED_EXCEPTION", cause, errorCategory: 9 }));
    const { error } = await preparerAt(url).prepare(command);
    expect(error).toBe(`${"x".repeat(3_999)}\u{FFFD}…`);
  });
});

describe("a participant that authenticates", () => {
  test("is shown the user's token, also a new one", async () => {
    const tokens = new Tokens();
    const [first, second] = [tokens.issue(), tokens.issue()];
    const participant = await participantWith({ tokens });
    const path = await fileOf(`${first}\n`);
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
    await rename(await fileOf(second), path);
    expect(await preparer.prepare(command)).toMatchObject({ succeeds: true });
    expect(participant.requests.map(({ token, status }) => [token, status])).toEqual([
      [first, 200],
      [first, 401],
      [second, 200],
    ]);
  });

  test("without a token is 401, and the message says what to set", async () => {
    const participant = await participantWith({ tokens: new Tokens() });
    expect(await refusalOf(preparerAt(participant.url).prepare(command))).toMatchObject({
      reason: "unavailable",
      message: "the participant requires a token of user console-user (status 401): set OFFLEDGER_PREPARE_TOKEN_FILE",
    });
  });

  test("and does not let the user read as the parties is 403, and the message names them", async () => {
    const tokens = new Tokens();
    const token = tokens.issue({ parties: [alice] });
    const participant = await participantWith({ tokens });
    const preparer = preparerAt(participant.url, { token: () => Promise.resolve(token) });
    expect(await preparer.prepare(command)).toMatchObject({ succeeds: true });
    const denied = await refusalOf(preparer.prepare({ ...command, actAs: [alice, operator] }));
    expect(denied).toMatchObject({
      reason: "unavailable",
      message:
        "the participant does not let user console-user prepare as alice::1220, operator::1220 (status 403): the user " +
        "needs the right to read as each of these parties, and the token must be that user's",
    });
    expect(everythingOf(denied)).not.toContain(token);
  });

  test.each<[number, string]>([
    [401, "the participant requires a token of user console-user (status 401)"],
    [403, "the participant does not let user console-user prepare as alice::1220 (status 403)"],
  ])("and answers %i without an error of its API is understood too", async (status, beginning) => {
    const url = await answering(status, "<html>");
    const { reason, message } = await refusalOf(preparerAt(url).prepare(command));
    expect(reason).toBe("unavailable");
    expect(message).toContain(beginning);
  });

  test("is not asked while the token cannot be read; the message has no path", async () => {
    const participant = await participantWith();
    const path = await fileOf("two tokens");
    const preparer = preparerAt(participant.url, { token: tokenFile(path) });
    const message = "the token of user console-user cannot be read: check OFFLEDGER_PREPARE_TOKEN_FILE";
    const malformed = await refusalOf(preparer.prepare(command));
    expect(malformed).toMatchObject({ reason: "unavailable", message });
    expect(everythingOf(malformed)).not.toContain("two tokens");
    await rm(path);
    expect(await refusalOf(preparer.prepare(command))).toMatchObject({ reason: "unavailable", message });
    const missing = preparerAt(participant.url, { token: tokenFile(pathOf("missing")) });
    expect(await refusalOf(missing.prepare(command))).toMatchObject({ reason: "unavailable", message });
    expect(participant.requests).toEqual([]);
  });
});

describe("without a verdict", () => {
  test.each<[number, string]>([
    [404, "The requested resource could not be found."],
    [405, ""],
    [501, errorOf("UNIMPLEMENTED", 14)],
  ])("status %i means that the endpoint is missing", async (status, body) => {
    const url = await answering(status, body);
    expect(await refusalOf(preparerAt(url).prepare(command))).toMatchObject({
      reason: "unsupported",
      message: `the participant has no /v2/interactive-submission/prepare (status ${status})`,
    });
  });

  test.each<[number, string, string]>([
    [429, errorOf("PARTICIPANT_BACKPRESSURE", 2), "status 429, PARTICIPANT_BACKPRESSURE: because"],
    [503, errorOf("SERVER_IS_SHUTTING_DOWN", 1), "status 503, SERVER_IS_SHUTTING_DOWN: because"],
    [409, errorOf("SUBMISSION_ALREADY_IN_FLIGHT", 2), "status 409, SUBMISSION_ALREADY_IN_FLIGHT: because"],
    [500, errorOf("LEDGER_API_INTERNAL_ERROR", 4), "status 500, LEDGER_API_INTERNAL_ERROR: because"],
    [502, "<html>bad gateway</html>", "status 502: <html>bad gateway</html>"],
    [504, "", "status 504"],
  ])("status %i with %j is a failure of now", async (status, body, described) => {
    const url = await answering(status, body);
    expect(await refusalOf(preparerAt(url).prepare(command))).toMatchObject({
      reason: "unavailable",
      message: `the participant cannot prepare now: ${described}`,
    });
  });

  test.each<[number, string, string]>([
    [
      400,
      "Invalid value for: body (Missing required field at '.commands')",
      "status 400: Invalid value for: body (Missing required field at '.commands')",
    ],
    [413, "x".repeat(1_000), `status 413: ${"x".repeat(300)}…`],
    [302, "", "status 302"],
  ])("status %i that is not an error of its API is not a verdict", async (status, body, described) => {
    const url = await answering(status, body);
    expect(await refusalOf(preparerAt(url).prepare(command))).toMatchObject({
      reason: "unavailable",
      message: `the participant does not understand the request: ${described}`,
    });
  });

  test.each(["<html>", "", "null", "[]", "{}", '{"preparedTransaction":""}', '{"preparedTransaction":5}'])(
    "a success with the body %j is not one",
    async (body) => {
      const url = await answering(200, body);
      expect(await refusalOf(preparerAt(url).prepare(command))).toMatchObject({
        reason: "unavailable",
        message: "the participant's answer to /v2/interactive-submission/prepare is not a prepared transaction",
      });
    },
  );

  test("a closed port is reported", async () => {
    const url = await closedPort();
    const { reason, message } = await refusalOf(preparerAt(url).prepare(command));
    expect(reason).toBe("unavailable");
    expect(message).toContain(`the participant cannot be asked: ${url.origin} cannot be reached: `);
  });

  test("a silent participant is given up after the timeout", async () => {
    const participant = await participantWith();
    participant.faults.leaveUnanswered();
    const { reason, message } = await refusalOf(
      preparerAt(participant.url, { timeouts: { answer: 150 } }).prepare(command),
    );
    expect(reason).toBe("unavailable");
    expect(message).toBe(
      `the participant cannot be asked: ${participant.url} cannot be reached: no answer within 150 ms`,
    );
  });

  test("an oversized answer is cut", async () => {
    let sent = 0;
    let isClosed = false;
    const url = await serving((_request, response) => {
      const chunk = Buffer.alloc(1024 * 1024, " ");
      const more = () => {
        sent += chunk.length;
        if (sent < 160 * chunk.length) response.write(chunk, more);
      };
      response.on("close", () => {
        isClosed = true;
      });
      response.on("error", () => {});
      more();
    });
    const { reason, message } = await refusalOf(preparerAt(url).prepare(command));
    expect(reason).toBe("unavailable");
    expect(message).toContain("exceeds 8388608 bytes");
    await until("the server's connection is closed", () => isClosed);
    expect(sent).toBeLessThan(160 * 1024 * 1024);
  });

  test("a redirect is not followed", async () => {
    const elsewhere = await participantWith();
    const url = await serving((_request, response) => {
      response.writeHead(307, { location: elsewhere.url + PATH }).end();
    });
    expect(await refusalOf(preparerAt(url).prepare(command))).toMatchObject({ reason: "unavailable" });
    expect(elsewhere.requests).toEqual([]);
  });

  test("a shutdown ends the wait", async () => {
    const end = new AbortController();
    const arrived = gate();
    const url = await serving(() => arrived.open());
    const ended = refusalOf(preparerAt(url, { signal: end.signal }).prepare(command));
    await arrived.opened;
    end.abort(new Error("the service is stopping"));
    expect((await ended).message).toContain("the service is stopping");
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
  expect(await refusalOf(preparer.prepare(command))).toMatchObject({
    reason: "unavailable",
    message: "4 commands are being prepared",
  });
  release.open();
  await Promise.all(running);
  expect(await preparer.prepare(command)).toMatchObject({ succeeds: true });
  expect(count).toBe(5);
});

test("no failure has the command in its message", async () => {
  const participant = await participantWith();
  const failures: unknown[] = [];
  for (const fault of [refusal("UNAUTHENTICATED", ""), refusal("PERMISSION_DENIED", ""), new Refusal(503, noCode)]) {
    participant.faults.refuse(fault);
    failures.push(await refusalOf(preparerAt(participant.url).prepare(command)));
  }
  expect(everythingOf(failures)).not.toMatch(/the argument of alice|YmxvYg==/);
});

const noCode = { code: "", cause: "", context: {}, errorCategory: 1 };

// Skipped without the openssl command line, which makes the certificates.
describe.skipIf(!hasOpenssl)("with an own authority", () => {
  let own: Certificates;
  let other: Certificates;
  beforeAll(() => {
    own = createCertificates();
    other = createCertificates();
  });

  test("a participant is trusted with its root certificate", async () => {
    const participant = await participantWith({ tls: own });
    expect(await preparerAt(participant.url, { ca: own.ca }).prepare(command)).toMatchObject({ succeeds: true });
  });

  test.each<[string, () => string | undefined]>([
    ["no root certificate", () => undefined],
    ["another one", () => other.ca],
  ])("a participant is not trusted with %s, and gets no token", async (_what, ca) => {
    const requests: unknown[] = [];
    const server = createTlsServer({ key: own.key, cert: own.cert }, (request, response) => {
      requests.push(request.headers.authorization);
      response.end("{}");
    });
    const url = await listening(server, "https");
    const endpoint = { ca: ca(), token: secretToken };
    const { message } = await refusalOf(preparerAt(url, endpoint).prepare(command));
    expect(message).toContain("the participant cannot be asked");
    expect(requests).toEqual([]);
  });
});
