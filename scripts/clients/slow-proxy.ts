/** A TCP proxy that passes responses on after a delay. */
import { once } from "node:events";
import net, { type AddressInfo } from "node:net";

export interface SlowProxy {
  readonly url: string;
  close(): Promise<void>;
}

export async function startSlowProxy(target: string, delayMs: number): Promise<SlowProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<net.Socket>();
  const timers = new Set<NodeJS.Timeout>();
  const server = net.createServer((near) => {
    const far = net.connect({ host: hostname, port: Number(port) });
    for (const socket of [near, far]) {
      sockets.add(socket);
      // Closing either end closes the other.
      socket
        .on("error", () => {})
        .on("close", () => {
          sockets.delete(socket);
          (socket === near ? far : near).destroy();
        });
    }
    near.pipe(far);
    far.on("data", (bytes) => {
      const timer = setTimeout(() => {
        timers.delete(timer);
        near.write(bytes);
      }, delayMs);
      timers.add(timer);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const timer of timers) clearTimeout(timer);
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
