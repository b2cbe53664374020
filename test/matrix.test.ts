/** Every operation by every protocol: equal answers, and equal errors. */
import type { DescMethodUnary, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contractId, party } from "../demo/element.js";
import { AllocationService as AllocationV1 } from "../gen/offledger/allocation/v1/allocation_service_pb.js";
import { AllocationService as AllocationV2 } from "../gen/offledger/allocation/v2/allocation_service_pb.js";
import { BurnService } from "../gen/offledger/burn/v0/burn_service_pb.js";
import { InstrumentConfigurationService } from "../gen/offledger/instrument_configuration/v0/instrument_configuration_service_pb.js";
import { TransferInstructionService as TransferV1 } from "../gen/offledger/transfer_instruction/v1/transfer_instruction_service_pb.js";
import { TransferInstructionService as TransferV2 } from "../gen/offledger/transfer_instruction/v2/transfer_instruction_service_pb.js";
import { type Call, protocols } from "./fixtures/protocols.js";
import { registry, type Running, serveFile } from "./fixtures/running.js";

const acme = party("acme-registrar");
const nordic = party("nordic-registrar");
const alice = party("alice");
const bob = party("bob");
const account = (owner: string): JsonObject => ({ owner, provider: null, id: "" });
const extraArgs = { context: {}, meta: {} };

const transfer = (sender: string, receiver: string, id: string): JsonObject => ({
  expectedAdmin: acme,
  transfer: {
    sender,
    receiver,
    amount: "1.0",
    instrumentId: { admin: acme, id },
    requestedAt: "2026-06-01T00:00:00Z",
    executeBefore: "2026-06-02T00:00:00Z",
    inputHoldingCids: [],
    meta: { values: {} },
  },
  extraArgs,
});

const settlement: JsonObject = {
  settlement: { executors: [alice], id: "trade 17", cid: null, meta: { values: {} } },
  transferLegs: [
    { transferLegId: "1", sender: account(alice), receiver: account(bob), amount: "40.0", instrumentId: "ACME-BOND" },
    { transferLegId: "2", sender: account(bob), receiver: account(alice), amount: "39500.0", instrumentId: "ACME-EUR" },
  ],
  allocations: [
    { allocationCid: contractId("allocation bond leg"), extraTransferLegSides: [], nextIterationFunding: null },
    { allocationCid: contractId("allocation euro leg"), extraTransferLegSides: [], nextIterationFunding: null },
  ],
  actors: [alice],
  extraArgs,
};

/** A factory operation: the registrar stands in the path, the rest in the body. */
function factory(method: DescMethodUnary, registrar: string, path: string, body: JsonObject): Call {
  return { method, path: registry(registrar) + path, body, request: { registrarParty: registrar, ...body } };
}

/** A choice on a contract: registrar and contract stand in the path. */
function choice(
  method: DescMethodUnary,
  registrar: string,
  field: string,
  id: string,
  path: (id: string) => string,
): Call {
  const body = { meta: {}, excludeDebugFields: false };
  const request = { registrarParty: registrar, [field]: id, ...body };
  return { method, path: registry(registrar) + path(id), body, request };
}

const reject = (registrar: string, id: string): Call =>
  choice(
    TransferV2.method.getTransferInstructionRejectContext,
    registrar,
    "transferInstructionId",
    id,
    (cid) => `/transfer-instruction/v2/${cid}/choice-contexts/reject`,
  );

const transferFactory = (body: JsonObject): Call =>
  factory(TransferV1.method.getTransferFactory, acme, "/transfer-instruction/v1/transfer-factory", body);

function configuration(identifier: JsonObject, registrar = acme): Call {
  const body = { registrar, instrumentIdentifier: identifier };
  const method = InstrumentConfigurationService.method.getInstrumentConfiguration;
  return { method, path: "/api/utilities/v0/contract/instrument-configuration", body, request: body };
}

function burn(method: DescMethodUnary, field: string, id: string, path: (id: string) => string): Call {
  return { method, path: `/api/utilities/v0/registry/burn/v0/${path(id)}`, body: undefined, request: { [field]: id } };
}

