/** What no client of connect-es sends: requests of each protocol byte by byte, and what has to come of them. */
import http2 from "node:http2";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MetadataService } from "../../gen/offledger/metadata/v1/metadata_service_pb.js";
import { createServer, type Server } from "../../src/transport/server.js";
import { offerSome } from "../fixtures/offering.js";
import { within } from "../fixtures/wait.js";
import { defaultOptions } from "../fixtures/server-options.js";

const path = `/${MetadataService.typeName}/GetRegistryInfo`;
const elsewhere = `/${MetadataService.typeName}/Nothing`;

let server: Server;
let url: string;
let client: http2.ClientHttp2Session;
const never = new AbortController();
/** Answers with the id, or waits until the tests are over. */
const getRegistryInfo = async ({ registrarParty }: { registrarParty: string }) => {
  if (registrarParty === "wait") await new Promise((resolve) => never.signal.addEventListener("abort", resolve));
  return { adminId: registrarParty, supportedApis: {} };
};

beforeAll(async () => {
  server = await createServer([offerSome(MetadataService, { getRegistryInfo })], defaultOptions);
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
interface Got {
  readonly status: number | undefined;
  readonly body: Buffer;
  /** Headers and trailers. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** By HTTP/2; what is asked of HTTP/1.1 does not differ, which modes.test.ts holds. */
async function send({ method = "POST", to = path, headers = {}, body }: Sent): Promise<Got> {
  const stream = client.request({ ":method": method, ":path": to, ...headers }, { endStream: body === undefined });
  const chunks: Buffer[] = [];
  let fields: Record<string, unknown> = {};
  const add = (more: object) => (fields = { ...fields, ...more });
  stream.on("response", add).on("trailers", add);
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  const closed = new Promise((resolve, reject) => stream.on("close", resolve).on("error", reject));
  if (body !== undefined) stream.end(body);
  await within(10_000, "the request is answered", closed);
  const status = fields[":status"] as number | undefined;
  return { status, body: Buffer.concat(chunks), fields };
}

const asked = '{"registrarParty":"a"}';
const answered = '{"adminId":"a","supportedApis":{}}';
const json = { "content-type": "application/json" };
const query = (params: Headers): string => `${path}?${new URLSearchParams(params).toString()}`;
const base64 = (bytes: string | Buffer): string => Buffer.from(bytes).toString("base64url");

describe("Connect answers", () => {
  test.each<[string, Sent]>([
    ["a content type with a character set", { headers: { "content-type": "application/json; charset=utf-8" } }],
    ["a content type in capitals", { headers: { "content-type": "Application/JSON" } }],
    ["the version of the protocol", { headers: { ...json, "connect-protocol-version": "1" } }],
    // Departures, which docs/conformance.md lists.
    ["another version of the protocol", { headers: { ...json, "connect-protocol-version": "2" } }],
    ["a GET of another version", { method: "GET", to: query({ connect: "v2", encoding: "json", message: asked }) }],
    ["a field that is not known", { headers: json, body: '{"registrarParty":"a","more":[1]}' }],
    ["gzip", { headers: { ...json, "content-encoding": "gzip" }, body: gzipSync(asked) }],
    ["no compression, by its name", { headers: { ...json, "content-encoding": "identity" } }],
    ["who takes compressed answers, uncompressed", { headers: { ...json, "accept-encoding": "gzip, br" } }],
    ["a deadline that is far away", { headers: { ...json, "connect-timeout-ms": "9999999999" } }],
    ["a GET", { method: "GET", to: query({ encoding: "json", message: asked }) }],
    ["a GET with its version", { method: "GET", to: query({ connect: "v1", encoding: "json", message: asked }) }],
    ["a GET in base64", { method: "GET", to: query({ encoding: "json", base64: "1", message: base64(asked) }) }],
    [
      "a GET in gzip",
      {
        method: "GET",
        to: query({ encoding: "json", base64: "1", compression: "gzip", message: base64(gzipSync(asked)) }),
      },
    ],
  ])("%s", async (_what, sent) => {
    const { status, body, fields } = await send(sent.method === "GET" ? sent : { body: asked, ...sent });
    expect({ status, body: body.toString() }).toEqual({ status: 200, body: answered });
    expect(fields["content-type"]).toBe("application/json");
    expect(fields["content-encoding"]).toBeUndefined();
  });
});

describe("Connect refuses", () => {
  test.each<[string, Sent, number, string]>([
    [
      "brotli",
      { headers: { ...json, "content-encoding": "br" }, body: brotliCompressSync(asked) },
      501,
      "unimplemented",
    ],
    [
      "what calls itself gzip and is not",
      { headers: { ...json, "content-encoding": "gzip" } },
      400,
      "invalid_argument",
    ],
    [
      "what is too large when it is unpacked",
      {
        headers: { ...json, "content-encoding": "gzip" },
        body: gzipSync(`{"registrarParty":"${"a".repeat(2 ** 21)}"}`),
      },
      429,
      "resource_exhausted",
    ],
    ["a deadline that is no number", { headers: { ...json, "connect-timeout-ms": "abc" } }, 400, "invalid_argument"],
    [
      "a deadline of eleven digits",
      { headers: { ...json, "connect-timeout-ms": "12345678901" } },
      400,
      "invalid_argument",
    ],
    ["JSON that ends early", { headers: json, body: "{" }, 400, "invalid_argument"],
    ["no JSON at all", { headers: json, body: "" }, 400, "invalid_argument"],
    ["JSON of another type", { headers: json, body: '{"registrarParty":1}' }, 400, "invalid_argument"],
    [
      "bytes that are no message",
      { headers: { "content-type": "application/proto" }, body: "\u00ff" },
      400,
      "invalid_argument",
    ],
    ["a GET without a message", { method: "GET", to: query({ encoding: "json" }) }, 400, "invalid_argument"],
    [
      "a GET that is not base64",
      { method: "GET", to: query({ encoding: "json", base64: "1", message: "!!!" }) },
      400,
      "invalid_argument",
    ],
    [
      "a GET in brotli",
      { method: "GET", to: query({ encoding: "json", base64: "1", compression: "br", message: "" }) },
      501,
      "unimplemented",
    ],
    [
      "at a deadline",
      { headers: { ...json, "connect-timeout-ms": "50" }, body: '{"registrarParty":"wait"}' },
      504,
      "deadline_exceeded",
    ],
  ])("%s", async (_what, sent, status, code) => {
    const got = await send(sent.method === "GET" ? sent : { body: asked, ...sent });
    expect(got.status).toBe(status);
    expect(got.fields["content-type"]).toBe("application/json");
    expect(JSON.parse(got.body.toString())).toEqual({ code, message: expect.stringMatching(/./) as string });
    expect(got.fields["accept-encoding"]).toBe(code === "unimplemented" ? "gzip" : undefined);
  });
});

describe("every protocol refuses", () => {
  test.each(["text/plain", "application/connect+json", "application/grpc-web-text", "application/grpc+thrift", ""])(
    "the content type %o with 415",
    async (type) => {
      const headers = type === "" ? {} : { "content-type": type };
      expect((await send({ headers, body: asked })).status).toBe(415);
    },
  );

  test.each(["PUT", "DELETE", "PATCH"])("%s with 405", async (method) => {
    for (const type of ["application/json", "application/grpc", "application/grpc-web+proto"]) {
      expect((await send({ method, headers: { "content-type": type }, body: asked })).status).toBe(405);
    }
  });

  test.each<[string, Sent]>([
    ["JSON", { headers: json, body: asked }],
    ["JSON that ends early", { headers: json, body: "{" }],
    ["gzip", { headers: { ...json, "content-encoding": "gzip" }, body: gzipSync(asked) }],
    ["gRPC", { headers: { "content-type": "application/grpc" }, body: "\0\0\0\0\0" }],
    ["no type", { body: asked }],
  ])("an rpc that is not there with 404: %s", async (_what, sent) => {
    const { status, body } = await send({ ...sent, to: elsewhere });
    expect(status).toBe(404);
    expect(JSON.parse(body.toString())).toEqual({ error: `nothing is served at POST ${elsewhere}` });
  });
});

function frame(message: string | Buffer, flags = 0): Buffer {
  const bytes = Buffer.from(message);
  const head = Buffer.alloc(5);
  head[0] = flags;
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

/** The field registrar_party has number 1. */
const message = (text: string): Buffer => Buffer.from(`\n${String.fromCharCode(text.length)}${text}`);
const one = frame(message("a"));

/** With a deadline and without, which go different ways. */
const ways = [
  ["gRPC", "application/grpc", {}],
  ["gRPC with a deadline", "application/grpc", { "grpc-timeout": "10S" }],
  ["gRPC-Web", "application/grpc-web+proto", {}],
] as const;

describe.each(ways)("%s", (name, type, more) => {
  /** The status, which gRPC-Web tells behind the message. */
  async function statusOf(body: Buffer, headers: Headers = {}): Promise<number> {
    const got = await send({ headers: { "content-type": type, te: "trailers", ...more, ...headers }, body });
    expect(got.status).toBe(200);
    const told = /grpc-status: ?(\d+)/.exec(got.body.toString("latin1"))?.[1];
    return Number(name === "gRPC-Web" ? told : got.fields["grpc-status"]);
  }

  test.each<[string, Buffer, Headers, number]>([
    ["a message is answered", one, {}, 0],
    ["gzip is answered", frame(gzipSync(message("a")), 1), { "grpc-encoding": "gzip" }, 0],
    ["a message that is not compressed where it might be is answered", one, { "grpc-encoding": "gzip" }, 0],
    ["an empty message is one that lacks a field", frame(""), {}, Code.InvalidArgument],
    [
      "brotli is not implemented",
      frame(brotliCompressSync(message("a")), 1),
      { "grpc-encoding": "br" },
      Code.Unimplemented,
    ],
    ["no message is not implemented", Buffer.alloc(0), {}, Code.Unimplemented],
    ["two messages are not implemented", Buffer.concat([one, one]), {}, Code.Unimplemented],
    ["a message that ends early is invalid", one.subarray(0, 6), {}, Code.InvalidArgument],
    ["a frame that ends early is invalid", one.subarray(0, 3), {}, Code.InvalidArgument],
    ["bytes that are no message are invalid", frame(Buffer.from([255])), {}, Code.InvalidArgument],
    [
      "a message compressed without notice is internal, as gRPC has it",
      frame(gzipSync(message("a")), 1),
      {},
      Code.Internal,
    ],
    ["a deadline of another form is invalid", one, { "grpc-timeout": "soon" }, Code.InvalidArgument],
    ["a deadline of nine digits is invalid", one, { "grpc-timeout": "123456789m" }, Code.InvalidArgument],
    ["a deadline is kept", frame(message("wait")), { "grpc-timeout": "50m" }, Code.DeadlineExceeded],
  ])("%s", async (_what, body, headers, status) => {
    expect(await statusOf(body, headers)).toBe(status);
  });
});
