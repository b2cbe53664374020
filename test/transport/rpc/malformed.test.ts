/** Messages that cannot be decoded: the code, reason and field of the error, on the short way and for JSON on both ways. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { detailsOfStatus, grpcHeaders } from "../../fixtures/error-details.js";
import { type Running, serveFile } from "../../fixtures/run-service.js";

let running: Running;
beforeAll(async () => {
  running = await serveFile(undefined);
});
afterAll(() => running.close());

const transferFactory = "/offledger.transfer_instruction.v1.TransferInstructionService/GetTransferFactory";
const json = { "content-type": "application/json" };
const deadline = { ...json, "connect-timeout-ms": "50000" };
const proto = { "content-type": "application/proto" };

interface ConnectBody {
  readonly code: string;
  readonly details: readonly { readonly type: string; readonly debug: object }[];
}

const send = (path: string, body: string, headers: Record<string, string>) =>
  fetch(running.url + path, { method: "POST", headers, body });

test.each([
  ["no JSON", "{", json],
  ["no JSON, with a deadline", "{", deadline],
  ["nothing", "", json],
  ["nothing, with a deadline", "", deadline],
  ["no protobuf", "\xff", proto],
])("%s is a malformed message over Connect", async (_what, body, headers) => {
  const response = await send(transferFactory, body, headers);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    code: "invalid_argument",
    details: [
      { type: "google.rpc.ErrorInfo", debug: { reason: "MALFORMED_MESSAGE", domain: "offledger", metadata: {} } },
    ],
  });
});

const proof = "/offledger.transfer.v0.TransferService/VerifyTransferProof";

test.each([
  [transferFactory, { registrarParty: 5 }, "registrar_party", "must be a string, but is 5"],
  [transferFactory, { choiceArguments: [] }, "choice_arguments", "must be an object, but is a list"],
  [
    proof,
    { updateId: "u", transfer: { inputHoldingCids: ["a", 7] } },
    "transfer.input_holding_cids[1]",
    "must be a string, but is 7",
  ],
])("the type of a field to %s in %j is named by its path", async (path, request, field, description) => {
  for (const headers of [json, deadline]) {
    const response = await send(path, JSON.stringify(request), headers);
    const { code, details } = (await response.json()) as ConnectBody;
    expect([response.status, code]).toEqual([400, "invalid_argument"]);
    expect(details[1]).toMatchObject({
      type: "google.rpc.BadRequest",
      debug: { fieldViolations: [{ field, description }] },
    });
  }
});

test("bytes that are no message are invalid_argument over gRPC", async () => {
  const received = await grpcHeaders(running.url, transferFactory, Buffer.from([0x0f]), {});
  expect(received["grpc-status"]).toBe("3");
  const bytes = Buffer.from(String(received["grpc-status-details-bin"]), "base64");
  const [[type, detail] = []] = detailsOfStatus(bytes, 3, decodeURIComponent(String(received["grpc-message"])));
  expect(type).toBe("google.rpc.ErrorInfo");
  expect(Buffer.from(detail ?? []).toString()).toContain("MALFORMED_MESSAGE");
});
