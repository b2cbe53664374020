/** Load by gRPC: sessions that each send the next request when they have the whole answer. */
import http2 from "node:http2";
import { CONNECTIONS } from "../scale.js";
import { within } from "../wait.js";
import { keepAwake } from "./busy-spin.js";
import { type Load, PATIENCE_MS } from "./http1.js";

export async function loadGrpc(
  url: string,
  seconds: number,
  path: string,
  requestOf: (index: number) => Buffer,
): Promise<Load> {
  let requests = 0;
  const sleep = keepAwake();
  const begun = performance.now();
  const until = begun + seconds * 1000;
  // A session that breaks is told by its streams.
  const sessions = Array.from({ length: CONNECTIONS }, () => http2.connect(url).on("error", () => undefined));
  const run = async (session: http2.ClientHttp2Session) => {
    while (performance.now() < until) await unary(session, path, requestOf(requests++));
  };
  try {
    await within(seconds * 1000 + PATIENCE_MS, url, Promise.all(sessions.map(run)));
    return { requests, seconds: (performance.now() - begun) / 1000 };
  } finally {
    sleep();
    for (const session of sessions) session.destroy();
  }
}

/** One call; gives the message. */
export function unary(session: http2.ClientHttp2Session, path: string, framed: Buffer): Promise<Buffer> {
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

/** A message in the frame of gRPC. */
export function frame(message: Uint8Array): Buffer {
  const framed = Buffer.alloc(5 + message.length);
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, 5);
  return framed;
}
