/** HTTP/2 clients that leave in the middle of a request: nothing leaks, and the service keeps running. */
import { subscribe } from "node:diagnostics_channel";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BurnService } from "../../../gen/offledger/burn/v0/burn_service_pb.js";
import { createServer, type Server } from "../../../src/transport/server.js";
import type { CompletedRequest } from "../../../src/telemetry/request-record.js";
import { requestHeaders, END_HEADERS, frame, FrameConnection, Type } from "../../fixtures/http2-frames.js";
import { bindPartial } from "../../fixtures/partial-service.js";
import { until } from "../../fixtures/wait.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";

const path = "/offledger.burn.v0.BurnService/GetBurnOfferCancelContext";
let server: Server;
let url: string;
/** The server's open sockets. */
const open = new Set<net.Socket>();

const completed: CompletedRequest[] = [];

async function respond() {
  await sleep(5);
  return { choiceContextData: {}, disclosedContracts: [] };
}

beforeAll(async () => {
  server = await createServer([bindPartial(BurnService, { getBurnOfferCancelContext: respond })], {
    ...TEST_SERVER_OPTIONS,
    observers: [(request) => completed.push(request)],
  });
  subscribe("net.server.socket", (message) => {
    const { socket } = message as { readonly socket: net.Socket };
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  url = await server.listen("127.0.0.1", 0);
});
afterAll(() => server.close(100));

const message = Buffer.from("\0\0\0\0\x02{}", "latin1");
const CANCEL = Buffer.of(0, 0, 0, 8);

test.each([
  ["its only message", "application/grpc", "grpc", message.subarray(0, 6)],
  ["its body", "application/json", "connect", Buffer.from("{")],
  ["a message that connect-es reads", "application/grpc-web+json", "grpc-web", message],
])(
  "a client that resets in the middle of %s (%s) is recorded once, as canceled",
  async (_what, type, protocol, sent) => {
    completed.length = 0;
    const connection = await FrameConnection.to(url);
    const headers = requestHeaders(path, { "content-type": type, te: "trailers" });
    connection.send(frame(Type.headers, END_HEADERS, 1, headers), frame(Type.data, 0, 1, sent));
    await sleep(50);
    connection.send(frame(Type.reset, 0, 1, CANCEL));
    await until("the request is recorded", () => completed.length > 0);
    await sleep(50);
    expect(completed.map((one) => [one.protocol, one.outcome])).toEqual([[protocol, Code.Canceled]]);
    connection.end();
    await until("its connection has closed", () => open.size === 0);
  },
);

test("a connection that ends in the middle of a request closes at once", async () => {
  const { port } = new URL(url);
  const socket = net.connect({ host: "127.0.0.1", port: Number(port), allowHalfOpen: true });
  socket.on("error", () => undefined);
  socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  // SETTINGS, and HEADERS of a request without END_STREAM: ":method: POST", ":path: /".
  socket.write(Buffer.from("0000000400000000000000020104000000018384", "hex"));
  await until("the server has accepted it", () => open.size === 1);
  await sleep(50);
  socket.end();
  await until("its connection has closed", () => open.size === 0);
  expect(open.size).toBe(0);
  socket.destroy();
});
