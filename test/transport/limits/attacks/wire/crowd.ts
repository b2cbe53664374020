/** Many connections that are opened again when they close. */
import { once } from "node:events";
import net from "node:net";
import type { AttackTarget, Tally } from "../attack.js";

const TICK_MS = 20;
/** 1,000 a second. */
const MAX_OPENS_PER_TICK = 20;
/** A fraction of the 511 that wait to be accepted, so that the queue is not what is attacked. */
const MAX_CONNECTING = 100;
const DEFAULT_FROM = "127.0.0.1";

interface CrowdOptions {
  readonly count: number;
  /** Called for each connection. `index` counts them. */
  readonly use: (socket: net.Socket, index: number) => void;
  /** Whether this end stays open after the other has ended. */
  readonly allowHalfOpen?: boolean;
}

/** Keeps `count` connections open until `signal` is aborted; then destroys them all. */
export async function keepConnected(
  target: AttackTarget,
  tally: Tally,
  signal: AbortSignal,
  { count, use, allowHalfOpen = false }: CrowdOptions,
): Promise<void> {
  const sockets = new Set<net.Socket>();
  let connecting = 0;
  const open = () => {
    const socket = connect(target, allowHalfOpen);
    sockets.add(socket);
    connecting++;
    let isConnected = false;
    socket.once("connect", () => {
      isConnected = true;
      connecting--;
      use(socket, tally.opened++);
    });
    socket.once("close", () => {
      sockets.delete(socket);
      tally.sentBytes += socket.bytesWritten;
      if (!isConnected) connecting--;
      if (signal.aborted) return;
      if (isConnected) tally.closed++;
      else tally.refused++;
    });
  };
  const timer = setInterval(() => {
    const max = Math.min(MAX_OPENS_PER_TICK, MAX_CONNECTING - connecting, count - sockets.size);
    for (let opens = 0; opens < max; opens++) open();
  }, TICK_MS);
  if (!signal.aborted) await once(signal, "abort");
  clearInterval(timer);
  const closes = [...sockets].map((socket) => once(socket, "close"));
  for (const socket of sockets) socket.destroy();
  await Promise.all(closes);
}

function connect({ host, port, from }: AttackTarget, allowHalfOpen: boolean): net.Socket {
  // Binding first would limit the connections to the free ports, so only another address is bound.
  const localAddress = from === DEFAULT_FROM ? {} : { localAddress: from };
  const socket = net.connect({ host, port, noDelay: true, allowHalfOpen, ...localAddress });
  return socket.on("error", () => undefined);
}
