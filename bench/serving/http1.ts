/** Load over HTTP/1.1: connections that each send the next request when they have the whole answer. */
import net from "node:net";

/** What a load did. */
export interface Load {
  readonly requests: number;
  /** In milliseconds. */
  readonly latencies: readonly number[];
  readonly seconds: number;
}

/** Sends requests for a time. `requestOf` gives the bytes of the n-th. Throws where an answer is not 200. */
export async function loadHttp1(
  url: string,
  connections: number,
  seconds: number,
  requestOf: (index: number) => Buffer,
): Promise<Load> {
  const { hostname, port } = new URL(url);
  const until = performance.now() + seconds * 1000;
  const latencies: number[] = [];
  let next = 0;
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const socket = net.connect(Number(port), hostname);
      socket.setNoDelay(true);
      let sent = 0;
      let head = "";
      let left = -1;
      const send = () => {
        if (performance.now() >= until) {
          socket.end();
          resolve();
          return;
        }
        head = "";
        left = -1;
        sent = performance.now();
        socket.write(requestOf(next++));
      };
      socket.on("connect", send).on("error", reject);
      socket.on("data", (chunk) => {
        let body = chunk.length;
        if (left === -1) {
          head += chunk.toString("latin1", 0, Math.min(chunk.length, 2048));
          const end = head.indexOf("\r\n\r\n");
          if (end === -1) return;
          if (!head.startsWith("HTTP/1.1 200")) {
            reject(new Error(head));
            return;
          }
          left = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN);
          body = chunk.length - end - 4;
        }
        left -= body;
        if (left > 0) return;
        latencies.push(performance.now() - sent);
        send();
      });
    });
  const begun = performance.now();
  await Promise.all(Array.from({ length: connections }, one));
  return { requests: latencies.length, latencies, seconds: (performance.now() - begun) / 1000 };
}

/** The bytes of a POST. `more` are whole lines of its head. */
export function post(path: string, contentType: string, body: Uint8Array | string, more = ""): Buffer {
  const bytes = Buffer.from(body as string);
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${contentType}\r\n${more}Content-Length: ${bytes.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), bytes]);
}
