/** Typed arguments get the answer that REST gives for the same arguments as JSON. */
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AllocationService } from "../../gen/offledger/allocation/v2/allocation_service_pb.js";
import { AllocationInstructionService as AllocationInstructionV1 } from "../../gen/offledger/allocation_instruction/v1/allocation_instruction_service_pb.js";
import { AllocationInstructionService as AllocationInstructionV2 } from "../../gen/offledger/allocation_instruction/v2/allocation_instruction_service_pb.js";
import { TransferInstructionService as TransferInstructionV1 } from "../../gen/offledger/transfer_instruction/v1/transfer_instruction_service_pb.js";
import { TransferInstructionService as TransferInstructionV2 } from "../../gen/offledger/transfer_instruction/v2/transfer_instruction_service_pb.js";
import { parties } from "../fixtures/elements.js";
import { instructions, registryOf } from "../fixtures/registries.js";
import { protocols, sendRest, type Call } from "../fixtures/protocols.js";
import {
  account,
  allocationFactory,
  allocationV1,
  allocationV2,
  leg,
  legSide,
  settlement,
  settlementFactory,
  transferFactory,
  transferFactoryV2,
  transferV1,
  transferV2,
} from "../fixtures/requests.js";
import { type Running, serve } from "../fixtures/run-service.js";

let running: Running;
beforeAll(async () => {
  running = await serve(registryOf({}, ...instructions()));
});
afterAll(() => running.close());

const [alice, bob] = [account("alice"), account("bob")];
const settled = settlement([leg(alice, bob, "USD")], ["allocation"]);
const committed = allocationV2(alice, [legSide("SenderSide", "USD")]);
const ofStranger = transferV1("alice", "bob", { instrumentId: { admin: "stranger::1220", id: "USD" } });

const cases: readonly [string, Call["method"], path: string, body: JsonObject, form: string][] = [
  [
    "transfer v1",
    TransferInstructionV1.method.getTransferFactory,
    transferFactory(),
    transferV1("alice", "bob"),
    "transferV1",
  ],
  [
    "transfer to self",
    TransferInstructionV2.method.getTransferFactory,
    transferFactoryV2(),
    transferV1("bob", "bob"),
    "transferV1",
  ],
  [
    "transfer v2",
    TransferInstructionV2.method.getTransferFactory,
    transferFactoryV2(),
    transferV2(alice, bob),
    "transferV2",
  ],
  [
    "allocation v1",
    AllocationInstructionV1.method.getAllocationFactory,
    allocationFactory("v1"),
    allocationV1("alice", "bob"),
    "allocateV1",
  ],
  [
    "allocation v2",
    AllocationInstructionV2.method.getAllocationFactory,
    allocationFactory("v2"),
    committed,
    "allocateV2",
  ],
  ["settlement", AllocationService.method.getSettlementFactory, settlementFactory(), settled, "settleBatchV2"],
  [
    "instrument of another admin",
    TransferInstructionV1.method.getTransferFactory,
    transferFactory(),
    ofStranger,
    "transferV1",
  ],
];

/** The choice arguments without `extraArgs`, which the typed messages do not have. */
function typed(body: JsonObject): JsonObject {
  const { extraArgs: _, ...fields } = body.choiceArguments as JsonObject;
  return fields;
}

describe.each(cases)("%s", (_name, method, path, body, form) => {
  const untyped: Call = { method, path, body, request: { registrarParty: parties.registrar, ...body } };
  const request = { registrarParty: parties.registrar, [form]: typed(body) };

  test.each(Object.keys(protocols).filter((name) => name !== "REST"))("over %s", async (name) => {
    const expected = await protocols.REST?.(running.url, untyped);
    // An error names the field that the request has.
    const renamed = expected?.ok === false ? expected.message.replace(/^choiceArguments\b/, form) : undefined;
    expect(await protocols[name]?.(running.url, { ...untyped, request })).toEqual(
      renamed === undefined ? expected : { ...expected, message: renamed },
    );
  });

  test("is an unknown field on REST", async () => {
    const response = await sendRest(running.url, { ...untyped, body: { [form]: typed(body) } });
    expect([response.status, await response.json()]).toEqual([400, { error: "choiceArguments: value is required" }]);
    const both = await sendRest(running.url, { ...untyped, body: { ...body, [form]: 1 } });
    expect(await both.text()).toBe(await (await sendRest(running.url, untyped)).text());
  });
});
