/** Commands are tried over the operator's port: a mirrored participant prepares them with the context of an answer. */
import { expect, onTestFinished, test } from "vitest";
import { play } from "../scripted-participant/elements.js";
import { ScriptedLedger } from "../scripted-participant/ledger.js";
import { Participant } from "../scripted-participant/participant.js";
import { startApp } from "../../src/app/app.js";
import type { Config } from "../../src/config/config.js";
import type { JsonObject } from "../../src/domain/json.js";
import { parties } from "../fixtures/elements.js";
import { completeElements } from "../fixtures/operation-calls.js";
import * as requests from "../fixtures/requests.js";
import { quiet } from "../fixtures/run-service.js";
import { until } from "../fixtures/wait.js";

const PREPARE = "/v2/interactive-submission/prepare";
const TEMPLATE = "#splice-api-token-transfer-instruction-v1:Splice.Api.Token.TransferInstructionV1:TransferFactory";
const transfer = requests.transferV1("alice", "bob");

async function serving(more: Partial<Config> = {}) {
  const ledger = new ScriptedLedger();
  play(ledger, completeElements(), { stakeholders: [parties.operator] });
  const participant = await Participant.start({ ledger });
  const config = { ledgerUrl: new URL(participant.url), ledgerParties: [parties.operator], metricsPort: 0, ...more };
  const app = await startApp({ ...quiet(), ...config });
  onTestFinished(async () => {
    await app.close();
    await participant.stop();
  });
  await until("the service is ready", async () => (await fetch(`${app.url}/readyz`)).ok);
  const operatorUrl = (app.metricsUrl ?? "").replace(/\/metrics$/, "");
  return {
    participant,
    prepare: async (body: JsonObject): Promise<{ readonly status: number; readonly body: JsonObject }> => {
      const response = await fetch(`${operatorUrl}/api/offledger/v1/prepare`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return { status: response.status, body: (await response.json()) as JsonObject };
    },
  };
}

const command = (operation: string): JsonObject => ({
  call: { operation, request: transfer },
  actAs: ["alice"],
  templateId: TEMPLATE,
  choice: "TransferFactory_Transfer",
  choiceArgument: transfer["choiceArguments"] as JsonObject,
});

test("the verdict of the participant, with its estimated cost", async () => {
  const { participant, prepare } = await serving({ prepareUserId: "console" });
  const { status, body } = await prepare(command(`POST ${requests.transferFactory()}`));
  expect(status).toBe(200);
  expect(body).toMatchObject({ succeeds: true, error: "", errorCode: "" });
  expect(Number(body["trafficCost"])).toBeGreaterThan(0);
  const posted = participant.requests.filter(({ path }) => path.startsWith("/v2/interactive-submission"));
  expect(posted.map(({ path }) => path)).toEqual([PREPARE]);
});

test("the request's own refusal, where it gives no context", async () => {
  const { prepare } = await serving({ prepareUserId: "console" });
  const text = JSON.stringify(command(`POST ${requests.transferFactory("nobody::1220")}`));
  const unserved = await prepare(JSON.parse(text.replaceAll(parties.registrar, "nobody::1220")) as JsonObject);
  expect(unserved.status).toBe(404);
  expect(unserved.body["error"]).toContain("nobody::1220 is not served here");
  const noContext = await prepare(command("GET /api/utilities/v0/operator"));
  expect(noContext.status).toBe(400);
});

test("a sentence that says what to set, where no user may prepare", async () => {
  const { prepare } = await serving();
  const { status, body } = await prepare(command(`POST ${requests.transferFactory()}`));
  expect(status).toBe(501);
  expect(body["error"]).toContain("OFFLEDGER_PREPARE_USER_ID");
});
