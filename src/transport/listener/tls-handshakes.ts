import type { Socket } from "node:net";
import tls from "node:tls";
import type { Certificate } from "./certificate.js";

/** How long a handshake may take, in milliseconds. */
const HANDSHAKE_MS = 10_000;

/** New connections by TLS: HTTP/2 where the caller offers it, else HTTP/1.1. */
export class TlsHandshakes {
  readonly #server: tls.Server;
  /** Those whose handshake is not over, by the caller's end: that is what both sides of a handshake know. */
  readonly #greeting = new Map<string, Socket>();

  /** `hand` is given each connection when its handshake is over. */
  constructor(certificate: Certificate, hand: (socket: Socket, isHttp2: boolean) => void) {
    this.#server = tls.createServer({
      ...certificate.pair,
      ALPNProtocols: ["h2", "http/1.1"],
      minVersion: "TLSv1.2",
      handshakeTimeout: HANDSHAKE_MS,
    });
    // Who does not end a handshake needs no words.
    this.#server.on("tlsClientError", (_error, socket) => socket.destroy());
    this.#server.on("secureConnection", (socket) => {
      this.#greeting.delete(endOf(socket));
      hand(socket, socket.alpnProtocol === "h2");
    });
    // Connections that are there keep what they began with.
    certificate.onChange((keyPair) => this.#server.setSecureContext(keyPair));
  }

  /** Greets a new connection. */
  take(socket: Socket): void {
    const end = endOf(socket);
    this.#greeting.set(end, socket);
    socket.once("close", () => this.#greeting.delete(end));
    this.#server.emit("connection", socket);
  }

  /** Ends the connections that are still being greeted. */
  close(): void {
    for (const socket of this.#greeting.values()) socket.destroy();
  }
}

const endOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
