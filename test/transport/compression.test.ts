/** Compressed responses over real connections: for whom, from which size on, and what never is. */
import http2 from "node:http2";
import { fromJson, toBinary, toJsonString } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MetadataService } from "../../gen/offledger/metadata/v1/metadata_service_pb.js";
import { RegistryError } from "../../src/domain/errors.js";
import { acceptsGzip, varyByEncoding } from "../../src/transport/compress.js";
import { createServer, type Server } from "../../src/transport/server.js";
import { callNamed } from "../fixtures/calls/index.js";
import { info } from "../fixtures/calls/operations.js";
import { gunzipMember } from "../fixtures/gzip-member.js";
import { bindPartial } from "../fixtures/partial-service.js";
import type { Call } from "../fixtures/protocols.js";
import {
  accepting,
  type Form,
  forms,
  type RawRequest,
  type RawResponse,
  requestForms,
  sendHttp1,
  sendHttp2,
} from "../fixtures/requests-in-forms.js";
import { type Running, serveFile } from "../fixtures/run-service.js";
import { TEST_SERVER_OPTIONS } from "../fixtures/server-options.js";

const MIN_BYTES = 1_024;
type Send = (request: RawRequest) => Promise<RawResponse>;

test.each([
  ["gzip", true],
  ["x-gzip", true],
  ["gzip, compress, deflate, br", true],
  ["br;q=1.0, GZIP ;Q=0.8, *;q=0.1", true],
  ["identity;q=0.5, gzip;q=0.5", true],
  ["br,*;q=0.3", true],
  [["br", "gzip"], true],
  [undefined, false],
  ["", false],
  ["identity, br", false],
  ["gzip;q=0.000, *", false],
  ["identity, gzip;q=0.5", false],
  ["gzip;q=2", false],
  ["gzip;q=0.1234", false],
  ["gzip;q=high", false],
])("Accept-Encoding: %j accepts gzip: %s", (header, accepts) => expect(acceptsGzip(header)).toBe(accepts));

test.each([
  [undefined, "accept-encoding"],
  ["Origin", "Origin, accept-encoding"],
  ["Origin, accept-encoding", "Origin, accept-encoding"],
  [["Origin", "Accept"], "Origin, Accept, accept-encoding"],
  ["*", "*"],
])("Vary of %j becomes %j", (present, expected) => expect(varyByEncoding(present)).toBe(expected));

const isGrpc = (form: Form): boolean => form.startsWith("gRPC");
/** Flags, message, and what follows. */
function splitFrame(body: Buffer) {
  const end = 5 + body.readUInt32BE(1);
  return { flags: body.readUInt8(0), message: body.subarray(5, end), rest: body.subarray(end) };
}

/** Asks with the header of the form. Returns whether the response is compressed; its content must be that of the plain one. */
async function isCompressed(form: Form, call: Call, send: Send, value = "gzip"): Promise<boolean> {
  const request = requestForms[form](call);
  const plain = await send(request);
  const given = await send(accepting(request, value, isGrpc(form) ? "grpc-accept-encoding" : "accept-encoding"));
  expect([plain.status, given.status]).toEqual([200, 200]);
  expect(plain.headers["content-encoding"] ?? plain.headers["grpc-encoding"]).toBeUndefined();
  expect(given.headers["content-type"]).toBe(plain.headers["content-type"]);
  if (isGrpc(form)) {
    const [expected, frame] = [splitFrame(plain.body), splitFrame(given.body)];
    const message = frame.flags === 1 ? gunzipMember(frame.message) : frame.message;
    expect([message.equals(expected.message), frame.rest.equals(expected.rest)]).toEqual([true, true]);
    expect(given.headers["grpc-status"]).toBe(plain.headers["grpc-status"]);
    if (frame.flags === 1) expect(given.headers["grpc-encoding"]).toBe("gzip");
    return frame.flags === 1;
  }
  const compressed = given.headers["content-encoding"] === "gzip";
  expect((compressed ? gunzipMember(given.body) : given.body).equals(plain.body)).toBe(true);
  // A large response is compressed as a stream.
  expect([undefined, String(given.body.length)]).toContain(given.headers["content-length"]);
  for (const { headers } of [plain, given]) expect(headers["vary"]).toBe("accept-encoding");
  return compressed;
}

