/** Compressed responses over real connections. */
import { execFile, execFileSync } from "node:child_process";
import http2 from "node:http2";
import { promisify } from "node:util";
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

test("pipelined and concurrent responses keep their content", async () => {
  const [request, list] = [requestOf("REST", accept), requestOf("REST", document)];
  const [plain, plainList] = [await overHttp2(request), await overHttp2(list)];
  const responses = await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      const [one, expected] = index % 2 === 0 ? [request, plain] : [list, plainList];
      const compresses = index % 3 !== 0;
      const response = await (index % 4 < 2 ? overHttp1 : overHttp2)(compresses ? accepting(one) : one);
      return checkCompressed("REST", expected, response) && compresses;
    }),
  );
  expect(responses).toContain(true);
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

const has = (program: string): boolean => {
  try {
    execFileSync(program, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

const plainAndCompressed = async () => {
  const request = requestOf("REST", accept);
  const plain = await overHttp1(request);
  let compressed = plain;
  await until("the response is compressed", async () => {
    compressed = await overHttp1(accepting(request));
    return compressed.headers["content-encoding"] === "gzip";
  });
  return { request, plain: plain.body, compressed: compressed.body };
};

describe("decoded by another program", () => {
  test.skipIf(!has("gzip"))("gzip", async () => {
    const { plain, compressed } = await plainAndCompressed();
    expect(execFileSync("gzip", ["-t"], { input: compressed }).length).toBe(0);
    expect(execFileSync("gzip", ["-dc"], { input: compressed }).equals(plain)).toBe(true);
  });

  test.skipIf(!has("python3"))("Python", async () => {
    const { plain, compressed } = await plainAndCompressed();
    // The decoder of the HTTP clients: it stops at the end of the first member.
    const program =
      "import sys, zlib; d = zlib.decompressobj(31); sys.stdout.buffer.write(d.decompress(sys.stdin.buffer.read())); " +
      "sys.exit(0 if d.eof and d.unused_data == b'' else 1)";
    expect(execFileSync("python3", ["-c", program], { input: compressed }).equals(plain)).toBe(true);
  });

  test.skipIf(!has("curl"))("curl", async () => {
    const { request, plain } = await plainAndCompressed();
    const args = ["-sS", "--compressed", "-H", "content-type: application/json", "-d", String(request.body)];
    const options = { encoding: "buffer", timeout: 20_000 } as const;
    const { stdout } = await promisify(execFile)("curl", [...args, running.url + request.path], options);
    expect(stdout.equals(plain)).toBe(true);
  });
});
