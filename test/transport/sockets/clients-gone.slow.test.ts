/** HTTP/2 clients that leave in the middle of a request: nothing leaks, and the service keeps running. */
import { once } from "node:events";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Code } from "@connectrpc/connect";
import { expect, onTestFinished, test } from "vitest";
import { BurnService } from "../../../gen/offledger/burn/v0/burn_service_pb.js";
import type { CompletedRequest } from "../../../src/telemetry/request-record.js";
import { createServer } from "../../../src/transport/server.js";
import {
  END_HEADERS,
  frame,
  FrameConnection,
  PREFACE,
  requestHeaders,
  settings,
  Type,
} from "../../fixtures/http2-frames.js";
import { bindPartial } from "../../fixtures/partial-service.js";
import { main, Program } from "../../fixtures/program.js";
import { countConnections } from "../../fixtures/raw-connection.js";
import { framed } from "../../fixtures/requests-in-forms.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";
import { until } from "../../fixtures/wait.js";

const path = "/offledger.burn.v0.BurnService/GetBurnOfferCancelContext";
const CANCEL = Buffer.of(0, 0, 0, 8);

const getBurnOfferCancelContext = async () => {
  await sleep(5);
  return { values: [], disclosed: [] };
};

async function serve() {
  const completed: CompletedRequest[] = [];
  const observers = [(request: CompletedRequest) => completed.push(request)];
  const server = await createServer([bindPartial(BurnService, { getBurnOfferCancelContext })], {
    ...TEST_SERVER_OPTIONS,
    observers,
  });
  onTestFinished(() => server.close(100));
  return { url: await server.listen("127.0.0.1", 0), completed };
}

test.each([
  ["its only message", "application/grpc", "grpc", framed(Buffer.from("{}")).subarray(0, 6)],
  ["its body", "application/json", "connect", Buffer.from("{")],
  ["a message that connect-es reads", "application/grpc-web+json", "grpc-web", framed(Buffer.from("{}"))],
])("a reset in the middle of %s is recorded once, as canceled", async (_what, type, protocol, sent) => {
  const { url, completed } = await serve();
  const connection = await FrameConnection.to(url);
  const headers = requestHeaders(path, { "content-type": type, te: "trailers" });
  connection.send(frame(Type.headers, END_HEADERS, 1, headers), frame(Type.data, 0, 1, sent));
  await sleep(50);
  connection.send(frame(Type.reset, 0, 1, CANCEL));
  await until("the request is recorded", () => completed.length > 0);
  await sleep(50);
  expect(completed.map((one) => [one.protocol, one.outcome])).toEqual([[protocol, Code.Canceled]]);
  connection.end();
  await until("its connection has closed", () => countConnections(url) === 0);
});

test("a connection that ends in the middle of a request closes at once", async () => {
  const { url } = await serve();
  const connection = await FrameConnection.to(url);
  connection.send(frame(Type.headers, END_HEADERS, 1, requestHeaders("/")));
  await until("the server has accepted it", () => countConnections(url) === 1);
  await sleep(50);
  connection.end();
  await until("its connection has closed", () => countConnections(url) === 0);
  // Its end may reach the client later.
  await until("the client has seen the end", () => connection.hasEnded);
  expect(countConnections(url)).toBe(0);
});

/** It crashes a server of node:http2 alone with Node.js 20.20 and 24.11: see node-workarounds.ts. */
test("GOAWAY followed by a malformed frame in the same bytes ends only its connection", async () => {
  const args = [main, "serve", "--port", "0"];
  const program = new Program(process.execPath, args, { cwd: process.cwd() });
  onTestFinished(async () => {
    program.signal("SIGTERM");
    await program.ended();
  });
  const { port } = new URL(await program.listens());
  const bytes = Buffer.concat([
    PREFACE,
    settings({ 1: 0 }),
    // Last stream 0, NO_ERROR.
    frame(Type.goaway, 0, 0, Buffer.alloc(8)),
    frame(Type.headers, END_HEADERS, 7, requestHeaders(path, { "content-type": "application/grpc" })),
    // PRIORITY, one byte short.
    frame(2, 0, 7, Buffer.from("66299462", "hex")),
  ]);
  const attack = async () => {
    const socket = net.connect(Number(port), "127.0.0.1");
    socket.on("error", () => undefined).write(bytes);
    // The service has read them. It would keep the connection for as long as an idle one.
    await once(socket, "data");
    socket.destroy();
  };
  await Promise.all(Array.from({ length: 10 }, attack));
  expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);
});
