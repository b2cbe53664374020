/** The limit on connections, and the timeout of silent ones. */
import net from "node:net";
import { once } from "node:events";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { FrameConnection } from "../../fixtures/http2-frames.js";
import { type Running, serveFile } from "../../fixtures/run-service.js";
import { countConnections, untilDisconnected } from "../../fixtures/server-sockets.js";
import { until } from "../../fixtures/wait.js";

const MAX_CONNECTIONS = 5;
/** Connections beyond the limit, for health requests. */
const RESERVE = 16;
let running: Running;
beforeAll(async () => {
  running = await serveFile(undefined, { config: { maxConnections: MAX_CONNECTIONS, requestSeconds: 1 } });
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

const informationRequest = "GET /api/utilities/v0/operator HTTP/1.1\r\nHost: a\r\n\r\n";
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

const OVERLOADED = /^HTTP\/1\.1 503 .*connection: close\r\n.*the service has too many connections/is;

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

test("over the limit health requests are answered, other requests refused, and the others stay", async () => {
  const clients = await fill();
  for (let round = 0; round < 2 * RESERVE; round++) {
    const excess = await connect();
    const isHealth = round % 2 === 0;
    excess.socket.write(isHealth ? livenessRequest : informationRequest);
    await until("the excess connection is closed", () => excess.isClosed);
    expect(excess.text).toMatch(isHealth ? /^HTTP\/1\.1 200 / : OVERLOADED);
  }
  for (const client of clients) await expectAnswer(client);
  clients[0]?.socket.end();
  await until("a connection is released", () => countConnections(running.url) < MAX_CONNECTIONS);
  await expectAnswer(await connect());
  for (const { socket } of clients) socket.destroy();
});

test("over the reserve connections are closed at once, and silent ones in it soon", async () => {
  await untilDisconnected(running.url);
  const clients = await fill();
  const silent = await Promise.all(Array.from({ length: RESERVE }, connect));
  await until("the reserve is used up", () => countConnections(running.url) === MAX_CONNECTIONS + RESERVE);
  const excess = await connect();
  await until("the excess connection is closed", () => excess.isClosed);
  expect(excess.text).toBe("");
  await until("the reserve is free", () => silent.every(({ isClosed }) => isClosed), 25_000);
  for (const client of clients) expect(client.isClosed).toBe(false);
  for (const { socket } of clients) socket.destroy();
});

test("HTTP/2 connections count towards the limit", async () => {
  await untilDisconnected(running.url);
  for (let at = 0; at < MAX_CONNECTIONS; at++) await FrameConnection.to(running.url);
  await until("all are open", () => countConnections(running.url) === MAX_CONNECTIONS);
  const excess = await connect();
  excess.socket.write(informationRequest);
  await until("the excess connection is closed", () => excess.isClosed);
  expect(excess.text).toMatch(OVERLOADED);
});

test("silent connections are closed and release their place", async () => {
  await untilDisconnected(running.url);
  const silent = await Promise.all(Array.from({ length: MAX_CONNECTIONS }, connect));
  await until("the silent connections are closed", () => silent.every(({ isClosed }) => isClosed), 25_000);
  await untilDisconnected(running.url);
  expect(countConnections(running.url)).toBe(0);
  await expectAnswer(await connect());
});
