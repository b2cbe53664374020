/** Single requests, outside of a load. */
import { withTimeout } from "../wait.js";
import net from "node:net";
import { LAST_CHUNK } from "./connection.js";

const TIMEOUT_MS = 10_000;

/** Sends an encoded request and returns the response body. Throws for a status other than 200. */
export const fetchBody = async (url: string, request: Buffer): Promise<Buffer> =>
  (await fetchResponse(url, request)).body;

/** As `fetchBody`, with the head of the response. */
export function fetchResponse(url: string, request: Buffer): Promise<{ readonly head: string; readonly body: Buffer }> {
  const { hostname, port } = new URL(url);
  const socket = net.connect(Number(port), hostname);
  const response = new Promise<{ head: string; body: Buffer }>((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    socket.on("error", reject).on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      const end = received.indexOf("\r\n\r\n");
      if (end === -1) return;
      const head = received.toString("latin1", 0, end);
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN);
      // Of a response in chunks the body keeps their few bytes of framing.
      const isOver = Number.isNaN(length)
        ? received.subarray(end).toString("latin1").endsWith(LAST_CHUNK)
        : received.length >= end + 4 + length;
      if (!head.startsWith("HTTP/1.1 200")) reject(new Error(`${head}\n${received.toString("utf8", end)}`));
      else if (isOver) resolve({ head, body: received.subarray(end + 4) });
    });
    socket.write(request);
  });
  return withTimeout(TIMEOUT_MS, url, response).finally(() => socket.destroy());
}

/** Response bodies in base64, for a baseline server that sends the same bytes. */
export async function recordBodies(url: string, requests: readonly Buffer[]): Promise<string[]> {
  const bodies = await Promise.all(requests.map((request) => fetchBody(url, request)));
  return bodies.map((body) => body.toString("base64"));
}
