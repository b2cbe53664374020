/** Compressed responses over real connections: for whom, from which size on, and what never is. */
import http2 from "node:http2";
import { fromJson, toBinary, toJsonString } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MetadataService } from "../../gen/offledger/metadata/v1/metadata_service_pb.js";
import { RegistryError } from "../../src/domain/errors.js";
import { acceptsGzip, varyByEncoding } from "../../src/transport/send.js";
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
/** The content of a response, and whether it is compressed; of gRPC in a frame: flags, length, message, and what follows. */
function contentOf(form: Form, { headers, body }: RawResponse) {
  if (!isGrpc(form)) {
    const compressed = headers["content-encoding"] === "gzip";
    return { compressed, encoding: headers["content-encoding"], content: compressed ? gunzipMember(body) : body };
  }
  const [compressed, end] = [body.readUInt8(0) === 1, 5 + body.readUInt32BE(1)];
  const message = compressed ? gunzipMember(body.subarray(5, end)) : body.subarray(5, end);
  return { compressed, encoding: headers["grpc-encoding"], content: Buffer.concat([message, body.subarray(end)]) };
}

/** Asks with the header of the form. Returns whether the response is compressed; its content must be that of the plain one. */
async function isCompressed(form: Form, call: Call, send: Send, value = "gzip"): Promise<boolean> {
  const request = requestForms[form](call);
  const answer = await send(request);
  const asked = await send(accepting(request, value, isGrpc(form) ? "grpc-accept-encoding" : "accept-encoding"));
  const [plain, given] = [contentOf(form, answer), contentOf(form, asked)];
  expect([answer.status, asked.status, given.content.equals(plain.content)]).toEqual([200, 200, true]);
  expect([plain.compressed, plain.encoding]).toEqual([false, undefined]);
  expect(given.compressed && given.encoding !== "gzip").toBe(false);
  for (const name of ["content-type", "grpc-status"]) expect(asked.headers[name]).toBe(answer.headers[name]);
  // A large response is compressed as a stream.
  expect([undefined, String(asked.body.length)]).toContain(asked.headers["content-length"]);
  for (const { headers } of [answer, asked]) expect(headers["vary"]).toBe(isGrpc(form) ? undefined : "accept-encoding");
  return given.compressed;
}

describe("of the service", () => {
  let running: Running;
  let off: Running;
  let session: http2.ClientHttp2Session;
  beforeAll(async () => {
    running = await serveFile(undefined, { config: { corsOrigins: "none" } });
    off = await serveFile(undefined, { config: { compresses: false } });
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

  test("a service that does not compress sends every response as it is", async () => {
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

const answerOf = (length: number) => ({ adminId: "a".repeat(length), supportedApis: {} });

function getRegistryInfo({ registrarParty }: { readonly registrarParty: string }) {
  if (registrarParty === "error") throw new RegistryError("conflict", "a".repeat(3_000));
  return answerOf(Number(registrarParty));
}

describe("by size", () => {
  const method = MetadataService.method.getRegistryInfo;
  let server: Server;
  let url: string;
  beforeAll(async () => {
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
