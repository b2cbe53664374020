/** Messages that are no messages, and compressed ones, by each protocol; and refusals of gRPC as frames. */
import { connect, type IncomingHttpHeaders } from "node:http2";
import { gunzipSync, gzipSync } from "node:zlib";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { TransferInstructionService } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_service_pb.js";
import { acme, alice, bob } from "../../fixtures/calls/build.js";
import { transferV1 } from "../../fixtures/calls/transfer-instruction.js";
import { detailsOfStatus, grpcHeaders } from "../../fixtures/error-details.js";
import { requestHttp1 } from "../../fixtures/http-requests.js";
import { transferFactory as restPath } from "../../fixtures/requests.js";
import { type Running, serveFile } from "../../fixtures/run-service.js";

const MAX_BYTES = 64 * 1024;
let running: Running;
beforeAll(async () => {
  running = await serveFile(undefined, { config: { maxBodyBytes: MAX_BYTES } });
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

const sendEncoded = (encoding: string, body: Buffer) =>
  requestHttp1(running.url, restPath(), { ...json, "content-encoding": encoding }, body);

const compressing = (compress: (bytes: Uint8Array) => Uint8Array): Compression => ({
  name: "gzip",
  compress: (bytes) => Promise.resolve(new Uint8Array(compress(bytes))),
  decompress: (bytes) => Promise.resolve(gunzipSync(bytes)),
});
const refused = (status: string, message: RegExp, more: IncomingHttpHeaders = {}) => ({
  headers: expect.objectContaining({
    ":status": 200,
    "content-type": expect.stringMatching(/^application\/grpc/) as string,
    "grpc-status": status,
    "grpc-message": expect.stringMatching(message) as string,
    // Decoded in ../errors/error-details.test.ts.
    "grpc-status-details-bin": expect.stringMatching(/^[\w+/]{40,}$/) as string,
    ...more,
  }) as IncomingHttpHeaders,
  endsStream: true,
  bodyLength: 0,
});

describe("a compressed message", () => {
  const method = TransferInstructionService.method.getTransferFactory;
  const request = { registrarParty: acme, choiceArguments: transferV1(alice, bob, "ACME-EUR") };
  /** A fraction of the limit, and more than the limit when it is decompressed. */
  const bomb = gzipSync(Buffer.alloc(16 * MAX_BYTES));

  const codeBy = (transport: Transport): Promise<Code | undefined> =>
    transport.unary(method, undefined, undefined, undefined, request).then(
      () => undefined,
      (error: unknown) => ConnectError.from(error).code,
    );

  type TransportFactory = (baseUrl: string, sendCompression: Compression) => Transport;
  const transports: Readonly<Record<string, TransportFactory>> = {
    "Connect JSON": (baseUrl, sendCompression) =>
      createConnectTransport({
        baseUrl,
        httpVersion: "1.1",
        useBinaryFormat: false,
        sendCompression,
        compressMinBytes: 0,
      }),
    "Connect binary over HTTP/2": (baseUrl, sendCompression) =>
      createConnectTransport({ baseUrl, httpVersion: "2", sendCompression, compressMinBytes: 0 }),
    gRPC: (baseUrl, sendCompression) => createGrpcTransport({ baseUrl, sendCompression, compressMinBytes: 0 }),
    "gRPC-Web": (baseUrl, sendCompression) =>
      createGrpcWebTransport({ baseUrl, httpVersion: "1.1", sendCompression, compressMinBytes: 0 }),
  };

  test.each(Object.entries(transports))("over %s has its limit when it is decompressed", async (_name, transport) => {
    expect(
      await codeBy(
        transport(
          running.url,
          compressing((bytes) => gzipSync(bytes)),
        ),
      ),
    ).toBeUndefined();
    expect(
      await codeBy(
        transport(
          running.url,
          compressing(() => bomb),
        ),
      ),
    ).toBe(Code.ResourceExhausted);
  });

  test.each(Object.entries(transports))(
    "over %s is the client's fault where it ends early",
    async (_name, transport) => {
      const cut = compressing((bytes) => gzipSync(bytes).subarray(0, -12));
      expect(await codeBy(transport(running.url, cut))).toBe(Code.InvalidArgument);
    },
  );

  test("of a Connect GET has it too", async () => {
    const query = `connect=v1&encoding=json&compression=gzip&base64=1&message=${bomb.toString("base64url")}`;
    const { status, body } = await requestHttp1(running.url, `${transferFactory}?${query}`);
    expect([status, JSON.parse(body)]).toMatchObject([429, { code: "resource_exhausted" }]);
  });

  test("is none of REST, which names its reason", async () => {
    for (const encoding of ["gzip", "br", "x-unknown"]) {
      const { status, body } = await sendEncoded(encoding, gzipSync("{}"));
      expect([status, JSON.parse(body)]).toEqual([415, { error: "the body must not have a content-encoding" }]);
    }
    expect((await sendEncoded("identity", Buffer.from('{"choiceArguments":{}}'))).status).toBe(400);
  });
});

/**
 * Refused gRPC calls as frames: one HEADERS frame with END_STREAM. grpc-go, grpc-java, grpcio and grpc-js lose the
 * status of any other form; connect-es and buf read it.
 */
describe("a refused call of gRPC is one HEADERS frame with END_STREAM", () => {
  /** The flag of a frame (RFC 9113, section 6.2). */
  const END_STREAM = 0x1;
  const EMPTY_MESSAGE = Buffer.alloc(5);
  const info = "/offledger.metadata.v1.MetadataService/GetRegistryInfo";

  interface Refusal {
    readonly headers: IncomingHttpHeaders;
    readonly endsStream: boolean;
    readonly bodyLength: number;
  }

  async function call(url: string, path: string, more: Record<string, string> = {}): Promise<Refusal> {
    const session = connect(url);
    try {
      return await new Promise<Refusal>((resolve, reject) => {
        session.on("error", reject);
        const headers = {
          ":method": "POST",
          ":path": path,
          "content-type": "application/grpc",
          te: "trailers",
          ...more,
        };
        const stream = session.request(headers);
        let refusal: Refusal | undefined;
        let bodyLength = 0;
        stream.on("response", (received, flags) => {
          refusal = { headers: received, endsStream: (flags & END_STREAM) !== 0, bodyLength: 0 };
        });
        stream.on("data", (chunk: Buffer) => (bodyLength += chunk.length));
        stream.on("error", reject);
        stream.on("close", () => {
          if (refusal === undefined) reject(new Error("the stream closed without a response"));
          else resolve({ ...refusal, bodyLength });
        });
        stream.end(EMPTY_MESSAGE);
      });
    } finally {
      session.destroy();
    }
  }

  test.each([
    ["an unknown operation", "/offledger.health.v1.HealthService/Nothing", {}, "12", /no operation [\w.]+\/Nothing$/],
    ["an unknown service", "/somebody.Else/Nothing", {}, "12", /no operation [\w.]+\/Nothing$/],
    ["an invalid message", info, {}, "3", /registrar/],
    // As most clients call. Clients retry a call only if they receive its status in the first frame.
    ["an invalid message with a deadline", info, { "grpc-timeout": "30S" }, "3", /registrar/],
    ["an invalid message with compression", info, { "grpc-encoding": "gzip" }, "3", /registrar/],
  ])("%s", async (_what, path, headers, status, message) => {
    expect(await call(running.url, path, headers)).toEqual(refused(status, message));
  });

  test("a request over the rate limit", async () => {
    const limited = await serveFile(undefined, { config: { ratePerClient: 1 } });
    onTestFinished(() => limited.close());
    let refusal: Refusal | undefined;
    for (let calls = 0; calls < 20 && refusal?.headers["grpc-status"] !== "8"; calls++)
      refusal = await call(limited.url, info);
    expect(refusal).toEqual(refused("8", /rate limit exceeded: 1 requests per second/, { "retry-after": "1" }));
  });

  test("but 415 for a subtype other than proto and json", async () => {
    const { headers } = await call(running.url, info, { "content-type": "application/grpc+thrift" });
    expect(headers[":status"]).toBe(415);
  });
});
