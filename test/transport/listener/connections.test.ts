/** The connection limit. Silent connections are in silent-connections.slow.test.ts. */
import net from "node:net";
import { once } from "node:events";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { FrameConnection } from "../../fixtures/http2-frames.js";
import { type Running, serveFile } from "../../fixtures/run-service.js";
import { countConnections, untilDisconnected } from "../../fixtures/server-sockets.js";
import { until } from "../../fixtures/wait.js";

const MOST = 5;
let running: Running;
beforeAll(async () => {
  running = await serveFile(undefined, { config: { maxConnections: MOST, requestSeconds: 1 } });
});
afterAll(() => running.close());

interface Client {
  readonly socket: net.Socket;
  text: string;
  isOver: boolean;
}

async function connect(): Promise<Client> {
  const { hostname, port } = new URL(running.url);
  const socket = net.connect({ host: hostname, port: Number(port) });
  const client: Client = { socket, text: "", isOver: false };
  socket.on("data", (chunk) => (client.text += chunk.toString())).on("error", () => {});
  socket.on("close", () => (client.isOver = true));
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return client;
}

const live = "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n";

async function answers(client: Client): Promise<void> {
  const before = client.text.length;
  client.socket.write(live);
  await until("it is answered", () => client.text.slice(before).includes('{"status":"ok"}') || client.isOver);
  expect(client.text.slice(before)).toMatch(/^HTTP\/1\.1 200 /);
}

test("more than the setting says are closed at once, and the others go on", async () => {
  const clients: Client[] = [];
  for (let at = 0; at < MOST; at++) {
    const client = await connect();
    await answers(client);
    clients.push(client);
  }
  for (let round = 0; round < 20; round++) {
    const beyond = await connect();
    await until("it is closed", () => beyond.isOver);
    expect(beyond.text).toBe("");
  }
  for (const client of clients) await answers(client);
  clients[0]?.socket.end();
  await until("there is room", () => countConnections(running.url) < MOST);
  await answers(await connect());
  for (const { socket } of clients) socket.destroy();
});

test("connections of HTTP/2 count as well", async () => {
  await untilDisconnected(running.url);
  for (let at = 0; at < MOST; at++) await FrameConnection.to(running.url);
  await until("all are there", () => countConnections(running.url) === MOST);
  const beyond = await connect();
  await until("it is closed", () => beyond.isOver);
  expect(beyond.text).toBe("");
});
