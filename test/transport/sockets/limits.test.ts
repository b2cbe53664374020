/** Limits on bodies, headers, paths, streams and connections: requests at the limit pass, larger ones are rejected. */
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { END_HEADERS, END_STREAM, frame, FrameConnection, requestHeaders, Type } from "../../fixtures/http2-frames.js";
import { expectAlive, type HttpResponse, requestHttp1, requestHttp2 } from "../../fixtures/http-requests.js";
import { transferFactory } from "../../fixtures/requests.js";
import { type Running, serveFile } from "../../fixtures/run-service.js";
import { countConnections, untilDisconnected } from "../../fixtures/server-sockets.js";
import { MAX_WAIT_MS, until, within } from "../../fixtures/wait.js";

const { NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_NO_ERROR } = http2.constants;
const MAX_STREAMS = 4;

const MAX_BODY = 4_096;
const MAX_HEADER = 8_192;
const MAX_PATH = 1_024;
const rpc = "/offledger.transfer_instruction.v1.TransferInstructionService/GetTransferFactory";

let running: Running;
beforeAll(async () => {
  running = await serveFile(undefined, {
    config: { maxBodyBytes: MAX_BODY, maxHeaderBytes: MAX_HEADER, maxPathBytes: MAX_PATH, maxStreams: MAX_STREAMS },
  });
});
afterAll(() => running.close());

type Ask = (path: string, headers: Readonly<Record<string, string>>, body: string | Buffer) => Promise<HttpResponse>;

/** Each version uses one connection, which must survive the rejection. */
const versions: Readonly<Record<string, () => { readonly ask: Ask }>> = {
  "HTTP/1.1": () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    return { ask: (path, headers, body) => requestHttp1(running.url, path, headers, body, agent) };
  },
  "HTTP/2": () => {
    const session = http2.connect(running.url).on("error", () => {});
    onTestFinished(() => session.destroy());
    return { ask: (path, headers, body) => requestHttp2(session, path, headers, body) };
  },
};

const json = { "content-type": "application/json" };
const text = (length: number): string => "{}".padEnd(length, " ");

/** A gRPC envelope of a message with one unknown field. */
function envelope(length: number): Buffer {
  const message = Buffer.alloc(length, "a");
  // Field 1000, with a two-byte length.
  message.writeUInt16BE(0xc23e, 0);
  message.writeUInt8(((length - 4) & 127) | 128, 2);
  message.writeUInt8((length - 4) >> 7, 3);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, message]);
}
const bare = (length: number): Buffer => envelope(length).subarray(5);

const long = (length: number, path = transferFactory()) => `${path}?`.padEnd(length, "a");

/** From the header, or from the last message of the body. */
function grpcStatus({ headers, body }: HttpResponse): string | undefined {
  const inHead = headers["grpc-status"];
  return typeof inHead === "string" ? inHead : /grpc-status: ?(\d+)/.exec(body)?.[1];
}

describe.each(Object.entries(versions))("over %s", (version, connect) => {
  test("the body of a REST operation, with and without Content-Length", async () => {
    const { ask } = connect();
    for (const headers of [json, { ...json, "content-length": "" }]) {
      const lengthOf = (length: number) =>
        headers === json
          ? { ...json, "content-length": String(length) }
          : version === "HTTP/2"
            ? json
            : { ...json, "transfer-encoding": "chunked" };
      // 400 because arguments are missing: the body was read.
      expect(await ask(transferFactory(), lengthOf(MAX_BODY), text(MAX_BODY))).toMatchObject({ status: 400 });
      const rejected = await ask(transferFactory(), lengthOf(MAX_BODY + 1), text(MAX_BODY + 1));
      expect(rejected).toMatchObject({ status: 413 });
      expect(JSON.parse(rejected.body)).toEqual({ error: expect.any(String) as string });
      expect(await ask(transferFactory(), lengthOf(2), text(2))).toMatchObject({ status: 400 });
    }
  });

  test("the message of a Connect request", async () => {
    const { ask } = connect();
    for (const [type, make] of [
      ["application/json", text],
      ["application/proto", bare],
    ] as const) {
      const headers = { "content-type": type };
      expect(JSON.parse((await ask(rpc, headers, make(MAX_BODY))).body)).toMatchObject({ code: "invalid_argument" });
      for (const length of [MAX_BODY + 1, 100 * MAX_BODY]) {
        const rejected = await ask(rpc, headers, type === "application/json" ? text(length) : Buffer.alloc(length));
        expect(rejected.status).toBe(429);
        expect(JSON.parse(rejected.body)).toMatchObject({ code: "resource_exhausted" });
      }
    }
  });

  test.each(version === "HTTP/2" ? ["application/grpc", "application/grpc-web+proto"] : ["application/grpc-web+proto"])(
    "the message of a %s request",
    async (type) => {
      const { ask } = connect();
      const headers = { "content-type": type, te: "trailers" };
      // Invalid because the registrar is missing: the message was read.
      expect(grpcStatus(await ask(rpc, headers, envelope(MAX_BODY)))).toBe("3");
      expect(grpcStatus(await ask(rpc, headers, envelope(MAX_BODY + 1)))).toBe("8");
      expect(grpcStatus(await ask(rpc, headers, envelope(3 * MAX_BODY)))).toBe("8");
      expect(grpcStatus(await ask(rpc, headers, envelope(10)))).toBe("3");
    },
  );

  test("the path with its query", async () => {
    const { ask } = connect();
    expect(await ask(long(MAX_PATH), json, "{}")).toMatchObject({ status: 400 });
    const rejected = await ask(long(MAX_PATH + 1), json, "{}");
    expect(rejected.status).toBe(414);
    const message = `path of ${MAX_PATH + 1} bytes exceeds the limit of ${MAX_PATH} bytes`;
    expect(JSON.parse(rejected.body)).toEqual({ error: message });
    // For a utility operation, an unknown path and an rpc.
    const utility = await ask(long(MAX_PATH + 1, "/api/utilities/v0/operator"), json, "{}");
    expect([utility.status, JSON.parse(utility.body)]).toMatchObject([414, { error_description: message }]);
    expect(await ask(long(MAX_PATH + 1, "/nothing"), json, "{}")).toMatchObject({ status: 414 });
    const connectCall = await ask(long(MAX_PATH + 1, rpc), json, "{}");
    expect(JSON.parse(connectCall.body)).toMatchObject({
      code: "invalid_argument",
      message,
      details: [{ type: "google.rpc.ErrorInfo", debug: { reason: "PATH_TOO_LONG", domain: "offledger" } }],
    });
    for (const type of ["application/grpc", "application/grpc-web+proto"]) {
      expect(grpcStatus(await ask(long(MAX_PATH + 1, rpc), { "content-type": type }, envelope(10)))).toBe("3");
    }
    expect(await ask(long(MAX_PATH), json, "{}")).toMatchObject({ status: 400 });
  });
});

