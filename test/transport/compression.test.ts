/** Compressed responses over real connections: for whom, from which size on, and what never is. */
import http2 from "node:http2";
import { fromJson, toBinary, toJsonString } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MetadataService } from "../../gen/offledger/metadata/v1/metadata_service_pb.js";
import { RegistryError } from "../../src/domain/errors.js";
import { acceptsGzip, varyByEncoding } from "../../src/transport/compress.js";
import { createServer, type Server } from "../../src/transport/server.js";
import { callNamed, failingCalls } from "../fixtures/calls/index.js";
import {
  accepting,
  checkCompressed,
  compareResponses,
  headerOf,
  requestOf,
  type Send,
} from "../fixtures/compressed-responses.js";
import { bindPartial } from "../fixtures/partial-service.js";
import type { Call } from "../fixtures/protocols.js";
import { requestForms, sendHttp1, sendHttp2 } from "../fixtures/requests-in-forms.js";
import { type Running, serveFile } from "../fixtures/run-service.js";
import { TEST_SERVER_OPTIONS } from "../fixtures/server-options.js";

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

describe("of the service", () => {
  let running: Running;
  let off: Running;
  let session: http2.ClientHttp2Session;
  beforeAll(async () => {
    running = await serveFile(undefined);
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
  /** Its response is one large message. */
  const document = callNamed("the OpenAPI document");
  const small = callNamed("liveness");

  describe.each(Object.keys(requestForms))("%s", (form) => {
    test.each([
      ["HTTP/1.1", overHttp1],
      ["HTTP/2", overHttp2],
    ])(
      "over %s is compressed for a client that asks, from 1 KB on, and has the same content",
      async (_version, send) => {
        expect(await compareResponses(form, accept, send)).toBe(true);
        expect(await compareResponses(form, document, send)).toBe(true);
        expect(await compareResponses(form, small, send)).toBe(false);
      },
    );

    test("is not compressed for other clients", async () => {
      const request = requestOf(form, accept);
      const plain = await overHttp1(request);
      for (const value of ["br", "identity", "gzip;q=0"]) {
        expect(checkCompressed(form, plain, await overHttp1(accepting(request, value, headerOf(form))))).toBe(false);
      }
    });
  });

  test("errors of REST are not compressed", async () => {
    for (const { call, message } of Object.values(failingCalls).slice(0, 5)) {
      const response = await overHttp1(accepting(requestOf("REST", call)));
      expect(response.headers["content-encoding"]).toBeUndefined();
      expect(Object.values(JSON.parse(response.body.toString()) as object)).toContain(message);
    }
  });

  test("OFFLEDGER_COMPRESSION=off sends every response as it is", async () => {
    for (const form of Object.keys(requestForms)) {
      const request = requestOf(form, accept);
      const plain = await sendHttp1(off.url, request);
      const asked = await sendHttp1(off.url, accepting(accepting(request), "gzip", "grpc-accept-encoding"));
      expect(asked.body.equals(plain.body)).toBe(true);
      expect([asked.headers["content-encoding"], asked.headers["vary"]]).toEqual([undefined, undefined]);
    }
  });

  test("Vary has what CORS and compression depend on", async () => {
    const page = "https://wallet.example";
    const some = await serveFile(undefined, { config: { corsOrigins: [page] } });
    const listed = http2.connect(some.url);
    try {
      for (const form of ["REST", "Connect JSON", "Connect JSON with a deadline", "Connect GET"]) {
        const request = requestOf(form, accept);
        const sent = { ...accepting(request), headers: { ...accepting(request).headers, origin: page } };
        for (const { headers } of [await sendHttp1(some.url, sent), await sendHttp2(listed, sent)]) {
          expect(headers).toMatchObject({ "access-control-allow-origin": page, vary: "Origin, accept-encoding" });
        }
      }
    } finally {
      listed.close();
      await some.close();
    }
  });
});

const answerOf = (length: number) => ({ adminId: "a".repeat(length), supportedApis: {} });

function getRegistryInfo({ registrarParty }: { registrarParty: string }) {
  if (registrarParty === "error") throw new RegistryError("conflict", "a".repeat(3_000));
  return answerOf(Number(registrarParty));
}

describe("by size", () => {
  const MIN_BYTES = 1_024;
  const method = MetadataService.method.getRegistryInfo;
  /** Asks for a response with a text of this length; "error" asks for an error. */
  const callFor = (id: string): Call => ({
    method,
    path: `/api/token-standard/v0/registrars/${id}/registry/metadata/v1/info`,
    body: undefined,
    request: { registrarParty: id },
  });

  let server: Server;
  let url: string;
  beforeAll(async () => {
    server = await createServer([bindPartial(MetadataService, { getRegistryInfo })], TEST_SERVER_OPTIONS);
    url = await server.listen("127.0.0.1", 0);
  });
  afterAll(() => server.close(1_000));

  /** The size of a response in bytes, as the library encodes it. */
  function sizeOf(form: string, length: number): number {
    const message = fromJson(method.output, answerOf(length));
    const isBinary = form.startsWith("gRPC") || form === "Connect binary";
    if (isBinary) return toBinary(method.output, message).length;
    return toJsonString(method.output, message, { alwaysEmitImplicit: true }).length;
  }

  describe.each(Object.keys(requestForms))("%s", (form) => {
    test.each([
      [MIN_BYTES - 1, false],
      [MIN_BYTES, true],
    ])("a response of %d bytes is compressed: %s", async (size, isCompressed) => {
      const length = size - sizeOf(form, MIN_BYTES) + MIN_BYTES;
      expect(sizeOf(form, length)).toBe(size);
      const request = requestOf(form, callFor(String(length)));
      const plain = await sendHttp1(url, request);
      const asked = await sendHttp1(url, accepting(request, "gzip", headerOf(form)));
      expect(checkCompressed(form, plain, asked)).toBe(isCompressed);
    });

    // connect-es compresses the trailers of gRPC-Web.
    test.skipIf(form === "REST" || form === "gRPC-Web")("an error is not compressed", async () => {
      const request = requestOf(form, callFor("error"));
      const plain = await sendHttp1(url, request);
      const asked = await sendHttp1(url, accepting(accepting(request), "gzip", "grpc-accept-encoding"));
      expect(asked.status).toBe(plain.status);
      expect(asked.body.equals(plain.body)).toBe(true);
      expect(asked.headers["content-encoding"]).toBeUndefined();
      expect(asked.headers["grpc-status"]).toBe(plain.headers["grpc-status"]);
      const text = asked.body.toString("latin1") + String(asked.headers["grpc-message"]);
      expect(text).toContain("a".repeat(1_500));
    });
  });
});
