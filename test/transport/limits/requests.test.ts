/** Limits on bodies, headers, paths, streams and connections: requests at the limit pass, larger ones are rejected. */
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { END_HEADERS, END_STREAM, frame, FrameConnection, requestHeaders, Type } from "../../fixtures/http2-frames.js";
import { expectAlive, type HttpResponse, requestHttp1, requestHttp2 } from "../../fixtures/http-requests.js";
import { countConnections } from "../../fixtures/raw-connection.js";
import { framed } from "../../fixtures/requests-in-forms.js";
import { transferFactory } from "../../fixtures/requests.js";
import { type Running, serveFile } from "../../fixtures/run-service.js";
import { MAX_WAIT_MS, until, within } from "../../fixtures/wait.js";

const MAX_STREAMS = 4;
const MAX_BODY = 4_096;
const MAX_HEADER = 8_192;
const MAX_PATH = 1_024;
const rpc = "/offledger.transfer_instruction.v1.TransferInstructionService/GetTransferFactory";
const json = { "content-type": "application/json" };

let running: Running;
beforeAll(async () => {
  running = await serveFile(undefined, {
    config: { maxBodyBytes: MAX_BODY, maxHeaderBytes: MAX_HEADER, maxPathBytes: MAX_PATH, maxStreams: MAX_STREAMS },
  });
});
afterAll(() => running.close());

type Ask = (path: string, headers: Readonly<Record<string, string>>, body: string | Buffer) => Promise<HttpResponse>;

/** Each version uses one connection, which must survive the rejection. */
const versions: Readonly<Record<string, () => Ask>> = {
  "HTTP/1.1": () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    return (path, headers, body) => requestHttp1(running.url, path, headers, body, agent);
  },
  "HTTP/2": () => {
    const session = http2.connect(running.url).on("error", () => {});
    onTestFinished(() => session.destroy());
    return (path, headers, body) => requestHttp2(session, path, headers, body);
  },
};

/** JSON of blanks; a message with one unknown field: field 1000, with a two-byte length. */
const text = (length: number) => Buffer.from("{}".padEnd(length, " "));
function message(length: number): Buffer {
  const bytes = Buffer.alloc(length, "a");
  bytes.writeUInt16BE(0xc23e, 0);
  bytes.writeUInt8(((length - 4) & 127) | 128, 2);
  bytes.writeUInt8((length - 4) >> 7, 3);
  return bytes;
}

/** Of REST and Connect; or of gRPC, from the header or the last message of the body. */
const statusOf = ({ status, headers, body }: HttpResponse): unknown =>
  String(headers["content-type"]).startsWith("application/grpc")
    ? (headers["grpc-status"] ?? /grpc-status: ?(\d+)/.exec(body)?.[1])
    : status;

// The message is read up to the limit: the request is invalid because arguments or the registrar are missing.
test.each(Object.entries(versions))("bodies over %s, with and without their length", async (version, connect) => {
  const ask = connect();
  const chunked: Record<string, string> = version === "HTTP/2" ? json : { ...json, "transfer-encoding": "chunked" };
  for (const [path, headers, of, fits, tooLarge] of [
    [transferFactory(), json, text, 400, 413],
    [transferFactory(), chunked, text, 400, 413],
    [rpc, json, text, 400, 429],
    [rpc, { "content-type": "application/proto" }, message, 400, 429],
    [rpc, { "content-type": "application/grpc-web+proto" }, (length: number) => framed(message(length)), "3", "8"],
    ...(version === "HTTP/2"
      ? ([
          [rpc, { "content-type": "application/grpc" }, (length: number) => framed(message(length)), "3", "8"],
        ] as const)
      : []),
  ] as const)
    for (const [length, expected] of [
      [MAX_BODY, fits],
      [MAX_BODY + 1, tooLarge],
      [3 * MAX_BODY, tooLarge],
      [10, fits],
    ] as const)
      expect([headers, length, statusOf(await ask(path, headers, of(length)))]).toEqual([headers, length, expected]);
});

const long = (length: number, path = transferFactory()) => `${path}?`.padEnd(length, "a");

test.each(Object.entries(versions))("the path with its query over %s", async (_version, connect) => {
  const ask = connect();
  for (const [path, length, status] of [
    [transferFactory(), MAX_PATH, 400],
    [transferFactory(), MAX_PATH + 1, 414],
    ["/nothing", MAX_PATH, 404],
    ["/nothing", MAX_PATH + 1, 414],
    [rpc, MAX_PATH + 1, 400],
    [transferFactory(), MAX_PATH, 400],
  ] as const)
    expect([path, length, (await ask(long(length, path), json, "{}")).status]).toEqual([path, length, status]);
});

test("an HTTP/2 header, which resets its stream, and the connection stays", async () => {
  const connection = await FrameConnection.to(running.url);
  await until("the settings are acknowledged", () => connection.of(Type.settings).length === 2);
  const large = requestHeaders("/livez", { large: "a".repeat(MAX_HEADER) });
  const live = requestHeaders("/livez", { ":method": "GET" });
  const flags = END_HEADERS | END_STREAM;
  connection.send(frame(Type.headers, flags, 1, large), frame(Type.headers, flags, 3, live));
  await connection.over(3);
  expect(connection.codeOf(Type.reset, 1)).toBe(http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
  expect(connection.textOf(3)).toBe('{"status":"ok"}');
});

const open = (id: number) => frame(Type.headers, END_HEADERS, id, requestHeaders(transferFactory(), json));

test("streams: a client that exceeds the acknowledged limit loses only its connection", async () => {
  const connection = await FrameConnection.to(running.url);
  await until("the settings are acknowledged", () => connection.of(Type.settings).length === 2);
  connection.send(...Array.from({ length: MAX_STREAMS + 1 }, (_, at) => open(2 * at + 1)));
  await connection.ended();
  await until("the service holds it no longer", () => countConnections(running.url, connection.port) === 0);
  await expectAlive(running.url);
});

test("a unary gRPC call with many messages, larger than the flow-control window, ends after the response", async () => {
  const unlimited = await serveFile(undefined);
  onTestFinished(() => unlimited.close());
  const session = http2.connect(unlimited.url);
  onTestFinished(() => session.destroy());
  const headers = { "content-type": "application/grpc+json", te: "trailers" };
  const messages = Buffer.concat(Array.from({ length: 100_000 }, () => framed(Buffer.from("{}"))));
  const response = await requestHttp2(session, "/offledger.health.v1.HealthService/GetLiveness", headers, messages);
  expect(response.headers["grpc-status"]).toBe("12");
});

test("connections, of both versions: one more is closed at once, until another has ended", async () => {
  const limited = await serveFile(undefined, { config: { maxConnections: 2 } });
  onTestFinished(() => limited.close());
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const isServed = async () => (await requestHttp1(limited.url, "/livez", {}, undefined, agent)).status === 200;
  const http2Connection = await FrameConnection.to(limited.url);
  expect(await isServed()).toBe(true);
  await until("both are open", () => countConnections(limited.url) === 2);
  for (let round = 0; round < 5; round++) {
    const excess = net.connect(Number(new URL(limited.url).port), "127.0.0.1").on("error", () => {});
    let received = "";
    excess.on("data", (chunk: Buffer) => (received += chunk.toString()));
    await within(MAX_WAIT_MS, "the excess connection is closed", once(excess, "close"));
    expect(received).toBe("");
  }
  expect(await isServed()).toBe(true);
  http2Connection.end();
  await until("one is released", () => countConnections(limited.url) < 2);
  expect((await requestHttp1(limited.url, "/livez")).status).toBe(200);
});
