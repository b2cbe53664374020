/** A registrar whose factories are all older than version 2 of the token standard, over REST and gRPC. */
import { alreadyCaughtUp } from "../../src/domain/ledger.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { MetadataService } from "../../gen/offledger/metadata/v1/metadata_service_pb.js";
import { isStored } from "../../src/domain/contract.js";
import type { JsonObject } from "../../src/domain/json.js";
import { Decoder } from "../../src/ledger/decode.js";
import { InstrumentDirectory } from "../../src/registry/instrument-directory.js";
import { QueryExecutor } from "../../src/registry/executor.js";
import { compileContexts } from "../../src/registry/utility/contexts.js";
import { utilityRegistry } from "../../src/registry/utility/index.js";
import { metadata } from "../../src/service/metadata.js";
import { MemoryStore } from "../../src/store/memory/memory-store.js";
import { createServer } from "../../src/transport/server.js";
import { element, type Options, parties, payload } from "../fixtures/elements.js";
import { protocols } from "../fixtures/protocols.js";
import { registry } from "../fixtures/run-service.js";
import { TEST_SERVER_OPTIONS } from "../fixtures/server-options.js";

const v1 = {
  "splice-api-token-metadata-v1": 2,
  "splice-api-token-transfer-instruction-v1": 1,
  "splice-api-token-allocation-v1": 1,
  "splice-api-token-allocation-instruction-v1": 1,
  "splice-api-token-holding-v1": 1,
  "splice-api-token-allocation-request-v1": 1,
};
const all = {
  ...v1,
  "splice-api-token-holding-v2": 1,
  "splice-api-token-transfer-instruction-v2": 1,
  "splice-api-token-allocation-v2": 1,
  "splice-api-token-allocation-instruction-v2": 1,
  "splice-api-token-allocation-request-v2": 1,
  "splice-api-token-transfer-events-v2": 1,
};

const factory = (packageId: string, registrar: string = parties.registrar, more: Options = {}) =>
  element("AllocationFactory", `factory ${packageId} of ${registrar}`, payload.service({ registrar }), {
    packageId,
    ...more,
  });
const configuration = (registrar: string = parties.registrar, packageId = "pkg-1") =>
  element("InstrumentConfiguration", `usd of ${registrar}`, payload.configuration("USD", { registrar }), { packageId });

/** Serves metadata of elements with known versions of packages. Returns the base URL. */
async function serve(elements: readonly JsonObject[], versions: Readonly<Record<string, string>>): Promise<string> {
  const utility = utilityRegistry({
    settlementLimits: { legs: 25, allocations: 50, instruments: 25, accounts: 50, parties: 100 },
    contexts: compileContexts({ packages: versions }),
  });
  const decoder = new Decoder(utility.templates);
  const contracts = elements.map((given) => {
    const entry = decoder.decode(given);
    if (entry === undefined || !isStored(entry.contract)) throw new Error("the element was not kept");
    return entry.contract;
  });
  const store = new MemoryStore();
  await store.replace(contracts, 10);
  const freshness = { staleReason: () => undefined, catchUp: alreadyCaughtUp };
  const executor = new QueryExecutor(utility, store, freshness, () => 0);
  const server = await createServer(
    metadata(executor, new InstrumentDirectory(executor, new Map(), false)),
    TEST_SERVER_OPTIONS,
  );
  onTestFinished(() => server.close(1_000));
  return server.listen("127.0.0.1", 0);
}

/** `supportedApis` of a registrar and of its instrument USD, after comparing REST with gRPC. */
async function supportedApis(url: string, registrar: string = parties.registrar): Promise<JsonObject> {
  const { getRegistryInfo, getInstrument, listInstruments } = MetadataService.method;
  const base = `${registry(registrar)}/metadata/v1`;
  const request = { registrarParty: registrar };
  const calls = [
    { method: getRegistryInfo, request, path: `${base}/info`, body: undefined },
    { method: listInstruments, request, path: `${base}/instruments`, body: undefined },
    {
      method: getInstrument,
      request: { ...request, instrumentId: "USD" },
      path: `${base}/instruments/USD`,
      body: undefined,
    },
  ];
  const found = await Promise.all(
    calls.map(async (call) => {
      const [rest, grpc] = await Promise.all([protocols["REST"]?.(url, call), protocols["gRPC"]?.(url, call)]);
      expect(grpc).toEqual(rest);
      expect(rest).toMatchObject({ ok: true });
      return rest?.ok === true ? (rest.answer as JsonObject) : {};
    }),
  );
  const [info, list, one] = found;
  expect(list).toMatchObject({ instruments: [{ supportedApis: one?.["supportedApis"] }] });
  return { info: info?.["supportedApis"] ?? null, instrument: one?.["supportedApis"] ?? null };
}

describe("the APIs of a registrar", () => {
  test.each<[string, string | undefined, object]>([
    ["0.9.0, the first with version 2", "0.9.0", all],
    ["0.9.1", "0.9.1", all],
    ["0.10.0, which is newer than 0.9.0", "0.10.0", all],
    ["1.0.0", "1.0.0", all],
    ["unknown", undefined, all],
    ["0.8.9", "0.8.9", v1],
    ["0.8.10", "0.8.10", v1],
    ["0.8", "0.8", v1],
    ["0.2.0", "0.2.0", v1],
  ])("with a factory of version %s", async (_what, version, expected) => {
    const url = await serve([factory("app"), configuration()], version === undefined ? {} : { app: version });
    expect(await supportedApis(url)).toEqual({ info: expected, instrument: expected });
  });

  test.each<[string, Readonly<Record<string, string>>, object]>([
    ["both are old", { old: "0.2.0", new: "0.8.0" }, v1],
    ["one is current", { old: "0.2.0", new: "0.9.0" }, all],
    ["the version of one is unknown", { old: "0.2.0" }, all],
  ])("with two factories, of which %s", async (_what, versions, expected) => {
    // The old one is created last: the newest contract does not decide.
    const late = factory("old", parties.registrar, { createdAt: "2026-02-05T09:00:00.000000Z" });
    const url = await serve([factory("new"), late, configuration()], versions);
    expect(await supportedApis(url)).toEqual({ info: expected, instrument: expected });
  });

  test("do not depend on other registrars and other packages", async () => {
    const other = "other::1220";
    const elements = [
      factory("old"),
      configuration(parties.registrar, "new"),
      factory("new", other),
      configuration(other, "old"),
    ];
    const url = await serve(elements, { old: "0.2.0", new: "0.9.0" });
    expect(await supportedApis(url)).toEqual({ info: v1, instrument: v1 });
    expect(await supportedApis(url, other)).toEqual({ info: all, instrument: all });
  });

  test("count a factory in reassignment", async () => {
    const moving = factory("new", parties.registrar, { moving: "unassigned" });
    const url = await serve([factory("old"), moving, configuration()], { old: "0.2.0", new: "0.9.0" });
    expect(await supportedApis(url)).toEqual({ info: all, instrument: all });
  });
});
