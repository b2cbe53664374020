/** Clients that ask for the largest file of /docs and read nothing: they cost no descriptors and no copies. */
import { once } from "node:events";
import { readdirSync, readlinkSync, statSync } from "node:fs";
import http2 from "node:http2";
import net from "node:net";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Running, serveFile } from "../fixtures/run-service.js";

const PATH = "/docs/static/swagger-ui-bundle.js";
const FILE_BYTES = statSync("node_modules/@fastify/swagger-ui/static/swagger-ui-bundle.js").size;
const CONNECTIONS = 64;
/** On each connection of HTTP/1.1: one response may fit into the buffers of the kernel. */
const PIPELINED = 8;

let running: Running;
beforeAll(async () => {
  running = await serveFile(undefined);
  // Loads all modules, and compresses the file.
  for (const encoding of ["identity", "gzip"]) {
    await (await fetch(running.url + PATH, { headers: { "accept-encoding": encoding } })).arrayBuffer();
  }
});
afterAll(() => running.close());

/** What this process has open, other than sockets. */
function openFiles(): string[] {
  return readdirSync("/proc/self/fd").flatMap((descriptor) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${descriptor}`);
      return target.startsWith("/") && !target.startsWith("/proc/") ? [target] : [];
    } catch {
      // It was the one of this list.
      return [];
    }
  });
}

const bytesOutsideHeap = (): number => process.memoryUsage().external;

/** Opens the connections and waits for the first bytes of each response. */
async function stall(connect: () => Promise<void>): Promise<{ files: string[]; grown: number }> {
  const [filesBefore, bytesBefore] = [openFiles(), bytesOutsideHeap()];
  await Promise.all(Array.from({ length: CONNECTIONS }, connect));
  const added = openFiles();
  for (const file of filesBefore) {
    const at = added.indexOf(file);
    if (at !== -1) added.splice(at, 1);
  }
  return { files: added, grown: bytesOutsideHeap() - bytesBefore };
}

async function http1(): Promise<void> {
  const { hostname, port } = new URL(running.url);
  const socket = net.connect({ host: hostname, port: Number(port) });
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  socket.write(`GET ${PATH} HTTP/1.1\r\nhost: localhost\r\n\r\n`.repeat(PIPELINED));
  await once(socket, "readable");
}

async function overHttp2(): Promise<void> {
  const session = http2.connect(running.url);
  onTestFinished(() => session.destroy());
  session.on("error", () => {});
  const stream = session.request({ ":path": PATH });
  stream.on("error", () => {});
  const [head] = (await once(stream, "response")) as [http2.IncomingHttpHeaders];
  expect(head[":status"]).toBe(200);
  await once(stream, "readable");
}

test.each([
  ["HTTP/1.1", http1],
  ["HTTP/2", overHttp2],
])("over %s", async (_protocol, connect) => {
  const { files, grown } = await stall(connect);
  expect(files).toEqual([]);
  // The connections themselves take some. A copy for each would be 64 times the file.
  expect(grown).toBeLessThan(8 * FILE_BYTES);
});
