/** Compressed requests: the size limit applies to the decompressed body, and decompression stops at it. */
import { gunzipSync, gzipSync } from "node:zlib";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TransferInstructionService } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_service_pb.js";
import { acme, alice, bob } from "../../fixtures/calls/build.js";
import { transferV1 } from "../../fixtures/calls/transfer-instruction.js";
import { transferFactory } from "../../fixtures/requests.js";
import { requestHttp1, expectAlive } from "../../fixtures/http-requests.js";
import { type Running, serveFile } from "../../fixtures/run-service.js";
import { within } from "../../fixtures/wait.js";

const MIB = 1024 * 1024;
/** A fraction of the decompressed size, but more than the garbage of a test process. */
const MAX_MEMORY = 400 * MIB;
const method = TransferInstructionService.method.getTransferFactory;

let running: Running;
beforeAll(async () => {
  running = await serveFile(undefined, { config: { maxBodyBytes: 16 * MIB } });
});
afterAll(() => running.close());

/** Concatenated gzip members form one stream: 4 MB that decompress to 4 GB. */
const member = gzipSync(Buffer.alloc(16 * MIB), { level: 9 });
const bomb = (gigabytes: number): Buffer => Buffer.concat(Array.from({ length: gigabytes * 64 }, () => member));
const large = bomb(4);

const gzip = (compress: Compression["compress"]): Compression => ({
  name: "gzip",
  compress,
  decompress: (bytes) => Promise.resolve(gunzipSync(bytes)),
});

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

const request = { registrarParty: acme, choiceArguments: transferV1(alice, bob, "ACME-EUR") };

/** Makes a call. Returns the code of its error; undefined for success. */
async function callCode(transport: Transport): Promise<Code | undefined> {
  try {
    await transport.unary(method, undefined, undefined, undefined, request);
    return undefined;
  } catch (error) {
    return ConnectError.from(error).code;
  }
}

/** Awaits work. Returns the peak growth of RSS in bytes. */
async function measureMemory(work: Promise<unknown>): Promise<number> {
  const before = process.memoryUsage().rss;
  let max = 0;
  const timer = setInterval(() => (max = Math.max(max, process.memoryUsage().rss - before)), 5);
  try {
    await work;
  } finally {
    clearInterval(timer);
  }
  return max;
}

describe.each(Object.entries(transports))("over %s", (_name, createTransport) => {
  test("an ordinary compressed request succeeds", async () => {
    expect(
      await callCode(
        createTransport(
          running.url,
          gzip((bytes) => Promise.resolve(gzipSync(bytes))),
        ),
      ),
    ).toBeUndefined();
  });

  test("a request that decompresses to gigabytes is rejected in bounded memory", async () => {
    const transport = createTransport(
      running.url,
      gzip(() => Promise.resolve(new Uint8Array(large))),
    );
    const calls = Promise.all(Array.from({ length: 4 }, () => callCode(transport)));
    const memory = await measureMemory(within(25_000, "the errors", calls));
    expect(await calls).toEqual(Array.from({ length: 4 }, () => Code.ResourceExhausted));
    expect(memory).toBeLessThan(MAX_MEMORY);
    await expectAlive(running.url);
  });

  test("a request that is not gzip is rejected", async () => {
    const code = await callCode(
      createTransport(
        running.url,
        gzip(() => Promise.resolve(new Uint8Array(Buffer.from("nothing")))),
      ),
    );
    expect([Code.InvalidArgument, Code.Internal]).toContain(code);
    await expectAlive(running.url);
  });
});

test("a Connect GET is limited in the same way", async () => {
  const small = await serveFile(undefined, { config: { maxBodyBytes: 1_024 } });
  const message = gzipSync(Buffer.alloc(100_000, 32)).toString("base64url");
  const query = `connect=v1&encoding=json&compression=gzip&base64=1&message=${message}`;
  const rpc = `/${method.parent.typeName}/${method.name}`;
  const { status, body } = await requestHttp1(small.url, `${rpc}?${query}`);
  expect([status, JSON.parse(body)]).toMatchObject([429, { code: "resource_exhausted" }]);
  await small.close();
});

describe("REST", () => {
  test.each(["gzip", "br", "deflate", "x-unknown"])("rejects %s with a reason", async (encoding) => {
    const headers = { "content-type": "application/json", "content-encoding": encoding };
    for (const body of [gzipSync("{}"), large.subarray(0, 8 * MIB)]) {
      const response = await requestHttp1(running.url, transferFactory(), headers, body);
      expect(response.status).toBe(415);
      expect(JSON.parse(response.body)).toEqual({ error: "the body must not have a content-encoding" });
    }
    await expectAlive(running.url);
  });

  test("accepts the encoding identity", async () => {
    const headers = { "content-type": "application/json", "content-encoding": "identity" };
    const { status } = await requestHttp1(
      running.url,
      transferFactory(),
      headers,
      JSON.stringify({ choiceArguments: {} }),
    );
    expect(status).toBe(400);
  });
});
