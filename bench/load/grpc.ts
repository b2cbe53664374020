/** Closed-loop gRPC load: each session sends its next request after the whole response. */
import http2 from "node:http2";
import { CONNECTIONS } from "../scale.js";
import { withTimeout } from "../wait.js";
import { startBusySpin } from "./busy-spin.js";
import { type LoadResult, DRAIN_TIMEOUT_MS } from "./http1.js";

export async function loadGrpc(
  url: string,
  seconds: number,
  path: string,
  requestAt: (index: number) => Buffer,
): Promise<LoadResult> {
  let requests = 0;
  const stopSpin = startBusySpin();
  const startedAt = performance.now();
  const deadline = startedAt + seconds * 1000;
  const sessions = Array.from({ length: CONNECTIONS }, () => http2.connect(url).on("error", () => undefined));
  const run = async (session: http2.ClientHttp2Session) => {
    while (performance.now() < deadline) await callUnary(session, path, requestAt(requests++));
  };
  try {
    await withTimeout(seconds * 1000 + DRAIN_TIMEOUT_MS, url, Promise.all(sessions.map(run)));
    return { requests, seconds: (performance.now() - startedAt) / 1000 };
  } finally {
    stopSpin();
    for (const session of sessions) session.destroy();
  }
}

export function callUnary(session: http2.ClientHttp2Session, path: string, framed: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc+proto", te: "trailers" };
    const stream = session.request(headers);
    let status: unknown;
    const chunks: Buffer[] = [];
    stream.on("response", (head) => (status = head["grpc-status"] ?? status));
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

export function frameMessage(message: Uint8Array): Buffer {
  const framed = Buffer.alloc(5 + message.length);
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, 5);
  return framed;
}
