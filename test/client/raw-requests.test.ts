/** Requests that the connect-es client cannot send, written by hand, in each protocol. */
import http2 from "node:http2";
import { brotliCompressSync, gzipSync } from "node:zlib";
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
/** Returns the id. The id "wait" waits until the tests have ended. */
const getRegistryInfo = async ({ registrarParty }: { registrarParty: string }) => {
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
    ["the protocol version", { headers: { ...json, "connect-protocol-version": "1" } }],
    // Deviations that docs/conformance.md lists.
    ["another protocol version", { headers: { ...json, "connect-protocol-version": "2" } }],
    [
      "a GET of another protocol version",
      { method: "GET", to: query({ connect: "v2", encoding: "json", message: requestBody }) },
    ],
    ["an unknown field", { headers: json, body: '{"registrarParty":"a","more":[1]}' }],
    ["gzip", { headers: { ...json, "content-encoding": "gzip" }, body: gzipSync(requestBody) }],
    ["the encoding identity", { headers: { ...json, "content-encoding": "identity" } }],
    ["accept-encoding, without compressing a small response", { headers: { ...json, "accept-encoding": "gzip, br" } }],
    ["a distant deadline", { headers: { ...json, "connect-timeout-ms": "9999999999" } }],
    ["a GET", { method: "GET", to: query({ encoding: "json", message: requestBody }) }],
    ["a GET with its version", { method: "GET", to: query({ connect: "v1", encoding: "json", message: requestBody }) }],
    ["a GET in base64", { method: "GET", to: query({ encoding: "json", base64: "1", message: base64(requestBody) }) }],
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
    expect(headers["content-encoding"]).toBeUndefined();
  });
});

// transport/bodies.test.ts has malformed messages.
describe("Connect rejects", () => {
  test.each<[string, Sent, number, string]>([
    ["a GET without a message", { method: "GET", to: query({ encoding: "json" }) }, 400, "invalid_argument"],
    [
      "a call that exceeds its deadline",
      { headers: { ...json, "connect-timeout-ms": "50" }, body: '{"registrarParty":"wait"}' },
      504,
      "deadline_exceeded",
    ],
  ])("%s", async (_what, sent, status, code) => {
    const response = await send(sent.method === "GET" ? sent : { body: requestBody, ...sent });
    expect(response.status).toBe(status);
    expect(JSON.parse(response.body.toString())).toMatchObject({ code, message: expect.stringMatching(/./) as string });
  });
});

/** The request message: field 1 is registrar_party. */
const encodeMessage = (text: string): Buffer => Buffer.from(`\n${String.fromCharCode(text.length)}${text}`);
const framedRequest = framed(encodeMessage("a"));

/** A deadline keeps a call off the fast path. */
const variants = [
  ["gRPC", "application/grpc", {}],
  ["gRPC with a deadline", "application/grpc", { "grpc-timeout": "10S" }],
  ["gRPC-Web", "application/grpc-web+proto", {}],
] as const;

describe.each(variants)("%s", (name, type, more) => {
  /** Returns the gRPC status. gRPC-Web sends it in the body, after the message. */
  async function callStatus(body: Buffer, headers: Headers = {}): Promise<number> {
    const response = await send({ headers: { "content-type": type, te: "trailers", ...more, ...headers }, body });
    expect(response.status).toBe(200);
    const trailer = /grpc-status: ?(\d+)/.exec(response.body.toString("latin1"))?.[1];
    return Number(name === "gRPC-Web" ? trailer : response.headers["grpc-status"]);
  }

  test.each<[string, Buffer, Headers, number]>([
    ["a message succeeds", framedRequest, {}, 0],
    ["a gzip message succeeds", framed(gzipSync(encodeMessage("a")), 1), { "grpc-encoding": "gzip" }, 0],
    ["an uncompressed message succeeds where gzip is declared", framedRequest, { "grpc-encoding": "gzip" }, 0],
    ["an empty message lacks a required field", framed(Buffer.alloc(0)), {}, Code.InvalidArgument],
    [
      "brotli is not implemented",
      framed(brotliCompressSync(encodeMessage("a")), 1),
      { "grpc-encoding": "br" },
      Code.Unimplemented,
    ],
    ["no message is not implemented", Buffer.alloc(0), {}, Code.Unimplemented],
    ["two messages are not implemented", Buffer.concat([framedRequest, framedRequest]), {}, Code.Unimplemented],
    ["a truncated message is invalid", framedRequest.subarray(0, 6), {}, Code.InvalidArgument],
    ["a truncated frame header is invalid", framedRequest.subarray(0, 3), {}, Code.InvalidArgument],
    [
      "an undeclared compressed message is internal, as gRPC specifies",
      framed(gzipSync(encodeMessage("a")), 1),
      {},
      Code.Internal,
    ],
    ["a malformed deadline is invalid", framedRequest, { "grpc-timeout": "soon" }, Code.InvalidArgument],
    ["a deadline of nine digits is invalid", framedRequest, { "grpc-timeout": "123456789m" }, Code.InvalidArgument],
    ["a deadline is enforced", framed(encodeMessage("wait")), { "grpc-timeout": "50m" }, Code.DeadlineExceeded],
  ])("%s", async (_what, body, headers, status) => {
    expect(await callStatus(body, headers)).toBe(status);
  });
});
