/** Callers over HTTP/2 who go away in the middle of a request: nothing of theirs stays, and the process goes on. */
import { subscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import http2 from "node:http2";
import net from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BurnService } from "../../../gen/offledger/burn/v0/burn_service_pb.js";
import { createServer, type Server } from "../../../src/transport/server.js";
import type { CompletedRequest } from "../../../src/telemetry/request-record.js";
import { asking, END_HEADERS, frame, FrameConnection, Type } from "../../fixtures/frames.js";
import { offerSome } from "../../fixtures/offering.js";
import { until } from "../../fixtures/wait.js";
import { defaultOptions } from "../../fixtures/server-options.js";

const path = "/offledger.burn.v0.BurnService/GetBurnOfferCancelContext";
let server: Server;
let url: string;
/** The server's ends of the connections that there are. */
const open = new Set<net.Socket>();

const told: CompletedRequest[] = [];

async function answer() {
  await sleep(5);
  return { choiceContextData: {}, disclosedContracts: [] };
}

beforeAll(async () => {
  server = await createServer([offerSome(BurnService, { getBurnOfferCancelContext: answer })], {
    ...defaultOptions,
    observers: [(completed) => told.push(completed)],
  });
  subscribe("net.server.socket", (message) => {
    const { socket } = message as { readonly socket: net.Socket };
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  url = await server.listen("127.0.0.1", 0);
});
afterAll(() => server.close(100));

const types = ["application/grpc", "application/proto", "application/grpc-web+proto", "application/json"];
const codes = [http2.constants.NGHTTP2_NO_ERROR, http2.constants.NGHTTP2_CANCEL];

test.each(types.flatMap((type) => codes.map((code) => [type, code] as const)))(
  "a request as %s that is closed with code %i before, while and behind its end leaves the others alone",
  async (type, code) => {
    const session = http2.connect(url);
    const whole = Buffer.from([0, 0, 0, 0, 2, 10, 0]);
    for (let time = 0; time < 30; time++) {
      const stream = session.request({ ":method": "POST", ":path": path, "content-type": type, te: "trailers" });
      stream.on("error", () => undefined);
      stream.write(time % 3 === 0 ? whole.subarray(0, 3) : whole);
      if (time % 3 === 2) stream.end();
      if (time % 2 === 0) stream.close(code);
      else setTimeout(() => stream.close(code), time % 10);
      await sleep(1);
    }
    const last = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
    });
    last.end(whole);
    const [headers] = (await once(last, "response")) as [http2.IncomingHttpHeaders];
    expect(headers[":status"]).toBe(200);
    session.destroy();
    await until("its connection is gone", () => open.size === 0);
  },
);

const message = Buffer.from("\0\0\0\0\x02{}", "latin1");
const CANCEL = Buffer.of(0, 0, 0, 8);

test.each([
  ["its only message", "application/grpc", "grpc", message.subarray(0, 6)],
  ["its second message", "application/grpc+json", "grpc", Buffer.concat([message, message])],
  ["its body", "application/json", "connect", Buffer.from("{")],
  ["a message that connect-es reads", "application/grpc-web+json", "grpc-web", message],
])("who leaves in the middle of %s (%s) is told of once, as canceled", async (_what, type, protocol, sent) => {
  told.length = 0;
  const connection = await FrameConnection.to(url);
  const headers = asking(path, { "content-type": type, te: "trailers" });
  connection.send(frame(Type.headers, END_HEADERS, 1, headers), frame(Type.data, 0, 1, sent));
  await sleep(50);
  connection.send(frame(Type.reset, 0, 1, CANCEL));
  await until("it is told", () => told.length > 0);
  await sleep(50);
  expect(told.map((one) => [one.protocol, one.outcome])).toEqual([[protocol, Code.Canceled]]);
  connection.end();
  await until("its connection is gone", () => open.size === 0);
});

test("who says that no more will come with the request itself is answered", async () => {
  const body = "{}";
  const head = `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
  for (let time = 0; time < 20; time++) {
    const socket = net.connect({ host: "127.0.0.1", port: Number(new URL(url).port), allowHalfOpen: true });
    socket.end(`${head}\r\n\r\n${body}`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n[^]*burnOfferId/);
  }
});

test("a connection that ends in the middle of a request is gone at once", async () => {
  const { port } = new URL(url);
  const socket = net.connect({ host: "127.0.0.1", port: Number(port), allowHalfOpen: true });
  socket.on("error", () => undefined);
  socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  // Settings, and the head of a request without its end: ":method: POST", ":path: /".
  socket.write(Buffer.from("0000000400000000000000020104000000018384", "hex"));
  await until("the server has it", () => open.size === 1);
  await sleep(50);
  socket.end();
  await until("its connection is gone", () => open.size === 0, 2_000);
  expect(open.size).toBe(0);
  socket.destroy();
});