describe("of the service", () => {
  let running: Running;
  let off: Running;
  let session: http2.ClientHttp2Session;
  beforeAll(async () => {
    running = await serveFile(undefined, { config: { corsOrigins: "none" } });
    off = await serveFile(undefined, { config: { compression: "off" } });
    session = http2.connect(running.url);
  });
  afterAll(async () => {
    session.close();
    await running.close();
    await off.close();
  });
  const overHttp1: Send = (request) => sendHttp1(running.url, request);
  const overHttp2: Send = (request) => sendHttp2(session, request);
  /** Its response discloses contracts. */
  const accept = callNamed("v1 transfer instruction, accept");

  test.each(forms)("%s: for a client that asks, from 1 KB on, with the same content", async (form) => {
    // The response of the document is one large message.
    for (const send of [overHttp1, overHttp2])
      for (const call of [accept, callNamed("the OpenAPI document")])
        expect(await isCompressed(form, call, send)).toBe(true);
    expect(await isCompressed(form, callNamed("liveness"), overHttp1)).toBe(false);
    for (const value of ["br", "identity", "gzip;q=0"])
      expect(await isCompressed(form, accept, overHttp1, value)).toBe(false);
  });

  test("OFFLEDGER_COMPRESSION=off sends every response as it is", async () => {
    for (const form of forms) {
      const request = requestForms[form](accept);
      const plain = await sendHttp1(off.url, request);
      const asked = await sendHttp1(off.url, accepting(accepting(request), "gzip", "grpc-accept-encoding"));
      expect(asked.body.equals(plain.body)).toBe(true);
      expect([asked.headers["content-encoding"], asked.headers["vary"]]).toEqual([undefined, undefined]);
    }
  });

  test("Vary has what CORS and compression depend on", async () => {
    const origin = "https://wallet.example";
    const some = await serveFile(undefined, { config: { corsOrigins: [origin] } });
    const listed = http2.connect(some.url);
    try {
      for (const form of ["REST", "Connect JSON", "Connect JSON with a deadline", "Connect GET"] as const) {
        const sent = accepting(accepting(requestForms[form](accept)), origin, "origin");
        for (const { headers } of [await sendHttp1(some.url, sent), await sendHttp2(listed, sent)])
          expect(headers).toMatchObject({ "access-control-allow-origin": origin, vary: "Origin, accept-encoding" });
      }
    } finally {
      listed.close();
      await some.close();
    }
  });
});

describe("by size", () => {
  const method = MetadataService.method.getRegistryInfo;
  const answerOf = (length: number) => ({ adminId: "a".repeat(length), supportedApis: {} });
  let server: Server;
  let url: string;
  beforeAll(async () => {
    const getRegistryInfo = ({ registrarParty }: { registrarParty: string }) => {
      if (registrarParty === "error") throw new RegistryError("conflict", "a".repeat(3_000));
      return answerOf(Number(registrarParty));
    };
    server = await createServer([bindPartial(MetadataService, { getRegistryInfo })], TEST_SERVER_OPTIONS);
    url = await server.listen("127.0.0.1", 0);
  });
  afterAll(() => server.close(1_000));

  /** The size of a response in bytes, as the library encodes it. */
  function sizeOf(form: Form, length: number): number {
    const message = fromJson(method.output, answerOf(length));
    if (isGrpc(form) || form === "Connect binary") return toBinary(method.output, message).length;
    return toJsonString(method.output, message, { alwaysEmitImplicit: true }).length;
  }

  test.each(forms)("%s: 1,023 bytes are not, 1,024 are, an error of RPC never is", async (form) => {
    for (const size of [MIN_BYTES - 1, MIN_BYTES]) {
      const length = size - sizeOf(form, MIN_BYTES) + MIN_BYTES;
      expect(sizeOf(form, length)).toBe(size);
      const send: Send = (request) => sendHttp1(url, request);
      expect(await isCompressed(form, info(String(length)), send)).toBe(size === MIN_BYTES);
    }
    // connect-es compresses the trailers of gRPC-Web, and @fastify/compress whatever REST sends.
    if (form === "gRPC-Web" || form === "REST") return;
    const request = requestForms[form](info("error"));
    const plain = await sendHttp1(url, request);
    const asked = await sendHttp1(url, accepting(accepting(request), "gzip", "grpc-accept-encoding"));
    expect([asked.status, asked.body.equals(plain.body)]).toEqual([plain.status, true]);
    expect([asked.headers["content-encoding"], asked.headers["grpc-status"]]).toEqual([
      undefined,
      plain.headers["grpc-status"],
    ]);
    expect(asked.body.toString("latin1") + String(asked.headers["grpc-message"])).toContain("a".repeat(1_500));
  });
});