const isin = { source: "ISO", id: "EU000A1ACME7", scheme: "ISIN" };
const eight: Readonly<Record<string, Call>> = {
  "1 settlement factory": factory(AllocationV2.method.getSettlementFactory, acme, "/allocation/v2/settlement-factory", {
    choiceArguments: settlement,
  }),
  "2 transfer factory, offer": transferFactory({ choiceArguments: transfer(alice, bob, "ACME-BOND") }),
  "2 transfer factory, direct": transferFactory({ choiceArguments: transfer(alice, bob, "ACME-EUR") }),
  "2 transfer factory, self, without debug fields": transferFactory({
    choiceArguments: transfer(alice, alice, "ACME-BOND"),
    excludeDebugFields: true,
  }),
  "3 transfer instruction, reject": reject(acme, contractId("offer bond to bob")),
  "4 allocation, cancel": choice(
    AllocationV2.method.getAllocationCancelContext,
    acme,
    "allocationId",
    contractId("allocation bond leg"),
    (id) => `/allocations/v2/${id}/choice-contexts/cancel`,
  ),
  "5 allocation, withdraw": choice(
    AllocationV1.method.getAllocationWithdrawContext,
    acme,
    "allocationId",
    contractId("allocation euro leg"),
    (id) => `/allocations/v1/${id}/choice-contexts/withdraw`,
  ),
  "6 burn request, accept": burn(
    BurnService.method.getBurnRequestAcceptContext,
    "burnRequestId",
    contractId("burn request"),
    (id) => `request/${id}/choice-contexts/accept`,
  ),
  "7 burn offer, cancel": burn(
    BurnService.method.getBurnOfferCancelContext,
    "burnOfferId",
    contractId("burn offer"),
    (id) => `offer/${id}/choice-contexts/cancel`,
  ),
  "8 instrument configuration": configuration(isin),
};

const failing: Readonly<Record<string, { readonly call: Call; readonly code: Code; readonly says: string }>> = {
  "arguments without a transfer": {
    call: transferFactory({ choiceArguments: {} }),
    code: Code.InvalidArgument,
    says: "choiceArguments.transfer has to be an object, and is missing",
  },
  "a request without arguments": {
    call: transferFactory({}),
    code: Code.InvalidArgument,
    says: "choiceArguments: value is required",
  },
  "an identifier without scheme": {
    call: configuration({ source: "ISO", id: "EU000A1ACME7" }),
    code: Code.InvalidArgument,
    says: "instrumentIdentifier.scheme: value is required",
  },
  "a contract that is not there": {
    call: reject(acme, "00ab"),
    code: Code.NotFound,
    says: `transfer instruction 00ab of registrar ${acme} is not known here: there is none, or it has been archived`,
  },
  "a contract in reassignment": {
    call: reject(nordic, contractId("offer moving")),
    code: Code.Aborted,
    says:
      `the transfer instruction (contract ${contractId("offer moving")}) is being reassigned between synchronizers; ` +
      "ask again when it has arrived",
  },
};

let running: Running;
beforeAll(async () => {
  running = await serveFile(undefined);
});
afterAll(() => running.close());

describe.each(Object.entries(eight))("%s", (_name, call) => {
  let byRest: JsonValue;
  beforeAll(async () => {
    const answer = await running.post(call.path, call.body);
    if (answer.status !== 200) throw new Error(`REST answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    byRest = answer.body;
  });

  test.each(Object.entries(protocols))("gives the same answer by %s", async (_protocol, send) => {
    expect(await send(running.url, call)).toEqual({ ok: true, answer: byRest });
  });

  test("has the same JSON text by REST and by Connect", async () => {
    const headers = { "content-type": "application/json" };
    const text = async (path: string, body: JsonValue | undefined) => {
      const response = await fetch(running.url + path, { method: "POST", headers, body: JSON.stringify(body ?? {}) });
      return response.text();
    };
    const procedure = `/${call.method.parent.typeName}/${call.method.name}`;
    expect(await text(procedure, call.request)).toBe(await text(call.path, call.body));
  });
});

describe.each(Object.entries(failing))("%s", (_name, { call, code, says }) => {
  test.each(Object.entries(protocols))("is the same error by %s", async (_protocol, send) => {
    expect(await send(running.url, call)).toEqual({ ok: false, code, message: says });
  });
});
