/** A network in front of a server, which can be cut and can fall silent for a while. */
import { once } from "node:events";
import net, { type AddressInfo } from "node:net";

export class Network {
  /** The server's address as seen through it. */
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
        if (state.isSilent) hold(from);
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

  /** Ends every connection, with a reset where so said. */
  cut(isReset: boolean): void {
    for (const socket of this.#sockets) {
      if (isReset) socket.resetAndDestroy();
      else socket.destroy();
    }
  }

  /** Holds back all there is from now on, both ways, and whatever comes; nobody is told. */
  silence(): void {
    this.#state.isSilent = true;
    for (const socket of this.#sockets) hold(socket);
  }

  /** What was held back goes on its way. */
  speak(): void {
    this.#state.isSilent = false;
    for (const socket of this.#sockets) socket.uncork();
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

/** What is written to it stays here. The pipe into it stops when a little has gathered. */
function hold(socket: net.Socket): void {
  if (socket.writableCorked === 0) socket.cork();
}
