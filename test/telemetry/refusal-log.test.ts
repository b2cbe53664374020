/** The refusals that a process keeps for its operators. */
import { fromJson, toJson } from "@bufbuild/protobuf";
import { expect, onTestFinished, test } from "vitest";
import { RefusalLog } from "../../src/telemetry/refusals.js";
import { startTelemetry } from "../../src/telemetry/telemetry.js";
import { callNamed, failingCalls } from "../fixtures/calls/index.js";
import { observedService } from "../fixtures/observed-service.js";
import { type Call, sendRest } from "../fixtures/protocols.js";
import { quiet } from "../fixtures/run-service.js";
import { until } from "../fixtures/wait.js";
import { pino } from "pino";
import { nameOf, protocolClients } from "./protocol-clients.js";

const name = "a transfer instruction that does not exist";
const offer = callNamed(name);
const json = { "content-type": "application/json" };

async function logging(): Promise<{ readonly log: RefusalLog; readonly url: string }> {
  let time = 0;
  const log = new RefusalLog(() => ++time);
  const service = await observedService([log.observer]);
  onTestFinished(() => service.close());
  return { log, url: service.url };
}

const ids = (log: RefusalLog) => log.latest().map(({ requestId }) => requestId);

/** The call with a body of about this many bytes: unknown fields are dropped, so it is the metadata that grows. */
const padded = (bytes: number): Call => ({ ...offer, body: { meta: { padding: "x".repeat(bytes) } } });

test("has the refusals of every protocol, newest first, each by its id", async () => {
  const { log, url } = await logging();
  const clients = Object.values(protocolClients);
  for (const [at, { send }] of clients.entries()) {
    await send(url, offer, { "x-request-id": `id-${at}` });
    await send(url, callNamed("v1 instruments"), { "x-request-id": `ok-${at}` });
    await until("the refusal is kept", () => log.latest().length === at + 1);
  }
  expect(ids(log)).toEqual(clients.map((_, at) => `id-${clients.length - 1 - at}`));
  for (const [at, { protocol }] of clients.entries()) {
    const kept = log.find(`id-${at}`);
    expect(kept).toMatchObject({
      time: at + 1,
      operation: nameOf(offer),
      protocol,
      status: "not_found",
      message: failingCalls[name]?.message,
      causes: [{ message: failingCalls[name]?.message }],
    });
    expect(kept?.request).toEqual(toJson(offer.method.input, fromJson(offer.method.input, offer.request)));
  }
  expect(log.find("ok-0")).toBeUndefined();
});

test("keeps 200, and the latest of an id", async () => {
  const { log, url } = await logging();
  const send = (id: string) => sendRest(url, offer, { headers: { ...json, "x-request-id": id } });
  await send("twice");
  for (let at = 0; at < 205; at++) await send(`id-${at}`);
  await send("twice");
  expect(log.latest()).toHaveLength(200);
  expect(ids(log).slice(0, 2)).toEqual(["twice", "id-204"]);
  expect(log.find("id-6")).toBeDefined();
  expect(log.find("id-5")).toBeUndefined();
  expect(log.find("twice")?.time).toBe(207);
});

test("keeps requests of at most 128 KiB, and 4 MiB in all", async () => {
  const { log, url } = await logging();
  const send = async (id: string, bytes: number) => {
    const response = await sendRest(url, padded(bytes), { headers: { ...json, "x-request-id": id } });
    expect(response.status).toBe(404);
  };
  await send("small", 130_000);
  await send("large", 131_100);
  await send("huge", 900_000);
  expect(JSON.stringify(log.find("small")?.request)).toContain("x".repeat(130_000));
  for (const id of ["large", "huge"]) expect(log.find(id)).toMatchObject({ requestId: id, request: undefined });
  for (let at = 0; at < 60; at++) await send(`id-${at}`, 100_000);
  const kept = log.latest().filter(({ request }) => request !== undefined);
  // The newest requests, each of a little more than 100,000 bytes of 4 MiB, which are 4,194,304.
  expect(kept.length).toBe(41);
  expect(kept.map(({ requestId }) => requestId)).toEqual(ids(log).slice(0, kept.length));
  expect(log.latest()).toHaveLength(63);
});

test("counts bytes of UTF-8", async () => {
  const { log, url } = await logging();
  const body = { meta: { padding: "ä".repeat(65_000) } };
  await sendRest(url, { ...offer, body }, { headers: { ...json, "x-request-id": "below" } });
  const above = { meta: { padding: "ä".repeat(65_600) } };
  await sendRest(url, { ...offer, body: above }, { headers: { ...json, "x-request-id": "above" } });
  expect(JSON.stringify(log.find("below")?.request)).toContain("ä".repeat(65_000));
  expect(log.find("above")).toMatchObject({ request: undefined });
});

test("exists only with the operator's port", async () => {
  const sources = {} as Parameters<typeof startTelemetry>[2];
  const telemetry = await startTelemetry(quiet(), pino({ level: "silent" }), sources);
  expect(telemetry.requests).toBeUndefined();
  await telemetry.close(0);
});
