/** Compressed responses over real connections. */
import http2 from "node:http2";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callNamed, failingCalls } from "../../fixtures/calls/index.js";
import {
  accepting,
  checkCompressed,
  compareResponses,
  headerOf,
  isGrpc,
  requestOf,
  type Send,
} from "../../fixtures/compressed-responses.js";
import { gunzipMember } from "../../fixtures/gzip-member.js";
import { requestForms, sendHttp1, sendHttp2 } from "../../fixtures/requests-in-forms.js";
import { type Running, serveFile } from "../../fixtures/run-service.js";
import { until } from "../../fixtures/wait.js";

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
  ])("over %s is compressed for a client that asks, from 1 KB on, and has the same content", async (_version, send) => {
    expect(await compareResponses(form, accept, send)).toBe(true);
    expect(await compareResponses(form, document, send)).toBe(true);
    expect(await compareResponses(form, small, send)).toBe(false);
  });

  test("is not compressed for other clients", async () => {
    const request = requestOf(form, accept);
    const plain = await overHttp1(request);
    for (const value of ["br", "identity", "gzip;q=0"]) {
      expect(checkCompressed(form, plain, await overHttp1(accepting(request, value, headerOf(form))))).toBe(false);
    }
  });
});

test("errors are not compressed", async () => {
  for (const { call, message } of Object.values(failingCalls).slice(0, 5)) {
    for (const form of Object.keys(requestForms).filter((name) => !isGrpc(name))) {
      const response = await overHttp1(accepting(requestOf(form, call)));
      expect(response.headers["content-encoding"]).toBeUndefined();
      const error = JSON.parse(response.body.toString()) as Record<string, string>;
      expect(Object.values(error)).toContain(message);
    }
  }
});

test("a compressed response is smaller", async () => {
  const request = requestOf("REST", accept);
  const plain = await overHttp1(request);
  let compressed = await overHttp1(accepting(request));
  await until("all contracts are compressed", async () => {
    compressed = await overHttp1(accepting(request));
    return compressed.body.length < 0.8 * plain.body.length;
  });
  expect(gunzipMember(compressed.body).equals(plain.body)).toBe(true);
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
