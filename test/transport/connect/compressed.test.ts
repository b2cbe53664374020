/** Compressed requests: as large as they are when they have been expanded, and never expanded further than that. */
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
/** Of what it would be if it were expanded, next to nothing; what collects itself in a process that runs tests is more. */
const MOST_MEMORY = 400 * MIB;
const method = TransferInstructionService.method.getTransferFactory;

let running: Running;
beforeAll(async () => {
  running = await serveFile(undefined, { config: { maxBodyBytes: 16 * MIB } });
});
afterAll(() => running.close());

/** Members of gzip one behind the other are one whole: 4 MB that expand to 4 GB. */
const member = gzipSync(Buffer.alloc(16 * MIB), { level: 9 });
const bomb = (gigabytes: number): Buffer => Buffer.concat(Array.from({ length: gigabytes * 64 }, () => member));
const large = bomb(4);

const gzip = (compress: Compression["compress"]): Compression => ({
  name: "gzip",
  compress,
  decompress: (bytes) => Promise.resolve(gunzipSync(bytes)),
});

type Making = (baseUrl: string, sendCompression: Compression) => Transport;
const transports: Readonly<Record<string, Making>> = {
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

/** The code of the error that a call ends in; undefined for an answer. */
async function codeOf(transport: Transport): Promise<Code | undefined> {
  try {
    await transport.unary(method, undefined, undefined, undefined, request);
    return undefined;
  } catch (error) {
    return ConnectError.from(error).code;
  }
}

/** The most memory that the process had meanwhile, beyond what it had before. */
async function memoryOf(work: Promise<unknown>): Promise<number> {
  const before = process.memoryUsage().rss;
  let max = 0;
  const looking = setInterval(() => (max = Math.max(max, process.memoryUsage().rss - before)), 5);
  try {
    await work;
  } finally {
    clearInterval(looking);
  }
  return max;
}

describe.each(Object.entries(transports))("by %s", (_name, transportTo) => {
  test("a request that is what it seems is answered", async () => {
    expect(
      await codeOf(
        transportTo(
          running.url,
          gzip((bytes) => Promise.resolve(gzipSync(bytes))),
        ),
      ),
    ).toBeUndefined();
  });

  test("one that expands to gigabytes is refused, in bounded memory", async () => {
    const transport = transportTo(
      running.url,
      gzip(() => Promise.resolve(new Uint8Array(large))),
    );
    const asking = Promise.all(Array.from({ length: 4 }, () => codeOf(transport)));
    const memory = await memoryOf(within(25_000, "the refusals", asking));
    expect(await asking).toEqual(Array.from({ length: 4 }, () => Code.ResourceExhausted));
    expect(memory).toBeLessThan(MOST_MEMORY);
    await expectAlive(running.url);
  });

  test("one that is no gzip is refused", async () => {
    const code = await codeOf(
      transportTo(
        running.url,
        gzip(() => Promise.resolve(new Uint8Array(Buffer.from("nothing")))),
      ),
    );
    expect([Code.InvalidArgument, Code.Internal]).toContain(code);
    await expectAlive(running.url);
  });
});

test("a request in the path of Connect expands no further either", async () => {
  const small = await serveFile(undefined, { config: { maxBodyBytes: 1_024 } });
  const message = gzipSync(Buffer.alloc(100_000, 32)).toString("base64url");
  const query = `connect=v1&encoding=json&compression=gzip&base64=1&message=${message}`;
  const rpc = `/${method.parent.typeName}/${method.name}`;
  const { status, body } = await requestHttp1(small.url, `${rpc}?${query}`);
  expect([status, JSON.parse(body)]).toMatchObject([429, { code: "resource_exhausted" }]);
  await small.close();
});

describe("REST", () => {
  test.each(["gzip", "br", "deflate", "x-unknown"])("takes no %s, and says so", async (encoding) => {
    const headers = { "content-type": "application/json", "content-encoding": encoding };
    for (const body of [gzipSync("{}"), large.subarray(0, 8 * MIB)]) {
      const told = await requestHttp1(running.url, transferFactory(), headers, body);
      expect(told.status).toBe(415);
      expect(JSON.parse(told.body)).toEqual({ error: "the body has to come as it is, without content-encoding" });
    }
    await expectAlive(running.url);
  });

  test("takes what is encoded in no way", async () => {
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
