/** Calls of a registry with a cache: which are answered from it, what callers get, and what is sent to the service. */
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createContextValues, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { HealthService } from "../../../gen/offledger/health/v1/health_service_pb.js";
import { GetTransferFactoryRequestSchema } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_pb.js";
import { TransferInstructionService } from "../../../gen/offledger/transfer_instruction/v2/transfer_instruction_service_pb.js";
import { gate, until } from "../../fixtures/wait.js";
import {
  createLedger,
  openRegistry,
  startService,
  transfer,
  type TestRegistryOptions,
  type TestService,
} from "./cached-service.js";

let service: TestService;
beforeAll(async () => {
  service = await startService(createLedger());
});
afterAll(() => service.close());

async function open(options: TestRegistryOptions = {}) {
  const registry = await openRegistry(service.url, options);
  onTestFinished(() => registry.close());
  return { registry, transfers: registry.client(TransferInstructionService) };
}

const codeOf = async (call: Promise<unknown>): Promise<Code | undefined> =>
  call.then(
    () => undefined,
    (error: unknown) => ConnectError.from(error).code,
  );

test("a repeated call is answered from the cache, with headers and a message of its own", async () => {
  const { registry, transfers } = await open();
  const first = await transfers.getTransferFactory(transfer("alice", "bob"));
  const expected = structuredClone(first);
  expect(first.factoryId).toBe("factory");
  // What a caller does with its message must not reach others.
  first.factoryId = "changed";
  first.choiceContext?.disclosedContracts[0]?.createdEventBlob.fill(0);
  const seen: Headers[] = [];
  const second = await transfers.getTransferFactory(transfer("alice", "bob"), {
    onHeader: (header) => seen.push(header),
  });
  expect(second).toEqual(expected);
  expect(seen.map((header) => header.get("offledger-offset"))).toEqual(["9"]);
  second.factoryId = "changed";
  expect(await transfers.getTransferFactory(transfer("alice", "bob"))).toEqual(expected);
  expect(registry.sent.length).toBe(1);
  expect(registry.statistics()).toMatchObject({ hits: 2, misses: 1 });
});

test("a message that changes after the call is answered as it was", async () => {
  const held = gate();
  const { registry, transfers } = await open({ beforeRequest: () => held.opened });
  const request = create(GetTransferFactoryRequestSchema, transfer("alice", "bob"));
  const call = transfers.getTransferFactory(request);
  await until("the request is at the interceptor", () => registry.sent.length === 1);
  request.registrarParty = "nobody";
  held.open();
  expect((await call).factoryId).toBe("factory");
});

test("responses that are not made of contracts, and errors, are not kept", async () => {
  const { registry, transfers } = await open();
  const health = registry.client(HealthService);
  await health.getLiveness({});
  await health.getLiveness({});
  const unknown = { registrarParty: "nobody", transferInstructionId: "00" };
  for (let call = 0; call < 2; call++)
    expect(await codeOf(transfers.getTransferInstructionRejectContext(unknown))).toBe(Code.NotFound);
  expect(registry.sent.length).toBe(4);
});

test("concurrent equal calls are one request, and each caller has its own limits", async () => {
  const held = gate();
  const { registry, transfers } = await open({ beforeResponse: () => held.opened });
  const leaving = new AbortController();
  const ask = (options = {}) => transfers.getTransferFactory(transfer("alice", "bob"), options);
  const calls = [
    ask(),
    ask({ signal: leaving.signal }),
    ask({ headers: { "x-request-id": "own" } }),
    ask({ timeoutMs: 50 }),
    // Interceptors may do anything that they say.
    ask({ contextValues: createContextValues() }),
  ];
  const codes = calls.map(codeOf);
  leaving.abort();
  expect(await codes[1]).toBe(Code.Canceled);
  expect(await codes[3]).toBe(Code.DeadlineExceeded);
  // Those with headers, a timeout or values of their own are sent separately.
  expect(registry.sent.map(({ signal }) => signal.aborted)).toEqual([false, false, true, false]);
  held.open();
  const first = await calls[0];
  const own = await calls[2];
  await calls[4];
  expect(first).toEqual(own);
  expect(first).not.toBe(own);
});

test("a request is cancelled when all its callers are gone", async () => {
  const { registry, transfers } = await open({ beforeResponse: () => new Promise(() => {}) });
  const leaving = new AbortController();
  const calls = [1, 2].map(() => transfers.getTransferFactory(transfer("alice", "bob"), { signal: leaving.signal }));
  const codes = calls.map(codeOf);
  await until("the request is sent", () => registry.sent.length === 1);
  leaving.abort();
  expect(await Promise.all(codes)).toEqual([Code.Canceled, Code.Canceled]);
  expect(registry.sent.map(({ signal }) => signal.aborted)).toEqual([true]);
  expect(await codeOf(transfers.getTransferFactory(transfer("alice", "bob"), { signal: leaving.signal }))).toBe(
    Code.Canceled,
  );
  expect(registry.sent.length).toBe(1);
});

test("the least recently used responses are removed at the bound", async () => {
  const { registry, transfers } = await open({ maxResponses: 2 });
  const ask = (sender: string) => transfers.getTransferFactory(transfer(sender, "bob"));
  for (const sender of ["a", "b", "a", "c", "a"]) await ask(sender);
  expect(registry.statistics()).toMatchObject({ hits: 2, misses: 3 });
  await ask("b");
  expect(registry.statistics()).toMatchObject({ hits: 2, misses: 4 });
});

test("a closed registry asks the service", async () => {
  const { registry, transfers } = await open();
  await transfers.getTransferFactory(transfer("alice", "bob"));
  await registry.close();
  expect((await transfers.getTransferFactory(transfer("alice", "bob"))).factoryId).toBe("factory");
  expect(registry.statistics()).toMatchObject({ hits: 0, misses: 2 });
  expect(registry.sent.map(({ condition }) => condition)).toEqual(['""', '""']);
});

/** A proxy that does not know the header. */
const drop: Interceptor = (next) => (request) => {
  request.header.delete("offledger-if-none-match");
  return next(request);
};

test("nothing is kept where the service does not get the header, and so gives no tags", async () => {
  const { registry, transfers } = await open({
    createTransport: (baseUrl, interceptors) =>
      createConnectTransport({ baseUrl, httpVersion: "1.1", interceptors: [...interceptors, drop] }),
  });
  const first = await transfers.getTransferFactory(transfer("alice", "bob"));
  expect(await transfers.getTransferFactory(transfer("alice", "bob"))).toEqual(first);
  expect(registry.statistics()).toMatchObject({ hits: 0, misses: 2 });
  expect(registry.sent.map(({ condition }) => condition)).toEqual(['""', '""']);
});
