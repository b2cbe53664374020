/** Load by gRPC: sessions that each send the next request when they have the whole answer. */
import http2 from "node:http2";
import type { Load } from "./http1.js";

export async function loadGrpc(
  url: string,
  connections: number,
  seconds: number,
  path: string,
  requestOf: (index: number) => Buffer,
  more: http2.OutgoingHttpHeaders = {},
): Promise<Load> {
  const until = performance.now() + seconds * 1000;
  const latencies: number[] = [];
  let next = 0;
  const one = async () => {
    const session = http2.connect(url);
    try {
      while (performance.now() < until) {
        const sent = performance.now();
        await unary(session, path, requestOf(next++), more);
        latencies.push(performance.now() - sent);
      }
    } finally {
      session.close();
    }
  };
  const begun = performance.now();
  await Promise.all(Array.from({ length: connections }, one));
  return { requests: latencies.length, latencies, seconds: (performance.now() - begun) / 1000 };
}

/** One call; gives the message. */
export function unary(
  session: http2.ClientHttp2Session,
  path: string,
  framed: Buffer,
  more: http2.OutgoingHttpHeaders,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc+proto",
      te: "trailers",
      ...more,
    });
    let status: unknown;
    const chunks: Buffer[] = [];
    stream.on("response", (headers) => (status = headers["grpc-status"] ?? status));
    stream.on("trailers", (trailers) => (status = trailers["grpc-status"]));
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("error", reject);
    stream.on("end", () => {
      if (status === "0") resolve(Buffer.concat(chunks).subarray(5));
      else reject(new Error(`grpc-status ${String(status)}`));
    });
    stream.end(framed);
  });
}

/** A message in the frame of gRPC. */
export function frame(message: Uint8Array): Buffer {
  const framed = Buffer.alloc(5 + message.length);
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, 5);
  return framed;
}
