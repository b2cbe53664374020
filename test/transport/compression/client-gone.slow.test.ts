/** Clients that leave while a thread compresses their response. */
import http2 from "node:http2";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MetadataService } from "../../../gen/offledger/metadata/v1/metadata_service_pb.js";
import { createServer, type Server } from "../../../src/transport/server.js";
import type { CompletedRequest } from "../../../src/telemetry/request-record.js";
import { gunzipMember } from "../../fixtures/gzip-member.js";
import { bindPartial } from "../../fixtures/partial-service.js";
import { sendHttp1 } from "../../fixtures/requests-in-forms.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";
import { until } from "../../fixtures/wait.js";

const rpc = `/${MetadataService.typeName}/GetRegistryInfo`;
const rest = "/api/token-standard/v0/registrars/a/registry/metadata/v1/info";
const REQUESTS = 15;

let server: Server;
let url: string;
const completed: CompletedRequest[] = [];
/** Of each response: it compresses in some milliseconds, and none equals another. */
let count = 0;
const text = (): string => Array.from({ length: 60_000 }, (_, index) => index * 7 + count).join();

function getRegistryInfo() {
  count++;
  return { adminId: text(), supportedApis: {} };
}

beforeAll(async () => {
  server = await createServer([bindPartial(MetadataService, { getRegistryInfo })], {
    ...TEST_SERVER_OPTIONS,
    observers: [(request) => completed.push(request)],
  });
  url = await server.listen("127.0.0.1", 0);
});
afterAll(() => server.close(1_000));

async function expectAllRecorded(before: number): Promise<void> {
  await until("all requests are recorded", () => completed.length >= before + REQUESTS);
  const request = { method: "GET", path: rest, headers: { "accept-encoding": "gzip" } };
  await until("a response is compressed", async () => {
    const { headers, body } = await sendHttp1(url, request);
    if (headers["content-encoding"] !== "gzip") return false;
    expect(JSON.parse(gunzipMember(body).toString())).toMatchObject({ adminId: text() });
    return true;
  });
}

test.each([
  ["REST", { ":path": rest, ":method": "GET", "accept-encoding": "gzip" }, ""],
  [
    "Connect",
    { ":path": rpc, ":method": "POST", "content-type": "application/json", "accept-encoding": "gzip" },
    '{"registrarParty":"a"}',
  ],
  [
    "gRPC",
    { ":path": rpc, ":method": "POST", "content-type": "application/grpc", "grpc-accept-encoding": "gzip" },
    "\0\0\0\0\u0003\n\u0001a",
  ],
])("HTTP/2 streams of %s that are reset do not affect others", async (_form, headers, body) => {
  const before = completed.length;
  const session = http2.connect(url);
  for (let attempt = 0; attempt < REQUESTS; attempt++) {
    const called = count;
    const stream = session.request(headers, { endStream: false }).on("error", () => undefined);
    stream.end(body);
    await until("the operation is called", () => count > called);
    await sleep(attempt % 4);
    stream.close(http2.constants.NGHTTP2_CANCEL);
  }
  await expectAllRecorded(before);
  session.destroy();
});

test("connections of HTTP/1.1 that are reset do not affect others", async () => {
  const before = completed.length;
  for (let attempt = 0; attempt < REQUESTS; attempt++) {
    const called = count;
    const socket = net.connect({ host: "127.0.0.1", port: Number(new URL(url).port) }).on("error", () => undefined);
    socket.write(`GET ${rest} HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n`);
    await until("the operation is called", () => count > called);
    await sleep(attempt % 4);
    socket.resetAndDestroy();
  }
  await expectAllRecorded(before);
});
