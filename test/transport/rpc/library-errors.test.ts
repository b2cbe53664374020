/** Errors that connect-es makes, or the fast path in its place, have the details of the service's own. */
import { brotliCompressSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { detailsOfStatus, grpcHeaders } from "../../fixtures/error-details.js";
import { type Running, serveFile } from "../../fixtures/run-service.js";

let running: Running;
beforeAll(async () => {
  running = await serveFile(undefined);
});
afterAll(() => running.close());

const transferFactory = "/offledger.transfer_instruction.v1.TransferInstructionService/GetTransferFactory";
const openApi = "/offledger.operator.v0.OperatorService/GetOpenApiSpec";

interface ConnectBody {
  readonly code: string;
  readonly message: string;
  readonly details: readonly { readonly type: string; readonly debug: object }[];
}

async function connectError(path: string, init: RequestInit): Promise<[status: number, body: ConnectBody]> {
  const response = await fetch(running.url + path, init);
  return [response.status, (await response.json()) as ConnectBody];
}

const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body,
});

/** A header that makes connect-es serve the request. */
const SLOW_PATH = { "connect-timeout-ms": "50000" };

const info = (reason: string) => ({
  type: "google.rpc.ErrorInfo",
  value: expect.any(String) as string,
  debug: { reason, domain: "offledger", metadata: {} },
});

test.each([
  ["no JSON", "{", {}, 400, "invalid_argument", "MALFORMED_MESSAGE"],
  ["no JSON, for connect-es", "{", SLOW_PATH, 400, "invalid_argument", "MALFORMED_MESSAGE"],
  ["a wrong timeout", "{}", { "connect-timeout-ms": "soon" }, 400, "invalid_argument", "PROTOCOL_ERROR"],
  ["truncated gzip", "{}", { "content-encoding": "gzip" }, 400, "invalid_argument", "MALFORMED_MESSAGE"],
  [
    "no protobuf, for connect-es",
    "\xff",
    { "content-type": "application/proto", ...SLOW_PATH },
    400,
    "invalid_argument",
    "MALFORMED_MESSAGE",
  ],
  ["no protobuf", "\xff", { "content-type": "application/proto" }, 400, "invalid_argument", "MALFORMED_MESSAGE"],
])("%s has its reason over Connect", async (_what, body, headers, status, code, reason) => {
  const [received, error] = await connectError(transferFactory, post(body, headers));
  expect([received, error]).toEqual([status, { code, message: expect.any(String) as string, details: [info(reason)] }]);
});

test("an unknown compression is a protocol error", async () => {
  const body = new Uint8Array(brotliCompressSync("{}"));
  const [status, error] = await connectError(transferFactory, post(body, { "content-encoding": "br" }));
  expect([status, error]).toEqual([
    501,
    {
      code: "unimplemented",
      message: 'unknown compression "br": supported encodings are gzip',
      details: [info("PROTOCOL_ERROR")],
    },
  ]);
});

test("a query that is not base64 is a malformed message", async () => {
  const query = "?connect=v1&encoding=json&base64=1&message=!";
  expect(await connectError(openApi + query, {})).toEqual([
    400,
    {
      code: "invalid_argument",
      message: "the message in the query is not base64",
      details: [info("MALFORMED_MESSAGE")],
    },
  ]);
});

test.each([
  [{ registrarParty: 5 }, "registrar_party", "must be a string, but is 5"],
  [{ choiceArguments: [] }, "choice_arguments", "must be an object, but is a list"],
])("the type of a field in %j is named by its path", async (request, field, description) => {
  const [status, error] = await connectError(transferFactory, post(JSON.stringify(request)));
  expect([status, error.code, error.details]).toEqual([
    400,
    "invalid_argument",
    [
      info("MALFORMED_MESSAGE"),
      {
        type: "google.rpc.BadRequest",
        value: expect.any(String) as string,
        debug: { fieldViolations: [{ field, description }] },
      },
    ],
  ]);
});

test("the type of a field of a nested message is named by its path", async () => {
  const path = "/offledger.transfer.v0.TransferService/VerifyTransferProof";
  const request = { updateId: "u", transfer: { inputHoldingCids: ["a", 7] } };
  const [, error] = await connectError(path, post(JSON.stringify(request)));
  expect(error.details[1]?.debug).toEqual({
    fieldViolations: [{ field: "transfer.input_holding_cids[1]", description: "must be a string, but is 7" }],
  });
});

/** A field of an unknown wire type. */
const GARBAGE = Buffer.from([0x0f]);

test.each([
  ["on the fast path", transferFactory, {}, "MALFORMED_MESSAGE"],
  ["through connect-es", transferFactory, { "grpc-timeout": "50S" }, "MALFORMED_MESSAGE"],
  ["in a stream", "/grpc.health.v1.Health/Watch", {}, "MALFORMED_MESSAGE"],
  ["with a wrong timeout", transferFactory, { "grpc-timeout": "soon" }, "PROTOCOL_ERROR"],
])("bytes that are no message are invalid_argument over gRPC %s", async (_where, path, headers, reason) => {
  const received = await grpcHeaders(running.url, path, GARBAGE, headers);
  expect(received["grpc-status"]).toBe("3");
  const message = decodeURIComponent(String(received["grpc-message"]));
  const bytes = Buffer.from(String(received["grpc-status-details-bin"]), "base64");
  const [[type, detail] = []] = detailsOfStatus(bytes, 3, message);
  expect(type).toBe("google.rpc.ErrorInfo");
  expect(Buffer.from(detail ?? []).toString()).toContain(reason);
});

test.each([
  ["unary", transferFactory],
  ["in a stream", "/grpc.health.v1.Health/Watch"],
])("bytes that are no message are invalid_argument over gRPC-Web %s", async (_where, path) => {
  const response = await fetch(running.url + path, {
    method: "POST",
    headers: { "content-type": "application/grpc-web+proto" },
    body: new Uint8Array([0, 0, 0, 0, 1, ...GARBAGE]),
  });
  const trailers = Buffer.from(await response.arrayBuffer())
    .subarray(5)
    .toString();
  expect(trailers).toContain("grpc-status: 3\r\n");
  const [, base64 = ""] = /grpc-status-details-bin: (\S+)\r\n/.exec(trailers) ?? [];
  expect(Buffer.from(base64, "base64").toString()).toContain("MALFORMED_MESSAGE");
});

test("bytes that are no message are invalid_argument over Connect in a stream", async () => {
  const response = await fetch(`${running.url}/grpc.health.v1.Health/Watch`, {
    method: "POST",
    headers: { "content-type": "application/connect+proto" },
    body: new Uint8Array([0, 0, 0, 0, 1, ...GARBAGE]),
  });
  const end = Buffer.from(await response.arrayBuffer())
    .subarray(5)
    .toString();
  expect(JSON.parse(end)).toEqual({
    error: {
      code: "invalid_argument",
      message: expect.stringMatching(/^parse binary: /) as string,
      details: [info("MALFORMED_MESSAGE")],
    },
  });
});
