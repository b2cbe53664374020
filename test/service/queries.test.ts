/** What a registry is asked: metadata, version of the token standard and executors, as they came. */
import { fromJson } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { invalid } from "../../src/domain/errors.js";
import type { JsonObject } from "../../src/util/json.js";
import type { ChoiceQuery, FactoryQuery } from "../../src/registry/sdk/registry.js";
import { services } from "../../src/service/services.js";
import { rpcs } from "../../src/transport/rpcs.js";
import { executorOn, storeOf } from "../fixtures/in-memory.js";
import { ownRegistry } from "../fixtures/own-registry.js";
import { TEST_SERVER_OPTIONS } from "../fixtures/server-options.js";

/** The services of a registry that refuses each query after it has kept it. */
async function asking() {
  const queries: (FactoryQuery | ChoiceQuery)[] = [];
  const keep = (query: FactoryQuery | ChoiceQuery): never => {
    queries.push(query);
    throw invalid("asked");
  };
  const factories = ["transferFactory", "allocationFactory", "settlementFactory"] as const;
  const registry = {
    ...ownRegistry,
    ...Object.fromEntries(factories.map((name) => [name, (_: unknown, query: FactoryQuery) => keep(query)])),
    choiceContext: (_context: unknown, _choice: unknown, query: ChoiceQuery) => keep(query),
  };
  const options = { overrides: new Map(), countsHoldings: false, openApi: {}, notReadyReason: () => undefined };
  return { queries, bindings: services(executorOn(await storeOf([], registry), registry), options) };
}

/** What the registry is asked for a request of an rpc, such as `allocation.v1.AllocationService/GetAllocationWithdrawContext`. */
async function asked(rpc: string, request: JsonObject) {
  const { queries, bindings } = await asking();
  const all = rpcs(bindings, () => expect.fail("there are no defects"), TEST_SERVER_OPTIONS.arguments);
  const operation = all.find(({ name }) => name === `offledger.${rpc}`);
  if (operation === undefined) throw new Error(`there is no rpc ${rpc}`);
  const message = fromJson(operation.method.input, { registrarParty: "acme", ...request });
  await expect((async () => operation.call(message))()).rejects.toThrow("asked");
  return queries;
}

const meta = { values: { "acme/reason": "rent", "acme/nested": { deep: [1, "two", null] } } };
const extraArgs = { context: { values: {} }, meta };

test.each([
  ["transfer_instruction.v1.TransferInstructionService/GetTransferInstructionAcceptContext", "transferInstructionId"],
  ["transfer_instruction.v2.TransferInstructionService/GetTransferInstructionRejectContext", "transferInstructionId"],
  ["allocation.v1.AllocationService/GetAllocationTransferContext", "allocationId"],
  ["allocation.v1.AllocationService/GetAllocationWithdrawContext", "allocationId"],
  ["allocation.v2.AllocationService/GetAllocationWithdrawContext", "allocationId"],
  [
    "allocation_instruction.v2.AllocationInstructionService/GetAllocationInstructionAcceptContext",
    "allocationInstructionId",
  ],
])("%s asks with metadata, or without", async (rpc, field) => {
  const query = { registrar: "acme", contractId: "00", apiVersion: rpc.split(".")[1] };
  expect(await asked(rpc, { [field]: "00", meta })).toEqual([{ ...query, meta }]);
  expect(await asked(rpc, { [field]: "00" })).toEqual([query]);
});

const settles = "allocation.v2.AllocationService/GetSettlementFactory";
const executors = ["eve", "ann"];

test.each([
  ["a transfer, v1", "transfer_instruction.v1.TransferInstructionService/GetTransferFactory"],
  ["a transfer, v2", "transfer_instruction.v2.TransferInstructionService/GetTransferFactory"],
  ["an allocation", "allocation_instruction.v2.AllocationInstructionService/GetAllocationFactory"],
  ["a settlement", settles],
])("the factory of %s is asked for with metadata, or without", async (_what, rpc) => {
  const query = { registrar: "acme", apiVersion: rpc.split(".")[1] };
  const fields = { settlement: { executors } };
  const choiceArguments = { ...fields, extraArgs };
  expect(await asked(rpc, { choiceArguments })).toEqual([{ ...query, choiceArguments, meta }]);
  expect(await asked(rpc, { choiceArguments: fields })).toEqual([{ ...query, choiceArguments: fields }]);
});

test("typed arguments have a name", async () => {
  const leg = { transferLegId: "1", sender: { owner: "ann" }, receiver: { owner: "bob" }, amount: "1.0" };
  const transferLegs = [{ ...leg, instrumentId: "BEAN" }];
  const settleBatchV2 = { settlement: { executors: ["eve"], id: "s" }, transferLegs, actors: ["eve"] };
  const query = { argumentsName: "settleBatchV2", apiVersion: "v2" };
  expect(await asked(settles, { settleBatchV2 })).toMatchObject([query]);
});
