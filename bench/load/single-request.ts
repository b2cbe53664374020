/** One request, and what is answered. */
import { within } from "../wait.js";
import net from "node:net";

const PATIENCE_MS = 10_000;

/** The body of the answer to a request that is bytes already. Throws where it is not 200. */
export function bodyOf(url: string, request: Buffer): Promise<Buffer> {
  const { hostname, port } = new URL(url);
  const socket = net.connect(Number(port), hostname);
  const answer = new Promise<Buffer>((resolve, reject) => {
    let seen: Buffer = Buffer.alloc(0);
    socket.on("error", reject).on("data", (chunk) => {
      seen = Buffer.concat([seen, chunk]);
      const end = seen.indexOf("\r\n\r\n");
      if (end === -1) return;
      const head = seen.toString("latin1", 0, end);
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN);
      if (!head.startsWith("HTTP/1.1 200")) reject(new Error(`${head}\n${seen.toString("utf8", end)}`));
      else if (seen.length >= end + 4 + length) resolve(seen.subarray(end + 4));
    });
    socket.write(request);
  });
  return within(PATIENCE_MS, url, answer).finally(() => socket.destroy());
}

/** The answers to some requests, in base64, for a server that sends the same bytes. */
export async function answersTo(url: string, requests: readonly Buffer[]): Promise<string[]> {
  const bodies = await Promise.all(requests.map((request) => bodyOf(url, request)));
  return bodies.map((body) => body.toString("base64"));
}
