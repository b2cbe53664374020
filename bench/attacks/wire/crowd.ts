/** Many connections that are opened again when they close. */
import { once } from "node:events";
import net from "node:net";
import type { AttackTarget, Tally } from "../attackers/attack.js";

const TICK_MS = 20;
/** 1,000 a second. */
const MAX_OPENS_PER_TICK = 20;
const DEFAULT_FROM = "127.0.0.1";

interface CrowdOptions {
  readonly count: number;
  /** Called for each connection. `index` counts them. */
  readonly use: (socket: net.Socket, index: number) => void;
  /** Connections to the same address keep their own end open after the other has ended. */
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
  const open = () => {
    const socket = connect(target, allowHalfOpen);
    sockets.add(socket);
    let isConnected = false;
    socket.once("connect", () => {
      isConnected = true;
      use(socket, tally.opened++);
    });
    socket.once("close", () => {
      sockets.delete(socket);
      tally.sentBytes += socket.bytesWritten;
      if (!isConnected) tally.refused++;
      else if (!signal.aborted) tally.closed++;
    });
  };
  const timer = setInterval(() => {
    for (let opens = 0; opens < MAX_OPENS_PER_TICK && sockets.size < count; opens++) open();
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
