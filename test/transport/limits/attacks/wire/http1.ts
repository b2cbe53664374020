/** HTTP/1.1 as bytes. */
import type net from "node:net";
import type { Tally } from "../attack.js";

export function encodeHead(method: string, path: string, headers: Readonly<Record<string, string>> = {}): Buffer {
  const lines = Object.entries({ Host: "localhost", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`, "latin1");
}

/** Counts responses by status. A status line that two reads share is not counted. */
export function countResponses(socket: net.Socket, tally: Tally, then?: () => void): void {
  socket.on("data", (chunk: Buffer) => {
    const matches = chunk.toString("latin1").matchAll(/HTTP\/1\.1 (\d{3})/g);
    let count = 0;
    for (const [, status = ""] of matches) {
      tally.answer(status);
      if (status !== "100") count++;
    }
    if (count > 0) then?.();
  });
}

/** Writes chunks as fast as the other end takes them, until there are none or the socket closes. */
export function pump(socket: net.Socket, nextChunk: () => Buffer | undefined, done?: () => void): void {
  const write = () => {
    if (socket.destroyed) return;
    const chunk = nextChunk();
    if (chunk === undefined) done?.();
    else if (socket.write(chunk)) setImmediate(write);
    else socket.once("drain", write);
  };
  write();
}
