/** What a registry is asked: metadata, version of the token standard and executors, as they came, by REST and by RPC. */
import type { DescMethodUnary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { AllocationService as AllocationV1 } from "../../gen/offledger/allocation/v1/allocation_service_pb.js";
import { AllocationService as AllocationV2 } from "../../gen/offledger/allocation/v2/allocation_service_pb.js";
import { AllocationInstructionService as InstructionV2 } from "../../gen/offledger/allocation_instruction/v2/allocation_instruction_service_pb.js";
import { TransferInstructionService as TransferV1 } from "../../gen/offledger/transfer_instruction/v1/transfer_instruction_service_pb.js";
import { TransferInstructionService as TransferV2 } from "../../gen/offledger/transfer_instruction/v2/transfer_instruction_service_pb.js";
import { invalid } from "../../src/domain/errors.js";
import { alreadyCaughtUp } from "../../src/domain/ledger.js";
import type { JsonObject } from "../../src/domain/json.js";
import { QueryExecutor } from "../../src/registry/executor.js";
import type { ChoiceQuery, FactoryQuery, Registry } from "../../src/registry/sdk/registry.js";
import { services } from "../../src/service/services.js";
import { MemoryStore } from "../../src/store/memory/memory-store.js";
import { createServer, type Server } from "../../src/transport/server.js";
import { ownRegistry } from "../fixtures/own-registry.js";
import { protocols } from "../fixtures/protocols.js";
import { TEST_SERVER_OPTIONS } from "../fixtures/server-options.js";

let asked: FactoryQuery | ChoiceQuery | undefined;
const ask = (query: FactoryQuery | ChoiceQuery): never => {
  asked = query;
  throw invalid("asked");
};
const asking: Registry = {
  ...ownRegistry,
  transferFactory: (_context, query) => ask(query),
  allocationFactory: (_context, query) => ask(query),
  settlementFactory: (_context, query) => ask(query),
  choiceContext: (_context, _choice, query) => ask(query),
};

let server: Server;
let url = "";
beforeAll(async () => {
  const store = new MemoryStore();
  await store.replace([], 1);
  const freshness = { staleReason: () => undefined, catchUp: alreadyCaughtUp };
  const executor = new QueryExecutor(asking, store, freshness, () => 0);
  const options = { overrides: new Map(), countsHoldings: false, openApi: {}, notReadyReason: () => undefined };
  server = await createServer(services(executor, options), TEST_SERVER_OPTIONS);
  url = await server.listen("127.0.0.1", 0);
});
afterAll(() => server.close(1_000));
beforeEach(() => {
  asked = undefined;
});

const meta = { values: { "acme/reason": "rent", "acme/nested": { deep: [1, "two", null] } } };
const root = "/api/token-standard/v0/registrars/acme/registry";

/** The path behind the registrar, the fields that REST has in the path, and its body. */
const call = (method: DescMethodUnary, path: string, body: JsonObject, inPath: JsonObject = {}) => ({
  method,
  path: root + path,
  body,
  request: { registrarParty: "acme", ...inPath, ...body },
});

const choices: readonly [string, DescMethodUnary, string, string, "v1" | "v2"][] = [
  [
    "a transfer, v1",
    TransferV1.method.getTransferInstructionAcceptContext,
    "transfer-instruction/v1/00/choice-contexts/accept",
    "transferInstructionId",
    "v1",
  ],
  [
    "a transfer, v2",
    TransferV2.method.getTransferInstructionRejectContext,
    "transfer-instruction/v2/00/choice-contexts/reject",
    "transferInstructionId",
    "v2",
  ],
  [
    "an allocation, v1",
    AllocationV1.method.getAllocationTransferContext,
    "allocations/v1/00/choice-contexts/execute-transfer",
    "allocationId",
    "v1",
  ],
  [
    "withdrawing one, v1",
    AllocationV1.method.getAllocationWithdrawContext,
    "allocations/v1/00/choice-contexts/withdraw",
    "allocationId",
    "v1",
  ],
  [
    "withdrawing one, v2",
    AllocationV2.method.getAllocationWithdrawContext,
    "allocations/v2/00/choice-contexts/withdraw",
    "allocationId",
    "v2",
  ],
  [
    "an allocation instruction",
    InstructionV2.method.getAllocationInstructionAcceptContext,
    "allocation-instruction/v2/00/choice-contexts/accept",
    "allocationInstructionId",
    "v2",
  ],
];

const factories: readonly [string, DescMethodUnary, string, JsonObject, Partial<FactoryQuery>][] = [
  [
    "a transfer, v1",
    TransferV1.method.getTransferFactory,
    "transfer-instruction/v1/transfer-factory",
    {},
    { apiVersion: "v1" },
  ],
  [
    "a transfer, v2",
    TransferV2.method.getTransferFactory,
    "transfer-instruction/v2/transfer-factory",
    {},
    { apiVersion: "v2" },
  ],
  [
    "an allocation",
    InstructionV2.method.getAllocationFactory,
    "allocation-instruction/v2/allocation-factory",
    { settlement: { executors: ["eve"] } },
    { apiVersion: "v2" },
  ],
  [
    "a settlement",
    AllocationV2.method.getSettlementFactory,
    "allocation/v2/settlement-factory",
    { settlement: { executors: ["eve", "ann"] } },
    { apiVersion: "v2", executors: ["eve", "ann"] },
  ],
  [
    "a settlement with executors of another form",
    AllocationV2.method.getSettlementFactory,
    "allocation/v2/settlement-factory",
    { settlement: { executors: "eve" } },
    { apiVersion: "v2" },
  ],
];

for (const name of ["REST", "gRPC", "Connect JSON"]) {
  const protocol = protocols[name] ?? (() => Promise.reject(new Error(name)));

  test.each(choices)(`a choice on %s, by ${name}`, async (_what, method, path, field, apiVersion) => {
    const message = { ok: false, message: "asked" };
    expect(await protocol(url, call(method, `/${path}`, { meta }, { [field]: "00" }))).toMatchObject(message);
    expect(asked).toEqual({ registrar: "acme", contractId: "00", meta, apiVersion });
    expect(await protocol(url, call(method, `/${path}`, {}, { [field]: "00" }))).toMatchObject(message);
    expect(asked).toEqual({ registrar: "acme", contractId: "00", apiVersion });
  });

  test.each(factories)(`the factory of %s, by ${name}`, async (_what, method, path, fields, expected) => {
    const choiceArguments = { ...fields, extraArgs: { context: { values: {} }, meta } };
    await protocol(url, call(method, `/${path}`, { choiceArguments }));
    expect(asked).toEqual({ registrar: "acme", choiceArguments, meta, ...expected });
    await protocol(url, call(method, `/${path}`, { choiceArguments: fields }));
    expect(asked).toEqual({ registrar: "acme", choiceArguments: fields, ...expected });
  });
}

test("typed arguments", async () => {
  const leg = {
    transferLegId: "1",
    sender: { owner: "ann" },
    receiver: { owner: "bob" },
    amount: "1.0",
    instrumentId: "BEAN",
  };
  const settleBatchV2 = { settlement: { executors: ["eve"], id: "s" }, transferLegs: [leg], actors: ["eve"] };
  const method = AllocationV2.method.getSettlementFactory;
  const request = { registrarParty: "acme", settleBatchV2 };
  const outcome = await protocols["gRPC"]?.(url, { method, path: "", body: undefined, request });
  expect(outcome).toMatchObject({ message: "asked" });
  expect(asked).toMatchObject({ argumentsName: "settleBatchV2", apiVersion: "v2", executors: ["eve"] });
});
