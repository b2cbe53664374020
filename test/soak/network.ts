/** A TCP proxy in front of a server, which can cut connections and hold back data. */
import { once } from "node:events";
import net, { type AddressInfo } from "node:net";

export class Network {
  readonly url: string;
  readonly #server: net.Server;
  readonly #sockets: ReadonlySet<net.Socket>;
  readonly #state: { isSilent: boolean };

  static async to(address: string): Promise<Network> {
    const { hostname, port } = new URL(address);
    const sockets = new Set<net.Socket>();
    const state = { isSilent: false };
    const server = net.createServer((near) => {
      const far = net.connect({ host: hostname, port: Number(port) });
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(from);
        from.pipe(to).on("error", () => undefined);
        from.on("close", () => {
          sockets.delete(from);
          to.destroy();
        });
        if (state.isSilent) cork(from);
      }
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = new URL(address);
    url.port = String((server.address() as AddressInfo).port);
    return new Network(url.href, server, sockets, state);
  }

  private constructor(url: string, server: net.Server, sockets: ReadonlySet<net.Socket>, state: { isSilent: boolean }) {
    this.url = url;
    this.#server = server;
    this.#sockets = sockets;
    this.#state = state;
  }

  /** Closes every connection, with FIN or a reset. */
  disconnect(isReset: boolean): void {
    for (const socket of this.#sockets) {
      if (isReset) socket.resetAndDestroy();
      else socket.destroy();
    }
  }

  /** Holds back data in both directions, also on new connections. */
  holdBack(): void {
    this.#state.isSilent = true;
    for (const socket of this.#sockets) cork(socket);
  }

  resume(): void {
    this.#state.isSilent = false;
    for (const socket of this.#sockets) socket.uncork();
  }

  async close(): Promise<void> {
    const waitForClose = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await waitForClose;
  }
}

/** Buffers writes to the socket; the pipe into it pauses at the high-water mark. */
function cork(socket: net.Socket): void {
  if (socket.writableCorked === 0) socket.cork();
}
