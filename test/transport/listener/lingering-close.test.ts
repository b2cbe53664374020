/** The last response of a connection whose client is still sending. */
import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { clientErrorHandler } from "../../../src/transport/listener/client-error-handler.js";
import type { LingerLimits } from "../../../src/transport/listener/lingering-close.js";
import { until } from "../../fixtures/wait.js";

const LONG_MS = 60_000;
const MALFORMED = Buffer.from("GARBAGE");

interface Pair {
  /** Reads nothing until `resume`. */
  readonly client: net.Socket;
  /** The server's side. */
  readonly served: net.Socket;
  readonly text: () => string;
}

async function connect(limits: LingerLimits): Promise<Pair> {
  const server = http.createServer((_request, response) => response.end());
  server.on("clientError", clientErrorHandler(LONG_MS, limits));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const accepted = once(server, "connection");
  const client = net.connect({ port: (server.address() as net.AddressInfo).port, host: "127.0.0.1" });
  onTestFinished(() => void client.destroy());
  const chunks: Buffer[] = [];
  client.on("data", (chunk) => chunks.push(chunk)).on("error", () => undefined);
  // Before it is connected: later, Node.js would have read the response already.
  client.pause();
  const [served] = (await accepted) as [net.Socket];
  return { client, served, text: () => Buffer.concat(chunks).toString() };
}

test("a client that sends on after a malformed request gets the response", async () => {
  const { client, served, text } = await connect({ lingerMs: LONG_MS, maxBytes: 1_000_000 });
  let sent = 0;
  client.write(MALFORMED);
  sent += MALFORMED.length;
  await until("the server has responded", () => served.bytesWritten > 0);
  // A closed connection answers the first of these with RST, and then the next fails.
  for (let writes = 0; writes < 10; writes++) {
    client.write(MALFORMED);
    sent += MALFORMED.length;
    await until("the bytes are read", () => served.bytesRead === sent || served.destroyed);
  }
  await new Promise(setImmediate);
  client.resume();
  await until("the connection is closed", () => client.closed);
  expect(text()).toMatch(/^HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n.*malformed HTTP request"}$/s);
  await until("the server has closed it too", () => served.closed);
});

test("a client that does not close the connection loses it", async () => {
  const { client, served } = await connect({ lingerMs: 50, maxBytes: 1_000_000 });
  client.write(MALFORMED);
  await until("the server has closed it", () => served.closed);
  expect(served.bytesWritten).toBeGreaterThan(0);
});

test("a client that goes on sending loses the connection", async () => {
  const { client, served } = await connect({ lingerMs: LONG_MS, maxBytes: 100_000 });
  client.write(Buffer.alloc(1_000_000, "x"));
  await until("the server has closed it", () => served.closed);
  expect(served.bytesRead).toBeGreaterThan(100_000);
  expect(served.bytesRead).toBeLessThan(500_000);
});
