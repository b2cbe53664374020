/** Callers over HTTP/1.1 that take their time, or go away. */
import { once } from "node:events";
import net from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { callOf } from "../model/queries.js";
import { posted, read } from "./codec.js";
import type { Slow, Surroundings } from "./clients.js";

/** The most bytes that are sent one by one; what is before them comes at once. */
const BY_BYTE = 200;

/** A connection that is gone behind its use, whatever comes of it. */
async function connected<T>({ url, signal }: Surroundings, use: (socket: net.Socket) => Promise<T>): Promise<T> {
  const { hostname, port } = new URL(url);
  const socket = net.connect({ host: hostname, port: Number(port), noDelay: true, signal });
  socket.on("error", () => undefined);
  try {
    if (!signal.aborted) await Promise.race([once(socket, "connect"), once(socket, "close")]);
    return await use(socket);
  } finally {
    socket.destroy();
  }
}

const closed = (socket: net.Socket): Promise<unknown> =>
  socket.closed ? Promise.resolve() : new Promise((resolve) => void socket.once("close", resolve));

/** Sends the end of a request a byte at a time, from anywhere in it on. */
export const drip: Slow = async (surroundings) => {
  const { random, judge, question, note, pause } = surroundings;
  return connected(surroundings, async (socket) => {
    const asked = question();
    const bytes = posted(callOf(asked), true);
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    const from = random.below(bytes.length);
    const max = Math.min(from + BY_BYTE, bytes.length);
    // Some take longer than any server has to wait.
    const longMs = random.below(6) === 0 ? 35_000 : 1_000 + random.below(8_000);
    const sent = judge.sent();
    socket.write(bytes.subarray(0, from));
    for (let at = from; at < max && !socket.closed; at++) {
      await pause(longMs / BY_BYTE);
      socket.write(bytes.subarray(at, at + 1));
    }
    socket.write(bytes.subarray(max));
    await Promise.race([closed(socket), pause(20_000)]);
    const outcome = read(Buffer.concat(chunks));
    if (outcome !== undefined) note("slow HTTP/1.1", asked, outcome, sent);
  });
};

/** Asks for a lot at once, and reads the answers in small bits, for a while. */
export const slowReader: Slow = async (surroundings) => {
  const { random, question, pause } = surroundings;
  return connected(surroundings, async (socket) => {
    const requests = Array.from({ length: 150 }, () => posted(callOf(question()), false));
    let isOver = false;
    socket.on("data", () => {
      socket.pause();
      void delay(100).then(() => isOver || socket.resume());
    });
    socket.write(Buffer.concat(requests));
    await Promise.race([closed(socket), pause(2_000 + random.below(10_000))]);
    isOver = true;
  });
};

/** Opens a connection, and says nothing, or no more than could be of either version. */
export const silent: Slow = async (surroundings) => {
  const { random, pause } = surroundings;
  return connected(surroundings, async (socket) => {
    socket.write(["", "P", "PR", "PRI * HTTP/2"][random.below(4)] ?? "");
    await Promise.race([closed(socket), pause(random.below(15_000))]);
  });
};

/** Goes away in the middle of the request, in good order or with a reset. */
export const leaves: Slow = async (surroundings) => {
  const { random, question, pause } = surroundings;
  return connected(surroundings, async (socket) => {
    const bytes = posted(callOf(question()), false);
    socket.write(bytes.subarray(0, random.below(bytes.length)));
    await pause(random.below(1_000));
    if (random.below(2) === 0) socket.resetAndDestroy();
    else socket.end();
    await Promise.race([closed(socket), pause(2_000)]);
  });
};

/** Goes away with a reset when the first bytes of many answers have come. */
export const leavesAnswers: Slow = async (surroundings) => {
  const { question, pause } = surroundings;
  return connected(surroundings, async (socket) => {
    socket.once("data", () => socket.resetAndDestroy());
    socket.write(Buffer.concat(Array.from({ length: 30 }, () => posted(callOf(question()), false))));
    await Promise.race([closed(socket), pause(5_000)]);
  });
};
