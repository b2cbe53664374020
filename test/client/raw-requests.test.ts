/** Requests that the connect-es client cannot send, written by hand, in each protocol. */
import http2 from "node:http2";
import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MetadataService } from "../../gen/offledger/metadata/v1/metadata_service_pb.js";
import { createServer, type Server } from "../../src/transport/server.js";
import { bindPartial } from "../fixtures/partial-service.js";
import { framed, sendHttp2 } from "../fixtures/requests-in-forms.js";
import { TEST_SERVER_OPTIONS } from "../fixtures/server-options.js";

const path = `/${MetadataService.typeName}/GetRegistryInfo`;

let server: Server;
let url: string;
let client: http2.ClientHttp2Session;
const never = new AbortController();
/** Returns the id: "later" a moment later, "wait" when the tests have ended. */
const getRegistryInfo = async ({ registrarParty }: { registrarParty: string }) => {
  if (registrarParty === "later") await pause(50);
  if (registrarParty === "wait") await new Promise((resolve) => never.signal.addEventListener("abort", resolve));
  return { adminId: registrarParty, supportedApis: {} };
};

beforeAll(async () => {
  server = await createServer([bindPartial(MetadataService, { getRegistryInfo })], TEST_SERVER_OPTIONS);
  url = await server.listen("127.0.0.1", 0);
  client = http2.connect(url);
});
afterAll(async () => {
  never.abort();
  client.close();
  await server.close(1_000);
});

type Headers = Readonly<Record<string, string>>;
interface Sent {
  readonly method?: string;
  readonly to?: string;
  readonly headers?: Headers;
  readonly body?: string | Buffer;
}

/** Over HTTP/2 only: transport/matrix.test.ts shows that HTTP/1.1 does not differ. */
const send = ({ method = "POST", to = path, headers = {}, body }: Sent) =>
  sendHttp2(client, { method, path: to, headers, ...(body !== undefined && { body: Buffer.from(body) }) });

const requestBody = '{"registrarParty":"a"}';
const responseBody = '{"adminId":"a","supportedApis":{}}';
const json = { "content-type": "application/json" };
const query = (params: Headers): string => `${path}?${new URLSearchParams(params).toString()}`;
const base64 = (bytes: string | Buffer): string => Buffer.from(bytes).toString("base64url");

describe("Connect accepts", () => {
  test.each<[string, Sent]>([
    ["a content type with a charset", { headers: { "content-type": "application/json; charset=utf-8" } }],
    ["a content type in upper case", { headers: { "content-type": "Application/JSON" } }],
    [
      "a GET in gzip",
      {
        method: "GET",
        to: query({ encoding: "json", base64: "1", compression: "gzip", message: base64(gzipSync(requestBody)) }),
      },
    ],
  ])("%s", async (_what, sent) => {
    const { status, body, headers } = await send(sent.method === "GET" ? sent : { body: requestBody, ...sent });
    expect({ status, body: body.toString() }).toEqual({ status: 200, body: responseBody });
    expect(headers["content-type"]).toBe("application/json");
  });
});

// Node.js fires the timer of such a deadline at once.
test("Connect waits where the deadline is distant", async () => {
  const headers = { ...json, "connect-timeout-ms": "9999999999" };
  expect((await send({ headers, body: '{"registrarParty":"later"}' })).status).toBe(200);
});

// transport/bodies.test.ts has malformed messages.
test.each<[string, Sent, number, string]>([
  ["a GET without a message", { method: "GET", to: query({ encoding: "json" }) }, 400, "invalid_argument"],
  [
    "a call that exceeds its deadline",
    { headers: { ...json, "connect-timeout-ms": "50" }, body: '{"registrarParty":"wait"}' },
    504,
    "deadline_exceeded",
  ],
])("Connect rejects %s", async (_what, sent, status, code) => {
  const response = await send(sent);
  expect([response.status, JSON.parse(response.body.toString())]).toMatchObject([status, { code }]);
});

/** The request message: field 1 is registrar_party. */
const encodeMessage = (text: string): Buffer => Buffer.from(`\n${String.fromCharCode(text.length)}${text}`);
const framedRequest = framed(encodeMessage("a"));

describe.each([
  ["gRPC", "application/grpc"],
  ["gRPC-Web", "application/grpc-web+proto"],
])("%s", (name, type) => {
  /** Returns the gRPC status. gRPC-Web sends it in the body, after the message. */
  async function callStatus(body: Buffer, headers: Headers): Promise<number> {
    const response = await send({ headers: { "content-type": type, te: "trailers", ...headers }, body });
    expect(response.status).toBe(200);
    const trailer = /grpc-status: ?(\d+)/.exec(response.body.toString("latin1"))?.[1];
    return Number(name === "gRPC-Web" ? trailer : response.headers["grpc-status"]);
  }
  const zipped = framed(gzipSync(encodeMessage("a")), 1);

  test.each<[string, Buffer, Headers, number]>([
    ["a message succeeds", framedRequest, { "grpc-timeout": "10S" }, 0],
    ["a gzip message succeeds", zipped, { "grpc-encoding": "gzip" }, 0],
    ["brotli is not implemented", zipped, { "grpc-encoding": "br" }, Code.Unimplemented],
    ["no message is not implemented", Buffer.alloc(0), {}, Code.Unimplemented],
    ["a truncated frame header is invalid", framedRequest.subarray(0, 3), {}, Code.InvalidArgument],
    ["an undeclared compressed message is internal, as gRPC specifies", zipped, {}, Code.Internal],
    ["a malformed deadline is invalid", framedRequest, { "grpc-timeout": "soon" }, Code.InvalidArgument],
    ["a deadline of nine digits is invalid", framedRequest, { "grpc-timeout": "123456789m" }, Code.InvalidArgument],
    ["a deadline is enforced", framed(encodeMessage("wait")), { "grpc-timeout": "50m" }, Code.DeadlineExceeded],
  ])("%s", async (_what, body, headers, status) => {
    expect(await callStatus(body, headers)).toBe(status);
  });
});
