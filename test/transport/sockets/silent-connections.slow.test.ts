/** Connections that never send a byte are closed after ten seconds, and free their places. */
import net from "node:net";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { expectAlive } from "../../fixtures/http-requests.js";
import { serveFile } from "../../fixtures/run-service.js";
import { countConnections, untilDisconnected } from "../../fixtures/server-sockets.js";
import { until } from "../../fixtures/wait.js";

const MAX_CONNECTIONS = 5;

test("silent connections are closed, and free their places", async () => {
  const running = await serveFile(undefined, { config: { maxConnections: MAX_CONNECTIONS, requestSeconds: 1 } });
  onTestFinished(() => running.close());
  const { hostname, port } = new URL(running.url);
  const sockets = Array.from({ length: MAX_CONNECTIONS }, () => net.connect({ host: hostname, port: Number(port) }));
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()));
  await Promise.all(sockets.map((socket) => once(socket.resume(), "connect")));
  await until("the service has closed them", () => sockets.every(({ closed }) => closed), 25_000);
  await untilDisconnected(running.url);
  expect(countConnections(running.url)).toBe(0);
  await expectAlive(running.url);
});
