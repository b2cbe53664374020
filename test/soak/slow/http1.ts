/** Slow and aborting HTTP/1.1 clients. */
import net from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { toCall } from "../model/queries.js";
import { encodeHttp1, decodeHttp1 } from "./codec.js";
import type { SlowClient, ClientContext } from "./clients.js";

/** Bytes that are sent one by one; the ones before are sent at once. */
const MAX_SINGLE_BYTES = 200;

async function withConnection<T>({ url, signal }: ClientContext, use: (socket: net.Socket) => Promise<T>): Promise<T> {
  const { hostname, port } = new URL(url);
  const socket = net.connect({ host: hostname, port: Number(port), noDelay: true, signal });
  socket.on("error", () => undefined);
  try {
    // Also resolves when the signal aborts the connect.
    await new Promise((resolve) => void socket.once("connect", resolve).once("close", resolve));
    return await use(socket);
  } finally {
    socket.destroy();
  }
}

const waitForClose = (socket: net.Socket): Promise<unknown> =>
  socket.closed ? Promise.resolve() : new Promise((resolve) => void socket.once("close", resolve));

/** Sends a request byte by byte from a random position on. */
export const sendSlowly: SlowClient = async (context) => {
  const { random, oracle, createQuery, record, pause } = context;
  return withConnection(context, async (socket) => {
    const query = createQuery();
    const bytes = encodeHttp1(toCall(query), true);
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    const from = random.below(bytes.length);
    const max = Math.min(from + MAX_SINGLE_BYTES, bytes.length);
    // Some take longer than the service's request timeout.
    const longMs = random.below(6) === 0 ? 35_000 : 1_000 + random.below(8_000);
    const sent = oracle.recordSent();
    socket.write(bytes.subarray(0, from));
    for (let at = from; at < max && !socket.closed; at++) {
      await pause(longMs / MAX_SINGLE_BYTES);
      socket.write(bytes.subarray(at, at + 1));
    }
    socket.write(bytes.subarray(max));
    await Promise.race([waitForClose(socket), pause(20_000)]);
    const outcome = decodeHttp1(Buffer.concat(chunks));
    if (outcome !== undefined) record("slow HTTP/1.1", query, outcome, sent);
  });
};

/** Pipelines many requests and reads the responses in small portions. */
export const readSlowly: SlowClient = async (context) => {
  const { random, createQuery, pause } = context;
  return withConnection(context, async (socket) => {
    const requests = Array.from({ length: 150 }, () => encodeHttp1(toCall(createQuery()), false));
    let isOver = false;
    socket.on("data", () => {
      socket.pause();
      void delay(100).then(() => isOver || socket.resume());
    });
    socket.write(Buffer.concat(requests));
    await Promise.race([waitForClose(socket), pause(2_000 + random.below(10_000))]);
    isOver = true;
  });
};

/** Sends nothing, or a prefix that may still be HTTP/1.1 or HTTP/2. */
export const staySilent: SlowClient = async (context) => {
  const { random, pause } = context;
  return withConnection(context, async (socket) => {
    socket.write(["", "P", "PR", "PRI * HTTP/2"][random.below(4)] ?? "");
    await Promise.race([waitForClose(socket), pause(random.below(15_000))]);
  });
};

/** Closes the connection within a request, with FIN or a reset. */
export const abortRequest: SlowClient = async (context) => {
  const { random, createQuery, pause } = context;
  return withConnection(context, async (socket) => {
    const bytes = encodeHttp1(toCall(createQuery()), false);
    socket.write(bytes.subarray(0, random.below(bytes.length)));
    await pause(random.below(1_000));
    if (random.below(2) === 0) socket.resetAndDestroy();
    else socket.end();
    await Promise.race([waitForClose(socket), pause(2_000)]);
  });
};

/** Resets the connection after the first bytes of many responses. */
export const abortResponses: SlowClient = async (context) => {
  const { createQuery, pause } = context;
  return withConnection(context, async (socket) => {
    socket.once("data", () => socket.resetAndDestroy());
    socket.write(Buffer.concat(Array.from({ length: 30 }, () => encodeHttp1(toCall(createQuery()), false))));
    await Promise.race([waitForClose(socket), pause(5_000)]);
  });
};
