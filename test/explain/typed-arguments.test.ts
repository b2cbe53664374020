/** Explanations of requests with typed arguments, which only generated clients send. */
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { party } from "../../demo/element.js";
import { TransferInstructionService } from "../../gen/offledger/transfer_instruction/v1/transfer_instruction_service_pb.js";
import { type ServedConsole, serveConsole } from "../console/console-in-browser.js";

let served: ServedConsole;
beforeAll(async () => {
  served = await serveConsole();
});
afterAll(() => served.close());

const admin = party("nordic-registrar");
const operation = "offledger.transfer_instruction.v1.TransferInstructionService/GetTransferFactory";

async function explain(body: object): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  const url = `${served.url}/api/offledger/v1/explain`;
  return (await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })).json();
}

const transferV1 = (id: string) => ({
  expectedAdmin: admin,
  transfer: {
    sender: party("bob"),
    receiver: party("carol"),
    amount: "10.0",
    instrumentId: { admin, id },
    requestedAt: "2026-06-01T00:00:00Z",
    executeBefore: "2036-06-01T00:00:00Z",
  },
});

test("a call with typed arguments succeeds", async () => {
  const request = { registrarParty: admin, transferV1: transferV1("NOK-CASH") };
  expect(await explain({ call: { operation, request } })).toMatchObject({ succeeds: true });
});

test("a refused request with typed arguments is explained by its id", async () => {
  const transport = createConnectTransport({ baseUrl: served.publicUrl, httpVersion: "1.1" });
  const client = createClient(TransferInstructionService, transport);
  const at = { seconds: 1_780_272_000n, nanos: 0 };
  const { transfer } = transferV1("NONE");
  const value = { expectedAdmin: admin, transfer: { ...transfer, requestedAt: at, executeBefore: at } };
  const request = { registrarParty: admin, typedArguments: { case: "transferV1" as const, value } };
  const refused = client.getTransferFactory(request, { headers: { "x-request-id": "typed" } });
  await expect(refused).rejects.toThrow(/"NONE"/);
  expect(await explain({ requestId: "typed" })).toMatchObject({
    operation,
    status: "not_found",
    error: expect.stringContaining('"NONE"'),
    request: { transferV1: { transfer: { instrumentId: { id: "NONE" } } } },
  });
});
