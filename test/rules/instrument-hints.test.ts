/** The fields of an instrument since token-metadata-v1 1.2.0: pauses and account fields, over REST and RPC. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { describe, expect, onTestFinished, test } from "vitest";
import { MetadataService } from "../../gen/offledger/metadata/v1/metadata_service_pb.js";
import type { JsonObject, JsonValue } from "../../src/domain/json.js";
import { element, type Options, parties, payload } from "../fixtures/elements.js";
import { type Protocol, protocols } from "../fixtures/protocols.js";
import { serving } from "../fixtures/registries.js";
import { sampleRequests } from "../fixtures/requests.js";
import { instructions, registryOf } from "../fixtures/registries.js";
import { registry, type Running } from "../fixtures/run-service.js";

const factory = element("AllocationFactory", "factory", payload.service());
const usd = (more: JsonObject, contractId = "usd", options?: Options) =>
  element("InstrumentConfiguration", contractId, payload.configuration("USD", more), options);

const path = `${registry()}/metadata/v1/instruments`;

/** The instrument USD over REST: the same alone and in the list. */
async function instrument(running: Running): Promise<JsonObject> {
  const { status, body } = await running.get(`${path}/USD`);
  expect(status).toBe(200);
  expect((await running.get(path)).body).toEqual({ instruments: [body] });
  return body as JsonObject;
}

const hints = new Set(["paused", "pauseInfo", "showAccountInputFields", "accountInputFieldsToShow"]);
const hintsIn = (body: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([name]) => hints.has(name)));

const overRpc: readonly [string, Protocol][] = Object.entries(protocols).filter(([name]) => name !== "REST");

async function expectSameOverRpc(running: Running, expected: JsonObject): Promise<void> {
  const request = { registrarParty: parties.registrar, instrumentId: "USD" };
  for (const [name, send] of overRpc) {
    const call = { method: MetadataService.method.getInstrument, request, path: "", body: undefined };
    expect({ name, ...(await send(running.url, call)) }).toEqual({ name, ok: true, answer: expected });
  }
}

/** Serves USD with the lines of its entry in the instruments file. */
async function servingHints(configuration: JsonObject, ...lines: readonly string[]): Promise<Running> {
  const folder = await mkdtemp(join(tmpdir(), "offledger-test-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const instruments = join(folder, "instruments.yaml");
  const file = [`${parties.registrar}:`, "  USD:", ...lines.map((line) => `    ${line}`)];
  await writeFile(instruments, file.map((line) => `${line}\n`).join(""));
  return serving([factory, usd(configuration)], { config: { instruments } });
}

describe("an instrument is paused", () => {
  test.each<[string, JsonValue]>([
    ["the name of the constructor", "Paused"],
    ["true", true],
    ["an empty object", {}],
    ["a record", { reason: "audit" }],
    ["a variant", { tag: "Paused", value: {} }],
  ])("if isPaused is %s", async (_what, isPaused) => {
    const running = await serving([factory, usd({ isPaused })]);
    const body = await instrument(running);
    expect(hintsIn(body)).toEqual({ paused: true });
    await expectSameOverRpc(running, body);
  });

  test.each<[string, JsonObject]>([
    ["absent", {}],
    ["null", { isPaused: null }],
    ["false", { isPaused: false }],
    ["another name", { isPaused: "Running" }],
    ["an empty list", { isPaused: [] }],
    ["a number", { isPaused: 1 }],
  ])("no field says so if isPaused is %s", async (_what, more) => {
    const running = await serving([factory, usd(more)]);
    const body = await instrument(running);
    expect(body).not.toHaveProperty("paused");
    expect(hintsIn(body)).toEqual({});
    await expectSameOverRpc(running, body);
  });

  test.each<[string, JsonObject, JsonObject, JsonObject]>([
    ["paused", { isPaused: null }, { isPaused: "Paused" }, { paused: true }],
    ["not paused", { isPaused: "Paused" }, { isPaused: null }, {}],
  ])("if its newest configuration is: %s", async (_what, old, young, expected) => {
    const running = await serving([
      factory,
      usd(young, "young", { createdAt: "2026-02-05T09:00:00.000000Z" }),
      usd(old, "old", { createdAt: "2026-01-05T09:00:00.000000Z" }),
    ]);
    expect(hintsIn(await instrument(running))).toEqual(expected);
  });

  test("in every operation as before: contexts do not change", async () => {
    const plain = await serving(registryOf({ configuration: usd({}) }, ...instructions()));
    const paused = await serving(registryOf({ configuration: usd({ isPaused: "Paused" }) }, ...instructions()));
    for (const { path: to, body } of Object.values(sampleRequests)) {
      const answer = await paused.post(to, body);
      expect({ to, status: answer.status }).toEqual({ to, status: 200 });
      const text = JSON.stringify(answer.body).replaceAll(',"isPaused":"Paused"', "");
      expect(JSON.parse(text)).toEqual((await plain.post(to, body)).body);
    }
  });
});

describe("the operator's hints", () => {
  test("are shown with a paused instrument", async () => {
    const running = await servingHints(
      { isPaused: "Paused" },
      "pauseInfo: {reason: Annual meeting, until: 2026-12-01T08:00:00Z}",
      "showAccountInputFields: true",
      "accountInputFieldsToShow: [accountId, provider]",
    );
    const body = await instrument(running);
    expect(hintsIn(body)).toEqual({
      paused: true,
      pauseInfo: { reason: "Annual meeting", until: "2026-12-01T08:00:00Z" },
      showAccountInputFields: true,
      accountInputFieldsToShow: ["accountId", "provider"],
    });
    await expectSameOverRpc(running, body);
  });

  test("have no pauseInfo while the instrument is not paused", async () => {
    const running = await servingHints({}, "pauseInfo: {reason: Annual meeting}", "showAccountInputFields: false");
    const body = await instrument(running);
    expect(hintsIn(body)).toEqual({ showAccountInputFields: false });
    await expectSameOverRpc(running, body);
  });

  test("have only the fields that the file has", async () => {
    const running = await servingHints({ isPaused: "Paused" }, "pauseInfo: {until: 2026-12-01T08:00:00Z}");
    const body = await instrument(running);
    expect(hintsIn(body)).toEqual({ paused: true, pauseInfo: { until: "2026-12-01T08:00:00Z" } });
    await expectSameOverRpc(running, body);
  });

  test("keep an empty list, which hides all account fields", async () => {
    const running = await servingHints({}, "accountInputFieldsToShow: []");
    const body = await instrument(running);
    expect(hintsIn(body)).toEqual({ accountInputFieldsToShow: [] });
    await expectSameOverRpc(running, body);
  });

  test("are typed for clients of gRPC", async () => {
    const running = await servingHints({ isPaused: "Paused" }, "accountInputFieldsToShow: [accountId]");
    const client = createClient(MetadataService, createGrpcTransport({ baseUrl: running.url }));
    const found = await client.getInstrument({ registrarParty: parties.registrar, instrumentId: "USD" });
    expect(found.paused).toBe(true);
    expect(found.pauseInfo).toBeUndefined();
    expect(found.accountInputFieldsToShow?.values.map(({ kind }) => kind.value)).toEqual(["accountId"]);
    const plain = await serving([factory, usd({})]);
    const other = createClient(MetadataService, createGrpcTransport({ baseUrl: plain.url }));
    const without = await other.getInstrument({ registrarParty: parties.registrar, instrumentId: "USD" });
    expect([without.paused, without.accountInputFieldsToShow]).toEqual([undefined, undefined]);
  });
});
