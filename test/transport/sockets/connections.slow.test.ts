/** The limit on connections. */
import net from "node:net";
import { once } from "node:events";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { FrameConnection } from "../../fixtures/http2-frames.js";
import { type Running, serveFile } from "../../fixtures/run-service.js";
import { countConnections, untilDisconnected } from "../../fixtures/server-sockets.js";
import { until } from "../../fixtures/wait.js";

const MAX_CONNECTIONS = 5;
let running: Running;
beforeAll(async () => {
  running = await serveFile(undefined, { config: { maxConnections: MAX_CONNECTIONS } });
});
afterAll(() => running.close());

interface Client {
  readonly socket: net.Socket;
  text: string;
  isClosed: boolean;
}

async function connect(): Promise<Client> {
  const { hostname, port } = new URL(running.url);
  const socket = net.connect({ host: hostname, port: Number(port) });
  const client: Client = { socket, text: "", isClosed: false };
  socket.on("data", (chunk) => (client.text += chunk.toString())).on("error", () => {});
  socket.on("close", () => (client.isClosed = true));
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return client;
}

const livenessRequest = "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n";

async function expectAnswer(client: Client): Promise<void> {
  const before = client.text.length;
  client.socket.write(livenessRequest);
  await until(
    "the request is answered",
    () => client.text.slice(before).includes('{"status":"ok"}') || client.isClosed,
  );
  expect(client.text.slice(before)).toMatch(/^HTTP\/1\.1 200 /);
}

/** Opens all connections that the limit allows. */
async function fill(): Promise<Client[]> {
  const clients: Client[] = [];
  for (let at = 0; at < MAX_CONNECTIONS; at++) {
    const client = await connect();
    await expectAnswer(client);
    clients.push(client);
  }
  return clients;
}

test("over the limit connections are closed at once, and the others stay", async () => {
  const clients = await fill();
  for (let round = 0; round < 20; round++) {
    const excess = await connect();
    await until("the excess connection is closed", () => excess.isClosed);
    expect(excess.text).toBe("");
  }
  for (const client of clients) await expectAnswer(client);
  clients[0]?.socket.end();
  await until("a connection is released", () => countConnections(running.url) < MAX_CONNECTIONS);
  await expectAnswer(await connect());
  for (const { socket } of clients) socket.destroy();
});

test("HTTP/2 connections count towards the limit", async () => {
  await untilDisconnected(running.url);
  for (let at = 0; at < MAX_CONNECTIONS; at++) await FrameConnection.to(running.url);
  await until("all are open", () => countConnections(running.url) === MAX_CONNECTIONS);
  const excess = await connect();
  await until("the excess connection is closed", () => excess.isClosed);
  expect(excess.text).toBe("");
});