const head = (length: number) => ({ ...json, large: "a".repeat(length) });

test("an HTTP/1.1 header, which closes only its own connection", async () => {
  // The request line and the other headers count too.
  expect(await requestHttp1(running.url, transferFactory(), head(MAX_HEADER - 1_024), "{}")).toMatchObject({
    status: 400,
  });
  for (const length of [MAX_HEADER, 20 * MAX_HEADER]) {
    const rejected = await requestHttp1(running.url, transferFactory(), head(length), "{}");
    expect(rejected.status).toBe(431);
    expect(JSON.parse(rejected.body)).toEqual({
      error: "request header is too large",
    });
    expect(rejected.headers["connection"]).toBe("close");
  }
  await expectAlive(running.url);
});

/** A request without its body. */
const open = (id: number): Buffer => frame(Type.headers, END_HEADERS, id, requestHeaders(transferFactory(), json));
const live = (id: number): Buffer =>
  frame(Type.headers, END_HEADERS | END_STREAM, id, requestHeaders("/livez", { ":method": "GET" }));

test("an HTTP/2 header, which resets its stream, and the connection stays", async () => {
  const connection = await FrameConnection.to(running.url);
  await until("the settings are acknowledged", () => connection.of(Type.settings).length === 2);
  connection.send(
    frame(Type.headers, END_HEADERS | END_STREAM, 1, requestHeaders("/livez", { large: "a".repeat(MAX_HEADER) })),
    live(3),
  );
  await connection.over(3);
  expect(connection.codeOf(Type.reset, 1)).toBe(NGHTTP2_ENHANCE_YOUR_CALM);
  expect(connection.textOf(3)).toBe('{"status":"ok"}');
});

test("streams: a client that exceeds the acknowledged limit loses only its connection", async () => {
  const connection = await FrameConnection.to(running.url);
  await until("the settings are acknowledged", () => connection.of(Type.settings).length === 2);
  connection.send(...Array.from({ length: MAX_STREAMS + 1 }, (_, at) => open(2 * at + 1)));
  await connection.ended();
  await untilDisconnected(running.url, connection.port);
  await expectAlive(running.url);
});

test("a unary gRPC call with many messages, larger than the flow-control window, ends after the response", async () => {
  const unlimited = await serveFile(undefined);
  onTestFinished(() => unlimited.close());
  const session = http2.connect(unlimited.url);
  onTestFinished(() => session.destroy());
  const path = "/offledger.health.v1.HealthService/GetLiveness";
  const headers = { ":path": path, ":method": "POST", "content-type": "application/grpc+json", te: "trailers" };
  const stream = session.request(headers);
  const message = Buffer.from(`\0\0\0\0\x02{}`, "latin1");
  stream.end(Buffer.concat(Array.from({ length: 100_000 }, () => message)));
  stream.resume();
  const over = Promise.all([once(stream, "trailers"), once(stream, "close")]);
  const [[status]] = await within(MAX_WAIT_MS, "the stream ends", over);
  expect(status["grpc-status"]).toBe("12");
  expect(stream.rstCode).toBe(NGHTTP2_NO_ERROR);
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
  const { hostname, port } = new URL(limited.url);
  for (let round = 0; round < 5; round++) {
    const excess = net.connect({ host: hostname, port: Number(port) }).on("error", () => {});
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
